//! pytest: tests that passed, the dots of a file in which all did, and what the run begins with.

use super::{Noise, PASSED, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

fn runs(words: &[&str]) -> bool {
    match words {
        ["pytest" | "py.test", ..] => true,
        [python, "-m", "pytest", ..] => python.starts_with("python"),
        _ => false,
    }
}

fn wrote(line: &str) -> bool {
    let inner = line.trim_matches('=').trim();
    let framed = inner.len() < line.len();
    framed && inner == "test session starts"
        || (inner.contains(" passed") || inner.contains(" failed")) && inner.contains(" in ") && inner.contains('s')
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    // Tests are listed until the first section after the beginning.
    let listed = lines.iter().skip(1).position(|line| is_section(line)).map_or(lines.len(), |at| at + 1);
    let known = |(index, line): (usize, &&str)| {
        if index >= listed {
            return covered(line);
        }
        passed(line).or_else(|| header(line))
    };
    lines.iter().enumerate().map(known).collect()
}

fn is_section(line: &str) -> bool {
    line.starts_with("===") && line.ends_with("===") && !line.contains(" test session starts ")
}

fn passed(line: &str) -> Option<Noise> {
    // `tests/test_a.py::test_b PASSED   [ 10%]`
    let (body, _) = line.rsplit_once('[').unwrap_or((line, ""));
    let body = body.trim_end();
    if body.contains("::") && body.ends_with(" PASSED") {
        return Some(PASSED);
    }
    // `tests/test_a.py ......   [ 50%]`, or with -q only the dots.
    let dots = body.rsplit(' ').next().unwrap_or_default();
    let only_dots = !dots.is_empty() && dots.chars().all(|letter| letter == '.');
    let before = body.strip_suffix(dots).unwrap_or_default().trim_end();
    let is_file = before.is_empty() || before.ends_with(".py");
    let share = line.len() == body.len() || line.ends_with("%]");
    (only_dots && is_file && share).then_some(PASSED)
}

fn header(line: &str) -> Option<Noise> {
    let begins = ["platform ", "cachedir: ", "rootdir: ", "configfile: ", "plugins: ", "testpaths: "];
    begins.iter().any(|begin| line.starts_with(begin)).then_some("lines about the setup")
}

/// A file in the table of coverage of which nothing is missing.
fn covered(line: &str) -> Option<Noise> {
    let mut columns = line.split_whitespace();
    let file = columns.next().is_some_and(|name| name.ends_with(".py"));
    let whole = line.trim_end().ends_with(" 100%");
    (file && whole && columns.clone().count() >= 3).then_some("fully covered files")
}
