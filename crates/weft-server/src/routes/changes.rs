//! What turns did to the files: shown, taken back, done again.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_core::event::FilesRestored;
use weft_engine::Which;

use crate::desk::SharedDesk;
use crate::extract::{OptionalBody, Query, Session};
use crate::problem::{Answer, Problem};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// A turn's number, or `all`; the last turn that changed something without it.
    turn: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DiffView {
    /// A unified diff.
    diff: String,
    /// The turns whose changes can be shown and taken back.
    turns: Vec<u32>,
}

/// What turns did to the files
#[utoipa::path(get, path = "/sessions/{id}/diff", params(("id" = String, Path), DiffQuery), responses((status = 200, body = DiffView)), tag = "files")]
pub async fn diff(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Query(query): Query<DiffQuery>,
) -> Answer<Json<DiffView>> {
    desk.exists(session)?;
    desk.begun(session)?;
    let which = match query.turn.as_deref() {
        None | Some("") => Which::Last,
        Some("all") => Which::All,
        Some(number) => {
            Which::Turn(number.parse().map_err(|_| Problem::bad("`turn` is the number of a turn, or `all`."))?)
        }
    };
    let turns: Vec<u32> = desk.engine.state(session)?.files.done.iter().map(|files| files.turn).collect();
    if turns.is_empty() {
        return Ok(Json(DiffView { diff: String::new(), turns }));
    }
    Ok(Json(DiffView { diff: desk.engine.diff(session, which).await?, turns }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoIn {
    /// How many turns.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 200)]
    turns: usize,
    /// One file only, named from the workspace: all that the session did to it.
    #[serde(default)]
    #[schema(max_length = 4096)]
    file: Option<String>,
    /// Also files that somebody has changed since.
    #[serde(default)]
    force: bool,
}

const fn one() -> usize {
    1
}

impl Default for UndoIn {
    fn default() -> Self {
        Self { turns: 1, file: None, force: false }
    }
}

/// What was done to the files.
#[derive(Debug, Serialize, ToSchema)]
pub struct RestoredView {
    /// `undo` or `redo`.
    way: String,
    turns: Vec<u32>,
    #[schema(value_type = Vec<Object>)]
    files: serde_json::Value,
    more: u32,
    /// What was left as it is, because somebody has changed it since.
    #[schema(value_type = Vec<Object>)]
    kept: serde_json::Value,
    text: String,
}

fn view(restored: &FilesRestored) -> RestoredView {
    RestoredView {
        way: match restored.way {
            weft_core::files::Way::Undo => "undo",
            weft_core::files::Way::Redo => "redo",
        }
        .to_owned(),
        turns: restored.turns.clone(),
        files: serde_json::to_value(&restored.files).unwrap_or_default(),
        more: restored.more,
        kept: serde_json::to_value(&restored.kept).unwrap_or_default(),
        text: weft_core::files::summary(&restored.files, restored.more),
    }
}

/// Take back what the last turns did to the files
#[utoipa::path(post, path = "/sessions/{id}/undo", params(("id" = String, Path)), request_body = UndoIn, responses((status = 200, body = RestoredView)), tag = "files")]
pub async fn undo(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    OptionalBody(undo): OptionalBody<UndoIn>,
) -> Answer<Json<RestoredView>> {
    desk.exists(session)?;
    desk.begun(session)?;
    if let Some(file) = &undo.file {
        return Ok(Json(view(&desk.engine.undo_file(session, file, undo.force).await?)));
    }
    if undo.turns == 0 {
        return Err(Problem::bad("Name at least one turn."));
    }
    Ok(Json(view(&desk.engine.undo(session, undo.turns, undo.force).await?)))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RedoIn {
    #[serde(default)]
    force: bool,
}

/// Do again what was taken back last
#[utoipa::path(post, path = "/sessions/{id}/redo", params(("id" = String, Path)), request_body = RedoIn, responses((status = 200, body = RestoredView)), tag = "files")]
pub async fn redo(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    OptionalBody(redo): OptionalBody<RedoIn>,
) -> Answer<Json<RestoredView>> {
    desk.exists(session)?;
    desk.begun(session)?;
    Ok(Json(view(&desk.engine.redo(session, redo.force).await?)))
}
