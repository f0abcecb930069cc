//! The card of an open ask: the question, what exactly it is about, and the ways to answer.

use weft_core::ask::Grant;
use weft_core::form::{self, Field, FieldKind};
use weft_core::{Ask, AskKind};

use super::clean::{clean_row, visible};
use super::diff::{SHOWN_LINES, cap_lines, diff_lines};
use super::rows::sentence;
use super::style::{ACCENT, BAD, BOLD, DIM, Line, Look, PLAIN, Span, Style};
use super::width::wrap;

/// How the card is shown right now.
#[derive(Debug, Clone, Copy)]
pub struct CardView<'a> {
    pub ask: &'a Ask,
    /// Options chosen so far, by number from 1, where several may be.
    pub chosen: &'a [usize],
    /// The person is writing an answer in words.
    pub writing: bool,
    /// How many more asks wait behind this one.
    pub behind: usize,
    /// The most rows that the detail may take.
    pub detail_rows: usize,
    /// Whether it can be answered by pressing keys.
    pub keys: bool,
    /// What is wrong with what was written so far.
    pub problem: Option<&'a str>,
}

pub fn card_lines(view: &CardView<'_>, look: &Look) -> Vec<Line> {
    let room = look.width.saturating_sub(3).max(10);
    let mut rows = wrap(&sentence(&view.ask.question, BOLD, look), room);
    match &view.ask.kind {
        AskKind::Approval { detail, grant, effect, .. } => {
            let cap = view.detail_rows.min(SHOWN_LINES);
            let shown = if repeats_question(&view.ask.question, detail) { "" } else { detail.as_str() };
            let details = detail_lines(shown, cap, look);
            let hides = details.len() > cap;
            rows.extend(details);
            if !effect.is_empty() {
                rows.extend(wrap(&sentence(effect, PLAIN, look), room));
            }
            if view.keys {
                rows.extend(approval_choices(grant.as_ref(), view.writing, hides, room));
            }
        }
        AskKind::Form { fields } => {
            rows.extend(fields.iter().flat_map(|field| field_lines(field, room)));
            if view.keys {
                let text = match fields.as_slice() {
                    [_] => "Type an answer and press Enter; `decline` answers nothing.",
                    _ => "Type name=value for each, with ; between them, and press Enter; `decline` answers nothing.",
                };
                rows.extend(hint(text, room));
            }
        }
        AskKind::Question { options, several } => {
            rows.extend(option_lines(options, *several, view.chosen, room, look));
            if view.keys {
                rows.extend(question_hint(options.len(), *several, room));
            }
        }
    }
    if let Some(problem) = view.problem {
        rows.extend(wrap(&[Span::new(clean_row(problem), BAD)], room));
    }
    if view.behind > 0 {
        let questions = if view.behind == 1 { "question" } else { "questions" };
        rows.push(Line::new(format!("{} more {questions} after this one", view.behind), DIM));
    }
    let bar = look.sign("▌ ", "| ");
    rows.into_iter()
        .map(|row| {
            let mut spans = vec![Span::new(bar, ACCENT)];
            spans.extend(row.fitted(room, look).spans);
            Line { spans }
        })
        .collect()
}

/// Whether the question says all that the detail does, such as a short command. Nothing that a row
/// would show in another way, such as hidden characters, may count as said.
pub fn repeats_question(question: &str, detail: &str) -> bool {
    let detail = detail.trim();
    let shown_as_it_is = clean_row(detail) == detail && visible(detail) == detail && !detail.contains('`');
    shown_as_it_is && question.contains(&format!("`{detail}`"))
}

/// The command or the diff that is asked about.
fn detail_lines(detail: &str, cap: usize, look: &Look) -> Vec<Line> {
    if detail.trim().is_empty() {
        return Vec::new();
    }
    cap_lines(whole_detail(detail, look), cap, look).into_iter().map(|row| row.indented(2)).collect()
}

/// All of what is asked about, however long.
pub fn whole_detail(detail: &str, look: &Look) -> Vec<Line> {
    if is_diff(detail) {
        return diff_lines(detail, usize::MAX, look);
    }
    let room = look.width.saturating_sub(6).max(10);
    wrap(&[Span::new(visible(detail).trim_end().to_owned(), PLAIN)], room)
}

pub fn is_diff(detail: &str) -> bool {
    detail.starts_with("--- ") || detail.starts_with("@@ ") || detail.contains("\n@@ ")
}

/// What to type to answer a question from a shell, and what a yes for longer would allow.
pub fn how_to_answer(ask: &Ask) -> String {
    let ways = format!("Answer with: `weft answer {} {}`", ask.id, ways_to_answer(&ask.kind));
    match grant_in_words(&ask.kind) {
        Some(grant) => format!("{ways}. {grant}."),
        None => ways,
    }
}

/// The words that `weft answer` takes for a question.
const fn ways_to_answer(kind: &AskKind) -> &'static str {
    match kind {
        AskKind::Approval { grant: Some(Grant::Rules { .. }), .. } => "yes|session|always|no",
        AskKind::Approval { grant: Some(Grant::Tool { .. } | Grant::Command { .. }), .. } => "yes|session|no",
        AskKind::Approval { grant: None, .. } => "yes|no",
        AskKind::Question { .. } => "ANSWER",
        AskKind::Form { .. } => "NAME=VALUE;…|decline",
    }
}

