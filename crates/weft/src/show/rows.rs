//! Rows in plain words: what the person said, what a tool does and did, how a turn ended.

use weft_core::event::{Display, EndReason, Ending, Outcome, Output, TodoItem, TodoState, ToolFinished};
use weft_core::files::{ChangedFile, FileChange, FilesRestored, Way, summary};
use weft_core::{Answer, Choice, SessionId, UserPart};

use super::clean::{clean, clean_row};
use super::diff::{SHOWN_LINES, diff_lines};
use super::style::{ACCENT, BAD, BOLD, CODE, DIM, GOOD, GUTTER, Line, Look, PLAIN, Span, Style};
use super::units::duration;
use super::width::wrap;

/// Shorter than this, a tool's duration is not worth a word.
const NOTABLE_MS: u64 = 100;
/// How many of a command's last lines are shown.
pub const OUTPUT_LINES: usize = 5;
/// How many of the files that were put back are named.
const NAMED_FILES: usize = 20;

/// A sentence in which `backticks` mark code. Where there is no colour to do so, they stay.
pub fn sentence(text: &str, style: Style, look: &Look) -> Vec<Span> {
    if !look.colour {
        return vec![Span::new(clean_row(text), style)];
    }
    let mut spans = Vec::new();
    for (index, piece) in clean_row(text).split('`').enumerate() {
        if !piece.is_empty() {
            let style = if index % 2 == 1 { Style { ink: CODE.ink, ..style } } else { style };
            spans.push(Span::new(piece.to_owned(), style));
        }
    }
    spans
}

/// A mark in the gutter, then text wrapped beside it.
pub fn marked(mark: &'static str, mark_style: Style, text: &[Span], look: &Look) -> Vec<Line> {
    let room = look.width.saturating_sub(GUTTER + 1).max(10);
    wrap(text, room)
        .into_iter()
        .enumerate()
        .map(|(index, row)| {
            if index > 0 {
                return row.indented(GUTTER);
            }
            let mut spans = vec![Span::new(mark, mark_style), Span::new(" ", PLAIN)];
            spans.extend(row.spans);
            Line { spans }
        })
        .collect()
}

/// What a person said. `typed`: their own words, where these stand for more than is shown.
pub fn user_lines(typed: Option<&str>, content: &[UserPart], look: &Look) -> Vec<Line> {
    let mut texts: Vec<String> = typed.map(|typed| clean(typed).trim_end().to_owned()).into_iter().collect();
    for part in content {
        match part {
            UserPart::Text { .. } if typed.is_some() => {}
            UserPart::Text { text } => texts.push(clean(text).trim_end().to_owned()),
            UserPart::Image(image) => texts.push(format!("[{}]", clean_row(&image.media_type))),
        }
    }
    marked(look.sign("›", ">"), ACCENT, &[Span::new(texts.join("\n"), BOLD)], look)
}

/// A tool under way.
pub fn running_row(summary: &str, elapsed_ms: u64, look: &Look) -> Line {
    let mut spans = vec![Span::new(look.sign("⏺", "*"), ACCENT), Span::new(" ", PLAIN)];
    spans.extend(sentence(summary, PLAIN, look));
    if elapsed_ms >= 1000 {
        let dot = look.sign("·", "-");
        spans.push(Span::new(format!(" {dot} {} s", elapsed_ms / 1000), DIM));
    }
    Line { spans }
}

/// What was told of a call before it was done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before<'a> {
    /// What it set out to do.
    pub started: Option<&'a str>,
    /// Weft stopped while it ran.
    pub lost: bool,
    /// A person has said no to it, which has a row of its own.
    pub declined: bool,
}

