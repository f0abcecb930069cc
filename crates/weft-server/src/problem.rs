//! What goes wrong with a request, as a client sees it: a code to decide by, a sentence for people.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use weft_core::turn::Rejected;
use weft_engine::EngineError;
use weft_store::StoreError;

#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
    /// More that a client can use, by name.
    pub more: Map<String, Value>,
}

/// The body of every answer that is not a success.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Serialize, ToSchema)]
pub struct ErrorDetail {
    /// Such as `not_found`.
    pub code: String,
    /// What happened and what to do, for people.
    pub message: String,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

pub type Answer<T> = Result<T, Problem>;

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), more: Map::new() }
    }

    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", message)
    }

    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    pub fn no_session() -> Self {
        Self::missing("There is no such session. It may have been deleted.")
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let detail = ErrorDetail { code: self.code.to_owned(), message: self.message, more: self.more };
        let mut response = (self.status, Json(ErrorBody { error: detail })).into_response();
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

/// A message as a sentence of its own.
pub fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let mut sentence: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            StoreError::NoSuchSession { .. } => Self::no_session(),
            StoreError::NoSuchAsk { .. } => Self::missing(message),
            StoreError::Ambiguous { .. }
            | StoreError::TooShort { .. }
            | StoreError::NoSuchEvent { .. }
            | StoreError::BadLog { .. } => Self::bad(message),
            StoreError::Owned { pid } => Self::conflict("in_use", message).with("pid", pid),
            StoreError::Busy { .. } => Self::conflict("busy", message),
            StoreError::Stale { .. } | StoreError::Exists { .. } => Self::conflict("conflict", message),
            StoreError::Full | StoreError::Locked => Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message),
            StoreError::ReadOnly
            | StoreError::Corrupt { .. }
            | StoreError::Newer { .. }
            | StoreError::BadEvent { .. }
            | StoreError::Io { .. }
            | StoreError::Unexpected { .. } => Self::failed(message),
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Rejected(rejected) => match rejected {
                Rejected::NoSuchAsk => Self::conflict("closed", message),
                Rejected::WrongAnswer => Self::bad(message),
                Rejected::NothingToContinue => Self::conflict("nothing_to_do", message),
                Rejected::NotQueued => Self::conflict("not_queued", message),
                Rejected::Busy => Self::conflict("busy", message),
            },
            EngineError::InUse { pid, .. } => Self::conflict("in_use", message).with("pid", pid),
            EngineError::Secret { kind, near, .. } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "secret", message).with("kind", kind).with("near", near)
            }
            EngineError::Hook(_) => Self::conflict("refused", message),
            EngineError::Model(_) | EngineError::Agent(_) | EngineError::Command { .. } | EngineError::Flow(_) => {
                Self::bad(message)
            }
            EngineError::NoCommand { known, .. } => Self::bad(message).with("known", known),
            EngineError::Undo(_) => Self::conflict("cannot_undo", message),
            EngineError::Config(_) | EngineError::Stopped(_) | EngineError::Home { .. } => Self::failed(message),
        }
    }
}

/// Somebody else's words, short enough for a message.
pub fn clipped(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(60).collect()
}
