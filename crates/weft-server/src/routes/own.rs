//! Agents and skills as they are written: any that can be used here is read, a person's own are written and put away.

use std::io::ErrorKind;
use std::path::{Path as FilePath, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_engine::agent::Agent;
use weft_engine::own::{Kind, Own, OwnError};
use weft_engine::skills::Skills;
use weft_store::audit::Category;

use super::catalog::PlaceQuery;
use super::{blocking, to_the_end};
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Path, Query};
use crate::problem::{Answer, Problem, sentence};
use crate::version;

#[derive(Debug, Serialize, ToSchema)]
pub struct OwnText {
    name: String,
    /// The whole file: front matter between `---` lines, then the instructions.
    text: String,
    /// Where it lies; empty for what is built in.
    file: String,
    /// It is your own and can be changed here.
    yours: bool,
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

/// An agent that can be worked with, as it is written
#[utoipa::path(get, path = "/agents/{name}", params(("name" = String, Path), PlaceQuery), responses((status = 200, body = OwnText)), tag = "catalog")]
pub async fn agent(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    Query(place): Query<PlaceQuery>,
) -> Answer<Json<OwnText>> {
    show(desk, Kind::Agent, name, &place).await
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

/// A skill that can be worked with, as it is written
#[utoipa::path(get, path = "/skills/{name}", params(("name" = String, Path), PlaceQuery), responses((status = 200, body = OwnText)), tag = "catalog")]
pub async fn skill(
    State(desk): State<SharedDesk>,
    Path(name): Path<String>,
    Query(place): Query<PlaceQuery>,
) -> Answer<Json<OwnText>> {
    show(desk, Kind::Skill, name, &place).await
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

/// The person's own comes first, as everywhere.
async fn show(desk: SharedDesk, kind: Kind, name: String, place: &PlaceQuery) -> Answer<Json<OwnText>> {
    let workspace = desk.folder(place.workspace())?;
    blocking(move || {
        if let Ok(own) = Own::named(kind, &name, &desk.home)
            && own.exists()
        {
            return Ok(Json(own_text(&own, name, own.text().map_err(problem)?)));
        }
        let (text, file) = found(kind, &name, &desk, &workspace)
            .map_err(|_| Problem::missing(format!("There is no such {} here.", kind.word())))?;
        let file = file.map_or_else(String::new, |file| file.display().to_string());
        Ok(Json(OwnText { file, yours: false, version: version::of(&text), text, name }))
    })
    .await?
}

fn own_text(own: &Own, name: String, text: String) -> OwnText {
    OwnText { file: own.file().display().to_string(), yours: true, version: version::of(&text), text, name }
}

/// Of those that are listed only: a name never leads anywhere else.
fn found(kind: Kind, name: &str, desk: &Desk, workspace: &FilePath) -> std::io::Result<(String, Option<PathBuf>)> {
    match kind {
        Kind::Agent => {
            let (agents, _) = Agent::all(&desk.home, workspace);
            let agent = agents.iter().find(|agent| agent.name == name).ok_or(ErrorKind::NotFound)?;
            Agent::written(&agent.name, &desk.home, workspace)
        }
        Kind::Skill => {
            let skills = Skills::find(&desk.home, workspace);
            let skill = skills.get(name).ok_or(ErrorKind::NotFound)?;
            Ok((skill.written(workspace)?, (!skill.bundled).then(|| skill.folder.join("SKILL.md"))))
        }
    }
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
    Ok(Json(own_text(&own, name, given.text)))
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
