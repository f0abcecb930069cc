//! One message after the other, as language servers write them: a header with the length, then JSON.
//! Whatever comes, no more is kept in memory than the limits say.

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

const LONGEST_HEADER: u64 = 4 * 1024;
const MOST_HEADERS: usize = 16;
/// Answers about large projects are a few megabytes.
pub(super) const LARGEST_MESSAGE: u64 = 32 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("a header is too long or cut short")]
    Header,
    #[error("a message has no length")]
    NoLength,
    #[error("a message of {0} bytes is too large")]
    TooLarge(u64),
    #[error("a message is cut short")]
    CutShort,
    #[error("a message is no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// What a server says.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Response {
        id: u64,
        result: Result<Value, Refusal>,
    },
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// JSON, but nothing that we have a use for.
    Other,
}

/// An error that a server answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub code: i64,
    pub message: String,
}

/// The next message; none at the end.
pub(super) async fn read(from: &mut (impl AsyncBufRead + Unpin + Send)) -> Result<Option<Message>, WireError> {
    let mut length = None;
    for count in 0..=MOST_HEADERS {
        let mut line = Vec::new();
        let read = (&mut *from).take(LONGEST_HEADER).read_until(b'\n', &mut line).await?;
        if read == 0 && count == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n") else { return Err(WireError::Header) };
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        if line.is_empty() {
            return body(from, length.ok_or(WireError::NoLength)?).await.map(Some);
        }
        let (name, value) = line.split_once(':').ok_or(WireError::Header)?;
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| WireError::Header)?);
        }
    }
    Err(WireError::Header)
}

async fn body(from: &mut (impl AsyncBufRead + Unpin + Send), length: u64) -> Result<Message, WireError> {
    if length > LARGEST_MESSAGE {
        return Err(WireError::TooLarge(length));
    }
    // Grows with what really comes, whatever the header says.
    let mut bytes = Vec::new();
    (&mut *from).take(length).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 != length {
        return Err(WireError::CutShort);
    }
    Ok(understood(serde_json::from_slice(&bytes)?))
}

fn understood(mut value: Value) -> Message {
    let mut take = |name: &str| value.get_mut(name).map(Value::take);
    let (id, method, params) = (take("id"), take("method"), take("params").unwrap_or_default());
    let method = method.and_then(|method| method.as_str().map(str::to_owned));
    match (id, method) {
        (Some(id), Some(method)) => Message::Request { id, method, params },
        (None, Some(method)) => Message::Notification { method, params },
        (Some(id), None) => {
            let Some(id) = id.as_u64() else { return Message::Other };
            let result = match take("error").filter(|error| !error.is_null()) {
                Some(error) => Err(Refusal {
                    code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                    message: error.get("message").and_then(Value::as_str).unwrap_or("no reason given").to_owned(),
                }),
                None => Ok(take("result").unwrap_or_default()),
            };
            Message::Response { id, result }
        }
        (None, None) => Message::Other,
    }
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    framed(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    framed(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

pub(super) fn answer(id: &Value, result: &Value) -> Vec<u8> {
    framed(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

pub(super) fn refusal(id: &Value, method: &str) -> Vec<u8> {
    let message = format!("{method} is not done here");
    framed(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}}))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
