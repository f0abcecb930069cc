//! Entry points for fuzzing: the parsers, fed with bytes as a connection would deliver them. They
//! promise to end, not to panic, and to say exactly one last word.

use std::sync::Arc;

use weft_core::message::calls_of;

use super::Protocol;
use super::call::{read_bytes, read_document, read_end};
use super::draft::Outbox;
use super::sse::SseParser;
use crate::model::Chunk;

/// Everything a provider's stream says, given its bytes in these pieces.
pub fn stream<'a>(protocol: Protocol, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Chunk> {
    let mut out = Outbox::new(Arc::from("test"), None);
    let mut parser = protocol.parser(7);
    let mut sse = SseParser::default();
    for piece in pieces {
        read_bytes(&mut sse, parser.as_mut(), piece, &mut out);
    }
    if !out.is_over() {
        read_end(&mut sse, parser.as_mut(), &mut out);
    }
    out.into_rest().into()
}

/// The same for a server that answers with one document.
pub fn document(protocol: Protocol, body: &[u8]) -> Vec<Chunk> {
    let mut out = Outbox::new(Arc::from("test"), None);
    read_document(protocol.parser(7).as_mut(), body, &mut out);
    out.into_rest().into()
}

/// Checks what every stream promises, whatever its bytes. Panics if it is not so.
#[allow(clippy::panic, reason = "a panic is how a fuzzer is told")]
pub fn check(protocol: Protocol, bytes: &[u8]) {
    let whole = stream(protocol, [bytes]);
    if !is_sound(&whole) {
        panic!("{protocol}: {whole:?}");
    }
    let cut = stream(protocol, bytes.chunks(3));
    if essence(&whole) != essence(&cut) {
        panic!("{protocol}: cutting changed {whole:?} to {cut:?}");
    }
    let one_piece = document(protocol, bytes);
    if !is_sound(&one_piece) {
        panic!("{protocol}: {one_piece:?}");
    }
}

/// Exactly one last word, and call ids that are there and unique.
pub fn is_sound(chunks: &[Chunk]) -> bool {
    let is_last_word = |chunk: &Chunk| matches!(chunk, Chunk::Done(_) | Chunk::Failed { .. });
    let one_last_word = chunks.iter().filter(|chunk| is_last_word(chunk)).count() == 1;
    let ids_fit = match chunks.last() {
        Some(Chunk::Done(answer)) => {
            let mut ids: Vec<&str> = calls_of(&answer.parts).map(|call| call.id.as_str()).collect();
            let calls = ids.len();
            ids.sort_unstable();
            ids.dedup();
            ids.len() == calls && ids.iter().all(|id| !id.is_empty())
        }
        last => last.is_some_and(is_last_word),
    };
    one_last_word && ids_fit
}

/// What counts of a stream: its text, its thinking and its last word, not in how many chunks it came.
pub fn essence(chunks: &[Chunk]) -> (String, String, Option<&Chunk>) {
    let (mut text, mut thinking) = (String::new(), String::new());
    for chunk in chunks {
        match chunk {
            Chunk::Text(more) => text.push_str(more),
            Chunk::Thinking(more) => thinking.push_str(more),
            Chunk::ToolStart { .. } | Chunk::ToolDelta { .. } | Chunk::Done(_) | Chunk::Failed { .. } => {}
        }
    }
    (text, thinking, chunks.last())
}

/// How many events the bytes hold.
pub fn sse(bytes: &[u8]) -> usize {
    let mut events = 0;
    let mut parser = SseParser::default();
    let mut count = |_: &[u8], _: &[u8]| events += 1;
    if parser.feed(bytes, &mut count).is_ok() {
        parser.end(&mut count);
    }
    events
}
