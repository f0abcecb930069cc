//! Files that go with what is said.

use axum::Json;
use axum::body::Body as RawBody;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Limited};
use serde::Deserialize;
use utoipa::IntoParams;

use super::blocking;
use crate::desk::SharedDesk;
use crate::extract::{Path, Query};
use crate::problem::{Answer, Problem};
use crate::uploads::{LARGEST, UploadView};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UploadQuery {
    /// What the file is called.
    #[serde(default)]
    #[param(max_length = 200)]
    name: String,
}

/// Hand over a file, which can then be said
#[utoipa::path(post, path = "/uploads", params(UploadQuery), request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 201, body = UploadView)), tag = "uploads")]
pub async fn upload(
    State(desk): State<SharedDesk>,
    Query(query): Query<UploadQuery>,
    headers: HeaderMap,
    body: RawBody,
) -> Answer<(StatusCode, Json<UploadView>)> {
    let bytes = Limited::new(body, LARGEST).collect().await.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            Problem::too_large("This file is larger than 20 MB. Put it into the folder and name it.")
        } else {
            Problem::bad("The file was cut off on its way.")
        }
    })?;
    let bytes = bytes.to_bytes();
    if bytes.is_empty() {
        return Err(Problem::bad("This file is empty."));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let id = getrandom::u64().map_err(|error| Problem::failed(error.to_string()))?;
    let view = blocking(move || desk.uploads.keep(format!("{id:016x}"), &query.name, &kind, &bytes)).await??;
    Ok((StatusCode::CREATED, Json(view)))
}

/// A file as it was handed over
#[utoipa::path(get, path = "/uploads/{id}", params(("id" = String, Path)), responses((status = 200, content((Vec<u8> = "application/octet-stream"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp")))), tag = "uploads")]
pub async fn download(State(desk): State<SharedDesk>, Path(id): Path<String>) -> Answer<Response> {
    let (view, bytes) = blocking(move || desk.uploads.get(&id)).await??;
    let mut response = bytes.into_response();
    let fields = response.headers_mut();
    // Only pictures are shown; whatever else it says it is, a browser is to save it.
    let shown = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&view.media_type.as_str());
    let kind = if shown { view.media_type.as_str() } else { "application/octet-stream" };
    fields.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream")),
    );
    let disposition = if shown { "inline" } else { "attachment" };
    fields.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400"));
    Ok(response)
}
