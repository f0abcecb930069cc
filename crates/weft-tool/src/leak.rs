//! Keeps secrets out of what a model asks for. A call that carries a key would write it into the
//! log, into files or onto the network; it is not made, whatever the mode is. Guesses do not count
//! here: test data in code that is written often looks like a password.

use serde_json::Value;
use weft_core::secret;

use crate::redact::Redaction;

/// Why a call with this input cannot be made, if it cannot.
pub fn refusal(input: &Value, known: &Redaction) -> Option<String> {
    let words = find(input, known)?;
    Some(format!(
        "Not done: the arguments hold {words}. Secrets do not go into arguments: let the program read it from the \
         environment or from the file where it is kept, and name that instead. In examples, write a placeholder such \
         as `sk-ant-xxxx`."
    ))
}

fn find(value: &Value, known: &Redaction) -> Option<String> {
    match value {
        Value::String(text) => {
            let mut findings = secret::scan(text.as_bytes());
            findings.retain(|finding| finding.kind.certain);
            if findings.is_empty() {
                return known.covers(text).then(|| "a saved key".to_owned());
            }
            Some(secret::words(&findings))
        }
        Value::Array(items) => items.iter().find_map(|item| find(item, known)),
        Value::Object(fields) => fields.values().find_map(|field| find(field, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
#[path = "leak_tests.rs"]
mod tests;
