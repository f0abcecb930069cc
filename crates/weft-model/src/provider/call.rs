//! One call under way, from the request to the last word. It runs when it is polled and at no other
//! time: no task, no channel, and dropping it is cancelling it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use reqwest::Response;
use weft_core::Failure;

use super::draft::{Outbox, Parser};
use super::sse::SseParser;
use super::{Shared, http};
use crate::model::{Chunk, Request};

/// The largest answer we take in one piece from a server that does not stream.
const MAX_DOCUMENT: usize = 32 * 1024 * 1024;

/// A call under way. Dropping it closes its connection, which cancels it.
pub(super) enum Call {
    Prepared {
        shared: Arc<Shared>,
        request: Box<Request>,
    },
    Answering(Box<Answering>),
    /// The last word is said but for these.
    Leaving(VecDeque<Chunk>),
}

pub(super) struct Answering {
    shared: Arc<Shared>,
    response: Response,
    sse: SseParser,
    parser: Box<dyn Parser>,
    out: Outbox,
}

impl Call {
    pub(super) async fn next(mut self) -> Option<(Chunk, Self)> {
        loop {
            self = match self {
                Self::Prepared { shared, request } => Self::begin(shared, request).await,
                Self::Answering(mut answering) => match answering.out.take() {
                    Some(chunk) => return Some((chunk, Self::Answering(answering))),
                    None => answering.read().await,
                },
                Self::Leaving(mut chunks) => {
                    let chunk = chunks.pop_front()?;
                    return Some((chunk, Self::Leaving(chunks)));
                }
            };
        }
    }

    async fn begin(shared: Arc<Shared>, request: Box<Request>) -> Self {
        let round = request.messages.last().map_or(0, |entry| entry.seq);
        let sent = shared.send(&request).boxed().await;
        // The conversation is not needed any more and may be large.
        drop(request);
        match sent {
            Ok(response) if is_of(&response, "application/json") => {
                Box::pin(Answering::document(shared, response, round)).await
            }
            Ok(response) => Answering::begin(shared, response, round),
            Err(failure) => Self::failed(failure),
        }
    }

    fn failed(failure: Failure) -> Self {
        Self::Leaving(VecDeque::from([Chunk::Failed { failure, usage: None }]))
    }
}

impl Answering {
    fn begin(shared: Arc<Shared>, response: Response, round: u64) -> Call {
        let mut out = Outbox::new(Arc::clone(shared.endpoint.provider()), shared.endpoint.key().cloned());
        if is_of(&response, "text/html") {
            out.garbled("a web page; check its base URL", None);
            return Call::Leaving(out.into_rest());
        }
        let parser = shared.config.protocol.parser(round);
        Call::Answering(Box::new(Self { shared, response, sse: SseParser::default(), parser, out }))
    }

    /// The whole answer in one piece, from a server that does not stream.
    async fn document(shared: Arc<Shared>, response: Response, round: u64) -> Call {
        let mut out = Outbox::new(Arc::clone(shared.endpoint.provider()), shared.endpoint.key().cloned());
        match shared.endpoint.read_up_to(response, MAX_DOCUMENT).await {
            Ok(body) => {
                read_document(shared.config.protocol.parser(round).as_mut(), &body, &mut out);
                Call::Leaving(out.into_rest())
            }
            Err(failure) => Call::failed(failure),
        }
    }

    /// Reads until there is something to say.
    async fn read(mut self: Box<Self>) -> Call {
        let bytes = self.shared.endpoint.next_bytes(&mut self.response).await;
        let Self { sse, parser, out, .. } = &mut *self;
        match bytes {
            Ok(Some(bytes)) => read_bytes(sse, parser.as_mut(), &bytes, out),
            Ok(None) => read_end(sse, parser.as_mut(), out),
            Err(failure) => {
                // A server that says all and then resets the connection has said all.
                read_end(sse, parser.as_mut(), out);
                out.replace_cut(failure);
            }
        }
        if !self.out.is_over() {
            return Call::Answering(self);
        }
        let Self { mut response, out, .. } = *self;
        // Most often the end is there already, and the connection is free at once.
        if !matches!(response.chunk().now_or_never(), Some(Ok(None) | Err(_))) {
            http::drain(response);
        }
        Call::Leaving(out.into_rest())
    }
}

fn is_of(response: &Response, kind: &str) -> bool {
    let said = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    said.is_some_and(|said| said.starts_with(kind))
}

pub(super) fn read_bytes(sse: &mut SseParser, parser: &mut dyn Parser, bytes: &[u8], out: &mut Outbox) {
    let fed = sse.feed(bytes, &mut |name, data| {
        if !out.is_over() {
            parser.event(name, data, out);
        }
    });
    if let Err(too_large) = fed {
        out.garbled(&too_large.to_string(), None);
    }
}

pub(super) fn read_end(sse: &mut SseParser, parser: &mut dyn Parser, out: &mut Outbox) {
    sse.end(&mut |name, data| {
        if !out.is_over() {
            parser.event(name, data, out);
        }
    });
    if !out.is_over() {
        parser.end(out);
    }
}

pub(super) fn read_document(parser: &mut dyn Parser, body: &[u8], out: &mut Outbox) {
    match serde_json::from_slice(body) {
        Ok(document) => parser.document(&document, out),
        Err(_) => out.garbled("an answer that is not JSON", None),
    }
}
