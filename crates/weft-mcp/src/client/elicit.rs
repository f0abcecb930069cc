//! Forms that a source wants filled in are put to a person, all fields at once. What does not fit is not
//! passed on; nothing is made up.

use serde_json::{Map, Value};
use weft_core::form::{self, Field, FieldKind};

use super::host::Question;
use crate::naming;

const LONGEST_QUESTION: usize = 600;
const LONGEST_OPTION: usize = 100;

/// What became of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Filled {
    Accepted(Value),
    Declined,
}

/// A message with an address that the person may open; Weft does not. None if it is no address that
/// can be shown whole.
pub fn with_address(message: &str, address: &str) -> Option<String> {
    let url = url::Url::parse(address).ok().filter(|url| matches!(url.scheme(), "https" | "http"))?;
    let host = url.host_str()?;
    let text = format!(
        "{}\nOpen this address yourself if you trust {host}, then answer: {url}",
        naming::clean(message, LONGEST_QUESTION / 3)
    );
    (url.as_str().len() + host.len() < LONGEST_QUESTION / 2).then_some(text)
}

/// Puts a form to the person: as a question if there is nothing to fill in, with its fields otherwise.
pub async fn fill<A, F>(
    source: &str,
    message: &str,
    schema: &Value,
    ask: impl Fn(Question) -> A,
    fill: impl Fn(String, Vec<Field>) -> F,
) -> Filled
where
    A: Future<Output = Option<String>>,
    F: Future<Output = Option<Map<String, Value>>>,
{
    let intro = format!("The source `{source}` asks: {}", naming::clean(message, LONGEST_QUESTION));
    let empty = schema.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    if empty {
        let options = vec!["Yes".to_owned(), "No".to_owned()];
        let answer = ask(Question { text: intro, options, several: false }).await;
        return if answer.as_deref() == Some("Yes") {
            Filled::Accepted(Value::Object(Map::new()))
        } else {
            Filled::Declined
        };
    }
    let Some(mut fields) = form::fields_of(schema) else { return Filled::Declined };
    fields.iter_mut().for_each(clean);
    match fill(intro, fields.clone()).await {
        // Whoever filled it in, nothing that does not fit is passed on.
        Some(values) if form::check(&fields, &values).is_ok() => Filled::Accepted(Value::Object(values)),
        Some(_) | None => Filled::Declined,
    }
}

/// Takes out of a source's words what would not be shown as it is.
fn clean(field: &mut Field) {
    field.title = naming::clean(&field.title, LONGEST_OPTION);
    field.description = field.description.as_deref().map(|text| naming::clean(text, LONGEST_QUESTION));
    if let FieldKind::Choice { options, .. } = &mut field.kind {
        for option in options {
            option.title = naming::clean(&option.title, LONGEST_OPTION);
        }
    }
}

#[cfg(test)]
#[path = "elicit_tests.rs"]
mod tests;
