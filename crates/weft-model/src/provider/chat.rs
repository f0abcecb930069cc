//! OpenAI-compatible chat completions: requests. [`super::chat_stream`] reads the answers.
//!
//! Many servers speak this, each a little differently, so requests hold only what all of them know.

use serde_json::Value;
use weft_core::message::{Image, calls_of};
use weft_core::{Message, Part, ToolResult, UserPart};

use super::draft::marked;
use super::responses::effort_word;
use super::wire::{Json, data_url, object_input, plain_name, says_something, spoken};
use crate::catalog::ModelInfo;
use crate::model::{Request, ToolSpec};

pub(super) const NAME: &str = "openai_chat";
/// Where some servers put their reasoning, and want it back while tools are being called.
pub(super) const REASONING_CONTENT: &str = "reasoning_content";

pub(super) fn settings(request: &Request, info: &ModelInfo, base_url: &str) -> String {
    let mut json = Json::default();
    json.raw(r#""model":"#).value(&*request.model);
    json.raw(r#","stream":true,"stream_options":{"include_usage":true}"#);
    // OpenAI itself has renamed the limit; everybody else kept the name.
    let limit = if base_url.contains("api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
    json.raw(",").value(limit).raw(":").value(&request.max_output);
    if let Some(effort) = request.effort.filter(|_| info.effort) {
        json.raw(r#","reasoning_effort":"#).value(effort_word(effort));
    }
    // OpenRouter places the breakpoints itself, for the models that need them.
    if base_url.contains("openrouter.ai") && request.model.starts_with("anthropic/") {
        json.raw(super::anthropic::CACHE_CONTROL);
    }
    json.finish()
}

pub(super) fn head(system: &str, tools: &[ToolSpec]) -> String {
    let mut json = Json::default();
    if !tools.is_empty() {
        json.raw(r#""tools":["#);
        for tool in tools {
            json.next_item().raw(r#"{"type":"function","function":{"name":"#).value(&tool.name);
            json.raw(r#","description":"#).value(&tool.description);
            json.raw(r#","parameters":"#).value(&tool.schema).raw("}}");
        }
        json.raw("]");
    }
    json.next_item().raw(r#""messages":["#);
    if says_something(system) {
        json.raw(r#"{"role":"system","content":"#).value(system).raw("}");
    }
    json.finish()
}

pub(super) fn message(message: &Message) -> String {
    let mut json = Json::default();
    match message {
        Message::User(parts) => user_message(&mut json, parts),
        Message::Assistant(parts) => answer_message(&mut json, parts),
        Message::Tool(results) => result_messages(&mut json, results),
    }
    json.finish()
}

fn user_message(json: &mut Json, parts: &[UserPart]) {
    let mut parts = spoken(parts).peekable();
    let Some(first) = parts.next() else { return };
    json.raw(r#"{"role":"user","content":"#);
    if let (UserPart::Text { text }, None) = (first, parts.peek()) {
        json.value(text).raw("}");
        return;
    }
    json.raw("[");
    for part in std::iter::once(first).chain(parts) {
        json.next_item();
        match part {
            UserPart::Text { text } => text_part(json, text),
            UserPart::Image(image) => image_part(json, image),
        }
    }
    json.raw("]}");
}

fn text_part(json: &mut Json, text: &str) {
    json.raw(r#"{"type":"text","text":"#).value(text).raw("}");
}

fn image_part(json: &mut Json, image: &Image) {
    json.raw(r#"{"type":"image_url","image_url":{"url":"#);
    data_url(json, image);
    json.raw("}}");
}

fn answer_message(json: &mut Json, parts: &[Part]) {
    let has_calls = calls_of(parts).next().is_some();
    let said = weft_core::message::text_of(parts);
    if !has_calls && !says_something(&said) {
        return;
    }
    json.raw(r#"{"role":"assistant","content":"#);
    if says_something(&said) {
        json.value(&said)
    } else {
        json.raw("null")
    };
    if has_calls {
        if let Some(reasoning) = reasoning_content(parts) {
            json.raw(r#","reasoning_content":"#).value(&reasoning);
        }
        json.raw(r#","tool_calls":["#);
        for call in calls_of(parts) {
            json.next_item().raw(r#"{"id":"#).value(call.id.as_str());
            json.raw(r#","type":"function","function":{"name":"#).value(&*plain_name(&call.name));
            json.raw(r#","arguments":"#).quoted(&object_input(&call.input)).raw("}");
            if let Some(extra) = marked(NAME, call.signature.as_deref()) {
                json.raw(r#","extra_content":"#).raw(extra);
            }
            json.raw("}");
        }
        json.raw("]");
    }
    if let Some(details) = reasoning_details(parts) {
        json.raw(r#","reasoning_details":"#).value(details);
    }
    json.raw("}");
}

/// Reasoning that came in `reasoning_content`.
fn reasoning_content(parts: &[Part]) -> Option<String> {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Thinking { text, signature } if marked(NAME, signature.as_deref()) == Some(REASONING_CONTENT) => {
                Some(text.as_str())
            }
            Part::Thinking { .. } | Part::Text { .. } | Part::ToolCall(_) | Part::Opaque { .. } => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn reasoning_details(parts: &[Part]) -> Option<&Value> {
    parts.iter().find_map(|part| match part {
        Part::Opaque { protocol, data } if protocol == NAME => Some(data),
        Part::Opaque { .. } | Part::Text { .. } | Part::Thinking { .. } | Part::ToolCall(_) => None,
    })
}

fn result_messages(json: &mut Json, results: &[ToolResult]) {
    for result in results {
        json.next_item().raw(r#"{"role":"tool","tool_call_id":"#).value(result.call.as_str());
        json.raw(r#","content":"#).value(&result.text).raw("}");
    }
    // Tool messages are text only; pictures follow as if the person had sent them.
    for result in results.iter().filter(|result| !result.images.is_empty()) {
        json.next_item().raw(r#"{"role":"user","content":["#);
        text_part(json, &format!("Images from the tool {}:", result.name));
        for image in &result.images {
            image_part(json.next_item(), image);
        }
        json.raw("]}");
    }
}
