//! Replies written as the events of a protocol, one file per protocol.
//!
//! Ids carry [`NUMBER`], which is overwritten with the number of the request, so that an encoded
//! reply can be kept and sent many times with fresh ids.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use crate::Protocol;
use crate::reply::{Body, Piece, Reply};

/// The name of the model in every answer.
pub(crate) const MODEL: &str = "scripted";
/// Stands for the number of the request: eight bytes, as wide as the number is written.
pub(crate) const NUMBER: &str = "~number~";
/// A fixed time, so that answers can be compared.
const CREATED: u64 = 1_700_000_000;
const SIGNATURE: &str = "c2lnbmVkLWJ5LXRoZS1zY3JpcHQ=";
const TEXT_FRAGMENT: usize = 24;
const JSON_FRAGMENT: usize = 16;

pub(crate) type Event = Vec<u8>;

/// A reply in a protocol's words.
pub(crate) struct Encoded {
    pub opening: Vec<Event>,
    /// The events of each piece.
    pub pieces: Vec<Vec<Event>>,
    pub closing: Vec<Event>,
    /// The same answer as one document, for requests that want no stream.
    pub plain: Value,
}

pub(crate) fn encode(protocol: Protocol, reply: &Reply) -> Encoded {
    match protocol {
        Protocol::Anthropic => anthropic::encode(reply),
        Protocol::Responses => responses::encode(reply),
        Protocol::Chat => chat::encode(reply),
        Protocol::Gemini => gemini::encode(reply),
    }
}

/// An error inside a stream that had begun well.
pub(crate) fn stream_error(protocol: Protocol, kind: &str, message: &str) -> Vec<Event> {
    match protocol {
        Protocol::Anthropic => vec![named_event("error", &error_value(protocol, 500, kind, message))],
        Protocol::Responses => responses::stream_error(kind, message),
        Protocol::Chat => vec![data_event(&error_value(protocol, 500, kind, message), "\n")],
        Protocol::Gemini => vec![data_event(&error_value(protocol, 503, kind, message), "\r\n")],
    }
}

/// The body of an HTTP error and its content type.
pub(crate) fn error_body(protocol: Protocol, code: u16, body: &Body) -> (&'static str, String) {
    match body {
        Body::Error { kind, message } => ("application/json", error_value(protocol, code, kind, message).to_string()),
        Body::Raw(raw) if raw.trim_start().starts_with('{') => ("application/json", raw.clone()),
        Body::Raw(raw) if raw.trim_start().starts_with('<') => ("text/html", raw.clone()),
        Body::Raw(raw) => ("text/plain", raw.clone()),
    }
}

fn error_value(protocol: Protocol, code: u16, kind: &str, message: &str) -> Value {
    match protocol {
        Protocol::Anthropic => json!({
            "type": "error",
            "error": { "type": kind, "message": message },
            "request_id": format!("req_{NUMBER}"),
        }),
        Protocol::Responses | Protocol::Chat => json!({
            "error": { "message": message, "type": kind, "param": null, "code": kind },
        }),
        Protocol::Gemini => json!({
            "error": { "code": code, "message": message, "status": kind.to_uppercase() },
        }),
    }
}

/// Writes the number of the request into every id.
pub(crate) fn stamp(bytes: &mut [u8], number: usize) {
    for at in find_numbers(bytes) {
        stamp_at(bytes, at, number);
    }
}

pub(crate) fn find_numbers(bytes: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(bytes, NUMBER).collect()
}

pub(crate) fn stamp_at(bytes: &mut [u8], at: usize, number: usize) {
    let digits = format!("{:08x}", number & 0xFFFF_FFFF);
    if let Some(place) = bytes.get_mut(at..at + NUMBER.len()) {
        place.copy_from_slice(digits.as_bytes());
    }
}

fn named_event(name: &str, data: &Value) -> Event {
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

fn data_event(data: &Value, line_end: &str) -> Event {
    format!("data: {data}{line_end}{line_end}").into_bytes()
}

/// The name and the arguments of a call, as text.
fn call_parts(piece: &Piece) -> Option<(&str, String)> {
    match piece {
        Piece::Call { name, input } => Some((name, input.to_string())),
        Piece::RawCall { name, raw_json } => Some((name, raw_json.clone())),
        Piece::Text(_) | Piece::Thinking(_) => None,
    }
}

/// The arguments of a call as a document: an object, or a string when they are not JSON.
fn arguments_value(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}

fn text_fragments(text: &str) -> impl Iterator<Item = &str> {
    fragments(text, TEXT_FRAGMENT.max(text.len() / 200))
}

fn json_fragments(text: &str) -> impl Iterator<Item = &str> {
    fragments(text, JSON_FRAGMENT.max(text.len() / 200))
}

/// Cuts between characters, about every `size` bytes.
fn fragments(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = (size..rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Some(head)
    })
}
