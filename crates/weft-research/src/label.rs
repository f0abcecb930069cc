//! Labels of web sources and earlier answers in a text. Models leave them out, so code points to them:
//! each source that has no `[W1]` yet gets one behind the sentence that shares most words with it, and
//! likewise `[P1]` for sections of the earlier answer. A label that code puts says "see also": it does
//! not claim that the sentence comes from there. Where hardly a word is shared there is none. Doing it
//! twice changes nothing.

use serde_json::Value;

use crate::answer::grammar;
use crate::book::stems;
use crate::calibrate::web_sources;
use crate::prior;
use crate::statements::statements;

/// Telling words that a sentence and a source must share.
const LEAST_SHARED: usize = 2;

pub fn label(text: &str, input: &Value) -> String {
    let mut text = text.to_owned();
    let nothing = Value::Null;
    for (number, source) in web_sources(input.get("calibrate").unwrap_or(&nothing)).iter().enumerate() {
        let about = format!("{} {} {}", source.title, source.note, source.snippet);
        put(&mut text, &format!("W{}", number + 1), &about, input);
    }
    for section in prior::sections(input.get("prior").unwrap_or(&nothing)) {
        put(&mut text, &section.id, &format!("{} {}", section.heading, section.excerpt), input);
    }
    text
}

fn put(text: &mut String, label: &str, about: &str, input: &Value) {
    let all = statements(text, &grammar(input));
    if all.iter().any(|statement| statement.labels.iter().chain(&statement.also).any(|known| known == label)) {
        return;
    }
    let wanted = stems(about);
    let shared = |sentence: &str| {
        let mut words: Vec<String> = stems(sentence).into_iter().filter(|stem| wanted.contains(stem)).collect();
        words.sort();
        words.dedup();
        words.len()
    };
    // A row of a table has no place for it.
    let prose = all.iter().filter(|statement| !statement.text.starts_with('|'));
    let best = prose.map(|statement| (shared(&statement.words), statement)).max_by_key(|(shared, _)| *shared);
    let Some((LEAST_SHARED.., statement)) = best else { return };
    let Some(at) = text.find(&statement.text).map(|at| at + statement.text.len()) else { return };
    // Before the full stop, where a reader expects it.
    let before = text.get(..at).map_or(at, |head| head.trim_end_matches(['.', '!', '?', '\u{201d}']).len());
    text.insert_str(before, &format!(" (see also [{label}])"));
}

#[cfg(test)]
#[path = "label_tests.rs"]
mod tests;
