//! JSON Schema in the dialect that Gemini takes: no references, no lists of types, and only the
//! keywords it knows. What it cannot say is left out; the tool itself still checks its arguments.

use serde_json::{Map, Value, json};

/// A schema that refers to itself has no end; past these it is cut off.
const DEEPEST: usize = 16;
const MOST_NODES: usize = 2_000;

const KEPT: &[&str] = &[
    "description",
    "format",
    "maxItems",
    "minItems",
    "maxLength",
    "minLength",
    "maximum",
    "minimum",
    "nullable",
    "pattern",
    "title",
];

pub(super) fn clean(schema: &Value) -> Value {
    let mut cleaner = Cleaner { root: schema, nodes: 0 };
    Value::Object(cleaner.clean(schema, 0))
}

struct Cleaner<'a> {
    root: &'a Value,
    nodes: usize,
}

impl Cleaner<'_> {
    fn clean(&mut self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut clean = Map::new();
        self.nodes += 1;
        let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST && self.nodes < MOST_NODES) else {
            // `true` and the like: anything goes.
            clean.insert("type".to_owned(), json!("string"));
            return clean;
        };
        if let Some(target) =
            fields.get("$ref").and_then(Value::as_str).and_then(|reference| resolve(reference, self.root))
        {
            clean = self.clean(target, depth + 1);
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merge(&mut clean, self.clean(part, depth + 1));
        }
        for name in KEPT {
            if let Some(value) = fields.get(*name).filter(|value| *name != "format" || is_known_format(value)) {
                clean.insert((*name).to_owned(), value.clone());
            }
        }
        add_type(&mut clean, fields);
        self.add_choices(&mut clean, fields, depth);
        if let Some(items) = fields.get("items") {
            clean.insert("items".to_owned(), Value::Object(self.clean(items, depth + 1)));
        } else if clean.get("type").and_then(Value::as_str) == Some("array") && !clean.contains_key("items") {
            clean.insert("items".to_owned(), json!({"type": "string"}));
        }
        self.add_properties(&mut clean, fields, depth);
        clean
    }

    /// `enum`, `const`, `anyOf` and `oneOf`. Gemini knows choices among strings only.
    fn add_choices(&mut self, clean: &mut Map<String, Value>, fields: &Map<String, Value>, depth: usize) {
        let choices = match (fields.get("enum"), fields.get("const")) {
            (Some(Value::Array(choices)), _) => choices.clone(),
            (_, Some(only)) => vec![only.clone()],
            _ => Vec::new(),
        };
        let words: Vec<Value> = choices.into_iter().filter(Value::is_string).collect();
        if !words.is_empty() {
            clean.insert("type".to_owned(), json!("string"));
            clean.insert("enum".to_owned(), Value::Array(words));
        }
        let Some(variants) = ["anyOf", "oneOf"].iter().find_map(|name| fields.get(*name)).and_then(Value::as_array)
        else {
            return;
        };
        let is_null = |variant: &Value| variant.get("type").is_some_and(|name| name == "null");
        if variants.iter().any(is_null) {
            clean.insert("nullable".to_owned(), json!(true));
        }
        let mut variants: Vec<_> =
            variants.iter().filter(|variant| !is_null(variant)).map(|variant| self.clean(variant, depth + 1)).collect();
        if variants.len() == 1 {
            variants.drain(..).for_each(|variant| merge(clean, variant));
        } else if !variants.is_empty() {
            clean.insert("anyOf".to_owned(), variants.into_iter().map(Value::Object).collect());
        }
    }

    fn add_properties(&mut self, clean: &mut Map<String, Value>, fields: &Map<String, Value>, depth: usize) {
        let Some(properties) = fields.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty()) else {
            return;
        };
        let cleaned: Map<String, Value> = properties
            .iter()
            .map(|(name, property)| (name.clone(), Value::Object(self.clean(property, depth + 1))))
            .collect();
        // A required name that is no property is refused.
        let required: Vec<Value> = fields
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|name| name.as_str().is_some_and(|name| cleaned.contains_key(name)))
            .cloned()
            .collect();
        let mut addition = Map::new();
        addition.insert("properties".to_owned(), Value::Object(cleaned));
        if !required.is_empty() {
            addition.insert("required".to_owned(), Value::Array(required));
        }
        merge(clean, addition);
    }
}

fn resolve<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

fn is_known_format(format: &Value) -> bool {
    matches!(format.as_str(), Some("enum" | "date-time" | "int32" | "int64" | "float" | "double"))
}

fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            (Some(Value::Array(old)), Value::Array(new)) => old.extend(new),
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}

/// One type, and `nullable` for those that may be null.
fn add_type(clean: &mut Map<String, Value>, fields: &Map<String, Value>) {
    match fields.get("type") {
        Some(Value::String(name)) => {
            clean.insert("type".to_owned(), json!(name));
        }
        Some(Value::Array(names)) => {
            if names.iter().any(|name| name == "null") {
                clean.insert("nullable".to_owned(), json!(true));
            }
            let name = names.iter().find(|name| *name != "null").cloned().unwrap_or_else(|| json!("string"));
            clean.insert("type".to_owned(), name);
        }
        _ if fields.contains_key("properties") => {
            clean.insert("type".to_owned(), json!("object"));
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "gemini_schema_tests.rs"]
mod tests;
