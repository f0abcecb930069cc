//! Forms that a source wants filled in become questions to a person, one per field. An answer that
//! does not fit the field ends the form; nothing is made up.

use serde_json::{Map, Value};

use super::host::Question;
use crate::naming;

const MOST_FIELDS: usize = 20;
const LONGEST_QUESTION: usize = 600;
const LONGEST_OPTION: usize = 100;
const MOST_OPTIONS: usize = 30;
/// An answer cannot be empty, so this stands for one.
const LEFT_OUT: &str = "-";
/// So that a person can say no to a form in words, from everywhere.
const DECLINED: &str = "decline";

/// What became of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Filled {
    Accepted(Value),
    Declined,
}

/// One field of a form.
struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
    /// What can be chosen: the value and how it is shown.
    choices: Vec<(Value, String)>,
    several: bool,
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

/// Asks for everything in the form. `ask` puts one question and returns what was answered.
pub async fn fill<A: Future<Output = Option<String>>>(
    source: &str,
    message: &str,
    schema: &Value,
    ask: impl Fn(Question) -> A,
) -> Filled {
    let intro = format!("The source `{source}` asks: {}", naming::clean(message, LONGEST_QUESTION));
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if properties.is_empty() {
        let options = vec!["Yes".to_owned(), "No".to_owned()];
        let answer = ask(Question { text: intro, options, several: false }).await;
        return if answer.as_deref() == Some("Yes") {
            Filled::Accepted(Value::Object(Map::new()))
        } else {
            Filled::Declined
        };
    }
    if properties.len() > MOST_FIELDS {
        return Filled::Declined;
    }
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut content = Map::new();
    for (name, schema) in properties {
        let field = Field::new(name, schema, required.contains(&name.as_str()));
        let Some(text) = ask(field.question(&intro)).await.filter(|text| text.trim() != DECLINED) else {
            return Filled::Declined;
        };
        match field.value(text.trim()) {
            Ok(Some(value)) => {
                content.insert(name.clone(), value);
            }
            Ok(None) => {}
            Err(()) => return Filled::Declined,
        }
    }
    Filled::Accepted(Value::Object(content))
}

impl<'a> Field<'a> {
    fn new(name: &'a str, schema: &'a Value, required: bool) -> Self {
        let several = schema.get("type").and_then(Value::as_str) == Some("array");
        let of = if several { schema.get("items").unwrap_or(&Value::Null) } else { schema };
        let mut choices: Vec<(Value, String)> = Vec::new();
        let titled = ["oneOf", "anyOf"].iter().find_map(|key| of.get(*key)).and_then(Value::as_array);
        for choice in titled.into_iter().flatten() {
            if let Some(value) = choice.get("const") {
                let title = choice.get("title").and_then(Value::as_str).map_or_else(|| shown(value), str::to_owned);
                choices.push((value.clone(), title));
            }
        }
        let names = of.get("enumNames").and_then(Value::as_array);
        for (index, value) in of.get("enum").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let title = names.and_then(|names| names.get(index)).and_then(Value::as_str);
            choices.push((value.clone(), title.map_or_else(|| shown(value), str::to_owned)));
        }
        if of.get("type").and_then(Value::as_str) == Some("boolean") {
            choices = vec![(Value::Bool(true), "Yes".to_owned()), (Value::Bool(false), "No".to_owned())];
        }
        choices.truncate(MOST_OPTIONS);
        for (_, title) in &mut choices {
            *title = naming::clean(title, LONGEST_OPTION);
        }
        Self { name, schema, required, choices, several }
    }

    fn question(&self, intro: &str) -> Question {
        let title = self.schema.get("title").and_then(Value::as_str).unwrap_or(self.name);
        let mut text = format!("{intro}\n{}", naming::clean(title, LONGEST_OPTION));
        if let Some(description) = self.schema.get("description").and_then(Value::as_str) {
            text.push_str(&format!(": {}", naming::clean(description, LONGEST_QUESTION)));
        }
        if let Some(default) = self.schema.get("default") {
            text.push_str(&format!(" (`-` for {})", naming::clean(&shown(default), LONGEST_OPTION)));
        } else if !self.required {
            text.push_str(" (`-` leaves it out)");
        }
        text.push_str(&format!("\n`{DECLINED}` answers none of it."));
        let options = self.choices.iter().map(|(_, title)| title.clone()).collect();
        Question { text, options, several: self.several }
    }

    /// The answer as the field's value; nothing when the field is left out.
    fn value(&self, text: &str) -> Result<Option<Value>, ()> {
        if matches!(text, "" | LEFT_OUT) {
            return match self.schema.get("default") {
                Some(default) => Ok(Some(default.clone())),
                None if self.required => Err(()),
                None => Ok(None),
            };
        }
        if !self.choices.is_empty() {
            let choose = |part: &str| {
                let part = part.trim();
                let fits = |(value, title): &&(Value, String)| title == part || shown(value) == part;
                self.choices.iter().find(fits).map(|(value, _)| value.clone()).ok_or(())
            };
            if self.several {
                let chosen: Result<Vec<Value>, ()> = text.split([',', '\n']).map(choose).collect();
                return chosen.map(|chosen| Some(Value::Array(chosen)));
            }
            return choose(text).map(Some);
        }
        match self.schema.get("type").and_then(Value::as_str) {
            Some("integer") => text.parse::<i64>().map(|number| Some(number.into())).map_err(|_| ()),
            Some("number") => text.parse::<f64>().map(|number| Some(number.into())).map_err(|_| ()),
            Some("array") => Err(()),
            _ => Ok(Some(Value::String(text.to_owned()))),
        }
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
#[path = "elicit_tests.rs"]
mod tests;
