//! An HTTP client that knows whether the server can reach us. Servers may send questions over a
//! stream of its own; what they send before that stream is open is lost, so nothing is asked of a
//! server before.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::{Error as SseError, Sse};
use tokio::sync::watch;

/// Servers that answer only when they have something to say are not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Listening {
    client: reqwest::Client,
    state: Arc<watch::Sender<State>>,
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
    pub fn new(client: reqwest::Client) -> Self {
        Self { client, state: Arc::new(watch::Sender::new(State::NoSession)) }
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

type Failed = StreamableHttpError<reqwest::Error>;
type Stream = BoxStream<'static, Result<Sse, SseError>>;

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
        let response = self.client.post_message(uri, message, session, token, headers).await?;
        self.heard(&response);
        Ok(response)
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
        let posting = self.client.post_message_with_max_sse_event_size(uri, message, session, token, headers, most);
        let response = posting.await?;
        self.heard(&response);
        Ok(response)
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
        let stream = self.client.get_stream(uri, session, last, token, headers).await;
        self.state.send_replace(State::Settled);
        stream
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
        let getting = self.client.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most);
        let stream = getting.await;
        self.state.send_replace(State::Settled);
        stream
    }
}
