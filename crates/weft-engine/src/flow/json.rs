//! JSON out of a model's answer. What is cut off is not mended: a guess would be taken for an answer.

use serde_json::Value;

/// The value, from the whole text, a fenced block, or the widest braces or brackets. Where names are
/// given it has to be an object with one of them.
pub fn extract(text: &str, needs: &[String]) -> Option<Value> {
    let text = text.trim();
    let fits = |value: &Value| needs.is_empty() || needs.iter().any(|name| value.get(name).is_some());
    let structured = |value: &Value| (value.is_object() || value.is_array()) && fits(value);
    let parse = |text: &str| serde_json::from_str(text.trim()).ok().filter(structured);
    parse(text)
        .or_else(|| fenced(text).find_map(parse))
        .or_else(|| outermost(text, '{', '}').and_then(parse))
        .or_else(|| outermost(text, '[', ']').and_then(parse))
}

fn fenced(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|block| {
        let (first, rest) = block.split_once('\n').unwrap_or(("", block));
        // The first line names the language, unless the block begins at once.
        if first.trim_start().starts_with(['{', '[']) { block } else { rest }
    })
}

/// From the first such bracket to the last. One that stands inside another value is a part of something
/// that was cut off, such as a list within an object that never ends.
fn outermost(text: &str, open: char, close: char) -> Option<&str> {
    let (first, last) = (text.find(open)?, text.rfind(close)?);
    let before = text.get(..first)?.trim_end();
    let inside = match open {
        '[' => before.contains('{'),
        _ => before.ends_with('['),
    };
    text.get(first..=last).filter(|_| !inside)
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
