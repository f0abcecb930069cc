//! Full-text search over what was said in all sessions.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_core::SessionId;
use weft_store::HitKind;

use crate::desk::SharedDesk;
use crate::extract::Query;
use crate::problem::{Answer, Problem};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// All of these words must occur; the beginning of a word is enough.
    #[param(max_length = 500)]
    q: String,
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct SearchView {
    hits: Vec<HitView>,
}

#[derive(Serialize, ToSchema)]
pub struct HitView {
    #[schema(value_type = String)]
    session: SessionId,
    title: Option<String>,
    seq: u64,
    at: i64,
    /// `input`, `answer` or `title`.
    kind: String,
    snippet: Vec<SnippetView>,
}

#[derive(Serialize, ToSchema)]
pub struct SnippetView {
    text: String,
    /// It is what was looked for.
    hit: bool,
}

/// Search what was said
#[utoipa::path(get, path = "/search", params(SearchQuery), responses((status = 200, body = SearchView)), tag = "sessions")]
pub async fn search(State(desk): State<SharedDesk>, Query(query): Query<SearchQuery>) -> Answer<Json<SearchView>> {
    let limit = query.limit.unwrap_or(50);
    if limit == 0 || limit > 200 {
        return Err(Problem::bad("`limit` is from 1 to 200."));
    }
    let words: String = query.q.chars().take(500).collect();
    let hits = desk.engine.store().search(&words, limit).await?;
    let hits = hits.into_iter().map(|hit| HitView {
        session: hit.session,
        title: hit.title,
        seq: hit.seq,
        at: hit.at.0,
        kind: match hit.kind {
            HitKind::Input => "input",
            HitKind::Answer => "answer",
            HitKind::Title => "title",
        }
        .to_owned(),
        snippet: hit.snippet.into_iter().map(|piece| SnippetView { text: piece.text, hit: piece.hit }).collect(),
    });
    Ok(Json(SearchView { hits: hits.collect() }))
}
