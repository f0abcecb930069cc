//! A reply and its faults turned into steps on the socket. Pure: no I/O happens here.

use std::time::Duration;

use bytes::Bytes;

use crate::Protocol;
use crate::reply::{ChatShape, Fault, Reply};
use crate::wire::{self, Encoded, Event};

/// What a connection does, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Write(Bytes),
    Wait(Duration),
    /// Send nothing until the client gives up.
    Silence,
    /// Drop the connection the hard way.
    Reset,
}

/// How the request wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Stream,
    Document,
    /// Gemini's stream for clients that did not ask for events: a JSON list.
    List,
}

impl Form {
    pub fn of(protocol: Protocol, path: &str, wants_stream: impl FnOnce() -> bool) -> Self {
        let streams = match protocol {
            Protocol::Gemini if !path.contains(":streamGenerateContent") => false,
            Protocol::Gemini if !path.contains("alt=sse") => return Self::List,
            Protocol::Gemini => true,
            Protocol::Anthropic | Protocol::Responses | Protocol::Chat => wants_stream(),
        };
        if streams { Self::Stream } else { Self::Document }
    }
}

const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
    cache-control: no-cache\r\nrequest-id: req_~number~\r\nx-request-id: req_~number~\r\n\
    transfer-encoding: chunked\r\n\r\n";
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
/// Cut-off JSON, broken UTF-8, an event without data, a line that is no field.
const RUBBISH: &[u8] =
    b"data: {\"type\":\"content_block_delta\",\"ind\n\ndata: \xff\xfe\x00\n\nevent: nonsense\n\n<html>\n\n";

/// The steps that send this reply as the answer to the request with this number.
pub(crate) fn plan(protocol: Protocol, form: Form, reply: &Reply, number: usize) -> Vec<Step> {
    steps(protocol, form, reply, Some(number))
}

/// All that is written for a reply, with the places for the number left open. Pauses are left out.
pub(crate) fn template(protocol: Protocol, form: Form, reply: &Reply) -> Vec<u8> {
    let written = steps(protocol, form, reply, None).into_iter().filter_map(|step| match step {
        Step::Write(bytes) => Some(bytes),
        Step::Wait(_) | Step::Silence | Step::Reset => None,
    });
    written.flatten().collect()
}

fn steps(protocol: Protocol, form: Form, reply: &Reply, number: Option<usize>) -> Vec<Step> {
    let mut steps: Vec<Step> = reply
        .faults
        .iter()
        .filter_map(|fault| match fault {
            Fault::Delay { ms } => Some(Step::Wait(Duration::from_millis(*ms))),
            _ => None,
        })
        .collect();
    if reply.faults.contains(&Fault::ResetBefore) {
        steps.push(Step::Reset);
        return steps;
    }
    let error = reply.faults.iter().find_map(|fault| match fault {
        Fault::Status { code, body, headers } => Some((*code, body, headers)),
        _ => None,
    });
    if let Some((code, body, headers)) = error {
        let (content_type, body) = wire::error_body(protocol, code, body);
        steps.push(stamped(document(code, content_type, headers, body.as_bytes()), number));
        return steps;
    }
    let encoded = wire::encode(protocol, reply);
    let form = if protocol == Protocol::Chat && reply.has_shape(ChatShape::PlainJson) { Form::Document } else { form };
    match form {
        Form::Document => {
            let body = encoded.plain.to_string();
            steps.push(stamped(document(200, "application/json", &[], body.as_bytes()), number));
        }
        Form::List => {
            let body = format!("[{}]", encoded.plain);
            steps.push(stamped(document(200, "application/json", &[], body.as_bytes()), number));
        }
        Form::Stream => steps.extend(stream(protocol, reply, encoded, number)),
    }
    steps
}

/// A complete HTTP response with a known length.
pub(crate) fn document(code: u16, content_type: &str, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut response = format!("HTTP/1.1 {code} {}\r\ncontent-type: {content_type}\r\n", reason(code));
    for (name, value) in headers {
        response.push_str(&format!("{name}: {value}\r\n"));
    }
    response.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut response = response.into_bytes();
    response.extend_from_slice(body);
    response
}

fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}

fn stamped(mut bytes: Vec<u8>, number: Option<usize>) -> Step {
    stamp(&mut bytes, number);
    Step::Write(bytes.into())
}

