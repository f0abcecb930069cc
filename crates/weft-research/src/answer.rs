//! An answer taken apart: its sections, its sentences, and what each cites. Citations are what stands
//! in round brackets behind a sentence: `(HHS 3.8)`, `(HHS 3.8, 3.9; Guide G2.1)`.

use serde_json::{Value, json};
use weft_knowledge::verify::{Claim, sentences};

/// What a stage of writing gave, from a model or from quotes, in one shape.
pub fn answer(input: &Value) -> Value {
    let model = input.get("model").filter(|model| !model.is_null());
    let extract = input.get("extract").filter(|extract| !extract.is_null());
    let (text, extractive) = match (model, extract) {
        (Some(model), _) => (written(model), false),
        (None, Some(extract)) => (quoted(extract), true),
        (None, None) => (String::new(), false),
    };
    let known = input.get("prefixes").map(prefixes).unwrap_or_default();
    let text = spaced(&text);
    // A quotation stays as it stands.
    let text = if extractive { text } else { crate::label::label(&text, input) };
    let claims = claims(&text, &known);
    let answerable = !claims.is_empty();
    let gaps = model.and_then(|model| model.get("gaps")).cloned().unwrap_or_else(|| json!([]));
    let missing = extract.and_then(|extract| extract.get("missing")).cloned().unwrap_or_else(|| json!([]));
    let nearest = extract.and_then(|extract| extract.get("nearest")).cloned().unwrap_or_else(|| json!([]));
    json!({
        "synthesis": if answerable { text } else { String::new() },
        "claims": claims,
        "answerable": answerable,
        "extractive": extractive,
        "confidence": model.and_then(|model| model.get("confidence")),
        "gaps": gaps,
        "missing": missing,
        "nearest": nearest,
    })
}

/// A heading is a block of its own, also where what follows stands on the next line.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        spaced.push_str(line);
        spaced.push_str(if line.starts_with('#') { "\n\n" } else { "\n" });
    }
    spaced.trim().to_owned()
}

fn written(model: &Value) -> String {
    let text = ["synthesis", "answer", "raw_text", "text"].iter().find_map(|key| model.get(key)?.as_str());
    text.unwrap_or_default().trim().to_owned()
}

/// Quotes in order, under the headings they come from.
fn quoted(extract: &Value) -> String {
    let quotes = extract.get("quotes").and_then(Value::as_array).into_iter().flatten();
    let (mut text, mut heading) = (String::new(), String::new());
    for quote in quotes {
        let field = |name: &str| quote.get(name).and_then(Value::as_str).unwrap_or_default();
        let section = field("section").rsplit(" > ").next().unwrap_or_default();
        if section != heading {
            heading = section.to_owned();
            text.push_str(&format!("\n## {heading}\n\n"));
        }
        let words = plain_row(field("text"));
        text.push_str(&format!("\u{201c}{words}\u{201d} ({})\n\n", field("cite")));
    }
    text.trim().to_owned()
}

/// A row of a table as words between quotation marks.
fn plain_row(text: &str) -> String {
    if !text.starts_with('|') {
        return text.to_owned();
    }
    text.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join(" | ")
}

pub fn prefixes(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).filter(|prefix| !prefix.is_empty()).map(str::to_owned).collect()
}

/// The sentences that cite something or could: headings, lists of sources and markers are none.
pub fn claims(text: &str, prefixes: &[String]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for block in text.split("\n\n").map(str::trim) {
        if block.is_empty() || block.starts_with('#') || block.starts_with('>') {
            continue;
        }
        for line in block.lines().map(|line| line.trim_start_matches(['-', '*', ' '])) {
            for sentence in sentences(line) {
                let (words, cites) = cited(sentence, prefixes);
                let has_words = words.chars().any(char::is_alphanumeric);
                match claims.last_mut() {
                    // A citation behind the full stop belongs to the sentence before it.
                    Some(last) if !has_words => last.cites.extend(cites),
                    _ if has_words => claims.push(Claim { text: words, cites }),
                    _ => {}
                }
            }
        }
    }
    // A paragraph that ends with a citation is borne out by it as a whole.
    claims.retain(|claim| !claim.cites.is_empty());
    claims
}

/// A sentence without its citations, and their ids.
pub fn cited(sentence: &str, prefixes: &[String]) -> (String, Vec<String>) {
    let (mut words, mut cites) = (String::new(), Vec::new());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('(') {
        words.push_str(before);
        let Some((inside, after)) = after.split_once(')') else {
            words.push('(');
            rest = after;
            continue;
        };
        match ids_in(inside, prefixes) {
            Some(ids) => {
                cites.extend(ids);
                let trimmed = words.trim_end().len();
                words.truncate(trimmed);
            }
            None => {
                words.push('(');
                words.push_str(inside);
                words.push(')');
            }
        }
        rest = after;
    }
    words.push_str(rest);
    let words = strip_labels(&words);
    (words.trim().to_owned(), cites)
}

/// `[W1]` and `[P2]` point elsewhere.
fn strip_labels(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        kept.push_str(before);
        match after.split_once(']') {
            Some((inside, after)) if is_label(inside) => {
                let trimmed = kept.trim_end().len();
                kept.truncate(trimmed);
                rest = after;
            }
            _ => {
                kept.push('[');
                rest = after;
            }
        }
    }
    kept.push_str(rest);
    kept
}

pub fn is_label(text: &str) -> bool {
    let digits = text.strip_prefix(['W', 'P']).unwrap_or_default();
    !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit())
}

/// The paragraphs that a bracket names; nothing if it is a remark.
fn ids_in(inside: &str, prefixes: &[String]) -> Option<Vec<String>> {
    let mut ids = Vec::new();
    let mut named = prefixes.is_empty();
    for part in inside.split([',', ';']).flat_map(|part| part.split(" and ")).map(str::trim) {
        let bare = prefixes.iter().find_map(|prefix| part.strip_prefix(prefix.as_str()).map(str::trim));
        named |= bare.is_some();
        let id = bare.unwrap_or(part).trim_start_matches("paragraph ").trim();
        let is_id = !id.is_empty()
            && !id.contains(char::is_whitespace)
            && id.contains(|c: char| c.is_ascii_digit() || c == '#');
        if !is_id {
            return None;
        }
        ids.push(id.to_owned());
    }
    named.then_some(ids).filter(|ids| !ids.is_empty())
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
