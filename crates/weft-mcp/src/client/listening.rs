//! An HTTP client that knows whether the server can reach us. Servers may send questions over a
//! stream of its own; what they send before that stream is open is lost, so nothing is asked of a
//! server before. What it sends is measured: one that sends too much is cut off, as over pipes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::{Error as SseError, Sse};
use tokio::sync::watch;

use super::meter::Traffic;
use super::posting::{self, Post};
use crate::limits::Limits;

/// Servers that answer only when they have something to say are not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(2);
/// What an event counts at least.
const LEAST: usize = 16;

#[derive(Clone)]
pub struct Listening {
    client: reqwest::Client,
    state: Arc<watch::Sender<State>>,
    limits: Limits,
    traffic: Arc<Traffic>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The server keeps no session, so it has no stream to open, or has not spoken yet.
    NoSession,
    Opening,
    /// The stream is open, or refused.
    Settled,
}

impl Listening {
    pub fn new(client: reqwest::Client, limits: Limits, traffic: Arc<Traffic>) -> Self {
        Self { client, state: Arc::new(watch::Sender::new(State::NoSession)), limits, traffic }
    }

    /// An error once it was cut off.
    fn hears(&self) -> Result<(), Failed> {
        let reason = self.traffic.cut_off().map(|reason| reason.to_owned().into());
        reason.map_or(Ok(()), |reason| Err(StreamableHttpError::UnexpectedServerResponse(reason)))
    }

    /// Events as they come, for as long as they are not too many.
    fn measured(&self, events: Stream) -> Stream {
        let (limits, traffic) = (self.limits, Arc::clone(&self.traffic));
        let measured = events.map(move |event| {
            let size = event.as_ref().map_or(0, |event| event.data.as_ref().map_or(0, String::len) + LEAST);
            let taken = match &event {
                Err(SseError::Body(error)) if error.to_string().contains(&posting::too_large(limits.message_bytes)) => {
                    Err(posting::too_large(limits.message_bytes))
                }
                Ok(_) | Err(_) => traffic.take(size, &limits),
            };
            taken.map_err(|reason| {
                traffic.cut(&reason);
                SseError::Body(reason.into())
            })?;
            event
        });
        measured.boxed()
    }

    /// Waits until the server can reach us, if it is about to.
    pub async fn settled(&self) {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| *state != State::Opening);
        let _ = tokio::time::timeout(PATIENCE, settled).await;
    }

    fn heard(&self, response: &StreamableHttpPostResponse) {
        let session = match response {
            StreamableHttpPostResponse::Json(_, session) | StreamableHttpPostResponse::Sse(_, session) => {
                session.is_some()
            }
            _ => false,
        };
        self.state.send_if_modified(|state| {
            let begins = session && *state == State::NoSession;
            if begins {
                *state = State::Opening;
            }
            begins
        });
    }
}

pub(super) type Failed = StreamableHttpError<reqwest::Error>;
pub(super) type Stream = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for Listening {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let most = self.limits.message_bytes;
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, most).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.hears()?;
        let post = Post { uri, message, session, token, headers };
        let response = posting::post(&self.client, post, most).await.inspect_err(|error| {
            let reason = posting::too_large(most);
            if error.to_string().contains(&reason) {
                self.traffic.cut(&reason);
            }
        })?;
        self.heard(&response);
        Ok(match response {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.measured(events), session)
            }
            other => other,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Stream, Failed> {
        let most = self.limits.message_bytes;
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<Stream, Failed> {
        self.hears()?;
        let getting = self.client.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most);
        let stream = getting.await;
        self.state.send_replace(State::Settled);
        stream.map(|events| self.measured(events))
    }
}
