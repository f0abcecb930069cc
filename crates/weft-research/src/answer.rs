//! An answer in one shape, from a model or from quotes: its text, the statements in it that cite
//! something, and those that cite nothing.

use serde_json::{Value, json};

use crate::calibrate::web_sources;
use crate::cite::{Grammar, Statement};
use crate::prior;
use crate::statements::statements;

/// What a stage of writing gave.
pub fn answer(input: &Value) -> Value {
    let model = input.get("model").filter(|model| !model.is_null());
    let extract = input.get("extract").filter(|extract| !extract.is_null());
    let (text, extractive) = match (model, extract) {
        (Some(model), _) => (written(model), false),
        (None, Some(extract)) => (quoted(extract), true),
        (None, None) => (String::new(), false),
    };
    let grammar = grammar(input);
    // A quotation stays as it stands.
    let text = if extractive { text } else { crate::label::label(&text, input) };
    let all = statements(&text, &grammar);
    let uncited: Vec<&str> = all.iter().filter(|one| one.is_uncited()).map(|one| one.words.as_str()).collect();
    let claims: Vec<Value> =
        cited(&all).map(|one| json!({ "text": one.words, "cites": one.cites, "names": one.names })).collect();
    let answerable = !claims.is_empty();
    let gaps = model.map(|model| strings(model, "gaps")).unwrap_or_default();
    let named = gaps.iter().flat_map(|gap| named_in(gap, &grammar));
    let names: Vec<String> = all.iter().flat_map(|one| one.names.clone()).chain(named).collect();
    let missing = extract.and_then(|extract| extract.get("missing")).cloned().unwrap_or_else(|| json!([]));
    let nearest = extract.and_then(|extract| extract.get("nearest")).cloned().unwrap_or_else(|| json!([]));
    let nowhere = extract.and_then(|extract| extract.get("nowhere")).cloned().unwrap_or_else(|| json!([]));
    json!({
        "synthesis": if answerable { text.as_str() } else { "" },
        "claims": claims,
        "uncited": uncited,
        "answerable": answerable,
        "extractive": extractive,
        "confidence": model.and_then(|model| model.get("confidence")),
        "gaps": gaps,
        "names": names,
        "missing": missing,
        "nearest": nearest,
        "nowhere": nowhere,
        "foreign": extract.and_then(|extract| extract.get("foreign")),
        "unread": model.and_then(unread),
    })
}

/// The statements that are checked, in the order in which the checks count them.
pub fn cited(statements: &[Statement]) -> impl Iterator<Item = &Statement> {
    statements.iter().filter(|one| !one.cites.is_empty())
}

/// How this run's texts are cited.
pub fn grammar(input: &Value) -> Grammar {
    let nothing = Value::Null;
    let prefixes = input.get("prefixes").and_then(Value::as_array).into_iter().flatten();
    Grammar {
        prefixes: prefixes.filter_map(Value::as_str).filter(|prefix| !prefix.is_empty()).map(str::to_owned).collect(),
        web: web_sources(input.get("calibrate").unwrap_or(&nothing)).into_iter().map(|source| source.url).collect(),
        earlier: prior::sections(input.get("prior").unwrap_or(&nothing)).len(),
    }
}

/// Where the words of an answer stand.
const WORDS: [&str; 3] = ["synthesis", "answer", "text"];

/// Why nothing could be read of what a model wrote. Plain prose is read as it stands; JSON that is cut off
/// or broken, or has no answer in it, is not: it would look like one, or like the word that there is none.
pub fn unread(model: &Value) -> Option<&'static str> {
    let Some(text) = model.get("raw_text").and_then(Value::as_str) else {
        let written = WORDS.iter().any(|key| model.get(key).is_some_and(Value::is_string));
        let told = model.get("gaps").is_some_and(|gaps| gaps.is_array() || gaps.is_string());
        return (!written && !told).then_some(NO_ANSWER);
    };
    if model.get("truncated").and_then(Value::as_bool) == Some(true) {
        return Some("was cut off at the longest that the model may write");
    }
    let broken =
        text.trim_start().starts_with(['{', '[']) || text.contains("```json") || text.contains("\"synthesis\"");
    if serde_json::from_str::<Value>(text.trim()).is_ok() {
        return Some(NO_ANSWER);
    }
    (broken || text.trim().is_empty()).then_some("is not valid JSON")
}

const NO_ANSWER: &str = "has no answer in it";

/// What a model wrote, with its findings and conclusions as parts of it: they are checked like the
/// rest.
fn written(model: &Value) -> String {
    if unread(model).is_some() {
        return String::new();
    }
    let text = WORDS.iter().chain(&["raw_text"]).find_map(|key| model.get(key)?.as_str());
    let mut text = text.unwrap_or_default().trim().to_owned();
    if text.is_empty() {
        return text;
    }
    for (name, heading) in [("key_findings", "Key findings"), ("conclusions", "Conclusions")] {
        let lines: Vec<String> = strings(model, name).iter().map(|line| format!("- {line}")).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n\n## {heading}\n\n{}", lines.join("\n")));
        }
    }
    text
}

/// What a sentence about what is missing speaks of. It has no source; what it names has to exist.
pub fn named_in(gap: &str, grammar: &Grammar) -> Vec<String> {
    let read = grammar.read(gap);
    read.cites.into_iter().chain(read.names).chain(read.labels).collect()
}

/// A list of texts, each on one line; also a single text.
fn strings(value: &Value, name: &str) -> Vec<String> {
    let value = value.get(name);
    let single = value.and_then(Value::as_str).into_iter();
    let list = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    single.chain(list).map(line).filter(|text| !text.is_empty()).collect()
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
        let words = plain_row(&field("text").split_whitespace().collect::<Vec<_>>().join(" "));
        // Marks within are of the second kind, so that it is clear where the quotation ends.
        let words = words.replace(['\u{201c}', '\u{201e}'], "\u{2018}").replace('\u{201d}', "\u{2019}");
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

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