/// A tool that is done, with what is worth seeing of its result.
pub fn finished_rows(finished: &ToolFinished, before: Before<'_>, look: &Look) -> Vec<Line> {
    let (mark, style) = match finished.outcome {
        // The tool did its part: it ran the command. That is no tick for the command.
        Outcome::Ok if ended_badly(finished) => (look.sign("✗", "x"), BAD),
        Outcome::Ok => (look.sign("✓", "+"), GOOD),
        Outcome::Failed | Outcome::Invalid => (look.sign("✗", "x"), BAD),
        Outcome::Denied => (look.sign("⊘", "x"), DIM),
        Outcome::Interrupted => (look.sign("■", "x"), DIM),
    };
    let output = &finished.output;
    let interrupted = finished.outcome == Outcome::Interrupted;
    let summary = match (output.summary.is_empty() || interrupted, before.started) {
        (true, Some(started)) => started,
        (false, _) => output.summary.as_str(),
        (true, None) => finished.tool.as_str(),
    };
    let mut text = sentence(summary, PLAIN, look);
    if before.lost {
        text.push(Span::new(" was interrupted when Weft stopped; not run again", DIM));
    } else if interrupted {
        text.push(Span::new(format!(" {} interrupted", look.sign("·", "-")), DIM));
    }
    if finished.millis >= NOTABLE_MS {
        text.push(Span::new(format!(" {} {}", look.sign("·", "-"), duration(finished.millis)), DIM));
    }
    let mut rows = marked(mark, style, &text, look);
    if finished.outcome == Outcome::Denied && !before.declined {
        let reason = sentence(first_sentence(&output.text), DIM, look);
        let room = look.width.saturating_sub(GUTTER + 1).max(10);
        rows.extend(wrap(&reason, room).into_iter().map(|row| row.indented(GUTTER)));
    }
    rows.extend(result_rows(finished, look).into_iter().map(|row| row.indented(GUTTER)));
    rows
}

/// Whether a command was run and ended with something other than 0.
fn ended_badly(finished: &ToolFinished) -> bool {
    match &finished.output.display {
        Some(Display::Command { exit_code: Some(code), .. }) => *code != 0,
        // Killed, or still running in the background.
        Some(Display::Command { exit_code: None, .. }) => finished.output.text.starts_with("killed by "),
        Some(Display::Diff { .. } | Display::Todo { .. }) | None => false,
    }
}

/// A command's output without the line on how it ended, which its row says already.
fn without_status(output: &Output) -> &str {
    let (first, rest) = output.text.split_once('\n').unwrap_or((&output.text, ""));
    if output.summary.ends_with(&format!(", {first}")) { rest } else { &output.text }
}

/// What a refusal says to the person; the rest is advice for the model.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").and_then(|end| line.get(..=end)).unwrap_or(line)
}

fn result_rows(finished: &ToolFinished, look: &Look) -> Vec<Line> {
    match (&finished.output.display, finished.outcome) {
        (Some(Display::Diff { diff, .. }), Outcome::Ok) => diff_lines(diff, SHOWN_LINES, look),
        (Some(Display::Todo { items }), _) => todo_rows(items, look),
        (Some(Display::Command { .. }), _) => last_lines(without_status(&finished.output), OUTPUT_LINES, look),
        (_, Outcome::Failed | Outcome::Invalid) => {
            let text = clean(&finished.output.text);
            let shown = text.lines().filter(|line| !line.trim().is_empty()).take(OUTPUT_LINES);
            shown.map(|line| Line::new(line.to_owned(), DIM).fitted(look.width.saturating_sub(GUTTER), look)).collect()
        }
        (_, Outcome::Ok | Outcome::Denied | Outcome::Interrupted) => Vec::new(),
    }
}

/// The end of a command's output, dim.
pub fn last_lines(text: &str, count: usize, look: &Look) -> Vec<Line> {
    // Only the end is shown, so only the end is cleaned, however long the text is.
    let start = text.len().saturating_sub(count * 2_000);
    let start = (start..=text.len()).find(|index| text.is_char_boundary(*index)).unwrap_or(0);
    let text = clean(text.get(start..).unwrap_or_default());
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(count);
    let room = look.width.saturating_sub(GUTTER + 1);
    lines.into_iter().skip(from).map(|line| Line::new(line.to_owned(), DIM).fitted(room, look)).collect()
}

