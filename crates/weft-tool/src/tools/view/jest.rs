//! jest and vitest: tests and files of tests that passed, and fully covered files.

use super::{Noise, PASSED, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

fn runs(words: &[&str]) -> bool {
    words.first().is_some_and(|program| ["jest", "vitest"].contains(program))
}

fn wrote(line: &str) -> bool {
    let start = line.trim_start();
    ["Tests: ", "Test Suites: ", "Test Files ", "Tests  "].iter().any(|begin| start.starts_with(begin))
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    lines.iter().map(|line| known(line)).collect()
}

fn known(line: &str) -> Option<Noise> {
    let start = line.trim_start();
    let indented = start.len() < line.len();
    if line.starts_with("PASS ") || indented && (start.starts_with("✓ ") || start.starts_with("√ ")) {
        return Some(PASSED);
    }
    let mut cells = start.split('|').map(str::trim);
    let file = cells.next().is_some_and(|name| !name.is_empty() && name.contains('.'));
    let numbers: Vec<&str> = cells.take(4).collect();
    let whole = numbers.len() == 4 && numbers.iter().all(|cell| *cell == "100");
    (file && whole).then_some("fully covered files")
}
