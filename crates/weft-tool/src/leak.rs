//! Keeps secrets out of what a model asks for. A call that carries a key would write it into files or
//! onto the network, whatever the mode is. One that is kept here does not go. One that only looks like a
//! secret goes if a person says, this once, that it is none. Guesses do not count here: test data in code
//! that is written often looks like a password.

use serde_json::Value;
use weft_core::secret;

use crate::redact::Redaction;

/// What a call's arguments hold.
#[derive(Debug, PartialEq, Eq)]
pub enum Leak {
    /// A key that is kept here, and so is no mistake.
    Saved,
    /// What has the form of a secret.
    Looks {
        /// What it looks like: "a GitHub token".
        words: String,
        /// Where it stands, without the value.
        near: String,
    },
}

impl Leak {
    /// Why the call is not made, for the model.
    pub fn refusal(&self) -> String {
        let words = match self {
            Self::Saved => "a saved key",
            Self::Looks { words, .. } => words,
        };
        format!(
            "Not done: the arguments hold {words}. Secrets do not go into arguments: let the program read it from the \
             environment or from the file where it is kept, and name that instead. In examples, write a placeholder \
             such as `sk-ant-xxxx`."
        )
    }
}

/// What a person is told before they say yes or no to it.
pub fn warning(words: &str, near: &str) -> String {
    format!(" It holds what looks like {words} (`{near}`). Say yes only if it is no secret, or may be passed on.")
}

/// What of the arguments is a secret or looks like one. A saved key counts before all else.
pub fn find(input: &Value, known: &Redaction) -> Option<Leak> {
    if holds(input, &|text| known.covers(text).then_some(())).is_some() {
        return Some(Leak::Saved);
    }
    holds(input, &|text| {
        let mut findings = secret::scan(text.as_bytes());
        findings.retain(|finding| finding.kind.certain);
        let first = findings.first()?;
        let near = secret::excerpt(text, first).replace('`', "'");
        Some(Leak::Looks { words: secret::words(&findings), near })
    })
}

/// The first thing that is found in a text of the arguments.
fn holds<T>(value: &Value, find: &dyn Fn(&str) -> Option<T>) -> Option<T> {
    match value {
        Value::String(text) => find(text),
        Value::Array(items) => items.iter().find_map(|item| holds(item, find)),
        Value::Object(fields) => fields.values().find_map(|field| holds(field, find)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
#[path = "leak_tests.rs"]
mod tests;