fn stamp(bytes: &mut [u8], number: Option<usize>) {
    if let Some(number) = number {
        wire::stamp(bytes, number);
    }
}

/// How a stream ends.
enum Ending {
    Complete,
    Cut,
    Reset,
    Silence,
}

fn stream(protocol: Protocol, reply: &Reply, encoded: Encoded, number: Option<usize>) -> Vec<Step> {
    let (mut events, ending) = events(protocol, reply, encoded);
    events.iter_mut().for_each(|event| stamp(event, number));
    if reply.faults.contains(&Fault::Duplicate) {
        events = events.into_iter().flat_map(|event| [event.clone(), event]).collect();
    }
    for fault in &reply.faults {
        if let Fault::CutAfterBytes { bytes } = fault {
            truncate(&mut events, *bytes);
        }
    }
    let pause = reply.faults.iter().find_map(|fault| match fault {
        Fault::SlowChunks { ms } => Some(Duration::from_millis(*ms)),
        _ => None,
    });
    let split = reply.faults.contains(&Fault::SplitBytes);

    let mut head = STREAM_HEAD.as_bytes().to_vec();
    stamp(&mut head, number);
    let mut writes = Writes { steps: Vec::new(), pending: head };
    for event in events {
        if split {
            for byte in event {
                writes.flush();
                writes.chunk(&[byte]);
            }
        } else {
            writes.chunk(&event);
        }
        if let Some(pause) = pause {
            writes.step(Step::Wait(pause));
        }
    }
    match ending {
        Ending::Complete | Ending::Cut => {
            writes.pending.extend_from_slice(LAST_CHUNK);
            writes.flush();
        }
        Ending::Reset => writes.step(Step::Reset),
        Ending::Silence => writes.step(Step::Silence),
    }
    writes.steps
}

/// Gathers bytes into as few writes as the pauses allow.
struct Writes {
    steps: Vec<Step>,
    pending: Vec<u8>,
}

impl Writes {
    fn chunk(&mut self, data: &[u8]) {
        self.pending.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
        self.pending.extend_from_slice(data);
        self.pending.extend_from_slice(b"\r\n");
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            self.steps.push(Step::Write(std::mem::take(&mut self.pending).into()));
        }
    }

    fn step(&mut self, step: Step) {
        self.flush();
        self.steps.push(step);
    }
}

/// The events up to where the first fault that ends the stream strikes.
fn events(protocol: Protocol, reply: &Reply, encoded: Encoded) -> (Vec<Event>, Ending) {
    let mut pieces = encoded.pieces;
    if reply.faults.contains(&Fault::Interleave) {
        pieces = vec![take_turns(pieces)];
    }
    let count = pieces.len();
    let mut events = encoded.opening;
    let mut pieces = pieces.into_iter();
    for sent in 0..=count {
        let due = |after: usize| after.min(count) == sent;
        for fault in &reply.faults {
            match fault {
                Fault::Rubbish { after } if due(*after) => events.push(RUBBISH.to_vec()),
                Fault::ResetAfter { pieces } if due(*pieces) => return (events, Ending::Reset),
                Fault::CutAfter { pieces } if due(*pieces) => return (events, Ending::Cut),
                Fault::Silent { after } if due(*after) => return (events, Ending::Silence),
                Fault::StreamError { after, kind, message } if due(*after) => {
                    events.extend(wire::stream_error(protocol, kind, message));
                    return (events, Ending::Cut);
                }
                _ => {}
            }
        }
        events.extend(pieces.next().unwrap_or_default());
    }
    events.extend(encoded.closing);
    (events, Ending::Complete)
}

fn take_turns(pieces: Vec<Vec<Event>>) -> Vec<Event> {
    let mut waiting: Vec<_> = pieces.into_iter().map(Vec::into_iter).collect();
    let mut events = Vec::new();
    loop {
        let before = events.len();
        events.extend(waiting.iter_mut().filter_map(Iterator::next));
        if events.len() == before {
            return events;
        }
    }
}

fn truncate(events: &mut Vec<Event>, bytes: usize) {
    let mut left = bytes;
    for event in events.iter_mut() {
        event.truncate(left);
        left -= event.len();
    }
    // An empty chunk would end the response.
    events.retain(|event| !event.is_empty());
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
