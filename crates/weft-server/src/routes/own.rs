//! A person's own agents and skills: read, written, put away.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_engine::own::{Kind, Own, OwnError};
use weft_store::audit::Category;

use super::{blocking, to_the_end};
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Path};
use crate::problem::{Answer, Problem, sentence};
use crate::version;

#[derive(Debug, Serialize, ToSchema)]
pub struct OwnText {
    name: String,
    /// The whole file: front matter between `---` lines, then the instructions.
    text: String,
    /// Where it lies.
    file: String,
    /// Which text this is; whoever replaces it can say which one they had read.
    version: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnTextIn {
    #[schema(max_length = 262_144)]
    text: String,
    /// It is refused if there is one of this name.
    #[serde(default)]
    new: bool,
    /// The `version` of the text that this one was made from. It is refused if there is another one now;
    /// without a version it is written whatever there is.
    #[serde(default)]
    #[schema(max_length = 64)]
    version: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PutAway {
    /// Where it lies now, with all its files.
    place: String,
}

/// An agent of your own, as it is written
#[utoipa::path(get, path = "/agents/{name}", params(("name" = String, Path)), responses((status = 200, body = OwnText)), tag = "catalog")]
pub async fn agent(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<Json<OwnText>> {
    show(desk, Kind::Agent, name).await
}

/// Write an agent of your own
#[utoipa::path(put, path = "/agents/{name}", params(("name" = String, Path)), request_body = OwnTextIn, responses((status = 200, body = OwnText)), tag = "catalog")]
pub async fn keep_agent(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    Body(given): Body<OwnTextIn>,
) -> Answer<Json<OwnText>> {
    keep(desk, Kind::Agent, name, given).await
}

/// Put an agent of your own away
///
/// It stays (409) if it is no longer the text of the version that `If-Match` names.
#[utoipa::path(delete, path = "/agents/{name}", params(("name" = String, Path), ("if-match" = Option<String>, Header, max_length = 64)), responses((status = 200, body = PutAway)), tag = "catalog")]
pub async fn remove_agent(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    read: version::Read,
) -> Answer<(StatusCode, Json<PutAway>)> {
    remove(desk, Kind::Agent, name, read).await
}

/// A skill of your own, as it is written
#[utoipa::path(get, path = "/skills/{name}", params(("name" = String, Path)), responses((status = 200, body = OwnText)), tag = "catalog")]
pub async fn skill(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Answer<Json<OwnText>> {
    show(desk, Kind::Skill, name).await
}

/// Write a skill of your own
#[utoipa::path(put, path = "/skills/{name}", params(("name" = String, Path)), request_body = OwnTextIn, responses((status = 200, body = OwnText)), tag = "catalog")]
pub async fn keep_skill(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    Body(given): Body<OwnTextIn>,
) -> Answer<Json<OwnText>> {
    keep(desk, Kind::Skill, name, given).await
}

/// Put a skill of your own away
///
/// It stays (409) if it is no longer the text of the version that `If-Match` names.
#[utoipa::path(delete, path = "/skills/{name}", params(("name" = String, Path), ("if-match" = Option<String>, Header, max_length = 64)), responses((status = 200, body = PutAway)), tag = "catalog")]
pub async fn remove_skill(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    read: version::Read,
) -> Answer<(StatusCode, Json<PutAway>)> {
    remove(desk, Kind::Skill, name, read).await
}

async fn show(desk: SharedDesk, kind: Kind, name: String) -> Answer<Json<OwnText>> {
    blocking(move || {
        let own = Own::named(kind, &name, &desk.home).map_err(|_| missing(kind))?;
        let text = own.text().map_err(problem)?;
        Ok(Json(OwnText { file: own.file().display().to_string(), version: version::of(&text), text, name }))
    })
    .await?
}

async fn keep(desk: SharedDesk, kind: Kind, name: String, given: OwnTextIn) -> Answer<Json<OwnText>> {
    to_the_end(async move {
        let holder = SharedDesk::clone(&desk);
        let _replacing = holder.replacing.lock().await;
        blocking(move || replace(&desk, kind, name, given)).await?
    })
    .await
}

fn replace(desk: &Desk, kind: Kind, name: String, given: OwnTextIn) -> Answer<Json<OwnText>> {
    let own = Own::named(kind, &name, &desk.home).map_err(problem)?;
    if given.new && own.exists() {
        let word = kind.word();
        return Err(Problem::conflict("exists", format!("There is already a {word} `{name}`.")));
    }
    version::Read::of(given.version).check("The instructions", || now(&own))?;
    own.keep(&given.text).map_err(problem)?;
    desk.note_change(Category::Config, "catalog.written", "write", &format!("{} {name}", kind.word()));
    let version = version::of(&given.text);
    Ok(Json(OwnText { file: own.file().display().to_string(), version, text: given.text, name }))
}

async fn remove(
    desk: SharedDesk,
    kind: Kind,
    name: String,
    read: version::Read,
) -> Answer<(StatusCode, Json<PutAway>)> {
    to_the_end(async move {
        let holder = SharedDesk::clone(&desk);
        let _replacing = holder.replacing.lock().await;
        blocking(move || {
            let own = Own::named(kind, &name, &desk.home).map_err(|_| missing(kind))?;
            if own.exists() {
                read.check("The instructions", || now(&own))?;
            }
            let place = own.put_away(&desk.home, desk.engine.clock().now()).map_err(problem)?;
            desk.note_change(Category::Config, "catalog.removed", "remove", &format!("{} {name}", kind.word()));
            Ok((StatusCode::OK, Json(PutAway { place: place.display().to_string() })))
        })
        .await?
    })
    .await
}

/// One that was removed meanwhile, or cannot be read any more, is no longer what was read.
fn now(own: &Own) -> String {
    own.text().map(|text| version::of(&text)).unwrap_or_default()
}

fn missing(kind: Kind) -> Problem {
    Problem::missing(format!("You have no such {} of your own.", kind.word()))
}

fn problem(error: OwnError) -> Problem {
    match error {
        OwnError::Missing { kind, .. } => missing(kind),
        OwnError::Wrong(reason) => Problem::bad(sentence(&reason)),
        OwnError::Disk { .. } => Problem::failed(sentence(&error.to_string())),
    }
}
