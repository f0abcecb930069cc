//! Labels of web sources and earlier answers in a text. Models leave them out, so code puts them in:
//! each source that has no `[W1]` yet gets one behind the sentence that shares most words with it,
//! and likewise `[P1]` for sections of the earlier answer. Doing it twice changes nothing.

use serde_json::Value;
use weft_knowledge::verify::sentences;

use crate::book::stems;
use crate::calibrate::web_sources;
use crate::prior;

pub fn label(text: &str, input: &Value) -> String {
    let mut text = text.to_owned();
    let nothing = Value::Null;
    for (number, source) in web_sources(input.get("calibrate").unwrap_or(&nothing)).iter().enumerate() {
        put(&mut text, &format!("[W{}]", number + 1), &format!("{} {}", source.title, source.insight));
    }
    for section in prior::sections(input.get("prior").unwrap_or(&nothing)) {
        put(&mut text, &format!("[{}]", section.id), &format!("{} {}", section.heading, section.excerpt));
    }
    text
}

fn put(text: &mut String, label: &str, about: &str) {
    if text.contains(label) {
        return;
    }
    let wanted = stems(about);
    let shared = |sentence: &str| stems(sentence).iter().filter(|stem| wanted.contains(stem)).count();
    let prose = text.split("\n\n").filter(|block| !block.starts_with('#') && !block.starts_with('>'));
    let best = prose.flat_map(sentences).map(|sentence| (shared(sentence), sentence)).max_by_key(|(shared, _)| *shared);
    let Some((1.., sentence)) = best else { return };
    let Some(at) = text.find(sentence).map(|at| at + sentence.trim_end().len()) else { return };
    // Before the full stop, where a reader expects it.
    let before = text.get(..at).map_or(at, |head| head.trim_end_matches(['.', '!', '?', '\u{201d}']).len());
    text.insert_str(before, &format!(" {label}"));
}
