//! An answer while it is being received: every protocol's parser builds one of these.
//!
//! It makes sure of what the rest of Weft relies on: call ids are there and unique, arguments are
//! an object or the raw text, and an answer cannot grow without end.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;
use weft_core::event::StopReason;
use weft_core::{CallId, Failure, FailureKind, Part, ToolCall, Usage};

use super::secret::{Secret, scrub};
use crate::model::{Answer, Chunk};

/// No real answer comes near this; an endless one must not fill the memory.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
const MAX_PIECES: usize = 10_000;

/// Reads one answer. Gets each event in turn and says everything through the [`Outbox`].
pub(super) trait Parser: Send {
    fn event(&mut self, name: &[u8], data: &[u8], out: &mut Outbox);

    /// The server sent one JSON document instead of a stream.
    fn document(&mut self, document: &Value, out: &mut Outbox);

    /// The connection ended. Whatever has not been said by now will not be.
    fn end(&mut self, out: &mut Outbox);
}

/// What a parser has to say, in order. After the last word ([`Outbox::over`]) it takes no more.
pub(super) struct Outbox {
    chunks: VecDeque<Chunk>,
    over: bool,
    provider: Arc<str>,
    key: Option<Secret>,
}

impl Outbox {
    pub(super) fn new(provider: Arc<str>, key: Option<Secret>) -> Self {
        Self { chunks: VecDeque::new(), over: false, provider, key }
    }

    pub(super) fn take(&mut self) -> Option<Chunk> {
        self.chunks.pop_front()
    }

    /// What has not been taken yet, once all is said.
    pub(super) fn into_rest(self) -> VecDeque<Chunk> {
        self.chunks
    }