pub const fn ways_to_say_yes(kind: &AskKind) -> &'static str {
    match kind {
        AskKind::Approval { grant: Some(Grant::Rules { .. }), .. } => "yes, session, always",
        AskKind::Approval { grant: Some(Grant::Tool { .. } | Grant::Command { .. }), .. } => "yes, session",
        AskKind::Approval { grant: None, .. } | AskKind::Question { .. } | AskKind::Form { .. } => "yes",
    }
}

/// What a yes for longer than once would allow, spelt out.
fn grant_in_words(kind: &AskKind) -> Option<String> {
    let AskKind::Approval { grant: Some(grant), .. } = kind else { return None };
    Some(match grant {
        Grant::Tool { tool } => format!("`session` allows every `{}` in this session", clean_row(tool)),
        Grant::Command { .. } => "`session` allows exactly this command in this session".to_owned(),
        Grant::Rules { rules } => {
            let rules: Vec<String> = rules.iter().map(|rule| format!("`{}`", clean_row(rule))).collect();
            let rules = rules.join(", ");
            format!("For longer than once it allows {rules}: `session` in this session, `always` in this project")
        }
    })
}

fn approval_choices(grant: Option<&Grant>, writing: bool, hides: bool, room: usize) -> Vec<Line> {
    if writing {
        return hint("Say what to do instead. Enter sends it as a no, Esc goes back.", room);
    }
    let mut rows = Vec::new();
    let mut choices = vec![("y", "once".to_owned())];
    if let Some(grant) = grant {
        let what = match grant {
            Grant::Tool { tool } => format!("every {}", clean_row(tool)),
            Grant::Command { .. } => "this command".to_owned(),
            Grant::Rules { rules } => clean_row(&rules.join(", ")),
        };
        if let Grant::Rules { .. } = grant {
            rows = wrap(&[Span::new(format!("For longer than once, it allows: {what}"), DIM)], room);
            choices.push(("s", "for this session".to_owned()));
            choices.push(("a", "always in this project".to_owned()));
        } else {
            choices.push(("s", format!("for this session ({what})")));
        }
    }
    choices.push(("n", "no".to_owned()));
    choices.push(("e", "say something else".to_owned()));
    if hides {
        choices.push(("v", "view all".to_owned()));
    }
    let mut spans = Vec::new();
    for (index, (key, words)) in choices.into_iter().enumerate() {
        if index > 0 {
            spans.push(Span::new("  ", PLAIN));
        }
        spans.push(Span::new(format!("[{key}]"), Style { bold: true, ..ACCENT }));
        // A choice is not broken in two: its own spaces are no-break ones until the row is made.
        spans.push(Span::new(format!("\u{a0}{}", words.replace(' ', "\u{a0}")), PLAIN));
    }
    rows.extend(wrap(&spans, room));
    for span in rows.iter_mut().flat_map(|row| &mut row.spans) {
        span.text = span.text.replace('\u{a0}', " ").into();
    }
    rows
}

fn option_lines(options: &[String], several: bool, chosen: &[usize], room: usize, look: &Look) -> Vec<Line> {
    let mut rows = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let number = index + 1;
        let mark = match (several, chosen.contains(&number)) {
            (false, _) => "",
            (true, true) => look.sign("● ", "[x] "),
            (true, false) => look.sign("○ ", "[ ] "),
        };
        let head = format!("{number}. {mark}");
        let indent = head.chars().count();
        let text = wrap(&[Span::new(clean_row(option), PLAIN)], room.saturating_sub(indent));
        for (row, line) in text.into_iter().enumerate() {
            let start = if row == 0 { head.clone() } else { " ".repeat(indent) };
            let mut spans = vec![Span::new(start, ACCENT)];
            spans.extend(line.spans);
            rows.push(Line { spans });
        }
    }
    rows
}

/// A field of a form: its name, what it is, and what can be said.
fn field_lines(field: &Field, room: usize) -> Vec<Line> {
    let mut words =
        vec![Span::new(format!("{}: ", clean_row(&field.name)), ACCENT), Span::new(clean_row(&field.title), PLAIN)];
    if let Some(description) = &field.description {
        words.push(Span::new(format!(". {}", clean_row(description)), PLAIN));
    }
    let kind = match &field.kind {
        FieldKind::Text { .. } => String::new(),
        FieldKind::Number { integer: true, .. } => "a whole number".to_owned(),
        FieldKind::Number { integer: false, .. } => "a number".to_owned(),
        FieldKind::Flag => "yes or no".to_owned(),
        FieldKind::Choice { options, several } => {
            let titles: Vec<String> = options.iter().map(|option| clean_row(&option.title)).collect();
            format!("{}{}", if *several { "any of " } else { "" }, titles.join(" / "))
        }
    };
    let default = field.default.as_ref().map(|default| format!("else {}", clean_row(&form::shown(default))));
    let optional = (!field.required && default.is_none()).then(|| "optional".to_owned());
    let notes: Vec<String> =
        [Some(kind), default, optional].into_iter().flatten().filter(|note| !note.is_empty()).collect();
    if !notes.is_empty() {
        words.push(Span::new(format!(" ({})", notes.join(", ")), DIM));
    }
    wrap(&words, room)
}

fn question_hint(options: usize, several: bool, room: usize) -> Vec<Line> {
    let text = match (options, several) {
        (0, _) => "Type an answer and press Enter.",
        (_, true) => "Numbers choose, Enter sends. Or type an answer.",
        (_, false) => "Press a number, or type an answer and press Enter.",
    };
    hint(text, room)
}

fn hint(text: &'static str, room: usize) -> Vec<Line> {
    wrap(&[Span::new(text, DIM)], room)
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;
