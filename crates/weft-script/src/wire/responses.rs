//! OpenAI Responses.

use serde_json::{Value, json};

use super::{
    CREATED, Encoded, Event, MODEL, NUMBER, SIGNATURE, call_parts, json_fragments, named_event, text_fragments,
};
use crate::reply::{Piece, Reply, Stop};

pub(super) fn encode(reply: &Reply) -> Encoded {
    let mut events = Events { next: 0 };
    let begun = response("in_progress", Vec::new(), Value::Null, Value::Null);
    let opening = vec![
        events.event("response.created", json!({ "response": begun })),
        events.event("response.in_progress", json!({ "response": begun })),
    ];
    let pieces: Vec<Vec<Event>> =
        reply.pieces.iter().enumerate().map(|(index, piece)| item_events(&mut events, index, piece)).collect();
    let output: Vec<Value> = reply.pieces.iter().enumerate().map(|(index, piece)| item(index, piece)).collect();
    let (status, incomplete) = ending(reply.final_stop());
    let ended = response(status, output, incomplete, usage(reply));
    let closing = vec![events.event(&format!("response.{status}"), json!({ "response": ended }))];
    Encoded { opening, pieces, closing, plain: ended }
}

/// The two events with which a failing stream ends.
pub(super) fn stream_error(kind: &str, message: &str) -> Vec<Event> {
    let mut events = Events { next: 900 };
    let mut failed = response("failed", Vec::new(), Value::Null, Value::Null);
    if let Some(error) = failed.get_mut("error") {
        *error = json!({ "code": kind, "message": message });
    }
    vec![
        events.event("error", json!({ "code": kind, "message": message, "param": null })),
        events.event("response.failed", json!({ "response": failed })),
    ]
}

/// Numbers the events of one stream.
struct Events {
    next: u64,
}

impl Events {
    fn event(&mut self, name: &str, fields: Value) -> Event {
        let mut data = json!({ "type": name, "sequence_number": self.next });
        self.next += 1;
        if let (Some(data), Value::Object(fields)) = (data.as_object_mut(), fields) {
            data.extend(fields);
        }
        named_event(name, &data)
    }
}

fn response(status: &str, output: Vec<Value>, incomplete_details: Value, usage: Value) -> Value {
    json!({
        "id": format!("resp_{NUMBER}"),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": incomplete_details,
        "model": MODEL,
        "output": output,
        "parallel_tool_calls": true,
        "store": false,
        "usage": usage,
    })
}

fn ending(stop: Stop) -> (&'static str, Value) {
    match stop {
        Stop::End | Stop::ToolUse | Stop::Pause => ("completed", Value::Null),
        Stop::MaxTokens => ("incomplete", json!({ "reason": "max_output_tokens" })),
        Stop::Refusal => ("incomplete", json!({ "reason": "content_filter" })),
    }
}

fn usage(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cache_read },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.input + usage.output,
    })
}

fn item_events(events: &mut Events, index: usize, piece: &Piece) -> Vec<Event> {
    let id = item_id(index, piece);
    let mut sent = vec![
        events.event("response.output_item.added", json!({ "output_index": index, "item": begun_item(index, piece) })),
    ];
    match piece {
        Piece::Text(text) => {
            let mut send = |name: &str, field: &str, value: Value| {
                let data = json!({ "item_id": id, "output_index": index, "content_index": 0, field: value });
                sent.push(events.event(name, data));
            };
            send("response.content_part.added", "part", text_part(""));
            text_fragments(text).for_each(|part| send("response.output_text.delta", "delta", json!(part)));
            send("response.output_text.done", "text", json!(text));
            send("response.content_part.done", "part", text_part(text));
        }
        Piece::Thinking(text) => {
            let mut send = |name: &str, field: &str, value: Value| {
                let data = json!({ "item_id": id, "output_index": index, "summary_index": 0, field: value });
                sent.push(events.event(name, data));
            };
            send("response.reasoning_summary_part.added", "part", summary_part(""));
            text_fragments(text).for_each(|part| send("response.reasoning_summary_text.delta", "delta", json!(part)));
            send("response.reasoning_summary_text.done", "text", json!(text));
            send("response.reasoning_summary_part.done", "part", summary_part(text));
        }
        Piece::Call { .. } | Piece::RawCall { .. } => {
            let (_, arguments) = call_parts(piece).unwrap_or_default();
            let mut send = |name: &str, field: &str, value: &str| {
                sent.push(events.event(name, json!({ "item_id": id, "output_index": index, field: value })));
            };
            json_fragments(&arguments).for_each(|part| send("response.function_call_arguments.delta", "delta", part));
            send("response.function_call_arguments.done", "arguments", &arguments);
        }
    }
    let done = json!({ "output_index": index, "item": item(index, piece) });
    sent.push(events.event("response.output_item.done", done));
    sent
}

fn item_id(index: usize, piece: &Piece) -> String {
    let kind = match piece {
        Piece::Text(_) => "msg",
        Piece::Thinking(_) => "rs",
        Piece::Call { .. } | Piece::RawCall { .. } => "fc",
    };
    format!("{kind}_{NUMBER}_{index}")
}

fn begun_item(index: usize, piece: &Piece) -> Value {
    let id = item_id(index, piece);
    match piece {
        Piece::Text(_) => message_item(&id, "in_progress", Vec::new()),
        Piece::Thinking(_) => json!({ "id": id, "type": "reasoning", "summary": [] }),
        Piece::Call { name, .. } | Piece::RawCall { name, .. } => call_item(index, &id, "in_progress", name, ""),
    }
}

fn item(index: usize, piece: &Piece) -> Value {
    let id = item_id(index, piece);
    match piece {
        Piece::Text(text) => message_item(&id, "completed", vec![text_part(text)]),
        Piece::Thinking(text) => json!({
            "id": id,
            "type": "reasoning",
            "summary": [summary_part(text)],
            "encrypted_content": SIGNATURE,
        }),
        Piece::Call { name, .. } | Piece::RawCall { name, .. } => {
            let (_, arguments) = call_parts(piece).unwrap_or_default();
            call_item(index, &id, "completed", name, &arguments)
        }
    }
}

fn message_item(id: &str, status: &str, content: Vec<Value>) -> Value {
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

fn call_item(index: usize, id: &str, status: &str, name: &str, arguments: &str) -> Value {
    json!({
        "id": id,
        "type": "function_call",
        "status": status,
        "call_id": format!("call_{NUMBER}_{index}"),
        "name": name,
        "arguments": arguments,
    })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "annotations": [], "text": text })
}

fn summary_part(text: &str) -> Value {
    json!({ "type": "summary_text", "text": text })
}
