//! What a session made: files that it created, and documents and pictures that it changed, each with
//! its versions. The log names them, and the hidden history of the workspace has their contents.

use std::collections::BTreeMap;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_core::Recorded;
use weft_core::event::Event;
use weft_core::files::{FileChange, Way};
use weft_engine::Version;

use super::blocking;
use crate::desk::SharedDesk;
use crate::extract::{Query, Session};
use crate::problem::{Answer, Problem};

#[derive(Debug, Serialize, ToSchema)]
pub struct ArtifactList {
    /// What was changed last comes first.
    artifacts: Vec<ArtifactView>,
    /// Files that turns changed beyond those that the log names.
    more: u32,
}

#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ArtifactView {
    /// From the workspace.
    path: String,
    kind: KindWord,
    /// Oldest first.
    versions: Vec<ArtifactVersionView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KindWord {
    Document,
    Image,
    Data,
    Code,
    Other,
}

/// An artifact as it was after a turn.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ArtifactVersionView {
    turn: u32,
    /// The event that says so.
    seq: u64,
    at: i64,
    /// `created`, `changed`, `deleted`, `mode` or `not_kept`.
    #[schema(value_type = String)]
    change: FileChange,
    /// Lines, where it is text.
    added: Option<u32>,
    removed: Option<u32>,
    /// In bytes; nothing where there is no content, or it is not kept any more.
    size: Option<u64>,
    /// It was taken back.
    undone: bool,
    #[serde(skip)]
    tree: String,
}

/// What a session made
#[utoipa::path(get, path = "/sessions/{id}/artifacts", params(("id" = String, Path)), responses((status = 200, body = ArtifactList)), tag = "files")]
pub async fn list(State(desk): State<SharedDesk>, Session(session): Session) -> Answer<Json<ArtifactList>> {
    desk.exists(session)?;
    desk.begun(session)?;
    let store = desk.engine.store().clone();
    let events = blocking(move || store.file_events(session)).await??;
    let (mut artifacts, more) = artifacts_of(&events);
    let workspace = desk.engine.state(session)?.workspace;
    let versions = artifacts.iter().flat_map(|artifact| artifact.versions.iter().map(|one| version(artifact, one)));
    // Without the history there are names and no contents.
    let sizes = desk.engine.sizes_at(Path::new(&workspace), versions.collect()).await.unwrap_or_default();
    let places = artifacts.iter_mut().flat_map(|artifact| &mut artifact.versions);
    places.zip(sizes).for_each(|(version, size)| version.size = size);
    Ok(Json(ArtifactList { artifacts, more }))
}

fn version(artifact: &ArtifactView, version: &ArtifactVersionView) -> Version {
    Version { tree: version.tree.clone(), path: artifact.path.clone() }
}

