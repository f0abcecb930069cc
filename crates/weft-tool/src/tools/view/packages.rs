//! npm, yarn and pnpm: notices, deprecations, progress and requests for funding.

use super::{Noise, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

fn runs(words: &[&str]) -> bool {
    words.first().is_some_and(|program| ["npm", "npx", "yarn", "pnpm"].contains(program))
}

fn wrote(line: &str) -> bool {
    known(line).is_some()
        || line.starts_with("yarn install v")
        || line.starts_with("yarn run v")
        || line.starts_with("npm ")
        || line.starts_with("added ") && line.contains(" package")
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    lines.iter().map(|line| known(line)).collect()
}

fn known(line: &str) -> Option<Noise> {
    let lower = line.to_ascii_lowercase();
    let starts = |starts: &[&str]| starts.iter().any(|start| lower.starts_with(start));
    if starts(&["npm warn deprecated "]) || lower.contains(" deprecated ") && starts(&["warning ", " warn "]) {
        return Some("deprecated packages");
    }
    if starts(&["npm notice", "npm http ", "npm verb ", "npm sill ", "npm timing ", "npm info "]) {
        return Some("notices");
    }
    // pnpm draws bars, and repeats itself.
    let bar = line.len() > 9 && line.starts_with('+') && line.chars().all(|letter| "+-".contains(letter));
    if starts(&["progress: resolved "]) && !lower.ends_with(", done") || bar {
        return Some("progress");
    }
    let step = lower.strip_prefix('[').and_then(super::number).is_some_and(|(_, rest)| rest.starts_with('/'));
    if step || starts(&["➤ yn0013", "➤ yn0019", "info direct dependencies", "info all dependencies"]) {
        return Some("progress");
    }
    let funding = lower.contains("looking for funding") || lower.contains("run `npm fund`");
    funding.then_some("requests for funding")
}
