//! Forms: what a person fills in, field by field, as values of known kinds.
//!
//! A form comes from elsewhere (a source, a model) as a flat JSON schema, and is read once into fields
//! that can be drawn and checked anywhere. Whatever is filled in is checked here, whoever sends it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::event::Output;

/// More fields than this are not put to a person.
pub const MOST_FIELDS: usize = 20;
const MOST_OPTIONS: usize = 50;
const LONGEST_TEXT: usize = 16 * 1024;

/// A form as the model gets it back.
pub(crate) fn filled_in(values: Map<String, Value>) -> Output {
    Output { text: Value::Object(values).to_string(), summary: "Filled in".to_owned(), ..Output::default() }
}

/// One thing to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    /// What it is called on screen.
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    pub kind: FieldKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    Text {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
    },
    Number {
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        integer: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// Yes or no.
    Flag,
    Choice {
        options: Vec<FieldOption>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        several: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldOption {
    pub value: Value,
    pub title: String,
}

/// What is wrong with a form as it was filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}`: {what}")]
pub struct FieldProblem {
    pub name: String,
    /// For people, such as "at least 3".
    pub what: String,
}

/// The fields of a flat JSON schema, as the protocol of sources has it. None if it is no form that can
/// be put to a person.
pub fn fields_of(schema: &Value) -> Option<Vec<Field>> {
    let properties = schema.get("properties")?.as_object().filter(|properties| properties.len() <= MOST_FIELDS)?;
    let required: Vec<&str> = array(schema, "required").filter_map(Value::as_str).collect();
    properties.iter().map(|(name, schema)| field_of(name, schema, required.contains(&name.as_str()))).collect()
}

fn field_of(name: &str, schema: &Value, required: bool) -> Option<Field> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let several = schema.get("type").and_then(Value::as_str) == Some("array");
    let options = options_of(if several { schema.get("items").unwrap_or(&Value::Null) } else { schema });
    let kind = match schema.get("type").and_then(Value::as_str) {
        _ if !options.is_empty() => FieldKind::Choice { options, several },
        Some("array" | "object") => return None,
        Some("boolean") => FieldKind::Flag,
        Some(kind @ ("integer" | "number")) => {
            FieldKind::Number { integer: kind == "integer", min: number("minimum"), max: number("maximum") }
        }
        _ => FieldKind::Text {
            min_length: length("minLength"),
            max_length: length("maxLength"),
            format: schema.get("format").and_then(Value::as_str).and_then(|format| match format {
                "email" => Some(TextFormat::Email),
                "uri" => Some(TextFormat::Uri),
                "date" => Some(TextFormat::Date),
                "date-time" => Some(TextFormat::DateTime),
                _ => None,
            }),
        },
    };
    let title = text("title").unwrap_or_else(|| name.to_owned());
    let default = schema.get("default").cloned();
    Some(Field { name: name.to_owned(), title, description: text("description"), required, kind, default })
}

fn options_of(schema: &Value) -> Vec<FieldOption> {
    let titled = ["oneOf", "anyOf"].iter().flat_map(|key| array(schema, key)).filter_map(|choice| {
        let value = choice.get("const")?;
        let title = choice.get("title").and_then(Value::as_str);
        Some(FieldOption { value: value.clone(), title: title.map_or_else(|| shown(value), str::to_owned) })
    });
    let mut options: Vec<FieldOption> = titled.collect();
    let names: Vec<&str> = array(schema, "enumNames").filter_map(Value::as_str).collect();
    for (index, value) in array(schema, "enum").enumerate() {
        let title = names.get(index).map_or_else(|| shown(value), |title| (*title).to_owned());
        options.push(FieldOption { value: value.clone(), title });
    }
    options.truncate(MOST_OPTIONS);
    options
}

fn array<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The same as a schema, for who speaks the protocol of sources.
pub fn schema_of(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.clone(), property(field))).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn property(field: &Field) -> Value {
    let mut property = match &field.kind {
        FieldKind::Text { .. } => json!({ "type": "string" }),
        FieldKind::Number { integer, .. } => json!({ "type": if *integer { "integer" } else { "number" } }),
        FieldKind::Flag => json!({ "type": "boolean" }),
        FieldKind::Choice { options, several } => {
            let titled: Vec<Value> =
                options.iter().map(|option| json!({ "const": option.value, "title": option.title })).collect();
            if *several {
                json!({ "type": "array", "items": { "anyOf": titled } })
            } else {
                json!({ "type": "string", "oneOf": titled })
            }
        }
    };
    if let Some(property) = property.as_object_mut() {
        property.insert("title".to_owned(), json!(field.title));
        let more = [("description", field.description.clone().map(Value::from)), ("default", field.default.clone())];
        property.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    property
}

/// What was filled in, if all of it fits; otherwise what is wrong, field by field.
pub fn check(fields: &[Field], values: &Map<String, Value>) -> Result<(), Vec<FieldProblem>> {
    let problem = |name: &str, what: String| FieldProblem { name: name.to_owned(), what };
    let unknown = values.keys().filter(|name| !fields.iter().any(|field| field.name == **name));
    let mut problems: Vec<FieldProblem> =
        unknown.map(|name| problem(name, "there is no such field".to_owned())).collect();
    for field in fields {
        let found = match values.get(&field.name) {
            None | Some(Value::Null) if field.required => Err("it has to be filled in".to_owned()),
            None | Some(Value::Null) => Ok(()),
            Some(value) => fits(&field.kind, value),
        };
        problems.extend(found.err().map(|what| problem(&field.name, what)));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn fits(kind: &FieldKind, value: &Value) -> Result<(), String> {
    let wrong = |what: String| Err(what);
    match kind {
        FieldKind::Flag if value.is_boolean() => Ok(()),
        FieldKind::Flag => wrong("yes or no".to_owned()),
        FieldKind::Text { min_length, max_length, format } => {
            let Some(text) = value.as_str() else { return wrong("it has to be text".to_owned()) };
            let length = text.chars().count() as u64;
            match (min_length, max_length) {
                _ if text.len() > LONGEST_TEXT => wrong(format!("at most {LONGEST_TEXT} bytes")),
                (Some(min), _) if length < *min => wrong(format!("at least {min} letters")),
                (_, Some(max)) if length > *max => wrong(format!("at most {max} letters")),
                _ => format.map_or(Ok(()), |format| is_written_so(format, text)),
            }
        }
        FieldKind::Number { integer, min, max } => {
            let Some(number) = value.as_f64() else { return wrong("it has to be a number".to_owned()) };
            match (min, max) {
                _ if *integer && number.fract() != 0.0 => wrong("it has to be a whole number".to_owned()),
                (Some(min), _) if number < *min => wrong(format!("at least {min}")),
                (_, Some(max)) if number > *max => wrong(format!("at most {max}")),
                _ => Ok(()),
            }
        }
        FieldKind::Choice { options, several } => {
            let known = |value: &Value| options.iter().any(|option| option.value == *value);
            let fits = match value {
                Value::Array(chosen) if *several => chosen.iter().all(known),
                value => !several && known(value),
            };
            if fits { Ok(()) } else { wrong("one of what is offered".to_owned()) }
        }
    }
}

/// Not more than what a slip of the finger would break: who asked for it checks the rest.
fn is_written_so(format: TextFormat, text: &str) -> Result<(), String> {
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|part| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_date = |text: &str| {
        let mut parts = text.split('-');
        digits(parts.next(), 4) && digits(parts.next(), 2) && digits(parts.next(), 2) && parts.next().is_none()
    };
    let (fits, what) = match format {
        TextFormat::Email => {
            let parts = text.split_once('@');
            let fits = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
            (fits && !text.contains(char::is_whitespace), "a mail address")
        }
        TextFormat::Uri => (
            text.split_once(':').is_some_and(|(scheme, rest)| {
                scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()) && !rest.is_empty()
            }),
            "an address such as https://example.org",
        ),
        TextFormat::Date => (is_date(text), "a date such as 2026-01-31"),
        TextFormat::DateTime => (
            text.split_once(['T', ' ']).is_some_and(|(date, time)| is_date(date) && time.contains(':')),
            "a date and time such as 2026-01-31T12:00:00Z",
        ),
    };
    if fits { Ok(()) } else { Err(what.to_owned()) }
}

/// What somebody typed for a field; nothing where it is left out.
pub fn read(field: &Field, typed: &str) -> Result<Option<Value>, FieldProblem> {
    let wrong = |what: &str| FieldProblem { name: field.name.clone(), what: what.to_owned() };
    let typed = typed.trim();
    if matches!(typed, "" | "-") {
        return match &field.default {
            Some(default) => Ok(Some(default.clone())),
            None if field.required => Err(wrong("it has to be filled in")),
            None => Ok(None),
        };
    }
    let value = match &field.kind {
        FieldKind::Text { .. } => Value::from(typed),
        FieldKind::Number { integer: true, .. } => {
            typed.parse::<i64>().map(Value::from).map_err(|_| wrong("it has to be a whole number"))?
        }
        FieldKind::Number { integer: false, .. } => {
            typed.parse::<f64>().map(Value::from).map_err(|_| wrong("it has to be a number"))?
        }
        FieldKind::Flag => match typed.to_lowercase().as_str() {
            "yes" | "y" | "true" | "1" => Value::Bool(true),
            "no" | "n" | "false" | "2" => Value::Bool(false),
            _ => return Err(wrong("yes or no")),
        },
        FieldKind::Choice { options, several } => {
            let choose = |part: &str| {
                let part = part.trim();
                let numbered = part.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
                let named = options.iter().find(|option| option.title == part || shown(&option.value) == part);
                named.or(numbered).map(|option| option.value.clone()).ok_or_else(|| wrong("one of what is offered"))
            };
            if *several {
                Value::Array(typed.split([',', '\n']).map(choose).collect::<Result<_, _>>()?)
            } else {
                choose(typed)?
            }
        }
    };
    fits(&field.kind, &value).map_err(|what| wrong(&what))?;
    Ok(Some(value))
}

/// A whole form in words: the value of its only field, or `name=value` for each, on lines of their own
/// or with `;` between them.
pub fn read_all(fields: &[Field], typed: &str) -> Result<Map<String, Value>, FieldProblem> {
    let mut values = Map::new();
    if let [only] = fields {
        values.extend(read(only, typed)?.map(|value| (only.name.clone(), value)));
        return Ok(values);
    }
    let pairs: Vec<(&str, &str)> = typed
        .split(['\n', ';'])
        .filter(|pair| !pair.trim().is_empty())
        .map(|pair| pair.split_once('=').map_or((pair.trim(), ""), |(name, value)| (name.trim(), value.trim())))
        .collect();
    let unknown = pairs.iter().find(|(name, _)| !fields.iter().any(|field| field.name == *name));
    if let Some((name, _)) = unknown {
        let names: Vec<String> = fields.iter().map(|field| format!("{}=…", field.name)).collect();
        let what = format!("there is no such field; write {}", names.join("; "));
        return Err(FieldProblem { name: (*name).to_owned(), what });
    }
    for field in fields {
        let given = pairs.iter().find(|(name, _)| *name == field.name).map_or("", |(_, value)| value);
        values.extend(read(field, given)?.map(|value| (field.name.clone(), value)));
    }
    Ok(values)
}

/// A value in a word.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