pub fn todo_rows(items: &[TodoItem], look: &Look) -> Vec<Line> {
    let row = |item: &TodoItem| {
        let (mark, mark_style, style) = match item.state {
            TodoState::Open => (look.sign("○", "[ ]"), DIM, PLAIN),
            TodoState::Active => (look.sign("◐", "[>]"), ACCENT, BOLD),
            TodoState::Done => (look.sign("●", "[x]"), GOOD, DIM),
        };
        Line::new(mark, mark_style).with(" ", PLAIN).with(clean_row(&item.text), style)
    };
    items.iter().map(row).collect()
}

/// A quiet remark by Weft itself.
pub fn note(text: &str, look: &Look) -> Vec<Line> {
    marked(look.sign("·", "-"), DIM, &sentence(text, DIM, look), look)
}

pub fn problem(text: &str, look: &Look) -> Vec<Line> {
    marked(look.sign("✗", "x"), BAD, &sentence(text, PLAIN, look), look)
}

/// Hints to go on are written where nobody knows the session; who shows them names it.
pub fn naming_session(text: &str, session: SessionId) -> String {
    text.replace("`weft resume`", &format!("`weft resume {session}`"))
}

/// How a turn ended, if that is worth a row.
pub fn end_rows(reason: &EndReason, session: SessionId, look: &Look) -> Vec<Line> {
    match reason.ending() {
        Ending::Completed => Vec::new(),
        Ending::Interrupted => marked(look.sign("■", "x"), DIM, &sentence("Stopped.", DIM, look), look),
        Ending::Early => problem(&naming_session(&reason.to_string(), session), look),
    }
}

/// Files that were put back, or forward again.
pub fn restored(restored: &FilesRestored) -> String {
    let mut turns: Vec<u32> = restored.turns.clone();
    turns.sort_unstable();
    let turns = match turns.as_slice() {
        [turn] => format!("turn {turn}"),
        [first, .., last] => format!("turns {first} to {last}"),
        [] => "nothing".to_owned(),
    };
    let words = match restored.way {
        Way::Undo => "Took back",
        Way::Redo => "Did again",
    };
    format!("{words} {turns}: {}", summary(&restored.files, restored.more))
}

/// Which files were put in place, and what that did to each.
pub fn file_rows(files: &[ChangedFile], more: u32, look: &Look) -> Vec<Line> {
    let mut rows: Vec<Line> = files.iter().take(NAMED_FILES).map(|file| file_row(file, look)).collect();
    let left = files.len().saturating_sub(NAMED_FILES) + usize::try_from(more).unwrap_or(0);
    if left > 0 {
        rows.push(Line::new(format!("and {left} more"), DIM).indented(GUTTER));
    }
    rows
}

fn file_row(file: &ChangedFile, look: &Look) -> Line {
    let what = match file.change {
        FileChange::Created => "created",
        FileChange::Changed => "changed",
        FileChange::Deleted => "deleted",
        FileChange::Mode => "permissions changed",
        FileChange::NotKept => "could not be put back",
    };
    let count = |sign: &str, lines: Option<u32>| match lines {
        Some(lines) if lines > 0 => format!(" {sign}{lines}"),
        _ => String::new(),
    };
    let lines = format!("{}{}", count("+", file.added), count("−", file.removed));
    Line::new(clean_row(&file.path), CODE)
        .with(format!("  {what}{lines}"), DIM)
        .indented(GUTTER)
        .fitted(look.width, look)
}

/// A question and what was answered.
pub fn answered_rows(question: &str, answer: &Answer, look: &Look) -> Vec<Line> {
    let words = match answer {
        Answer::Approve { scope: Choice::Once } => "yes, once".to_owned(),
        Answer::Approve { scope: Choice::Always } => "yes, always in this project".to_owned(),
        Answer::Approve { scope: Choice::Session } => "yes, for this session".to_owned(),
        Answer::Reject { message: None } => "no".to_owned(),
        Answer::Reject { message: Some(message) } => format!("no: {}", clean_row(message)),
        Answer::Text { text } => clean_row(text),
    };
    let mut text = sentence(question, DIM, look);
    text.push(Span::new(format!(" {} {words}", look.sign("→", "->")), PLAIN));
    marked("?", DIM, &text, look)
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
