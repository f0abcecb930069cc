//! What requests carry, parsed once into types that cannot be wrong; a refusal is a [`Problem`].

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use weft_core::SessionId;

use crate::problem::Problem;

/// A JSON body.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_json = kind.is_some_and(|kind| {
            kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        });
        if !is_json {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "bad_request",
                "Send JSON, with `Content-Type: application/json`.",
            ));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large("This request is too large."),
            _ => Problem::bad("The request was cut off."),
        })?;
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| Problem::bad(format!("This request cannot be understood: {error}.")))?;
        Ok(Self(value))
    }
}

/// A JSON body that may be left out.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let empty = length.is_some_and(|length| length == "0")
            || (length.is_none() && !request.headers().contains_key(header::TRANSFER_ENCODING));
        if empty {
            return Ok(Self(T::default()));
        }
        Body::from_request(request, state).await.map(|Body(value)| Self(value))
    }
}

/// What stands behind the `?`.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|axum::extract::Query(value)| Self(value))
            .map_err(|rejection| Problem::bad(format!("{}.", rejection.body_text().trim_end_matches('.'))))
    }
}

/// What a path names. Bytes that are no text name nothing.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let names = axum::extract::Path::from_request_parts(parts, state).await;
        names.map(|axum::extract::Path(names)| Self(names)).map_err(|_| Problem::missing("There is nothing here."))
    }
}

/// The session that a path names. Only whole ids; whether it exists is for the store to say.
pub struct Session(pub SessionId);

impl<S: Send + Sync> FromRequestParts<S> for Session {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        // Paths have the session's id first.
        let names: Path<Vec<(String, String)>> =
            Path::from_request_parts(parts, state).await.map_err(|_| Problem::no_session())?;
        let id = names.0.iter().find(|(name, _)| name == "id").ok_or_else(Problem::no_session)?;
        id.1.parse().map(Self).map_err(|_| Problem::no_session())
    }
}

/// Something else that a path names, by its name in the path.
pub fn named<T: std::str::FromStr>(names: &[(String, String)], name: &str) -> Result<T, Problem> {
    let found = names.iter().find(|(known, _)| known == name).and_then(|(_, text)| text.parse().ok());
    found.ok_or_else(|| Problem::missing("There is nothing here."))
}

/// All names in a path.
pub type Names = Path<Vec<(String, String)>>;
