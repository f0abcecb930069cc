//! What is known of a folder: search, the graph, a look into a file, and the work on the index.
//!
//! Questions are answered from what is open; long work goes on by itself, is followed in the status,
//! and can be stopped.

mod health;
mod judgement;
mod papers;
mod views;

use std::path::PathBuf;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use weft_knowledge::{DEEPEST, Direction, Domain, EdgeKind, Filter, Kind, Knowledge, KnowledgeError, Language, Shelf};

pub use self::health::*;
pub use self::judgement::*;
pub use self::papers::*;
use self::views::{Around, Found, LinkView, Neighbours, PassageView, StatusView};
use super::blocking;
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, OptionalBody, Path, Query};
use crate::problem::{Answer, Problem, sentence};

const LONGEST_QUESTION: usize = 2_000;
const USUAL_HITS: usize = 20;
const MOST_HITS: usize = 100;
/// More neighbours than this on one side are no picture.
const MOST_AROUND: usize = 24;

impl From<KnowledgeError> for Problem {
    fn from(error: KnowledgeError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            KnowledgeError::Empty => Self::conflict("not_indexed", message),
            KnowledgeError::Busy => Self::conflict("busy", message),
            KnowledgeError::NoSymbol { similar, .. } => Self::missing(message).with("similar", similar),
            KnowledgeError::NoFolder(_)
            | KnowledgeError::NoFeedback(_)
            | KnowledgeError::NoMoment(_)
            | KnowledgeError::NoLanguage(_) => Self::bad(message),
            KnowledgeError::Store(error) => error.into(),
            KnowledgeError::Newer { .. }
            | KnowledgeError::Full
            | KnowledgeError::GaveUp
            | KnowledgeError::Io { .. }
            | KnowledgeError::Text(_)
            | KnowledgeError::Vector(_)
            | KnowledgeError::Model(_) => Self::failed(message),
        }
    }
}

