//! Entry points for fuzzing: the parsers, fed with bytes as a connection would deliver them. They
//! promise to end, not to panic, and to say exactly one last word.

use std::sync::Arc;

use super::draft::Outbox;
use super::sse::SseParser;
use super::{Protocol, read_bytes, read_document, read_end};
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
