#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 800;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every file of the repository with one of these endings, as path relative to its root and text.
pub(crate) fn files(endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                let skipped = ["target", "node_modules", ".git", ".peers", "corpus", "artifacts", ".weft"];
                if !skipped.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending))
                && let Ok(text) = fs::read_to_string(&path)
            {
                found.push((path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), text));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

pub(crate) fn is_test(path: &str) -> bool {
    path.ends_with("_tests.rs") || path.contains("/tests/") || path.starts_with("fuzz/") || path.starts_with("bench/")
}

fn report(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn files_are_rooms_not_halls() {
    let long: Vec<String> = files(&[".rs"])
        .into_iter()
        .filter(|(path, text)| !is_test(path) && text.lines().count() > LONGEST_FILE)
        .map(|(path, text)| format!("{path} has {} lines, more than {LONGEST_FILE}", text.lines().count()))
        .collect();
    report(&long);
}

/// The one place for each thing that is fenced in by `clippy.toml`.
const GATES: [&str; 31] = [
    "crates/weft-engine/src/clock.rs",
    "crates/weft-model/src/provider/http.rs",
    "crates/weft-store/src/database.rs",
    // The age of a backup.
    "crates/weft-store/src/store.rs",
    "crates/weft-tool/src/process.rs",
    "crates/weft-tool/src/survivor.rs",
    // The helper becomes the command, and makes a ground; its probe starts itself; the proxy is the
    // sandbox's way out.
    "crates/weft-sandbox/src/ground.rs",
    "crates/weft-sandbox/src/helper.rs",
    "crates/weft-sandbox/src/linux/mod.rs",
    "crates/weft-sandbox/src/support.rs",
    "crates/weft-sandbox/src/linux/network.rs",
    "crates/weft-sandbox/src/proxy/mod.rs",
    // The desktop's keychain.
    "crates/weft-store/src/keychain/bus.rs",
    // Tools are run by the guard alone; one of them holds another and hands on its permit.
    "crates/weft-tool/src/guard.rs",
    "crates/weft-tool/src/tools/diagnosed.rs",
    // What a model chose to run, after the guard has judged it.
    "crates/weft-tool/src/jobs/mod.rs",
    "crates/weft-tool/src/tools/runner.rs",
    "crates/weft-tool/src/tools/git/run.rs",
    // What no model chose: git that only looks, the person's hooks, and their own commands.
    "crates/weft-tool/src/tools/git/past.rs",
    "crates/weft-engine/src/hooks.rs",
    "crates/weft-knowledge/src/embed/fetch.rs",
    "crates/weft/src/commands/sandbox.rs",
    // Servers that are spoken to over pipes.
    "crates/weft-tool/src/service.rs",
    // Other people's servers, over HTTP.
    "crates/weft-mcp/src/client/http.rs",
    "crates/weft-tool/src/web/client.rs",
    "crates/weft-mcp/examples/",
    // The person's own browser.
    "crates/weft/src/commands/sources.rs",
    "crates/weft-script/",
    "crates/weft/build.rs",
    // The person's own editor, in their terminal.
    "crates/weft/src/commands/config.rs",
    "bench/",
];

#[test]
fn fences_are_opened_only_at_their_gates() {
    let opened: Vec<String> = files(&[".rs"])
        .into_iter()
        .filter(|(path, text)| {
            let allowed =
                is_test(path) || GATES.iter().any(|gate| path.starts_with(gate)) || path.contains("weft-tidy");
            !allowed && text.contains("clippy::disallowed_methods")
        })
        .map(|(path, _)| format!("{path} allows disallowed methods; use the place made for it"))
        .collect();
    report(&opened);
}

/// A gate that nobody goes through any more would let somebody else through.
#[test]
fn every_gate_is_in_use() {
    let files = files(&[".rs"]);
    let opens = |gate: &str| {
        files.iter().any(|(path, text)| path.starts_with(gate) && text.contains("clippy::disallowed_methods"))
    };
    report(&GATES.iter().filter(|gate| !opens(gate)).map(|gate| format!("{gate} opens no fence")).collect::<Vec<_>>());
}

/// The fences hold in every crate, and what they hold is there: a name that is not is held by nobody.
#[test]
fn every_crate_is_fenced_in() {
    let open: Vec<String> = files(&["Cargo.toml"])
        .into_iter()
        .filter(|(path, text)| {
            (path.starts_with("crates/") || path.starts_with("bench/")) && !text.contains("[lints]\nworkspace = true")
        })
        .map(|(path, _)| format!("{path} does not take the workspace's lints"))
        .collect();
    report(&open);
    let fences = fs::read_to_string(root().join("clippy.toml")).unwrap();
    for ours in ["weft_tool::tool::Tool::run", "weft_tool::process::run", "weft_tool::process::run_attached"] {
        assert!(fences.contains(&format!("path = \"{ours}\"")), "{ours} is not fenced in");
    }
    let source = |path: &str| fs::read_to_string(root().join("crates/weft-tool/src").join(path)).unwrap();
    assert!(source("tool.rs").contains("pub trait Tool") && source("tool.rs").contains("    fn run<"));
    for name in ["pub async fn run(", "pub async fn run_attached("] {
        assert!(source("process.rs").contains(name), "{name} is called otherwise now, and not fenced in");
    }
}

/// A tool needs a permit to run, and the guard alone makes permits.
#[test]
fn permits_are_made_in_one_place() {
    let made: Vec<String> = files(&[".rs"])
        .into_iter()
        .filter(|(path, text)| {
            let made = text.lines().any(|line| {
                line.contains("Permit {") && !line.contains("struct Permit {") && !line.contains("impl Permit {")
            });
            made && path != "crates/weft-tool/src/guard.rs" && !path.contains("weft-tidy")
        })
        .map(|(path, _)| format!("{path} makes a permit"))
        .collect();
    report(&made);
}

#[test]
fn nothing_pretends_or_waits() {
    let words = ["todo!(", "unimplemented!(", "not yet implemented", "FIXME", "XXX"];
    let found: Vec<String> = files(&[".rs"])
        .into_iter()
        .filter(|(path, _)| !path.contains("weft-tidy") && !is_test(path))
        .flat_map(|(path, text)| {
            words.iter().filter(|word| text.contains(**word)).map(|word| format!("{path}: {word}")).collect::<Vec<_>>()
        })
        .collect();
    report(&found);
}

#[test]
fn no_machine_and_no_registry_is_named() {
    let names =
        [concat!("/wo", "rk/"), concat!("crates", ".io/"), concat!("registry.npmjs", ".org"), concat!("pypi", ".org")];
    let found: Vec<String> = files(&[".rs", ".md", ".toml", ".sh", "Makefile", ".yml", ".json"])
        .into_iter()
        .flat_map(|(path, text)| {
            names
                .iter()
                .filter(|name| text.contains(**name))
                .map(|name| format!("{path} names {name}"))
                .collect::<Vec<_>>()
        })
        .collect();
    report(&found);
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    let root = root();
    let mut broken = Vec::new();
    for (path, text) in files(&[".md"]) {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let local = !target.contains("://") && !target.starts_with('#') && !target.contains(' ');
            let file = target.split('#').next().unwrap_or_default();
            let folder = root.join(&path).parent().unwrap().to_owned();
            if local && !path.contains("fixtures") && !file.is_empty() && !folder.join(file).exists() {
                broken.push(format!("{path} links to {target}, which is not there"));
            }
        }
    }
    report(&broken);
}