/// The artifacts that the log of files tells of.
fn artifacts_of(events: &[Recorded]) -> (Vec<ArtifactView>, u32) {
    let mut found: BTreeMap<&str, ArtifactView> = BTreeMap::new();
    let mut more = 0;
    for recorded in events {
        match &recorded.event {
            Event::FilesChanged(changed) => {
                more += changed.more;
                for file in &changed.files {
                    let kind = kind_of(&file.path);
                    let made = file.change == FileChange::Created
                        || matches!(kind, KindWord::Document | KindWord::Image)
                        || found.contains_key(file.path.as_str());
                    if !made {
                        continue;
                    }
                    let artifact = found.entry(file.path.as_str()).or_insert_with(|| ArtifactView {
                        path: file.path.clone(),
                        kind,
                        versions: Vec::new(),
                    });
                    artifact.versions.push(ArtifactVersionView {
                        turn: changed.turn,
                        seq: recorded.seq,
                        at: recorded.at.0,
                        change: file.change,
                        added: file.added,
                        removed: file.removed,
                        size: None,
                        undone: false,
                        tree: changed.after.clone(),
                    });
                }
            }
            Event::FilesRestored(restored) => {
                let undone = restored.way == Way::Undo;
                // A single file goes back to before all of it.
                let single = restored.turns.is_empty();
                for artifact in found.values_mut() {
                    if single && !restored.files.iter().any(|file| file.path == artifact.path) {
                        continue;
                    }
                    let versions = artifact.versions.iter_mut();
                    versions
                        .filter(|version| single || restored.turns.contains(&version.turn))
                        .for_each(|version| version.undone = undone);
                }
            }
            _ => {}
        }
    }
    let mut artifacts: Vec<ArtifactView> = found.into_values().collect();
    artifacts.sort_by_key(|artifact| std::cmp::Reverse(artifact.versions.last().map(|version| version.seq)));
    (artifacts, more)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ContentQuery {
    /// From the workspace.
    #[param(max_length = 4096)]
    path: String,
    /// After which turn; the newest without it.
    turn: Option<u32>,
}

/// A version of what a session made
#[utoipa::path(get, path = "/sessions/{id}/artifacts/content", params(("id" = String, Path), ContentQuery), responses((status = 200, content((Vec<u8> = "application/octet-stream"), (String = "text/plain"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp"), (Vec<u8> = "image/svg+xml")))), tag = "files")]
pub async fn content(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Query(query): Query<ContentQuery>,
) -> Answer<Response> {
    desk.exists(session)?;
    desk.begun(session)?;
    let store = desk.engine.store().clone();
    let events = blocking(move || store.file_events(session)).await??;
    let (artifacts, _) = artifacts_of(&events);
    let missing = || Problem::missing("This session has made no such file, or not in this turn.");
    let artifact = artifacts.iter().find(|artifact| artifact.path == query.path).ok_or_else(missing)?;
    let wanted = |version: &&ArtifactVersionView| query.turn.is_none_or(|turn| version.turn == turn);
    let wanted = version(artifact, artifact.versions.iter().rev().find(wanted).ok_or_else(missing)?);
    let workspace = desk.engine.state(session)?.workspace;
    let bytes = desk.engine.file_at(Path::new(&workspace), wanted).await?.ok_or_else(|| {
        Problem::missing("This version is not kept: it was deleted or too large, or is older than `undo.keep_days`.")
    })?;
    Ok(served(&artifact.path, bytes))
}

/// Whatever it holds, it is not a page of ours: no script in it runs, and nothing it names is loaded.
pub fn served(path: &str, bytes: Vec<u8>) -> Response {
    let ending = ending_of(path);
    let kind = match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ if std::str::from_utf8(&bytes).is_ok() => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    let name: String = path.rsplit('/').next().unwrap_or(path).chars().take(200).collect();
    let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' ');
    let plain: String = name.chars().map(|letter| if safe(letter) { letter } else { '_' }).collect();
    let spelt: String = name.bytes().map(spell).collect();
    let disposition = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{spelt}");
    let mut response = bytes.into_response();
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    fields.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    );
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        fields.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

fn spell(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
        return char::from(byte).to_string();
    }
    format!("%{byte:02X}")
}

fn ending_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}

fn kind_of(path: &str) -> KindWord {
    match ending_of(path).as_str() {
        "md" | "markdown" | "txt" | "html" | "htm" | "pdf" | "docx" | "odt" | "rtf" | "tex" | "adoc" | "rst"
        | "org" | "pptx" | "epub" => KindWord::Document,
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "svg" | "bmp" | "ico" | "avif" => KindWord::Image,
        "csv" | "tsv" | "json" | "jsonl" | "yaml" | "yml" | "toml" | "xml" | "xlsx" | "ods" | "parquet" | "sqlite"
        | "sql" => KindWord::Data,
        "" | "bin" | "zip" | "gz" | "tar" | "lock" | "log" => KindWord::Other,
        _ => KindWord::Code,
    }
}

#[cfg(test)]
#[path = "artifacts_tests.rs"]
mod tests;
