//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Encoded, Event, MODEL, NUMBER, SIGNATURE, arguments_value, call_parts, named_event};
use super::{json_fragments, text_fragments};
use crate::reply::{Piece, Reply, Stop};

pub(super) fn encode(reply: &Reply) -> Encoded {
    let opening = vec![
        event("message_start", json!({ "message": message(reply, Vec::new(), None, 1) })),
        event("ping", json!({})),
    ];
    let pieces = reply.pieces.iter().enumerate().map(|(index, piece)| block_events(index, piece)).collect();
    let delta = json!({ "stop_reason": stop_reason(reply), "stop_sequence": null });
    let closing = vec![
        event("message_delta", json!({ "delta": delta, "usage": usage(reply, reply.usage.output) })),
        event("message_stop", json!({})),
    ];
    let content = reply.pieces.iter().enumerate().map(|(index, piece)| whole_block(index, piece)).collect();
    let plain = message(reply, content, Some(stop_reason(reply)), reply.usage.output);
    Encoded { opening, pieces, closing, plain }
}

fn message(reply: &Reply, content: Vec<Value>, stop_reason: Option<&str>, output: u64) -> Value {
    json!({
        "id": format!("msg_{NUMBER}"),
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(reply, output),
    })
}

/// Anthropic counts cached tokens apart from the others.
fn usage(reply: &Reply, output: u64) -> Value {
    let usage = reply.usage;
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cache_read + usage.cache_write),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": output,
    })
}

fn block_events(index: usize, piece: &Piece) -> Vec<Event> {
    let mut events =
        vec![event("content_block_start", json!({ "index": index, "content_block": empty_block(index, piece) }))];
    let mut delta = |delta: Value| events.push(event("content_block_delta", json!({ "index": index, "delta": delta })));
    match piece {
        Piece::Text(text) => {
            text_fragments(text).for_each(|part| delta(json!({ "type": "text_delta", "text": part })));
        }
        Piece::Thinking(text) => {
            text_fragments(text).for_each(|part| delta(json!({ "type": "thinking_delta", "thinking": part })));
            delta(json!({ "type": "signature_delta", "signature": SIGNATURE }));
        }
        Piece::Call { .. } | Piece::RawCall { .. } => {
            let (_, arguments) = call_parts(piece).unwrap_or_default();
            delta(json!({ "type": "input_json_delta", "partial_json": "" }));
            json_fragments(&arguments)
                .for_each(|part| delta(json!({ "type": "input_json_delta", "partial_json": part })));
        }
    }
    events.push(event("content_block_stop", json!({ "index": index })));
    events
}

fn empty_block(index: usize, piece: &Piece) -> Value {
    match piece {
        Piece::Text(_) => json!({ "type": "text", "text": "" }),
        Piece::Thinking(_) => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Piece::Call { name, .. } | Piece::RawCall { name, .. } => tool_use(index, name, json!({})),
    }
}

fn whole_block(index: usize, piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({ "type": "text", "text": text }),
        Piece::Thinking(text) => json!({ "type": "thinking", "thinking": text, "signature": SIGNATURE }),
        Piece::Call { name, input } => tool_use(index, name, input.clone()),
        Piece::RawCall { name, raw_json } => tool_use(index, name, arguments_value(raw_json)),
    }
}

fn tool_use(index: usize, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": format!("toolu_{NUMBER}_{index}"), "name": name, "input": input })
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply.final_stop() {
        Stop::End => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Pause => "pause_turn",
    }
}

fn event(name: &str, fields: Value) -> Event {
    let mut data = json!({ "type": name });
    if let (Some(data), Value::Object(fields)) = (data.as_object_mut(), fields) {
        data.extend(fields);
    }
    named_event(name, &data)
}
