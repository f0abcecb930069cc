//! The Gemini API (`streamGenerateContent`).

use serde_json::Value;
use weft_core::event::StopReason;
use weft_core::message::{Image, calls_of};
use weft_core::{Failure, FailureKind, Message, Part, ToolCall, ToolResult, Usage, UserPart};

use super::draft::{Draft, Outbox, Parser, mark, marked, number, text};
use super::gemini_schema;
use super::wire::{Json, object_input, plain_name, says_something, spoken};
use crate::catalog::{ModelInfo, Thinking};
use crate::model::{Effort, Request, ToolSpec};

pub(super) const NAME: &str = "gemini";

/// What Google lets stand in for the signature of a call that another model made.
const STAND_IN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn path(model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    format!("/models/{model}:streamGenerateContent?alt=sse")
}

pub(super) fn settings(request: &Request, info: &ModelInfo) -> String {
    let mut json = Json::default();
    json.raw(r#""generationConfig":{"maxOutputTokens":"#).value(&request.max_output);
    match (info.thinking, request.effort) {
        (Thinking::Level, Some(effort)) => {
            json.raw(r#","thinkingConfig":{"includeThoughts":true"#);
            if let Some(level) = level(effort) {
                json.raw(r#","thinkingLevel":"#).value(level);
            }
            json.raw("}");
        }
        (Thinking::Budget, Some(effort)) => {
            json.raw(r#","thinkingConfig":{"includeThoughts":true,"thinkingBudget":"#).value(&budget(effort)).raw("}");
        }
        (Thinking::Level | Thinking::Budget, None) => {
            json.raw(r#","thinkingConfig":{"includeThoughts":true}"#);
        }
        (Thinking::None | Thinking::Adaptive | Thinking::Effort, _) => {}
    }
    json.raw("}");
    json.finish()
}

/// Not every model knows a level in between; its own default is the nearest to it.
fn level(effort: Effort) -> Option<&'static str> {
    match effort {
        Effort::Low => Some("low"),
        Effort::Medium => None,
        Effort::High | Effort::Max => Some("high"),
    }
}

fn budget(effort: Effort) -> i32 {
    match effort {
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High | Effort::Max => 24_576,
    }
}

pub(super) fn head(system: &str, tools: &[ToolSpec]) -> String {
    let mut json = Json::default();
    if says_something(system) {
        json.raw(r#""systemInstruction":{"parts":[{"text":"#).value(system).raw("}]}");
    }
    if !tools.is_empty() {
        json.next_item().raw(r#""tools":[{"functionDeclarations":["#);
        for tool in tools {
            json.next_item().raw(r#"{"name":"#).value(&tool.name);
            json.raw(r#","description":"#).value(&tool.description);
            // An object without properties is refused; no parameters at all are fine.
            let schema = gemini_schema::clean(&tool.schema);
            if schema.get("properties").is_some() {
                json.raw(r#","parameters":"#).value(&schema);
            }
            json.raw("}");
        }
        json.raw("]}]");
    }
    json.next_item().raw(r#""contents":["#);
    json.finish()
}

pub(super) fn message(message: &Message) -> String {
    write(message, None)
}

/// The newer models refuse calls without a signature, also those that another model made.
pub(super) fn with_stand_in_signature(message: &Message, info: &ModelInfo) -> Option<String> {
    let Message::Assistant(parts) = message else { return None };
    let first = calls_of(parts).next()?;
    let foreign = own_signature(first).is_none();
    (foreign && info.thinking == Thinking::Level).then(|| write(message, Some(STAND_IN_SIGNATURE)))
}

fn own_signature(call: &ToolCall) -> Option<&str> {
    marked(NAME, call.signature.as_deref())
}

fn write(message: &Message, mut stand_in: Option<&str>) -> String {
    let mut parts_json = Json::default();
    let mut after = Json::default();
    let role = match message {
        Message::User(parts) => {
            for part in spoken(parts) {
                parts_json.next_item();
                match part {
                    UserPart::Text { text } => text_part(&mut parts_json, text),
                    UserPart::Image(image) => image_part(&mut parts_json, image),
                }
            }
            "user"
        }
        Message::Assistant(parts) => {
            for part in parts {
                answer_part(&mut parts_json, part, &mut stand_in);
            }
            "model"
        }
        Message::Tool(results) => {
            for result in results {
                result_part(&mut parts_json, result);
                result_images(&mut after, result);
            }
            "user"
        }
    };
    let parts = parts_json.finish();
    if parts.is_empty() {
        return String::new();
    }
    let after = after.finish();
    let comma = if after.is_empty() { "" } else { "," };
    format!(r#"{{"role":"{role}","parts":[{parts}]}}{comma}{after}"#)
}

fn text_part(json: &mut Json, text: &str) {
    json.raw(r#"{"text":"#).value(text).raw("}");
}

fn image_part(json: &mut Json, image: &Image) {
    json.raw(r#"{"inlineData":{"mimeType":"#).value(&image.media_type);
    json.raw(r#","data":"#).value(&*image.data).raw("}}");
}

fn answer_part(json: &mut Json, part: &Part, stand_in: &mut Option<&str>) {
    match part {
        Part::Text { text } if says_something(text) => text_part(json.next_item(), text),
        Part::Text { .. } => {}
        Part::Thinking { text, signature } => {
            if let Some(signature) = marked(NAME, signature.as_deref()) {
                json.next_item().raw(r#"{"thought":true,"text":"#).value(text);
                json.raw(r#","thoughtSignature":"#).value(signature).raw("}");
            }
        }
        Part::ToolCall(call) => {
            json.next_item().raw(r#"{"functionCall":{"id":"#).value(call.id.as_str());
            json.raw(r#","name":"#).value(&*plain_name(&call.name));
            json.raw(r#","args":"#).value(&*object_input(&call.input)).raw("}");
            if let Some(signature) = own_signature(call).or(stand_in.take()) {
                json.raw(r#","thoughtSignature":"#).value(signature);
            }
            json.raw("}");
        }
        Part::Opaque { protocol, data } => {
            if protocol == NAME {
                json.next_item().value(data);
            }
        }
    }
}

fn result_part(json: &mut Json, result: &ToolResult) {
    json.next_item().raw(r#"{"functionResponse":{"id":"#).value(result.call.as_str());
    json.raw(r#","name":"#).value(&*plain_name(&result.name));
    let field = if result.is_error { "error" } else { "output" };
    json.raw(r#","response":{"#).value(field).raw(":").value(&result.text).raw("}}}");
}

/// Results are text only for most models; pictures follow as if the person had sent them.
fn result_images(json: &mut Json, result: &ToolResult) {
    if result.images.is_empty() {
        return;
    }
    json.next_item().raw(r#"{"role":"user","parts":["#);
    text_part(json, &format!("Images from the tool {}:", result.name));
    for image in &result.images {
        image_part(json.next_item(), image);
    }
    json.raw("]}");
}

/// Reads the stream of one answer.
pub(super) struct Stream {
    draft: Draft,
    stop: Option<StopReason>,
    /// The signature of the text that is being received. It comes with any piece of that text, and is
    /// kept after it, so that the text stays one piece.
    text_signature: Option<String>,
    /// Why the provider would not go on, in its words.
    malformed: Option<String>,
}

impl Stream {
    pub(super) fn new(round: u64) -> Self {
        Self { draft: Draft::new(round), stop: None, text_signature: None, malformed: None }
    }

    fn chunk(&mut self, chunk: &Value, out: &mut Outbox) {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return out.reported(chunk, self.draft.usage);
        }
        self.count(chunk.get("usageMetadata"));
        if chunk.pointer("/promptFeedback/blockReason").is_some_and(Value::is_string) {
            self.stop = Some(StopReason::Refusal);
        }
        let Some(candidate) = chunk.pointer("/candidates/0") else { return };
        for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
            self.part(part, out);
        }
        match text(candidate, "finishReason") {
            "" | "FINISH_REASON_UNSPECIFIED" => {}
            "MAX_TOKENS" => self.stop = Some(StopReason::Length),
            word @ ("MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "MISSING_THOUGHT_SIGNATURE"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE") => {
                let detail = text(candidate, "finishMessage");
                self.malformed = Some(if detail.is_empty() { word } else { detail }.to_owned());
            }
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
                self.stop = Some(StopReason::Refusal);
            }
            _ => self.stop = Some(StopReason::End),
        }
    }

    fn part(&mut self, part: &Value, out: &mut Outbox) {
        let signature = part.get("thoughtSignature").and_then(Value::as_str).filter(|signature| !signature.is_empty());
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            self.keep_text_signature();
            let place = self.draft.open_call(text(call, "id"), text(call, "name"), out);
            if let Some(arguments) = call.get("args") {
                self.draft.add(place, &arguments.to_string(), out);
            }
            if let Some(signature) = signature {
                self.draft.sign(place, &mark(NAME, signature));
            }
            return;
        }
        let words = text(part, "text");
        if part.get("thought").and_then(Value::as_bool).unwrap_or(false) {
            self.keep_text_signature();
            self.draft.add_thinking(words, out);
            if let Some(signature) = signature {
                self.draft.sign_last_thinking(&mark(NAME, signature));
            }
            return;
        }
        self.draft.add_text(words, out);
        if let Some(signature) = signature {
            self.keep_text_signature();
            self.text_signature = Some(signature.to_owned());
        }
    }

    fn keep_text_signature(&mut self) {
        if let Some(signature) = self.text_signature.take() {
            self.draft.keep(NAME, serde_json::json!({ "text": "", "thoughtSignature": signature }));
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let reasoning = number(usage, "thoughtsTokenCount");
        self.draft.usage = Some(Usage {
            input: number(usage, "promptTokenCount").saturating_add(number(usage, "toolUsePromptTokenCount")),
            output: number(usage, "candidatesTokenCount").saturating_add(reasoning),
            cache_read: number(usage, "cachedContentTokenCount"),
            cache_write: 0,
            reasoning,
        });
    }

    fn finish(&mut self, out: &mut Outbox) {
        if let Some(why) = self.malformed.take() {
            let message = format!("{} could not finish its call: {}.", out.provider(), out.clean(&why));
            return out.fail(Failure::new(FailureKind::Protocol, message), self.draft.usage);
        }
        self.keep_text_signature();
        match self.stop {
            Some(stop) => out.done(self.draft.finish(stop)),
            None => out.cut(self.draft.usage),
        }
    }
}

impl Parser for Stream {
    fn event(&mut self, _name: &[u8], data: &[u8], out: &mut Outbox) {
        match serde_json::from_slice::<Value>(data) {
            Ok(chunk) => self.chunk(&chunk, out),
            Err(_) => out.garbled("an event that is not JSON", self.draft.usage),
        }
    }

    fn document(&mut self, document: &Value, out: &mut Outbox) {
        // Without `alt=sse`, which a proxy may drop, the chunks come as a list.
        match document {
            Value::Array(chunks) => chunks.iter().for_each(|chunk| self.chunk(chunk, out)),
            chunk if chunk.get("candidates").is_some() => self.chunk(chunk, out),
            other => return out.reported(other, None),
        }
        self.finish(out);
    }

    /// The stream has no end marker of its own; having said why it stopped is the end.
    fn end(&mut self, out: &mut Outbox) {
        self.finish(out);
    }
}
