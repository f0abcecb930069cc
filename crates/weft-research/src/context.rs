//! What a model is given to write from: paragraphs best first as far as they fit, web sources, the
//! earlier answer, feedback. Everything from outside is marked as data.

use serde_json::{Value, json};

use crate::calibrate::web_sources;
use crate::prior::{self, at_word};

/// A cautious estimate.
fn tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX)
}

/// A piece of a paragraph that is shorter than this says nothing.
const LEAST: usize = 200;

/// Gives `text`, and how many paragraphs were `used` of how many.
pub fn context(input: &Value) -> Value {
    let room = input.pointer("/settings/context").and_then(Value::as_u64).unwrap_or(12_000);
    let paragraphs: Vec<&Value> =
        input.pointer("/retrieve/paragraphs").and_then(Value::as_array).into_iter().flatten().collect();
    let known: Vec<&Value> = input.pointer("/retrieve/known").and_then(Value::as_array).into_iter().flatten().collect();
    let mut spent = 0;
    let (new, used) = fitting(&paragraphs, room, &mut spent);
    let mut text = format!("<sources>\n{new}</sources>\n");
    let (again, repeated) = fitting(&known, room, &mut spent);
    if repeated > 0 {
        text.push_str(&format!("<known_sources>\n{again}</known_sources>\n"));
    }
    let web = web_sources(input.get("calibrate").unwrap_or(&Value::Null));
    if !web.is_empty() {
        text.push_str("<web_sources>\n");
        for (number, source) in web.iter().enumerate() {
            let line = format!(
                "[W{}] {} {}\n{}\n",
                number + 1,
                escape(&source.title),
                escape(&source.url),
                escape(if source.note.is_empty() { &source.snippet } else { &source.note })
            );
            text.push_str(&line);
        }
        text.push_str("</web_sources>\n");
    }
    let sections = prior::sections(input.get("prior").unwrap_or(&Value::Null));
    if !sections.is_empty() {
        text.push_str("<prior_answer>\n");
        for section in &sections {
            // Whole where there is room for it.
            let whole = spent + tokens(&section.text) <= room;
            let words = if whole { &section.text } else { &section.excerpt };
            spent += tokens(words);
            text.push_str(&format!("[{}] {}\n{}\n", section.id, escape(&section.heading), escape(words)));
        }
        text.push_str("</prior_answer>\n");
    }
    if let Some(feedback) = input.get("feedback").and_then(Value::as_str).filter(|feedback| !feedback.is_empty()) {
        text.push_str(&format!("<repair_feedback>\n{}\n</repair_feedback>\n", escape(feedback)));
    }
    json!({ "text": text, "used": used, "of": paragraphs.len(), "known": repeated, "web": web.len(), "prior": sections.len() })
}

/// The first of these that fit, and how many they are.
fn fitting(paragraphs: &[&Value], room: u64, spent: &mut u64) -> (String, usize) {
    let mut text = String::new();
    let mut used = 0;
    for paragraph in paragraphs {
        let field = |name: &str| paragraph.get(name).and_then(Value::as_str).unwrap_or_default();
        let piece = |words: &str| {
            format!(
                "<paragraph cite=\"{}\" tier=\"{}\" section=\"{}\">\n{}\n</paragraph>\n",
                escape(field("cite")),
                escape(field("tier")),
                escape(field("section")),
                escape(words),
            )
        };
        let mut words = field("text").to_owned();
        // The best of all is there at least in part: without any source nobody could write.
        while *spent == 0 && tokens(&piece(&words)) > room && words.len() > LEAST {
            words = at_word(&words, words.chars().count() * 3 / 4);
        }
        let piece = piece(&words);
        // What stands below does not jump the queue: it fits less well.
        if *spent + tokens(&piece) > room {
            break;
        }
        *spent += tokens(&piece);
        used += 1;
        text.push_str(&piece);
    }
    (text, used)
}

/// So that a text cannot end the element it stands in.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