impl Desk {
    /// Asks what is known of a folder, where it holds up nobody.
    async fn known<T: Send + 'static>(
        &self,
        folder: PathBuf,
        ask: impl FnOnce(&Knowledge, i64) -> Result<T, KnowledgeError> + Send + 'static,
    ) -> Answer<T> {
        let shelf = std::sync::Arc::clone(&self.knowledge);
        let asked = blocking(move || {
            let now = shelf.now();
            shelf.ask(&folder, |knowledge| ask(knowledge, now))
        });
        Ok(asked.await??)
    }

    /// Brings the past of a folder up to the log.
    async fn remembered(&self, folder: &std::path::Path) -> Answer<()> {
        let (shelf, folder) = (std::sync::Arc::clone(&self.knowledge), folder.to_owned());
        Ok(blocking(move || shelf.remember(&folder)).await??)
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KnowledgeQuery {
    /// What to look for: words, a question, a name, a path.
    #[param(max_length = 2000)]
    q: String,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Only these kinds, divided by commas: `function`, `struct`, `section`…
    kind: Option<String>,
    /// Only these, divided by commas: `code`, `documents`, `history`.
    domain: Option<String>,
    /// Only these languages, divided by commas.
    language: Option<String>,
    /// Only files whose path begins so.
    path: Option<String>,
    /// Only what changed since then, in milliseconds since 1970.
    since: Option<i64>,
    /// Only what was last changed before then, in milliseconds since 1970.
    until: Option<i64>,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

/// The words of a list, each understood.
fn words<T>(list: Option<&str>, name: &str, read: fn(&str) -> Option<T>) -> Answer<Vec<T>> {
    let words = list.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| read(word).ok_or_else(|| Problem::bad(format!("`{name}` has a word that is not known."))))
        .collect()
}

/// Search code, documents and history
#[utoipa::path(get, path = "/knowledge/search", params(KnowledgeQuery), responses((status = 200, body = Found)), tag = "knowledge")]
pub async fn search(State(desk): State<SharedDesk>, Query(query): Query<KnowledgeQuery>) -> Answer<Json<Found>> {
    let limit = query.limit.unwrap_or(USUAL_HITS);
    if limit == 0 || limit > MOST_HITS {
        return Err(Problem::bad("`limit` is from 1 to 100."));
    }
    let filter = Filter {
        domains: words(query.domain.as_deref(), "domain", Domain::from_word)?,
        kinds: words(query.kind.as_deref(), "kind", Kind::from_word)?,
        languages: words(query.language.as_deref(), "language", Language::from_word)?,
        path_prefix: query.path.filter(|path| !path.is_empty()),
        since: query.since,
        until: query.until,
    };
    let text: String = query.q.chars().take(LONGEST_QUESTION).collect();
    let folder = desk.folder(query.workspace.as_deref())?;
    if filter.domains.contains(&Domain::History) {
        desk.remembered(&folder).await?;
    } else if filter.domains.is_empty() {
        // Whoever types does not wait for it; what was said a moment ago is found with the next letter.
        desk.knowledge.remember_soon(&folder);
    }
    let found = desk.known(folder, move |knowledge, now| {
        let begun = Instant::now();
        let answer = knowledge.search(&weft_knowledge::Query { text, filter, limit, now })?;
        Ok(Found::of(answer, begun.elapsed()))
    });
    Ok(Json(found.await?))
}

/// What is asked of the graph.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionWord {
    /// Who calls it.
    Callers,
    /// What it calls.
    Callees,
    /// What it needs.
    Deps,
    /// What would feel a change of it.
    Impact,
    /// Documents that speak of it.
    Docs,
    /// Sessions and commits that changed or spoke of it.
    History,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GraphQuery {
    /// A name, `Type::name`, a file, or `file:line`.
    #[param(max_length = 500)]
    symbol: String,
    /// How many steps; one without it, and all for `impact`.
    #[param(minimum = 1, maximum = 8)]
    depth: Option<usize>,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

fn depth(given: Option<usize>, usual: usize) -> Answer<usize> {
    match given {
        Some(depth) if depth == 0 || depth > DEEPEST => Err(Problem::bad("`depth` is from 1 to 8.")),
        given => Ok(given.unwrap_or(usual)),
    }
}

/// Ask the graph about a symbol or file
#[utoipa::path(get, path = "/knowledge/graph/{question}", params(("question" = QuestionWord, Path), GraphQuery), responses((status = 200, body = Neighbours)), tag = "knowledge")]
pub async fn graph(
    State(desk): State<SharedDesk>,
    Path(question): Path<String>,
    Query(query): Query<GraphQuery>,
) -> Answer<Json<Neighbours>> {
    let question: QuestionWord = serde_json::from_value(question.into())
        .map_err(|_| Problem::missing("The questions are callers, callees, deps, impact, docs, history."))?;
    let usual = if matches!(question, QuestionWord::Impact) { DEEPEST } else { 1 };
    let depth = depth(query.depth, usual)?;
    let folder = desk.folder(query.workspace.as_deref())?;
    if matches!(question, QuestionWord::History) {
        desk.remembered(&folder).await?;
    }
    let memory = desk.knowledge.memory();
    let found = desk.known(folder, move |knowledge, _| {
        let symbol = &query.symbol;
        match question {
            QuestionWord::Callers => knowledge.callers(symbol, depth),
            QuestionWord::Callees => knowledge.callees(symbol, depth),
            QuestionWord::Deps => knowledge.dependencies(symbol, depth),
            QuestionWord::Impact => knowledge.impact(symbol, depth),
            QuestionWord::Docs => knowledge.documents_about(symbol),
            QuestionWord::History => knowledge.history(symbol, memory.as_deref()),
        }
    });
    Ok(Json(Neighbours::of(found.await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LinkQuery {
    from: String,
    to: String,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

/// The shortest way between two things
#[utoipa::path(get, path = "/knowledge/graph/link", params(LinkQuery), responses((status = 200, body = LinkView)), tag = "knowledge")]
pub async fn link(State(desk): State<SharedDesk>, Query(query): Query<LinkQuery>) -> Answer<Json<LinkView>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let way = desk.known(folder, move |knowledge, _| knowledge.link(&query.from, &query.to)).await?;
    Ok(Json(LinkView::of(way)))
}

/// The neighbourhood of a symbol or file, one step each way
#[utoipa::path(get, path = "/knowledge/graph/around", params(GraphQuery), responses((status = 200, body = Around)), tag = "knowledge")]
pub async fn around(State(desk): State<SharedDesk>, Query(query): Query<GraphQuery>) -> Answer<Json<Around>> {
    const KINDS: [EdgeKind; 7] = [
        EdgeKind::Imports,
        EdgeKind::Calls,
        EdgeKind::References,
        EdgeKind::Extends,
        EdgeKind::Tests,
        EdgeKind::Mentions,
        EdgeKind::Cites,
    ];
    let depth = depth(query.depth, 1)?;
    let folder = desk.folder(query.workspace.as_deref())?;
    let around = desk.known(folder, move |knowledge, _| {
        let meant = knowledge.meant(&query.symbol)?;
        let before = knowledge.neighbours(&query.symbol, Direction::In, &KINDS, depth)?;
        let after = knowledge.neighbours(&query.symbol, Direction::Out, &KINDS, depth)?;
        Ok(Around::of(&meant, before, after, MOST_AROUND))
    });
    Ok(Json(around.await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PassageQuery {
    /// As a hit names it.
    path: String,
    #[param(minimum = 1)]
    line: u32,
    /// How many lines before and after it.
    #[param(minimum = 0, maximum = 200)]
    around: Option<u32>,
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

/// A known file around one of its lines
#[utoipa::path(get, path = "/knowledge/passage", params(PassageQuery), responses((status = 200, body = PassageView)), tag = "knowledge")]
pub async fn passage(State(desk): State<SharedDesk>, Query(query): Query<PassageQuery>) -> Answer<Json<PassageView>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    let around = query.around.unwrap_or(12).min(200);
    let passage = desk.known(folder, move |knowledge, _| knowledge.passage(&query.path, query.line, around)).await?;
    let gone = || Problem::missing("This file is not known, or it is gone. Index the folder to see what is there now.");
    Ok(Json(PassageView::of(passage.ok_or_else(gone)?)))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// The whole path of a folder; where the server was started without it.
    workspace: Option<String>,
}

/// What is known, and what is under way
#[utoipa::path(get, path = "/knowledge/status", params(StatusQuery), responses((status = 200, body = StatusView)), tag = "knowledge")]
pub async fn status(State(desk): State<SharedDesk>, Query(query): Query<StatusQuery>) -> Answer<Json<StatusView>> {
    let folder = desk.folder(query.workspace.as_deref())?;
    Ok(Json(desk.knowledge_status(folder).await?))
}

impl Desk {
    async fn knowledge_status(&self, folder: PathBuf) -> Answer<StatusView> {
        let (work, watch) = self.knowledge.work(&folder);
        let asked = self.known(folder.clone(), |knowledge, _| Ok((knowledge.status()?, knowledge.notices().to_vec())));
        match asked.await {
            Ok((status, notices)) => Ok(StatusView::of(status, notices, work, watch)),
            Err(problem) if problem.code == "not_indexed" => {
                Ok(StatusView::nothing(folder.to_string_lossy().into_owned(), work, watch))
            }
            Err(problem) => Err(problem),
        }
    }

    /// Begins some work and says how things stand then.
    async fn begin(
        &self,
        folder: PathBuf,
        begin: impl FnOnce(&std::sync::Arc<Shelf>, &std::path::Path) -> Result<(), KnowledgeError> + Send + 'static,
    ) -> Answer<(StatusCode, Json<StatusView>)> {
        let (shelf, place) = (std::sync::Arc::clone(&self.knowledge), folder.clone());
        blocking(move || begin(&shelf, &place)).await??;
        Ok((StatusCode::ACCEPTED, Json(self.knowledge_status(folder).await?)))
    }
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FolderIn {
    /// The whole path of a folder; where the server was started without it.
    #[serde(default)]
    workspace: Option<String>,
}

/// Take in what is new or changed in a folder
#[utoipa::path(post, path = "/knowledge/index", request_body = FolderIn, responses((status = 202, body = StatusView)), tag = "knowledge")]
pub async fn index(
    State(desk): State<SharedDesk>,
    OptionalBody(folder): OptionalBody<FolderIn>,
) -> Answer<(StatusCode, Json<StatusView>)> {
    let folder = desk.folder(folder.workspace.as_deref())?;
    desk.begin(folder, |shelf, folder| shelf.index(folder)).await
}

/// Make the full-text and the vector index anew
#[utoipa::path(post, path = "/knowledge/rebuild", request_body = FolderIn, responses((status = 202, body = StatusView)), tag = "knowledge")]
pub async fn rebuild(
    State(desk): State<SharedDesk>,
    OptionalBody(folder): OptionalBody<FolderIn>,
) -> Answer<(StatusCode, Json<StatusView>)> {
    let folder = desk.folder(folder.workspace.as_deref())?;
    desk.begin(folder, |shelf, folder| shelf.rebuild(folder)).await
}

/// Stop indexing or rebuilding; what has been done stays done
#[utoipa::path(post, path = "/knowledge/stop", request_body = FolderIn, responses((status = 202, body = StatusView)), tag = "knowledge")]
pub async fn stop(
    State(desk): State<SharedDesk>,
    OptionalBody(folder): OptionalBody<FolderIn>,
) -> Answer<(StatusCode, Json<StatusView>)> {
    let folder = desk.folder(folder.workspace.as_deref())?;
    desk.begin(folder, |shelf, folder| shelf.stop(folder)).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchIn {
    /// Whether changes are taken in as they are made.
    on: bool,
    /// The whole path of a folder; where the server was started without it.
    #[serde(default)]
    workspace: Option<String>,
}

/// Take in changes as they are made, or no longer
#[utoipa::path(post, path = "/knowledge/watch", request_body = WatchIn, responses((status = 202, body = StatusView)), tag = "knowledge")]
pub async fn watch(
    State(desk): State<SharedDesk>,
    Body(watch): Body<WatchIn>,
) -> Answer<(StatusCode, Json<StatusView>)> {
    let folder = desk.folder(watch.workspace.as_deref())?;
    desk.begin(folder, move |shelf, folder| if watch.on { shelf.watch(folder) } else { shelf.unwatch(folder) }).await
}
