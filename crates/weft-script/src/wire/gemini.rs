//! Gemini `streamGenerateContent`.

use serde_json::{Value, json};

use super::{Encoded, Event, MODEL, NUMBER, SIGNATURE, arguments_value, call_parts, data_event, text_fragments};
use crate::reply::{Piece, Reply, Stop};

const LINE_END: &str = "\r\n";

pub(super) fn encode(reply: &Reply) -> Encoded {
    let pieces = reply.pieces.iter().map(|piece| piece_events(reply, piece)).collect();
    let last = document(vec![json!({ "text": "" })], Some(finish_reason(reply)), full_usage(reply));
    let parts = reply.pieces.iter().map(|piece| part(piece, whole_text(piece))).collect();
    let plain = document(parts, Some(finish_reason(reply)), full_usage(reply));
    Encoded { opening: Vec::new(), pieces, closing: vec![data_event(&last, LINE_END)], plain }
}

fn piece_events(reply: &Reply, piece: &Piece) -> Vec<Event> {
    let event = |text: &str| {
        let usage = json!({ "promptTokenCount": reply.usage.input, "totalTokenCount": reply.usage.input });
        data_event(&document(vec![part(piece, text)], None, usage), LINE_END)
    };
    match piece {
        Piece::Text(text) | Piece::Thinking(text) => text_fragments(text).map(event).collect(),
        Piece::Call { .. } | Piece::RawCall { .. } => vec![event("")],
    }
}

/// Calls come whole; texts in as many parts as one likes.
fn part(piece: &Piece, text: &str) -> Value {
    match piece {
        Piece::Text(_) => json!({ "text": text }),
        Piece::Thinking(_) => json!({ "text": text, "thought": true }),
        Piece::Call { .. } | Piece::RawCall { .. } => {
            let (name, arguments) = call_parts(piece).unwrap_or_default();
            let call = json!({ "name": name, "args": arguments_value(&arguments) });
            json!({ "functionCall": call, "thoughtSignature": SIGNATURE })
        }
    }
}

fn whole_text(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text) | Piece::Thinking(text) => text,
        Piece::Call { .. } | Piece::RawCall { .. } => "",
    }
}

fn document(parts: Vec<Value>, finish_reason: Option<&str>, usage: Value) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" } });
    if let Some(candidate) = candidate.as_object_mut() {
        if let Some(reason) = finish_reason {
            candidate.insert("finishReason".to_owned(), json!(reason));
        }
        candidate.insert("index".to_owned(), json!(0));
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": MODEL,
        "responseId": format!("resp-{NUMBER}"),
    })
}

/// Gemini counts thoughts apart from the answer.
fn full_usage(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    })
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.final_stop() {
        Stop::End | Stop::ToolUse | Stop::Pause => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    }
}
