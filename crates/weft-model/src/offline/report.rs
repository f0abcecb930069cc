//! How results are put into words.

use weft_core::ToolResult;

use super::{Outcome, Step};

const MOST_LINES: usize = 200;

/// The answer if the last call failed or was refused.
pub(super) fn trouble(results: &[Outcome<'_>]) -> Option<Step> {
    let last = results.last()?;
    last.result.is_error.then(|| Step::Unable(in_words(last.result)))
}

/// Whether permission was refused, which no other wording of the request would change.
pub(super) fn is_refusal(outcome: &Outcome<'_>) -> bool {
    let text = outcome.result.text.trim_start();
    text.starts_with(REFUSED) || text.starts_with(DECLINED)
}

const REFUSED: &str = "Not done: ";
/// A person's no, with or without words of their own.
const DECLINED: &str = "The person declined this";

/// What went wrong with a call.
pub(super) fn in_words(result: &ToolResult) -> String {
    let text = result.text.trim();
    if text.is_empty() {
        return format!("That did not work, and `{}` gave no reason.", result.name);
    }
    if text.starts_with(DECLINED) {
        let instead =
            if text.contains(" and said: ") { " Say what you want instead as a message of its own." } else { "" };
        return format!("You said no, so it was not done.{instead}");
    }
    if text.starts_with(REFUSED) && !text.contains('\n') {
        // What follows the first sentence is advice for a language model.
        let reason = text.find(". ").and_then(|end| text.get(..=end)).unwrap_or(text);
        let way = if reason.contains("`safe` mode") {
            " `ask` or `auto` mode (Shift+Tab, or `--mode`) allows it."
        } else {
            ""
        };
        return format!("{reason}{way}");
    }
    format!("That did not work. `{}` says:\n\n{}", result.name, quote(text, ""))
}

/// A fenced block that its content cannot end early, cut to a bearable length.
pub(super) fn quote(text: &str, language: &str) -> String {
    let total = text.lines().count();
    let shown: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let shown = shown.join("\n");
    let longest = shown.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let rest = if total > MOST_LINES {
        format!("\n\n{} more lines are not shown.", total - MOST_LINES)
    } else {
        String::new()
    };
    format!("{fence}{language}\n{shown}\n{fence}{rest}")
}

pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// The lines of a result that are content. Tools put their own remarks in brackets.
pub(super) fn content(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !is_remark(line) && !line.trim().is_empty())
}

pub(super) fn remarks(text: &str) -> Vec<&str> {
    text.lines().filter(|line| is_remark(line)).collect()
}

fn is_remark(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}

/// One line of a file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
}

/// The numbered lines of what `read` gave. Empty for what is not text.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let numbered = |line| {
        let (number, text) = str::split_once(line, '\t')?;
        Some(Line { number: number.trim().parse().ok()?, text })
    };
    text.lines().filter_map(numbered).collect()
}

/// The line from which to read on, if `read` did not show all.
pub(super) fn read_on(text: &str) -> Option<usize> {
    lines(text)
        .last()
        .filter(|_| remarks(text).iter().any(|remark| remark.starts_with("[there is more")))
        .map(|line| line.number + 1)
}
