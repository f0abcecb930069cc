//! The description of the API, made from the code that serves it, and a page to read it with.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;

use crate::problem::ErrorBody;
use crate::routes::{GroupWord, PeriodWord, QuestionWord, ViewWord};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Weft",
        description = "Sessions of agents on this machine: say something, follow what happens, answer what is asked.",
        license(name = "MIT OR Apache-2.0")
    ),
    components(schemas(ErrorBody, ViewWord, GroupWord, PeriodWord, QuestionWord))
)]
struct Api;

pub const BASE: &str = "/api/v1";

/// What can go wrong with any request.
const PROBLEMS: [(&str, &str); 11] = [
    ("400", "The request makes no sense"),
    ("401", "No token, or one that is not known"),
    ("403", "Asked under another name, or by another site's page"),
    ("404", "There is no such thing"),
    ("409", "It cannot be done as things stand"),
    ("413", "Too large"),
    ("415", "Not JSON"),
    ("422", "It seems to hold a secret"),
    ("429", "Too many requests"),
    ("500", "Something went wrong inside Weft"),
    ("503", "The disk is full or the database is busy"),
];

/// The description of the whole API.
pub fn document() -> OpenApi {
    let (_, api) = utoipa_axum::router::OpenApiRouter::with_openapi(Api::openapi())
        .nest(BASE, crate::routes::api())
        .merge(crate::edges::described())
        .split_for_parts();
    api
}

/// The same with what every request has in common.
pub fn complete(api: &OpenApi, version: &str) -> Value {
    let mut document = serde_json::to_value(api).unwrap_or_default();
    if let Some(info) = document.get_mut("info").and_then(Value::as_object_mut) {
        info.insert("version".to_owned(), json!(version));
    }
    if let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) {
        let schemes = json!({ "token": { "type": "http", "scheme": "bearer" } });
        components.insert("securitySchemes".to_owned(), schemes);
    }
    if let Some(whole) = document.as_object_mut() {
        whole.insert("security".to_owned(), json!([{ "token": [] }]));
    }
    let problem = |words: &str| {
        json!({
            "description": words,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
        })
    };
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let operations = paths.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        let Some(answers) = operation.get_mut("responses").and_then(Value::as_object_mut) else { continue };
        for (status, words) in PROBLEMS {
            answers.entry(status).or_insert_with(|| problem(words));
        }
    }
    document
}

pub fn answer(document: &Value) -> Response {
    Json(document).into_response()
}

/// The page and what it needs. Everything is in the binary.
pub fn viewer(name: &str) -> Response {
    let (kind, text) = match name {
        "" => ("text/html; charset=utf-8", include_str!("../assets/viewer.html")),
        "viewer.js" => ("text/javascript; charset=utf-8", include_str!("../assets/viewer.js")),
        "viewer.css" => ("text/css; charset=utf-8", include_str!("../assets/viewer.css")),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}
