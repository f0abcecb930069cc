//! Puts the commit into the version, where git knows it.

#![allow(clippy::disallowed_methods, reason = "a build script asks git by itself")]

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let commit = git(&["rev-parse", "--short=9", "HEAD"]);
    println!("cargo::rustc-env=WEFT_COMMIT={}", commit.map_or_else(String::new, |commit| format!(" ({commit})")));
    println!("cargo::rerun-if-changed=build.rs");
    // The file changes with every commit and every checkout.
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
}
