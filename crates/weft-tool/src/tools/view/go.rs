//! go: packages and tests that passed, what tests that passed said, and downloads.

use super::{Noise, PASSED, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

fn runs(words: &[&str]) -> bool {
    matches!(words, ["go", "build" | "test" | "vet" | "get" | "mod" | "install" | "run", ..] | ["gotestsum", ..])
}

fn wrote(line: &str) -> bool {
    ["ok  \t", "--- PASS: ", "--- FAIL: ", "=== RUN ", "FAIL\t", "?   \t", "go: downloading "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    let mut noise: Vec<Option<Noise>> = lines.iter().map(|line| known(line)).collect();
    // What a test says stands between its beginning and its end.
    let mut begun: Option<(usize, &str)> = None;
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("=== RUN ") {
            begun = Some((index, name.trim()));
        } else if let Some(name) = line.strip_prefix("--- PASS: ") {
            let name = name.split(' ').next().unwrap_or_default();
            if let Some((from, _)) = begun.take().filter(|(_, test)| *test == name) {
                let said = noise.iter_mut().take(index).skip(from);
                said.for_each(|found| *found = found.or(Some("lines of passed tests")));
            }
        } else if line.starts_with("--- ") || line.starts_with("=== ") {
            begun = None;
        }
    }
    noise
}

fn known(line: &str) -> Option<Noise> {
    let start = line.trim_start();
    if start.starts_with("--- PASS: ") || line.starts_with("ok  \t") {
        return Some(PASSED);
    }
    if line == "PASS"
        || ["=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "].iter().any(|begin| line.starts_with(begin))
    {
        return Some("begun tests");
    }
    if line.starts_with("?   \t") && line.ends_with("[no test files]") {
        return Some("packages without tests");
    }
    line.starts_with("go: downloading ").then_some("downloads")
}
