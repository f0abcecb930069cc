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
    if packs_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The program is moved to a random place when it starts. A list of what moves with it takes megabytes
/// that are all read then, and a fiftieth of that where the C library can read the packed form.
fn packs_relocations() -> bool {
    let of_target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_here = std::env::var("HOST") == std::env::var("TARGET");
    if !is_here || of_target("OS") != "linux" || of_target("ENV") != "gnu" {
        return false;
    }
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok();
    let said = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let mut numbers = said.trim().trim_start_matches("glibc ").split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (2, 36)
}
