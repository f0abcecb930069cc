//! The Anthropic Messages API.

use std::collections::HashMap;

use serde_json::{Value, json};
use weft_core::event::StopReason;
use weft_core::message::Image;
use weft_core::{Message, Part, ToolResult, Usage, UserPart};

use super::draft::{Draft, Outbox, Parser, Place, mark, marked, number, text};
use super::wire::{Fragment, Json, object_input, plain_id, plain_name, says_something, spoken};
use crate::catalog::{ModelInfo, Thinking};
use crate::model::{Effort, Request, ToolSpec};

pub(super) const NAME: &str = "anthropic";
pub(super) const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// Marks the end of a prefix worth caching.
pub(super) const CACHE_CONTROL: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The smallest thinking budget the API takes.
const LEAST_BUDGET: u32 = 1024;

pub(super) fn settings(request: &Request, info: &ModelInfo) -> String {
    let mut json = Json::default();
    json.raw(r#""model":"#).value(&*request.model);
    json.raw(r#","max_tokens":"#).value(&request.max_output).raw(r#","stream":true"#);
    match (info.thinking, request.effort) {
        // Newer models leave out what they think, and what they say between calls, unless asked. A
        // short answer has no room for it.
        (Thinking::Adaptive, _) if request.max_output >= 2 * LEAST_BUDGET => {
            json.raw(r#","thinking":{"type":"adaptive","display":"summarized"}"#);
        }
        (Thinking::Budget, Some(effort)) if may_think(request) => {
            let budget = budget(effort).min(request.max_output.saturating_sub(LEAST_BUDGET));
            if budget >= LEAST_BUDGET {
                json.raw(r#","thinking":{"type":"enabled","budget_tokens":"#).value(&budget).raw("}");
            }
        }
        (Thinking::Adaptive | Thinking::Budget | Thinking::None | Thinking::Level | Thinking::Effort, _) => {}
    }
    if let Some(effort) = request.effort.filter(|_| info.effort) {
        json.raw(r#","output_config":{"effort":"#).value(effort_word(effort, info)).raw("}");
    }
    json.finish()
}

fn budget(effort: Effort) -> u32 {
    match effort {
        Effort::Low => 4_096,
        Effort::Medium => 10_240,
        Effort::High => 20_480,
        Effort::Max => 32_000,
    }
}

fn effort_word(effort: Effort, info: &ModelInfo) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::Max if info.thinking == Thinking::Adaptive => "max",
        Effort::High | Effort::Max => "high",
    }
}

/// With a thinking budget the API wants the answer that made the calls now being answered to begin
/// with its own thinking. After a switch of models it does not, and this round goes without.
fn may_think(request: &Request) -> bool {
    let mut latest = request.messages.iter().rev().map(|entry| &entry.message);
    let Some(Message::Tool(_)) = latest.next() else { return true };
    let Some(Message::Assistant(parts)) = latest.next() else { return true };
    parts.first().is_some_and(is_own_thinking)
}

fn is_own_thinking(part: &Part) -> bool {
    match part {
        Part::Thinking { signature, .. } => marked(NAME, signature.as_deref()).is_some(),
        Part::Opaque { protocol, .. } => protocol == NAME,
        Part::Text { .. } | Part::ToolCall(_) => false,
    }
}

pub(super) fn head(system: &str, tools: &[ToolSpec]) -> String {
    let mut json = Json::default();
    let has_system = says_something(system);
    if !tools.is_empty() {
        json.raw(r#""tools":["#);
        for (index, tool) in tools.iter().enumerate() {
            json.next_item().raw(r#"{"name":"#).value(&tool.name);
            json.raw(r#","description":"#).value(&tool.description);
            json.raw(r#","input_schema":"#).value(&tool.schema);
            // Tools come before the system prompt in the cache, so one mark on the later is enough.
            if !has_system && index + 1 == tools.len() {
                json.raw(CACHE_CONTROL);
            }
            json.raw("}");
        }
        json.raw("]");
    }
    if has_system {
        json.next_item().raw(r#""system":[{"type":"text","text":"#).value(system).raw(CACHE_CONTROL).raw("}]");
    }
    json.next_item().raw(r#""messages":["#);
    json.finish()
}

/// The messages that end a cached prefix: the last one, and the one that was last a round ago, since
/// the API looks back only twenty blocks for what it has cached.
pub(super) fn breakpoints(messages: &[Fragment<'_>]) -> [Option<usize>; 2] {
    let mut ours =
        messages.iter().enumerate().rev().filter(|(_, fragment)| !fragment.from_model).map(|(index, _)| index);
    let last = ours.next();
    let before = ours.find(|index| messages.get(index + 1).is_some_and(|next| next.from_model));
    [last, before]
}

/// Cuts a message where its last block ends, so that a mark can be put in.
pub(super) fn split_for_breakpoint(message: &str) -> Option<(&str, &str)> {
    const END: &str = "}]}";
    message.strip_suffix(END).map(|before| (before, END))
}

pub(super) fn message(message: &Message) -> String {
    let mut blocks = Json::default();
    let role = match message {
        Message::User(parts) => {
            for part in spoken(parts) {
                blocks.next_item();
                match part {
                    UserPart::Text { text } => text_block(&mut blocks, text),
                    UserPart::Image(image) => image_block(&mut blocks, image),
                }
            }
            "user"
        }
        Message::Assistant(parts) => {
            parts.iter().for_each(|part| answer_block(&mut blocks, part));
            "assistant"
        }
        Message::Tool(results) => {
            results.iter().for_each(|result| result_block(&mut blocks, result));
            "user"
        }
    };
    let blocks = blocks.finish();
    if blocks.is_empty() {
        return String::new();
    }
    format!(r#"{{"role":"{role}","content":[{blocks}]}}"#)
}

fn text_block(json: &mut Json, text: &str) {
    json.raw(r#"{"type":"text","text":"#).value(text).raw("}");
}

fn image_block(json: &mut Json, image: &Image) {
    json.raw(r#"{"type":"image","source":{"type":"base64","media_type":"#).value(&image.media_type);
    json.raw(r#","data":"#).value(&*image.data).raw("}}");
}

fn answer_block(json: &mut Json, part: &Part) {
    match part {
        Part::Text { text } if says_something(text) => text_block(json.next_item(), text),
        Part::Text { .. } => {}
        Part::Thinking { text, signature } => {
            if let Some(signature) = marked(NAME, signature.as_deref()) {
                json.next_item().raw(r#"{"type":"thinking","thinking":"#).value(text);
                json.raw(r#","signature":"#).value(signature).raw("}");
            }
        }
        Part::ToolCall(call) => {
            json.next_item().raw(r#"{"type":"tool_use","id":"#).value(&*plain_id(&call.id));
            json.raw(r#","name":"#).value(&*plain_name(&call.name));
            json.raw(r#","input":"#).value(&*object_input(&call.input)).raw("}");
        }
        Part::Opaque { protocol, data } => {
            if protocol == NAME {
                json.next_item().value(data);
            }
        }
    }
}

fn result_block(json: &mut Json, result: &ToolResult) {
    json.next_item().raw(r#"{"type":"tool_result","tool_use_id":"#).value(&*plain_id(&result.call));
    let has_text = says_something(&result.text);
    if !result.images.is_empty() {
        json.raw(r#","content":["#);
        if has_text {
            text_block(json, &result.text);
        }
        for image in &result.images {
            image_block(json.next_item(), image);
        }
        json.raw("]");
    } else if has_text {
        json.raw(r#","content":"#).value(&result.text);
    }
    if result.is_error {
        json.raw(r#","is_error":true"#);
    }
    json.raw("}");
}

/// Reads the stream of one answer.
pub(super) struct Stream {
    draft: Draft,
    /// The places of the blocks that are being received, by the provider's number for them.
    blocks: HashMap<u64, Place>,
    stop: StopReason,
}

impl Stream {
    pub(super) fn new(round: u64) -> Self {
        Self { draft: Draft::new(round), blocks: HashMap::new(), stop: StopReason::End }
    }

    fn start_block(&mut self, index: u64, block: &Value, out: &mut Outbox) {
        if self.blocks.contains_key(&index) {
            return;
        }
        let place = match text(block, "type") {
            "text" => {
                let place = self.draft.open_text();
                self.draft.add(place, text(block, "text"), out);
                place
            }
            "thinking" => {
                let place = self.draft.open_thinking();
                self.draft.add(place, text(block, "thinking"), out);
                place
            }
            "tool_use" => {
                let place = self.draft.open_call(text(block, "id"), text(block, "name"), out);
                // Normally empty, with the arguments to follow.
                if let Some(Value::Object(input)) = block.get("input")
                    && !input.is_empty()
                {
                    self.draft.add(place, &json!(input).to_string(), out);
                }
                place
            }
            // Redacted thinking, and what the provider's own tools did: only it can read them.
            _ => self.draft.keep(NAME, block.clone()),
        };
        self.blocks.insert(index, place);
    }

    fn add_to_block(&mut self, index: u64, delta: &Value, out: &mut Outbox) {
        let Some(place) = self.blocks.get(&index).copied() else { return };
        match text(delta, "type") {
            "text_delta" => self.draft.add(place, text(delta, "text"), out),
            "thinking_delta" => self.draft.add(place, text(delta, "thinking"), out),
            "input_json_delta" => self.draft.add(place, text(delta, "partial_json"), out),
            "signature_delta" => {
                let signature = text(delta, "signature");
                let first = !self.draft.is_signed(place);
                self.draft.sign(place, &if first { mark(NAME, signature) } else { signature.to_owned() });
            }
            _ => {}
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let old = self.draft.usage.unwrap_or_default();
        let latest = |field: &str, old: u64| usage.get(field).and_then(Value::as_u64).unwrap_or(old);
        let cache_read = latest("cache_read_input_tokens", old.cache_read);
        let cache_write = latest("cache_creation_input_tokens", old.cache_write);
        // The API counts what is neither read from nor written to the cache; we count everything.
        let uncached = latest("input_tokens", old.input.saturating_sub(old.cache_read).saturating_sub(old.cache_write));
        self.draft.usage = Some(Usage {
            input: uncached.saturating_add(cache_read).saturating_add(cache_write),
            output: latest("output_tokens", old.output),
            cache_read,
            cache_write,
            reasoning: usage
                .pointer("/output_tokens_details/thinking_tokens")
                .and_then(Value::as_u64)
                .unwrap_or(old.reasoning),
        });
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "pause_turn" => StopReason::Pause,
        "refusal" => StopReason::Refusal,
        _ => StopReason::End,
    }
}

impl Parser for Stream {
    fn event(&mut self, _name: &[u8], data: &[u8], out: &mut Outbox) {
        let Ok(event) = serde_json::from_slice::<Value>(data) else {
            return out.garbled("an event that is not JSON", self.draft.usage);
        };
        match text(&event, "type") {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                self.start_block(number(&event, "index"), block, out);
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                self.add_to_block(number(&event, "index"), delta, out);
            }
            "message_delta" => {
                self.count(event.get("usage"));
                if let Some(word) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = stop_reason(word);
                }
            }
            "message_stop" => out.done(self.draft.finish(self.stop)),
            "error" => out.reported(&event, self.draft.usage),
            // Pings, ends of blocks, and what newer versions add.
            _ => {}
        }
    }

    fn document(&mut self, document: &Value, out: &mut Outbox) {
        let Some(blocks) = document.get("content").and_then(Value::as_array) else {
            return out.reported(document, None);
        };
        self.count(document.get("usage"));
        for (index, block) in (0..).zip(blocks) {
            self.start_block(index, block, out);
            if let (Some(place), Some(signature)) =
                (self.blocks.get(&index), block.get("signature").and_then(Value::as_str))
            {
                self.draft.sign(*place, &mark(NAME, signature));
            }
        }
        out.done(self.draft.finish(stop_reason(text(document, "stop_reason"))));
    }

    fn end(&mut self, out: &mut Outbox) {
        out.cut(self.draft.usage);
    }
}
