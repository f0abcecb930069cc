//! Sends a message to a source over HTTP and takes its answer, never more of it than is allowed. The SDK
//! would read an answer whole, however large; apart from that this does what it does.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::BytesMut;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::SseStream;

use super::listening::{Failed, Stream};
use super::meter::Events;
use crate::naming;

/// What is read of an answer that tells of a failure.
const LONGEST_FAILURE: usize = 64 * 1024;
const SESSION: &str = "mcp-session-id";
const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
/// What is not for settings to change.
const RESERVED: [&str; 3] = ["accept", SESSION, "last-event-id"];

pub(super) struct Post {
    pub uri: Arc<str>,
    pub message: ClientJsonRpcMessage,
    pub session: Option<Arc<str>>,
    pub token: Option<String>,
    pub headers: HashMap<HeaderName, HeaderValue>,
}

/// `most` bytes of one message.
pub(super) async fn post(
    client: &reqwest::Client,
    post: Post,
    most: usize,
) -> Result<StreamableHttpPostResponse, Failed> {
    let mut request = client.post(&*post.uri).header(ACCEPT, format!("{STREAM}, {JSON}"));
    if let Some(token) = &post.token {
        request = request.bearer_auth(token);
    }
    for (name, value) in &post.headers {
        if RESERVED.contains(&name.as_str()) {
            return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
        }
        request = request.header(name, value);
    }
    if let Some(session) = &post.session {
        request = request.header(SESSION, &**session);
    }
    let has_own_header = post.headers.contains_key(&AUTHORIZATION);
    let response = request.json(&post.message).send().await?;
    let (status, headers) = (response.status(), response.headers().clone());
    if let Some(refused) = wants_a_sign_in(status, &headers, has_own_header)? {
        return Err(refused);
    }
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && post.session.is_some() {
        return Err(StreamableHttpError::SessionExpired);
    }
    let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
    let is = |wanted: &str| kind.as_deref().is_some_and(|kind| kind.starts_with(wanted));
    let session = headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned);
    if !status.is_success() {
        return failure(&post, status, &headers, is(JSON), session, response).await;
    }
    // Nobody waits for an answer to these.
    let is_request = matches!(post.message, ClientJsonRpcMessage::Request(_));
    if !is_request && response.content_length() == Some(0) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if is(STREAM) {
        return Ok(StreamableHttpPostResponse::Sse(events(response, most), session));
    }
    if !is(JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    let (body, whole) = read(response, most).await?;
    if !whole {
        return Err(unexpected(too_large(most)));
    }
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
        Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
        Err(error) => Err(unexpected(format!("its answer is no message: {error}"))),
    }
}

pub(super) fn too_large(most: usize) -> String {
    format!("it sent a message of more than {} MB", most >> 20)
}

fn unexpected(reason: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(reason))
}

/// A challenge, which says where and for what to sign in. Some leave it out; but where they refuse a header
/// that the person gave them, a sign-in would change nothing.
fn wants_a_sign_in(status: StatusCode, headers: &HeaderMap, has_own_header: bool) -> Result<Option<Failed>, Failed> {
    let Some(challenge) = headers.get(WWW_AUTHENTICATE) else {
        let wants = status == StatusCode::UNAUTHORIZED && !has_own_header;
        return Ok(wants.then(|| StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new()))));
    };
    let challenge = || {
        let words = challenge.to_str().map(str::to_owned);
        words.map_err(|_| unexpected("it wants a sign-in in words that cannot be read".to_owned()))
    };
    Ok(match status {
        StatusCode::UNAUTHORIZED => Some(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge()?))),
        StatusCode::FORBIDDEN => {
            let challenge = challenge()?;
            let scope = scope(&challenge);
            Some(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, scope)))
        }
        _ => None,
    })
}

/// What a sign-in would have to be for.
fn scope(challenge: &str) -> Option<String> {
    let at = challenge.to_ascii_lowercase().find("scope=")?;
    let value = challenge.get(at + "scope=".len()..)?;
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split([',', ';', ' ', '\t']).next()?,
    };
    (!value.is_empty()).then(|| value.to_owned())
}

/// An answer that tells of a failure: as a message of the protocol where it is one.
async fn failure(
    post: &Post,
    status: StatusCode,
    headers: &HeaderMap,
    is_json: bool,
    session: Option<String>,
    response: reqwest::Response,
) -> Result<StreamableHttpPostResponse, Failed> {
    let busy = status == StatusCode::TOO_MANY_REQUESTS;
    let of_server = (busy || status.is_server_error()).then(|| {
        let after = headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()).map(str::to_owned);
        HttpStatusError::new(status.as_u16(), after)
    });
    if let Some(error) = of_server.filter(|_| busy || !is_json) {
        return Err(error.into());
    }
    let (body, _) = read(response, LONGEST_FAILURE).await.unwrap_or_default();
    let said = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        Ok(_) | Err(_) => None,
    };
    let words = naming::clean(&String::from_utf8_lossy(&body), 600);
    let may_sign_in = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    // One that does not know the newest handshake says so in ways of its own, often under no id.
    if let ClientJsonRpcMessage::Request(request) = &post.message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && post.session.is_none()
        && status.is_client_error()
        && !may_sign_in
    {
        let error = said.map(|said| said.error);
        let error = error.unwrap_or_else(|| ErrorData::invalid_request(format!("HTTP {status}: {words}"), None));
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match said.filter(|_| is_json && !may_sign_in) {
        Some(error) => Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), session)),
        None if status.is_server_error() => Err(HttpStatusError::new(status.as_u16(), None).into()),
        None => Err(unexpected(format!("HTTP {status}: {words}"))),
    }
}

/// The beginning of an answer, and whether that is all of it.
async fn read(response: reqwest::Response, most: usize) -> Result<(BytesMut, bool), reqwest::Error> {
    let mut body = BytesMut::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if body.len() + chunk.len() > most {
            return Ok((body, false));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body, true))
}

/// The events of an answer, none of which is larger than `most`.
fn events(response: reqwest::Response, most: usize) -> Stream {
    let mut size = Events::default();
    let bounded = response.bytes_stream().map_err(std::io::Error::other).map(move |chunk| {
        let chunk = chunk?;
        if size.longest(&chunk) > most {
            return Err(std::io::Error::other(too_large(most)));
        }
        Ok(chunk)
    });
    SseStream::from_bytes_stream(bounded).boxed()
}
