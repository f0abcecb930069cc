//! eslint: of warnings that repeat themselves, the first few of each rule; every error.

use std::collections::HashMap;

use super::{Noise, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

/// How many warnings of a rule say enough.
const ENOUGH: usize = 3;

fn runs(words: &[&str]) -> bool {
    words.first().is_some_and(|program| *program == "eslint")
}

/// `✖ 12 problems (2 errors, 10 warnings)`
fn wrote(line: &str) -> bool {
    let count = line.strip_prefix("✖ ").and_then(super::number);
    count.is_some_and(|(_, rest)| rest.starts_with(" problem"))
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let known = |line| {
        let count = seen.entry(warning(line)?).or_default();
        *count += 1;
        (*count > ENOUGH).then_some("further warnings of the same rules")
    };
    lines.iter().copied().map(known).collect()
}

/// The rule of `  3:10  warning  'a' is never used  no-unused-vars`.
fn warning(line: &str) -> Option<&str> {
    let (row, rest) = super::number(line.strip_prefix("  ")?.trim_start())?;
    let (_, rest) = super::number(rest.strip_prefix(':')?)?;
    let rest = rest.trim_start().strip_prefix("warning ")?;
    let rule = rest.rsplit("  ").next()?.trim();
    (row > 0 && !rule.is_empty()).then_some(rule)
}
