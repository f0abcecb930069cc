//! Memory: what of a session is sent to the model, and what stands in for the rest.

use std::fmt::Write as _;
use std::sync::Arc;

use weft_core::event::{Compacted, Method};
use weft_core::message::{calls_of, text_of};
use weft_core::{Entry, Message, Part, State, UserPart};
use weft_model::ModelInfo;

/// The most output a call asks for, however much the model could give.
const OUTPUT_CAP: u64 = 32_000;
/// A conversation is compacted when it fills this share of what the window leaves for it.
const COMPACT_PERCENT: u64 = 80;
/// What stays word for word after a compaction, as a share of the compaction threshold.
const KEEP_PERCENT: u64 = 20;
/// The longest summary, in bytes.
pub const SUMMARY_CAP: usize = 12 * 1024;
/// How much of each message an extractive summary quotes.
const QUOTE: usize = 400;

pub fn max_output(info: &ModelInfo) -> u64 {
    u64::from(info.max_output).min(OUTPUT_CAP).min(info.window / 2).max(1)
}

/// The size from which a conversation for this model is compacted.
pub fn compact_at(info: &ModelInfo) -> u64 {
    info.window.saturating_sub(max_output(info)) * COMPACT_PERCENT / 100
}

/// What a compaction will replace, and what it will keep.
pub struct Cut {
    pub upto: u64,
    pub old: Vec<Arc<Entry>>,
    pub tokens_before: u64,
}

/// Chooses where to cut: as much of the end as fits the share that is kept, but never between a
/// call and its result.
pub fn cut(state: &State, compact_at: u64) -> Cut {
    let entries = &state.conversation.entries;
    let budget = compact_at * KEEP_PERCENT / 100;
    let mut kept = 0u64;
    let mut from = entries.len();
    for (index, entry) in entries.iter().enumerate().rev() {
        kept = kept.saturating_add(entry.tokens);
        if kept > budget {
            break;
        }
        if !matches!(entry.message, Message::Tool(_)) {
            from = index;
        }
    }
    // Keeping everything would compact nothing.
    if from == 0 {
        from = entries.len();
    }
    let old: Vec<Arc<Entry>> = entries.iter().take(from).cloned().collect();
    let upto = old.last().map_or(state.seq, |entry| entry.seq);
    Cut { upto, old, tokens_before: state.context_tokens }
}

/// What the summarising model is told.
pub const SUMMARISE: &str = "Summarise: you write the memory of an agent whose conversation is too long to send again. \
    Write what it needs in order to go on without the original: the person's request and constraints word for word where it \
    matters; what has been done and found, with file names and figures; decisions and why; what failed; what is left. \
    One short paragraph per finished sub-goal, then `Open:` with the rest. No preamble.";

/// The conversation as one text, newest kept when it is too long.
pub fn transcript(entries: &[Arc<Entry>], cap: usize) -> String {
    let mut pieces: Vec<String> = Vec::new();
    let mut size = 0;
    for entry in entries.iter().rev() {
        let piece = render(&entry.message, 2_000);
        size += piece.len();
        if size > cap {
            pieces.push("[earlier messages left out]\n".to_owned());
            break;
        }
        pieces.push(piece);
    }
    pieces.reverse();
    pieces.concat()
}

fn render(message: &Message, quote: usize) -> String {
    let mut text = String::new();
    match message {
        Message::User(parts) => {
            for part in parts {
                if let UserPart::Text { text: said } = part {
                    let _ = writeln!(text, "Person: {}", clip(said, quote));
                }
            }
        }
        Message::Assistant(parts) => {
            let said = text_of(parts);
            if !said.trim().is_empty() {
                let _ = writeln!(text, "Agent: {}", clip(&said, quote));
            }
            for call in calls_of(parts) {
                let _ = writeln!(text, "Agent called {} {}", call.name, clip(&call.input.to_string(), quote / 2));
            }
        }
        Message::Tool(results) => {
            for result in results {
                let mark = if result.is_error { " failed" } else { "" };
                let _ = writeln!(text, "{}{mark}: {}", result.name, clip(&result.text, quote / 2));
            }
        }
    }
    text
}

/// Puts a compaction together from a summary that a model wrote.
pub fn by_model(cut: &Cut, summary: &str, spent: Option<weft_core::event::Spent>) -> Compacted {
    let summary = frame(cut, clip(summary.trim(), SUMMARY_CAP));
    Compacted { upto: cut.upto, summary, method: Method::Model, tokens_before: cut.tokens_before, spent }
}

/// Puts a compaction together from the conversation's own words, most telling first.
pub fn extractive(cut: &Cut) -> Compacted {
    let mut scored: Vec<(usize, f32, String)> = cut
        .old
        .iter()
        .enumerate()
        .map(|(index, entry)| (index, importance(&entry.message), render(&entry.message, QUOTE)))
        .filter(|(_, _, text)| !text.is_empty())
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    let mut size = 0;
    scored.retain(|(_, _, text)| {
        size += text.len();
        size <= SUMMARY_CAP
    });
    scored.sort_by_key(|(index, _, _)| *index);
    let body: String = scored.into_iter().map(|(_, _, text)| text).collect();
    let left_out = "[Excerpts of the earlier conversation, in order; the rest is left out.]\n";
    let summary = frame(cut, format!("{left_out}{body}"));
    Compacted { upto: cut.upto, summary, method: Method::Extractive, tokens_before: cut.tokens_before, spent: None }
}

fn frame(cut: &Cut, body: String) -> String {
    let request = cut.old.iter().find_map(|entry| match &entry.message {
        Message::User(parts) => parts.iter().find_map(|part| match part {
            UserPart::Text { text } if !text.starts_with(SUMMARY_MARK) => Some(clip(text, 2_000)),
            UserPart::Text { .. } | UserPart::Image(_) => None,
        }),
        Message::Assistant(_) | Message::Tool(_) => None,
    });
    match request {
        Some(request) => format!("{SUMMARY_MARK}\nThe person's first words in it: {request}\n\n{body}"),
        None => format!("{SUMMARY_MARK}\n{body}"),
    }
}

const SUMMARY_MARK: &str = "[Summary of the conversation until here]";

/// What people said and what went wrong matters most; bare short remarks least.
fn importance(message: &Message) -> f32 {
    match message {
        Message::User(_) => 1.0,
        Message::Assistant(parts) => {
            let calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
            let short = text_of(parts).len() < 50;
            0.1 + if calls { 0.3 } else { 0.4 } - if short && !calls { 0.2 } else { 0.0 }
        }
        Message::Tool(results) => 0.3 + if results.iter().any(|result| result.is_error) { 0.5 } else { 0.0 },
    }
}

fn clip(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let mut end = cap;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{} […]", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
