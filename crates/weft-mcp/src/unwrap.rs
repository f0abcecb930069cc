//! What a tool of a source gave back, taken out strictly: what is missing or does not fit is an
//! error that names the tool and says which; nothing is guessed.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use crate::naming;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnwrapError {
    #[error("The tool `{0}` reported an error: {1}")]
    Reported(String, String),
    #[error("The tool `{0}` gave back nothing at all.")]
    Empty(String),
    #[error("The tool `{0}` gave back no text.")]
    NoText(String),
    #[error("The tool `{0}` gave back text that is not JSON: {1}")]
    NotJson(String, String),
    #[error("The tool `{0}` gave back JSON that does not fit its own schema: {1}")]
    WrongShape(String, String),
}

/// The result as text for a model, at most `kept` bytes of it.
pub fn text(tool: &str, result: &CallToolResult, kept: usize) -> Result<String, UnwrapError> {
    let text = cut(blocks(result, kept), kept);
    if result.is_error == Some(true) {
        let reason = if text.is_empty() { "it did not say which".to_owned() } else { text };
        return Err(UnwrapError::Reported(tool.to_owned(), reason));
    }
    match (&result.structured_content, result.content.is_empty()) {
        (None, true) => Err(UnwrapError::Empty(tool.to_owned())),
        (Some(value), _) if text.trim().is_empty() => Ok(cut(value.to_string(), kept)),
        (Some(_) | None, _) => Ok(text),
    }
}

/// The result as JSON that fits `schema`.
pub fn json(tool: &str, result: &CallToolResult, schema: &Value) -> Result<Value, UnwrapError> {
    let name = || tool.to_owned();
    if result.is_error == Some(true) {
        return Err(UnwrapError::Reported(name(), cut(blocks(result, 2_000), 2_000)));
    }
    let value = match &result.structured_content {
        Some(value) => value.clone(),
        None if result.content.is_empty() => return Err(UnwrapError::Empty(name())),
        None => {
            let text = result.content.iter().find_map(|block| block.as_text());
            let text = text.ok_or_else(|| UnwrapError::NoText(name()))?;
            serde_json::from_str(&text.text).map_err(|error| UnwrapError::NotJson(name(), error.to_string()))?
        }
    };
    fits(schema, &value, "the result").map_err(|reason| UnwrapError::WrongShape(name(), reason))?;
    Ok(value)
}

/// Whether a value has the types, fields and choices that a schema names.
pub fn fits(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    };
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        return Err(format!("{place} must be {}", kinds.join(" or ")));
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        return Err(format!("{place} is none of the choices"));
    }
    if let Value::Object(fields) = value {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
            return Err(format!("{place} lacks `{}`", naming::clean(missing, 60)));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            if let Some(field) = fields.get(name) {
                fits(schema, field, &format!("`{}`", naming::clean(name, 60)))?;
            }
        }
    }
    if let (Value::Array(items), Some(schema)) = (value, schema.get("items")) {
        items.iter().try_for_each(|item| fits(schema, item, &format!("an item of {place}")))?;
    }
    Ok(())
}

/// Everything that can be said in words of what came back.
fn blocks(result: &CallToolResult, kept: usize) -> String {
    let mut text = String::new();
    for block in &result.content {
        if text.len() > kept {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        match block {
            ContentBlock::Text(part) => text.push_str(&part.text),
            ContentBlock::Image(image) => text.push_str(&left_out("An image", &image.mime_type, image.data.len())),
            ContentBlock::Audio(audio) => text.push_str(&left_out("A sound", &audio.mime_type, audio.data.len())),
            ContentBlock::Resource(embedded) => text.push_str(&resource(&embedded.resource)),
            ContentBlock::ResourceLink(link) => {
                let (name, uri) = (naming::clean(&link.name, 100), naming::clean(&link.uri, 500));
                text.push_str(&format!("[A link to `{name}`: {uri}]"));
            }
            _ => text.push_str("[Something of a kind that Weft does not know was left out.]"),
        }
    }
    text
}

/// A resource in words.
pub fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[{}]\n{text}", naming::clean(uri, 500))
        }
        ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
            left_out("A file", mime_type.as_deref().unwrap_or("unknown type"), blob.len())
        }
        _ => "[A resource of a kind that Weft does not know was left out.]".to_owned(),
    }
}

fn left_out(what: &str, mime_type: &str, base64: usize) -> String {
    format!("[{what} ({}, about {} KB) was left out.]", naming::clean(mime_type, 60), (base64 / 4 * 3).div_ceil(1024))
}

fn cut(mut text: String, kept: usize) -> String {
    if text.len() > kept {
        let mut end = kept;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("\n[The rest was left out: the result is too long.]");
    }
    text.retain(|letter| letter == '\n' || letter == '\t' || !letter.is_control());
    text
}

#[cfg(test)]
#[path = "unwrap_tests.rs"]
mod tests;
