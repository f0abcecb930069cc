//! The OpenAI Responses API, used without storing anything at the provider: reasoning comes back
//! encrypted and is returned as it came.

use std::collections::HashMap;

use serde_json::Value;
use weft_core::event::StopReason;
use weft_core::message::Image;
use weft_core::{Failure, FailureKind, Message, Part, ToolResult, Usage, UserPart};

use super::draft::{Draft, Outbox, Parser, Place, number, text};
use super::wire::{Json, data_url, object_input, plain_id, plain_name, says_something, spoken};
use crate::catalog::{ModelInfo, Thinking};
use crate::model::{Effort, Request, ToolSpec};

pub(super) const NAME: &str = "openai_responses";

/// The smallest limit on an answer that the API takes.
const LEAST_OUTPUT: u32 = 16;

pub(super) fn settings(request: &Request, info: &ModelInfo) -> String {
    let mut json = Json::default();
    json.raw(r#""model":"#).value(&*request.model).raw(r#","stream":true,"store":false"#);
    json.raw(r#","max_output_tokens":"#).value(&request.max_output.max(LEAST_OUTPUT));
    json.raw(r#","prompt_cache_key":"#).value(&request.session);
    match info.thinking {
        Thinking::None => {}
        Thinking::Effort | Thinking::Budget | Thinking::Adaptive | Thinking::Level => {
            json.raw(r#","include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto""#);
            if let Some(effort) = request.effort.filter(|_| info.effort) {
                json.raw(r#","effort":"#).value(effort_word(effort));
            }
            json.raw("}");
        }
    }
    json.finish()
}

/// The API's own top level differs from model to model; the one that all know stands in for it.
pub(super) fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Max => "high",
    }
}

pub(super) fn head(system: &str, tools: &[ToolSpec]) -> String {
    let mut json = Json::default();
    if says_something(system) {
        json.raw(r#""instructions":"#).value(system);
    }
    if !tools.is_empty() {
        json.next_item().raw(r#""tools":["#);
        for tool in tools {
            json.next_item().raw(r#"{"type":"function","name":"#).value(&tool.name);
            json.raw(r#","description":"#).value(&tool.description);
            // The API is strict by default, which forbids optional parameters.
            json.raw(r#","parameters":"#).value(&tool.schema).raw(r#","strict":false}"#);
        }
        json.raw("]");
    }
    json.next_item().raw(r#""input":["#);
    json.finish()
}

pub(super) fn message(message: &Message) -> String {
    let mut json = Json::default();
    match message {
        Message::User(parts) => user_item(&mut json, parts),
        Message::Assistant(parts) => answer_items(&mut json, parts),
        Message::Tool(results) => results.iter().for_each(|result| result_item(&mut json, result)),
    }
    json.finish()
}

fn user_item(json: &mut Json, parts: &[UserPart]) {
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
    json.raw(r#"{"type":"input_text","text":"#).value(text).raw("}");
}

fn image_part(json: &mut Json, image: &Image) {
    json.raw(r#"{"type":"input_image","image_url":"#);
    data_url(json, image);
    json.raw("}");
}

fn answer_items(json: &mut Json, parts: &[Part]) {
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text { text } if says_something(text) => {
                json.next_item().raw(r#"{"role":"assistant","content":"#).value(text).raw("}");
            }
            Part::ToolCall(call) => {
                json.next_item().raw(r#"{"type":"function_call","call_id":"#).value(&*plain_id(&call.id));
                json.raw(r#","name":"#).value(&*plain_name(&call.name));
                json.raw(r#","arguments":"#).quoted(&object_input(&call.input)).raw("}");
            }
            Part::Opaque { protocol, data } if protocol == NAME && is_followed(parts, index) => {
                json.next_item().value(data);
            }
            Part::Text { .. } | Part::Thinking { .. } | Part::Opaque { .. } => {}
        }
    }
}

/// The API refuses reasoning without what it led to.
fn is_followed(parts: &[Part], index: usize) -> bool {
    parts.iter().skip(index + 1).any(|part| match part {
        Part::Text { text } => says_something(text),
        Part::ToolCall(_) => true,
        Part::Thinking { .. } | Part::Opaque { .. } => false,
    })
}

fn result_item(json: &mut Json, result: &ToolResult) {
    json.next_item().raw(r#"{"type":"function_call_output","call_id":"#).value(&*plain_id(&result.call));
    json.raw(r#","output":"#);
    if result.images.is_empty() {
        json.value(&result.text).raw("}");
        return;
    }
    json.raw("[");
    if says_something(&result.text) {
        text_part(json, &result.text);
    }
    for image in &result.images {
        image_part(json.next_item(), image);
    }
    json.raw("]}");
}

/// Reads the stream of one answer.
pub(super) struct Stream {
    draft: Draft,
    /// The places of output items, by the provider's number for them.
    items: HashMap<u64, Place>,
    /// Items that have been given in full; anything more about them is a repetition.
    settled: std::collections::HashSet<u64>,
    last_sequence: Option<u64>,
    refused: bool,
}

impl Stream {
    pub(super) fn new(round: u64) -> Self {
        Self {
            draft: Draft::new(round),
            items: HashMap::new(),
            settled: std::collections::HashSet::new(),
            last_sequence: None,
            refused: false,
        }
    }

    /// Whether this event has been seen before. Events are numbered.
    fn is_repeated(&mut self, event: &Value) -> bool {
        let Some(sequence) = event.get("sequence_number").and_then(Value::as_u64) else { return false };
        let repeated = self.last_sequence.is_some_and(|last| sequence <= last);
        self.last_sequence = self.last_sequence.max(Some(sequence));
        repeated
    }

    fn place(&mut self, index: u64, open: fn(&mut Draft) -> Place) -> Place {
        let draft = &mut self.draft;
        *self.items.entry(index).or_insert_with(|| open(draft))
    }

    fn open_call(&mut self, index: u64, item: &Value, out: &mut Outbox) -> Place {
        if let Some(place) = self.items.get(&index) {
            return *place;
        }
        let place = self.draft.open_call(text(item, "call_id"), text(item, "name"), out);
        self.items.insert(index, place);
        place
    }

    /// An item in full. Adds what had not been streamed.
    fn settle(&mut self, index: u64, item: &Value, out: &mut Outbox) {
        if !self.settled.insert(index) {
            return;
        }
        match text(item, "type") {
            "message" => {
                let contents = item.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let place = self.place(index, Draft::open_text);
                self.refused |= contents.iter().any(|content| text(content, "type") == "refusal");
                if self.draft.len(place) == 0 {
                    for content in contents {
                        self.draft.add(place, text(content, "text"), out);
                        self.draft.add(place, text(content, "refusal"), out);
                    }
                }
            }
            "function_call" => {
                let place = self.open_call(index, item, out);
                let arguments = text(item, "arguments");
                if self.draft.len(place) == 0 {
                    self.draft.add(place, arguments, out);
                } else if !arguments.is_empty() {
                    self.draft.settle(place, arguments);
                }
            }
            "reasoning" => {
                if !self.items.contains_key(&index) {
                    let place = self.place(index, Draft::open_thinking);
                    for summary in item.get("summary").and_then(Value::as_array).into_iter().flatten() {
                        self.draft.add(place, text(summary, "text"), out);
                    }
                }
                if item.get("encrypted_content").is_some_and(Value::is_string) {
                    self.draft.keep(NAME, without_status(item));
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, response: &Value, out: &mut Outbox) {
        self.count(response.get("usage"));
        for (index, item) in (0..).zip(response.get("output").and_then(Value::as_array).into_iter().flatten()) {
            self.settle(index, item, out);
        }
        let why = response.pointer("/incomplete_details/reason").and_then(Value::as_str).unwrap_or_default();
        let stop = match (text(response, "status"), why) {
            ("incomplete", "content_filter") => StopReason::Refusal,
            ("incomplete", _) => StopReason::Length,
            _ if self.refused => StopReason::Refusal,
            _ => StopReason::End,
        };
        out.done(self.draft.finish(stop));
    }

    fn fail(&mut self, response: &Value, out: &mut Outbox) {
        self.count(response.get("usage"));
        match response.get("error") {
            Some(error @ Value::Object(_)) => out.reported(error, self.draft.usage),
            _ => {
                let message = format!("{} gave up on the answer and gave no reason.", out.provider());
                out.fail(Failure::new(FailureKind::Server, message), self.draft.usage);
            }
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let detail = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        self.draft.usage = Some(Usage {
            input: number(usage, "input_tokens"),
            output: number(usage, "output_tokens"),
            cache_read: detail("/input_tokens_details/cached_tokens"),
            cache_write: detail("/input_tokens_details/cache_write_tokens"),
            reasoning: detail("/output_tokens_details/reasoning_tokens"),
        });
    }
}

/// `status` describes the stream, not the item, and the API does not want it back.
fn without_status(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.shift_remove("status");
    }
    item
}

impl Parser for Stream {
    fn event(&mut self, _name: &[u8], data: &[u8], out: &mut Outbox) {
        if data == b"[DONE]" {
            return;
        }
        let Ok(event) = serde_json::from_slice::<Value>(data) else {
            return out.garbled("an event that is not JSON", self.draft.usage);
        };
        if self.is_repeated(&event) {
            return;
        }
        let index = number(&event, "output_index");
        let item = event.get("item").unwrap_or(&Value::Null);
        let response = event.get("response").unwrap_or(&Value::Null);
        match text(&event, "type") {
            "response.output_item.added" if text(item, "type") == "function_call" => {
                let place = self.open_call(index, item, out);
                self.draft.add(place, text(item, "arguments"), out);
            }
            "response.output_text.delta" => {
                let place = self.place(index, Draft::open_text);
                self.draft.add(place, text(&event, "delta"), out);
            }
            "response.refusal.delta" => {
                self.refused = true;
                let place = self.place(index, Draft::open_text);
                self.draft.add(place, text(&event, "delta"), out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let place = self.place(index, Draft::open_thinking);
                self.draft.add(place, text(&event, "delta"), out);
            }
            // A summary has several parts; they are paragraphs.
            "response.reasoning_summary_part.added" if number(&event, "summary_index") > 0 => {
                let place = self.place(index, Draft::open_thinking);
                self.draft.add(place, "\n\n", out);
            }
            "response.function_call_arguments.delta" => {
                if let Some(place) = self.items.get(&index) {
                    self.draft.add(*place, text(&event, "delta"), out);
                }
            }
            "response.output_item.done" => self.settle(index, item, out),
            "response.completed" | "response.incomplete" | "response.done" => self.finish(response, out),
            "response.failed" => self.fail(response, out),
            "error" => out.reported(&event, self.draft.usage),
            _ => {}
        }
    }

    fn document(&mut self, document: &Value, out: &mut Outbox) {
        match text(document, "status") {
            "completed" | "incomplete" => self.finish(document, out),
            "failed" => self.fail(document, out),
            _ => out.reported(document, None),
        }
    }

    fn end(&mut self, out: &mut Outbox) {
        out.cut(self.draft.usage);
    }
}
