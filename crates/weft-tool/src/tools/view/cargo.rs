//! cargo: what it compiled and fetched, and the tests that passed. Also cargo-nextest.

use super::{Noise, PASSED, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

const PROGRESS: [(&str, Noise); 14] = [
    ("Compiling ", "compiled crates"),
    ("Checking ", "checked crates"),
    ("Documenting ", "documented crates"),
    ("Fresh ", "fresh crates"),
    ("Dirty ", "fresh crates"),
    ("Downloading ", "downloads"),
    ("Downloaded ", "downloads"),
    ("Updating ", "downloads"),
    ("Locking ", "lock file changes"),
    ("Adding ", "lock file changes"),
    ("Blocking ", "waits for a lock"),
    ("Removing ", "lock file changes"),
    ("Unchanged ", "lock file changes"),
    ("Running ", "started programs"),
];

fn runs(words: &[&str]) -> bool {
    words.first().is_some_and(|program| *program == "cargo")
}

fn wrote(line: &str) -> bool {
    let start = line.trim_start();
    is_progress(line).is_some()
        || start.starts_with("Finished `")
        || line.starts_with("test result: ")
        || line.starts_with("error[E")
        || start.starts_with("Nextest run ID")
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    lines.iter().map(|line| if is_passed(line) { Some(PASSED) } else { is_progress(line) }).collect()
}

/// Cargo aligns its verbs to the right, in twelve columns.
fn is_progress(line: &str) -> Option<Noise> {
    let start = line.trim_start();
    let indent = line.len() - start.len();
    let (_, noise) = PROGRESS.iter().find(|(verb, _)| start.starts_with(verb) && indent + verb.len() == 13)?;
    Some(noise)
}

fn is_passed(line: &str) -> bool {
    let passed = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... ok"));
    let start = line.trim_start();
    passed.is_some() || (line.len() > start.len() && start.starts_with("PASS ["))
}
