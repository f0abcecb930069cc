//! What servers answer, read into our own types. Of what does not fit nothing is taken.

use std::path::PathBuf;

use serde_json::Value;

use super::place::{self, Position};
use crate::text;

const MOST_DIAGNOSTICS: usize = 500;
const MOST_PLACES: usize = 2_000;
const LONGEST_MESSAGE: usize = 600;
const LONGEST_HOVER: usize = 6 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Error,
    Warning,
    Information,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "note",
        }
    }
}

/// A problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// Counted from 0.
    pub line: u32,
    pub severity: Severity,
    /// One line.
    pub message: String,
    /// Who says it, and its name there.
    pub code: String,
}

/// A line of a file, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub path: PathBuf,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// None: in the file that was asked about.
    pub path: Option<PathBuf>,
    pub line: u32,
    pub kind: &'static str,
    pub name: String,
    /// What it is in.
    pub container: String,
    pub depth: usize,
}

/// Hints, which editors show in grey, are left out.
pub(super) fn diagnostics(list: Option<&Value>) -> Vec<Diagnostic> {
    let list = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(diagnostic).take(MOST_DIAGNOSTICS).collect()
}

fn diagnostic(value: &Value) -> Option<Diagnostic> {
    let severity = match value.get("severity").and_then(Value::as_u64) {
        None | Some(1) => Severity::Error,
        Some(2) => Severity::Warning,
        Some(3) => Severity::Information,
        Some(_) => return None,
    };
    let message = one_line(value.get("message")?.as_str()?, LONGEST_MESSAGE);
    let source = value.get("source").and_then(Value::as_str).unwrap_or_default();
    let code = match value.get("code") {
        Some(Value::String(code)) => code.clone(),
        Some(Value::Number(code)) => code.to_string(),
        _ => String::new(),
    };
    let code = one_line(&format!("{source} {code}"), 100);
    Some(Diagnostic { line: start(value.get("range")?)?.line, severity, message, code })
}

pub(super) fn locations(value: &Value) -> Vec<Location> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        Value::Object(_) => std::slice::from_ref(value),
        _ => return Vec::new(),
    };
    let location = |value: &Value| {
        let (address, range) = match value.get("targetUri") {
            Some(address) => (address, value.get("targetSelectionRange")?),
            None => (value.get("uri")?, value.get("range")?),
        };
        Some(Location { path: place::path(address.as_str()?)?, line: start(range)?.line })
    };
    let mut found: Vec<Location> = list.iter().filter_map(location).take(MOST_PLACES).collect();
    found.sort();
    found.dedup();
    found
}

/// Both of the forms in which servers list symbols.
pub(super) fn symbols(value: &Value) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    add_symbols(value, 0, &mut symbols);
    symbols
}

fn add_symbols(list: &Value, depth: usize, symbols: &mut Vec<Symbol>) {
    for value in list.as_array().into_iter().flatten() {
        if symbols.len() >= MOST_PLACES {
            return;
        }
        let location = value.get("location");
        let range = value.get("selectionRange").or_else(|| location.and_then(|location| location.get("range")));
        // Some say only in which file it is.
        let line = range.and_then(start).map_or(0, |start| start.line);
        let path = location.and_then(|location| location.get("uri")?.as_str().and_then(place::path));
        let word = |name: &str| one_line(value.get(name).and_then(Value::as_str).unwrap_or_default(), 120);
        let name = word("name");
        if name.is_empty() || (path.is_none() && location.is_some()) {
            continue;
        }
        let kind = kind(value.get("kind").and_then(Value::as_u64));
        symbols.push(Symbol { path, line, kind, name, container: word("containerName"), depth });
        if let Some(children) = value.get("children") {
            add_symbols(children, depth + 1, symbols);
        }
    }
}

fn kind(number: Option<u64>) -> &'static str {
    const KINDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "variant",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    let index = number.and_then(|number| usize::try_from(number).ok()).and_then(|number| number.checked_sub(1));
    index.and_then(|index| KINDS.get(index)).copied().unwrap_or("symbol")
}

/// What is shown of a name: its type, its documentation.
pub(super) fn hover(value: &Value) -> String {
    fn words(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().take(20).map(words).collect::<Vec<_>>().join("\n"),
            Value::Object(marked) => marked.get("value").and_then(Value::as_str).map(str::to_owned).unwrap_or_default(),
            Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
        }
    }
    let text = value.get("contents").map(words).unwrap_or_default();
    text::cap(text.trim().to_owned(), LONGEST_HOVER)
}

fn start(range: &Value) -> Option<Position> {
    let number = |name: &str| {
        let number = range.get("start")?.get(name)?.as_u64()?;
        u32::try_from(number).ok()
    };
    Some(Position { line: number("line")?, character: number("character")? })
}

fn one_line(text: &str, longest: usize) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.len() <= longest { line } else { format!("{}…", text::head(&line, longest)) }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
