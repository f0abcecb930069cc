//! OpenAI-compatible chat completions: answers, in all the shapes in which servers send them.

use std::collections::HashMap;

use serde_json::Value;
use weft_core::Usage;
use weft_core::event::StopReason;

use super::chat::{NAME, REASONING_CONTENT};
use super::draft::{Draft, Outbox, Parser, Place, mark, number, text};

/// A tool call that is being received.
struct Incoming {
    /// The server's number for it, if it gives numbers.
    index: Option<u64>,
    id: String,
    name: String,
    /// What came before it was certain that the name is complete.
    waiting: String,
    extra: Option<Value>,
    place: Option<Place>,
}

pub(super) struct Stream {
    draft: Draft,
    calls: Vec<Incoming>,
    stop: Option<StopReason>,
    /// OpenRouter's reasoning, kept for it by the number it gives each piece.
    details: Vec<Value>,
    detail_places: HashMap<(u64, String), usize>,
    came_as_reasoning_content: bool,
}

impl Stream {
    pub(super) fn new(round: u64) -> Self {
        Self {
            draft: Draft::new(round),
            calls: Vec::new(),
            stop: None,
            details: Vec::new(),
            detail_places: HashMap::new(),
            came_as_reasoning_content: false,
        }
    }

    fn chunk(&mut self, chunk: &Value, out: &mut Outbox) {
        self.count(chunk.get("usage"));
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            // OpenRouter passes on that the limit was reached as an error too, after the cut answer.
            let was_cut = self.stop == Some(StopReason::Length);
            return if was_cut { self.finish(out) } else { out.reported(chunk, self.draft.usage) };
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return };
        self.count(choice.get("usage"));
        // A whole answer has a message where a stream has deltas.
        for field in ["delta", "message"] {
            if let Some(delta) = choice.get(field).filter(|delta| delta.is_object()) {
                self.delta(delta, out);
            }
        }
        match text(choice, "finish_reason") {
            "" => {}
            "error" => out.reported(choice, self.draft.usage),
            word => self.stop = Some(stop_reason(word)),
        }
    }

    fn delta(&mut self, delta: &Value, out: &mut Outbox) {
        let reasoning = text(delta, REASONING_CONTENT);
        if reasoning.is_empty() {
            self.draft.add_thinking(text(delta, "reasoning"), out);
        } else {
            self.came_as_reasoning_content = true;
            self.draft.add_thinking(reasoning, out);
        }
        for detail in delta.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
            self.add_detail(detail);
        }
        match delta.get("content") {
            Some(Value::String(content)) => self.draft.add_text(content, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.content_part(part, out)),
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str)
            && !refusal.is_empty()
        {
            self.draft.add_text(refusal, out);
            self.stop = Some(StopReason::Refusal);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call_delta(call, out);
        }
        if let Some(function) = delta.get("function_call").filter(|function| function.is_object()) {
            self.function_delta(Some(0), "", function, None, out);
        }
    }

    /// Content in parts. Mistral's reasoning is a part that holds parts.
    fn content_part(&mut self, part: &Value, out: &mut Outbox) {
        match part.get("thinking") {
            Some(Value::Array(inner)) => inner.iter().for_each(|part| self.draft.add_thinking(text(part, "text"), out)),
            Some(Value::String(words)) => self.draft.add_thinking(words, out),
            _ => self.draft.add_text(text(part, "text"), out),
        }
    }

    fn call_delta(&mut self, call: &Value, out: &mut Outbox) {
        let index = call.get("index").and_then(Value::as_u64);
        let function = call.get("function").unwrap_or(&Value::Null);
        self.function_delta(index, text(call, "id"), function, call.get("extra_content"), out);
    }

    fn function_delta(
        &mut self,
        index: Option<u64>,
        id: &str,
        function: &Value,
        extra: Option<&Value>,
        out: &mut Outbox,
    ) {
        let name = text(function, "name");
        let position = match self.belongs_to(index, id, name) {
            Some(position) => position,
            None => {
                self.calls.push(Incoming {
                    index,
                    id: String::new(),
                    name: String::new(),
                    waiting: String::new(),
                    extra: None,
                    place: None,
                });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(position) else { return };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // A name comes whole, in pieces, or whole again with every chunk.
        if call.place.is_none() && !name.is_empty() && call.name != name {
            call.name.push_str(name);
        }
        if extra.is_some_and(|extra| !extra.is_null()) {
            call.extra = extra.cloned();
        }
        let arguments = match function.get("arguments") {
            Some(Value::String(arguments)) => arguments.clone(),
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => String::new(),
        };
        if arguments.is_empty() {
            return;
        }
        match call.place {
            Some(place) => self.draft.add(place, &arguments, out),
            None if call.name.is_empty() => call.waiting.push_str(&arguments),
            None => {
                call.waiting.push_str(&arguments);
                open(&mut self.draft, call, out);
            }
        }
    }

    /// Which call a delta continues; none if it begins a new one.
    fn belongs_to(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let same_call = |call: &Incoming| id.is_empty() || call.id.is_empty() || call.id == id;
        match index {
            Some(_) => {
                // The latest with this number; a new id under an old number is a new call.
                let position = self.calls.iter().rposition(|call| call.index == index)?;
                self.calls.get(position).filter(|call| same_call(call)).map(|_| position)
            }
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id),
            // Without number and id, a name after arguments begins a new call.
            None => {
                let last = self.calls.last()?;
                let begun = last.place.is_some() || !last.waiting.is_empty();
                (name.is_empty() || !begun).then(|| self.calls.len() - 1)
            }
        }
    }

    /// Pieces of one reasoning detail share a number and a type.
    fn add_detail(&mut self, detail: &Value) {
        const LIMIT: usize = 1_000;
        let key = (number(detail, "index"), text(detail, "type").to_owned());
        let known = self.detail_places.get(&key).and_then(|position| self.details.get_mut(*position));
        let (Some(whole), Some(fields)) = (known, detail.as_object()) else {
            if self.details.len() < LIMIT && detail.is_object() {
                self.detail_places.insert(key, self.details.len());
                self.details.push(detail.clone());
            }
            return;
        };
        for (name, value) in fields {
            match (whole.get_mut(name), value) {
                (Some(Value::String(sofar)), Value::String(more))
                    if matches!(name.as_str(), "text" | "summary" | "data") =>
                {
                    sofar.push_str(more);
                }
                (Some(old @ Value::Null), more) => *old = more.clone(),
                (Some(_), _) => {}
                (None, more) => {
                    if let Some(whole) = whole.as_object_mut() {
                        whole.insert(name.clone(), more.clone());
                    }
                }
            }
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let detail = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        let (input, answer) = (number(usage, "prompt_tokens"), number(usage, "completion_tokens"));
        let reasoning = detail("/completion_tokens_details/reasoning_tokens");
        // xAI counts reasoning beside the answer, everybody else as part of it; the total tells.
        let with_reasoning = answer.saturating_add(reasoning);
        let is_beside = number(usage, "total_tokens") == input.saturating_add(with_reasoning);
        self.draft.usage = Some(Usage {
            input,
            output: if is_beside { with_reasoning } else { answer },
            cache_read: detail("/prompt_tokens_details/cached_tokens").max(detail("/prompt_cache_hit_tokens")),
            cache_write: detail("/prompt_tokens_details/cache_write_tokens"),
            reasoning,
        });
    }

    fn finish(&mut self, out: &mut Outbox) {
        for call in &mut self.calls {
            if call.place.is_none() && !(call.name.is_empty() && call.waiting.is_empty()) {
                open(&mut self.draft, call, out);
            }
            if let (Some(place), Some(extra)) = (call.place, &call.extra) {
                self.draft.sign(place, &mark(NAME, &extra.to_string()));
            }
        }
        if !self.details.is_empty() {
            self.draft.keep(NAME, Value::Array(std::mem::take(&mut self.details)));
        }
        if self.came_as_reasoning_content {
            self.draft.sign_unsigned_thinking(&mark(NAME, REASONING_CONTENT));
        }
        out.done(self.draft.finish(self.stop.unwrap_or(StopReason::End)));
    }
}

/// The name is complete: shows the call and what has come of its arguments.
fn open(draft: &mut Draft, call: &mut Incoming, out: &mut Outbox) {
    let place = draft.open_call(&call.id, &call.name, out);
    call.place = Some(place);
    draft.add(place, &std::mem::take(&mut call.waiting), out);
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" | "max_tokens" => StopReason::Length,
        "content_filter" | "refusal" => StopReason::Refusal,
        _ => StopReason::End,
    }
}

impl Parser for Stream {
    fn event(&mut self, name: &[u8], data: &[u8], out: &mut Outbox) {
        if data.trim_ascii() == b"[DONE]" {
            let complete = self.stop.is_some() || !self.draft.is_empty() || !self.calls.is_empty();
            return if complete { self.finish(out) } else { out.cut(self.draft.usage) };
        }
        let Ok(chunk) = serde_json::from_slice::<Value>(data) else {
            return out.garbled("an event that is not JSON", self.draft.usage);
        };
        if name == b"error" { out.reported(&chunk, self.draft.usage) } else { self.chunk(&chunk, out) }
    }

    fn document(&mut self, document: &Value, out: &mut Outbox) {
        if document.pointer("/choices/0").is_none() {
            return out.reported(document, None);
        }
        self.chunk(document, out);
        self.finish(out);
    }

    fn end(&mut self, out: &mut Outbox) {
        // Some servers leave out the end marker, but say why they stopped.
        if self.stop.is_some() { self.finish(out) } else { out.cut(self.draft.usage) }
    }
}