    /// The connection broke for a better reason than that it ended.
    pub(super) fn replace_cut(&mut self, better: Failure) {
        if let Some(Chunk::Failed { failure, .. }) = self.chunks.back_mut()
            && failure.kind == FailureKind::StreamBroken
        {
            *failure = better;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn say(&mut self, chunk: Chunk) {
        if !self.over {
            self.chunks.push_back(chunk);
        }
    }

    pub(super) fn done(&mut self, answer: Answer) {
        self.say(Chunk::Done(answer));
        self.over = true;
    }

    pub(super) fn fail(&mut self, failure: Failure, usage: Option<Usage>) {
        self.say(Chunk::Failed { failure, usage });
        self.over = true;
    }

    /// The provider broke its own protocol.
    pub(super) fn garbled(&mut self, what: &str, usage: Option<Usage>) {
        let message = format!("{} sent something that cannot be understood: {what}.", self.provider);
        self.fail(Failure::new(FailureKind::Protocol, message), usage);
    }

    /// The stream ended before the answer did.
    pub(super) fn cut(&mut self, usage: Option<Usage>) {
        let message = format!("The connection to {} ended before the answer was complete.", self.provider);
        self.fail(Failure::new(FailureKind::StreamBroken, message), usage);
    }

    /// The provider reported an error inside its stream.
    pub(super) fn reported(&mut self, error: &Value, usage: Option<Usage>) {
        let failure = super::refusal::from_stream(&self.provider, error, self.key.as_ref());
        self.fail(failure, usage);
    }

    pub(super) fn provider(&self) -> &str {
        &self.provider
    }

    /// A provider's own words, fit to be shown.
    pub(super) fn clean(&self, text: &str) -> String {
        scrub(text, self.key.as_ref())
    }
}

enum Piece {
    Text(String),
    Thinking { text: String, signature: Option<String> },
    Call(CallDraft),
    Opaque { protocol: &'static str, data: Value, input: String },
}

struct CallDraft {
    id: CallId,
    name: String,
    json: String,
    signature: Option<String>,
}

/// A place in the answer that more can be added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(usize);

pub(super) struct Draft {
    pieces: Vec<Piece>,
    size: usize,
    /// Tells made-up call ids of different rounds apart.
    round: u64,
    pub(super) usage: Option<Usage>,
}

impl Draft {
    pub(super) fn new(round: u64) -> Self {
        Self { pieces: Vec::new(), size: 0, round, usage: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn open_text(&mut self) -> Place {
        self.push(Piece::Text(String::new()))
    }

    pub(super) fn open_thinking(&mut self) -> Place {
        self.push(Piece::Thinking { text: String::new(), signature: None })
    }

    /// Something to be returned to its provider as it is. What is added to it is the input of a call
    /// that the provider carries out itself, and is shown to nobody.
    pub(super) fn keep(&mut self, protocol: &'static str, data: Value) -> Place {
        self.size += weft_core::message::json_size(&data);
        self.push(Piece::Opaque { protocol, data, input: String::new() })
    }

    /// Begins a call. An id that is missing or taken gets a new one.
    pub(super) fn open_call(&mut self, id: &str, name: &str, out: &mut Outbox) -> Place {
        let id = self.free_id(id);
        out.say(Chunk::ToolStart { call: id.clone(), name: name.to_owned() });
        self.push(Piece::Call(CallDraft { id, name: name.to_owned(), json: String::new(), signature: None }))
    }

    /// Adds to a place and shows it.
    pub(super) fn add(&mut self, place: Place, more: &str, out: &mut Outbox) {
        if more.is_empty() {
            return;
        }
        self.size += more.len();
        if self.size > MAX_ANSWER || self.pieces.len() > MAX_PIECES {
            return out.garbled("the answer does not end", self.usage);
        }
        match self.pieces.get_mut(place.0) {
            Some(Piece::Text(text)) => {
                text.push_str(more);
                out.say(Chunk::Text(more.to_owned()));
            }
            Some(Piece::Thinking { text, .. }) => {
                text.push_str(more);
                out.say(Chunk::Thinking(more.to_owned()));
            }
            Some(Piece::Call(call)) => {
                call.json.push_str(more);
                out.say(Chunk::ToolDelta { call: call.id.clone(), json: more.to_owned() });
            }
            Some(Piece::Opaque { input, .. }) => input.push_str(more),
            None => {}
        }
    }

    /// Adds text after what came last, for protocols that do not number their blocks.
    pub(super) fn add_text(&mut self, more: &str, out: &mut Outbox) {
        if more.is_empty() {
            return;
        }
        let place = match self.pieces.last() {
            Some(Piece::Text(_)) => Place(self.pieces.len() - 1),
            _ => self.open_text(),
        };
        self.add(place, more, out);
    }

    pub(super) fn add_thinking(&mut self, more: &str, out: &mut Outbox) {
        if more.is_empty() {
            return;
        }
        let place = match self.pieces.last() {
            Some(Piece::Thinking { signature: None, .. }) => Place(self.pieces.len() - 1),
            _ => self.open_thinking(),
        };
        self.add(place, more, out);
    }

    /// Signs a call or a piece of thinking.
    pub(super) fn sign(&mut self, place: Place, more: &str) {
        self.size += more.len();
        if let Some(Piece::Thinking { signature, .. } | Piece::Call(CallDraft { signature, .. })) =
            self.pieces.get_mut(place.0)
        {
            signature.get_or_insert_default().push_str(more);
        }
    }

    pub(super) fn is_signed(&self, place: Place) -> bool {
        match self.pieces.get(place.0) {
            Some(Piece::Thinking { signature, .. } | Piece::Call(CallDraft { signature, .. })) => signature.is_some(),
            Some(Piece::Text(_) | Piece::Opaque { .. }) | None => false,
        }
    }

    /// Signs the thinking that came last, if nothing came after it.
    pub(super) fn sign_last_thinking(&mut self, proof: &str) -> bool {
        match self.pieces.last_mut() {
            Some(Piece::Thinking { signature: signature @ None, .. }) => {
                *signature = Some(proof.to_owned());
                true
            }
            _ => false,
        }
    }

    /// Marks all thinking that has no signature of its own.
    pub(super) fn sign_unsigned_thinking(&mut self, proof: &str) {
        for piece in &mut self.pieces {
            if let Piece::Thinking { signature: signature @ None, .. } = piece {
                *signature = Some(proof.to_owned());
            }
        }
    }

    /// The provider has repeated a piece in full; that is what counts.
    pub(super) fn settle(&mut self, place: Place, whole: &str) {
        match self.pieces.get_mut(place.0) {
            Some(Piece::Text(text) | Piece::Thinking { text, .. }) => whole.clone_into(text),
            Some(Piece::Call(call)) => whole.clone_into(&mut call.json),
            Some(Piece::Opaque { .. }) | None => {}
        }
    }

    /// How much has come at a place.
    pub(super) fn len(&self, place: Place) -> usize {
        match self.pieces.get(place.0) {
            Some(Piece::Text(text) | Piece::Thinking { text, .. }) => text.len(),
            Some(Piece::Call(call)) => call.json.len(),
            Some(Piece::Opaque { .. }) | None => 0,
        }
    }

    pub(super) fn finish(&mut self, stop: StopReason) -> Answer {
        let parts: Vec<Part> = std::mem::take(&mut self.pieces).into_iter().filter_map(finish_piece).collect();
        let has_calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        let stop = match stop {
            StopReason::End if has_calls => StopReason::ToolCalls,
            StopReason::ToolCalls if !has_calls => StopReason::End,
            StopReason::End
            | StopReason::ToolCalls
            | StopReason::Length
            | StopReason::Pause
            | StopReason::Refusal
            | StopReason::Unable => stop,
        };
        Answer { parts, stop, usage: self.usage.unwrap_or_default() }
    }

    fn push(&mut self, piece: Piece) -> Place {
        // Past the limit the next `add` fails; until then rubbish shares the last place.
        if self.pieces.len() <= MAX_PIECES {
            self.pieces.push(piece);
        }
        Place(self.pieces.len().saturating_sub(1))
    }

    fn free_id(&self, wanted: &str) -> CallId {
        let taken =
            |id: &str| self.pieces.iter().any(|piece| matches!(piece, Piece::Call(call) if call.id.as_str() == id));
        if !wanted.is_empty() && !taken(wanted) {
            return CallId::new(wanted);
        }
        let stem = if wanted.is_empty() { format!("call_{}", self.round) } else { wanted.to_owned() };
        let calls = self.pieces.iter().filter(|piece| matches!(piece, Piece::Call(_))).count();
        (calls + 1..)
            .map(|number| format!("{stem}_{number}"))
            .find(|id| !taken(id))
            .map_or_else(|| CallId::new(stem.as_str()), CallId::new)
    }
}

fn finish_piece(piece: Piece) -> Option<Part> {
    match piece {
        Piece::Text(text) if text.is_empty() => None,
        Piece::Text(text) => Some(Part::Text { text }),
        Piece::Thinking { text, signature: None } if text.is_empty() => None,
        Piece::Thinking { text, signature } => Some(Part::Thinking { text, signature }),
        Piece::Call(call) => {
            let input = arguments(&call.json);
            Some(Part::ToolCall(ToolCall { id: call.id, name: call.name, input, signature: call.signature }))
        }
        Piece::Opaque { protocol, mut data, input } => {
            if let (Some(field @ Value::Object(_)), Ok(whole @ Value::Object(_))) =
                (data.get_mut("input"), serde_json::from_str(&input))
            {
                *field = whole;
            }
            Some(Part::Opaque { protocol: protocol.to_owned(), data })
        }
    }
}

/// A call's arguments: an object, or the text as it came when it is none.
fn arguments(json: &str) -> Value {
    if json.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(Value::Null) => Value::Object(serde_json::Map::new()),
        // Some servers encode the arguments twice.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            Ok(_) | Err(_) => Value::String(json.to_owned()),
        },
        Ok(_) | Err(_) => Value::String(json.to_owned()),
    }
}

/// Marks a signature as this protocol's, so that no other protocol sends it.
pub(super) fn mark(protocol: &str, signature: &str) -> String {
    format!("{protocol}:{signature}")
}

/// The signature as the provider gave it, if it is this protocol's.
pub(super) fn marked<'a>(protocol: &str, signature: Option<&'a str>) -> Option<&'a str> {
    signature?.strip_prefix(protocol)?.strip_prefix(':')
}

/// A field of a JSON object as text; empty when it is not there or not text.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn number(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or_default()
}