#[test]
fn modules_say_what_they_are() {
    let silent: Vec<String> = files(&[".rs"])
        .into_iter()
        .filter(|(path, text)| path.starts_with("crates/") && !is_test(path) && !text.trim_start().starts_with("//!"))
        .map(|(path, _)| format!("{path} has no opening comment"))
        .collect();
    report(&silent);
}

/// The API's description has one place for a name: of two things that are called the same, one would be
/// described as the other.
#[test]
fn what_the_api_describes_has_names_of_its_own() {
    let mut seen = std::collections::HashMap::new();
    let mut problems = Vec::new();
    for (path, text) in files(&[".rs"]).into_iter().filter(|(path, _)| path.starts_with("crates/weft-server/src/")) {
        let lines: Vec<&str> = text.lines().collect();
        let described = |line: &&str| line.contains("derive") && line.contains("ToSchema");
        for index in (0..lines.len()).filter(|index| lines.get(*index).is_some_and(described)) {
            let named = lines
                .iter()
                .skip(index)
                .find_map(|line| line.split_once("struct ").or_else(|| line.split_once("enum ")).map(|(_, rest)| rest));
            let name =
                named.unwrap_or_default().split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            let place = format!("{path}:{}", index + 1);
            if let Some(other) = seen.insert(name.to_owned(), place.clone()) {
                problems.push(format!("{name} is described at {other} and at {place}"));
            }
        }
    }
    assert!(seen.len() > 20, "the search itself broke");
    report(&problems);
}
