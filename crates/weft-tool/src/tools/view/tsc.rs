//! tsc: every error, and of very many the explanations of the first only; the lists of files and
//! figures that it can be told to print.

use super::{Noise, Parser};

pub(super) const PARSER: Parser = Parser { runs, behind_others: true, wrote, noise };

/// How many errors are shown with all that explains them.
const EXPLAINED: usize = 20;

fn runs(words: &[&str]) -> bool {
    words.first().is_some_and(|program| ["tsc", "vue-tsc"].contains(program))
}

/// `src/a.ts(3,5): error TS2322: …` or `src/a.ts:3:5 - error TS2322: …`
fn wrote(line: &str) -> bool {
    let code = line.split_once("error TS").and_then(|(_, rest)| super::number(rest));
    code.is_some_and(|(_, rest)| rest.starts_with(": "))
}

fn noise(lines: &[&str]) -> Vec<Option<Noise>> {
    let mut errors = 0;
    let known = |line: &&str| {
        if wrote(line) {
            errors += 1;
            return None;
        }
        if line.contains("/node_modules/") && line.ends_with(".d.ts") {
            return Some("files of packages");
        }
        let explains = errors > EXPLAINED && !line.starts_with("Found ") && !line.is_empty();
        (explains && line.starts_with([' ', '\t'])).then_some("explanations of further errors")
    };
    lines.iter().map(known).collect()
}
