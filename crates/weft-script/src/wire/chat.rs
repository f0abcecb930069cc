//! OpenAI chat completions, in the shapes of the servers that call themselves compatible.

use serde_json::{Value, json};

use super::{CREATED, Encoded, Event, MODEL, NUMBER, arguments_value, call_parts, data_event};
use super::{json_fragments, text_fragments};
use crate::reply::{ChatShape, Piece, Reply, Stop};

pub(super) fn encode(reply: &Reply) -> Encoded {
    let opening = vec![delta_event(json!({ "role": "assistant", "content": "" }))];
    let mut calls = 0;
    let pieces = reply
        .pieces
        .iter()
        .map(|piece| {
            let index = calls;
            calls += usize::from(piece.is_call());
            piece_events(reply, index, piece)
        })
        .collect();
    let finish = json!([{ "index": 0, "delta": {}, "logprobs": null, "finish_reason": finish_reason(reply) }]);
    let mut closing = vec![data_event(&chunk(finish), "\n")];
    if !reply.has_shape(ChatShape::NoUsage) {
        let mut last = chunk(json!([]));
        if let Some(fields) = last.as_object_mut() {
            fields.insert("usage".to_owned(), usage(reply));
        }
        closing.push(data_event(&last, "\n"));
    }
    if !reply.has_shape(ChatShape::NoDone) {
        closing.push(b"data: [DONE]\n\n".to_vec());
    }
    Encoded { opening, pieces, closing, plain: completion(reply) }
}

fn chunk(choices: Value) -> Value {
    json!({
        "id": format!("chatcmpl-{NUMBER}"),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": MODEL,
        "choices": choices,
    })
}

fn delta_event(delta: Value) -> Event {
    let choices = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }]);
    data_event(&chunk(choices), "\n")
}

fn piece_events(reply: &Reply, index: usize, piece: &Piece) -> Vec<Event> {
    match piece {
        Piece::Text(text) => text_fragments(text).map(|part| delta_event(json!({ "content": part }))).collect(),
        Piece::Thinking(text) => {
            let field = reasoning_field(reply);
            text_fragments(text).map(|part| delta_event(json!({ field: part }))).collect()
        }
        Piece::Call { .. } | Piece::RawCall { .. } => {
            let (name, arguments) = call_parts(piece).unwrap_or_default();
            if reply.has_shape(ChatShape::LegacyFunctionCall) {
                legacy_call(name, &arguments)
            } else {
                call_chunks(reply, index, name, &arguments).into_iter().map(tool_call_event).collect()
            }
        }
    }
}

fn tool_call_event(call: Value) -> Event {
    delta_event(json!({ "tool_calls": [call] }))
}

fn legacy_call(name: &str, arguments: &str) -> Vec<Event> {
    let first = delta_event(json!({ "function_call": { "name": name, "arguments": "" } }));
    let rest = json_fragments(arguments).map(|part| delta_event(json!({ "function_call": { "arguments": part } })));
    std::iter::once(first).chain(rest).collect()
}

/// The entries of `tool_calls` that together make one call.
fn call_chunks(reply: &Reply, index: usize, name: &str, arguments: &str) -> Vec<Value> {
    let is = |shape| reply.has_shape(shape);
    let id = call_id(reply, index);
    let entry = |first: bool, function: Value| {
        let mut entry = serde_json::Map::new();
        if !is(ChatShape::NoIndex) {
            let shown = if is(ChatShape::SameIndexNewId) { 0 } else { index };
            entry.insert("index".to_owned(), json!(shown));
        }
        if first || is(ChatShape::IdEveryChunk) || is(ChatShape::EmptyId) {
            entry.insert("id".to_owned(), json!(id));
            entry.insert("type".to_owned(), json!("function"));
        }
        entry.insert("function".to_owned(), function);
        Value::Object(entry)
    };
    if is(ChatShape::ObjectArguments) {
        return vec![entry(true, json!({ "name": name, "arguments": arguments_value(arguments) }))];
    }
    if is(ChatShape::WholeCall) {
        return vec![entry(true, json!({ "name": name, "arguments": arguments }))];
    }
    let mut entries = Vec::new();
    if is(ChatShape::NameInPieces) {
        let middle = (name.len() / 2..name.len()).find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        let (head, tail) = name.split_at(middle);
        entries.push(entry(true, json!({ "name": head, "arguments": "" })));
        entries.push(entry(false, json!({ "name": tail, "arguments": "" })));
    } else {
        entries.push(entry(true, json!({ "name": name, "arguments": "" })));
    }
    entries.extend(json_fragments(arguments).map(|part| {
        let function = if is(ChatShape::NameEveryChunk) {
            json!({ "name": name, "arguments": part })
        } else {
            json!({ "arguments": part })
        };
        entry(false, function)
    }));
    entries
}

fn call_id(reply: &Reply, index: usize) -> String {
    if reply.has_shape(ChatShape::EmptyId) { String::new() } else { format!("call_{NUMBER}_{index}") }
}

fn reasoning_field(reply: &Reply) -> &'static str {
    if reply.has_shape(ChatShape::ReasoningContent) { "reasoning_content" } else { "reasoning" }
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.final_stop() {
        Stop::ToolUse if reply.has_shape(ChatShape::StopWithCalls) => "stop",
        Stop::ToolUse if reply.has_shape(ChatShape::LegacyFunctionCall) => "function_call",
        Stop::ToolUse => "tool_calls",
        Stop::End | Stop::Pause => "stop",
        Stop::MaxTokens => "length",
        Stop::Refusal => "content_filter",
    }
}

fn usage(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    })
}

fn completion(reply: &Reply) -> Value {
    let mut content = String::new();
    let mut reasoning = String::new();
    let mut calls: Vec<Value> = Vec::new();
    for piece in &reply.pieces {
        match piece {
            Piece::Text(text) => content.push_str(text),
            Piece::Thinking(text) => reasoning.push_str(text),
            Piece::Call { .. } | Piece::RawCall { .. } => {
                let (name, arguments) = call_parts(piece).unwrap_or_default();
                let sent = if reply.has_shape(ChatShape::ObjectArguments) {
                    arguments_value(&arguments)
                } else {
                    json!(arguments)
                };
                let function = json!({ "name": name, "arguments": sent });
                calls.push(json!({ "id": call_id(reply, calls.len()), "type": "function", "function": function }));
            }
        }
    }
    let mut message = json!({ "role": "assistant", "content": content });
    if let Some(message) = message.as_object_mut() {
        if !reasoning.is_empty() {
            message.insert(reasoning_field(reply).to_owned(), json!(reasoning));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
    }
    json!({
        "id": format!("chatcmpl-{NUMBER}"),
        "object": "chat.completion",
        "created": CREATED,
        "model": MODEL,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(reply) }],
        "usage": usage(reply),
    })
}
