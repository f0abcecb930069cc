//! Brings a model's arguments into the form of a tool's schema: the usual other names are taken,
//! numbers may come as strings and lists as JSON text, and `null` is the same as nothing. What does
//! not fit is named in words that help the model to do better. Understands only as much of JSON
//! Schema as our own schemas use.

use serde_json::{Map, Value};

/// What models call things when they do not look at the schema.
const OTHER_NAMES: [(&str, &[&str]); 8] = [
    ("path", &["file_path", "filePath", "filepath", "file", "filename", "dir_path", "directory"]),
    ("content", &["contents", "file_text"]),
    ("old", &["old_string", "oldString", "old_text", "old_str"]),
    ("new", &["new_string", "newString", "new_text", "new_str"]),
    ("all", &["replace_all", "replaceAll"]),
    ("command", &["cmd"]),
    ("pattern", &["regex", "query"]),
    ("glob", &["include"]),
];

/// `input` in the schema's form, or what is wrong with it.
pub(crate) fn accept(schema: &Value, input: &Value) -> Result<Value, String> {
    match input {
        Value::Null => fit(schema, Value::Object(Map::new()), ""),
        Value::Object(_) => fit(schema, input.clone(), ""),
        Value::String(text) => Err(not_json(text)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err("The arguments must be a JSON object.".to_owned()),
    }
}

fn not_json(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => "The arguments must be a JSON object, not a string.".to_owned(),
        Err(error) => format!("The arguments are not valid JSON: {error}. Send the call again with valid JSON."),
    }
}

fn fit(schema: &Value, value: Value, place: &str) -> Result<Value, String> {
    match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "object" => fit_object(schema, value, place),
        "array" => {
            let Value::Array(items) = unpacked(value) else { return Err(wrong(place, "a list")) };
            let of = schema.get("items").unwrap_or(&Value::Null);
            let items = items.into_iter().enumerate();
            let fitted: Result<_, _> = items.map(|(index, item)| fit(of, item, &format!("{place}[{index}]"))).collect();
            fitted.map(Value::Array)
        }
        "string" => fit_string(schema, value, place),
        "integer" => match &value {
            Value::Number(number) => whole(number.as_f64(), place),
            Value::String(text) => whole(text.trim().parse().ok(), place),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(wrong(place, "a whole number")),
        },
        "boolean" => match &value {
            Value::Bool(_) => Ok(value),
            Value::String(text) if text == "true" => Ok(Value::Bool(true)),
            Value::String(text) if text == "false" => Ok(Value::Bool(false)),
            _ => Err(wrong(place, "true or false")),
        },
        _ => Ok(value),
    }
}

fn fit_object(schema: &Value, value: Value, place: &str) -> Result<Value, String> {
    let Value::Object(mut given) = unpacked(value) else { return Err(wrong(place, "an object")) };
    if schema.get("additionalProperties").and_then(Value::as_bool) == Some(true) {
        return Ok(Value::Object(given));
    }
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    given.retain(|_, value| !value.is_null());
    rename(&mut given, properties);
    let mut fitted = Map::new();
    for (name, value) in given {
        let place = inner(place, &name);
        let Some(property) = properties.get(&name) else {
            let known: Vec<String> = properties.keys().map(|name| format!("`{name}`")).collect();
            return Err(format!("Unknown field `{place}`. The fields are {}.", known.join(", ")));
        };
        fitted.insert(name, fit(property, value, &place)?);
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !fitted.contains_key(name) {
            return Err(format!("The field `{}` is missing.", inner(place, name)));
        }
    }
    Ok(Value::Object(fitted))
}

fn fit_string(schema: &Value, value: Value, place: &str) -> Result<Value, String> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return Err(wrong(place, "a string")),
    };
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        if !allowed.contains(&text.as_str()) {
            return Err(format!("The field `{place}` must be one of {}, not `{text}`.", allowed.join(", ")));
        }
    }
    Ok(Value::String(text))
}

fn whole(number: Option<f64>, place: &str) -> Result<Value, String> {
    match number {
        Some(number) if number >= 0.0 && number.fract() == 0.0 && number < 9e15 => Ok(Value::from(number as u64)),
        _ => Err(wrong(place, "a whole number, 0 or more")),
    }
}

/// Some models send lists and objects as JSON text.
fn unpacked(value: Value) -> Value {
    match &value {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) => inner,
            _ => value,
        },
        _ => value,
    }
}

fn rename(given: &mut Map<String, Value>, properties: &Map<String, Value>) {
    for (name, others) in OTHER_NAMES {
        if !properties.contains_key(name) || given.contains_key(name) {
            continue;
        }
        let other = others.iter().find(|other| given.contains_key(**other) && !properties.contains_key(**other));
        if let Some(value) = other.and_then(|other| given.remove(*other)) {
            given.insert(name.to_owned(), value);
        }
    }
}

fn wrong(place: &str, expected: &str) -> String {
    if place.is_empty() {
        format!("The arguments must be {expected}.")
    } else {
        format!("The field `{place}` must be {expected}.")
    }
}

fn inner(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
