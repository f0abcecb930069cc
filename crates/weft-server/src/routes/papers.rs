//! Papers over HTTP: research that is kept, its versions, and what was decided.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use weft_research::papers::{Decided, Paper, PaperError, Source};

use super::blocking;
use super::research::as_file;
use crate::desk::SharedDesk;
use crate::extract::{Body, Path, Query, Session};
use crate::problem::{Answer, Problem};

#[derive(Serialize, ToSchema)]
pub struct PaperList {
    /// The newest first.
    papers: Vec<PaperView>,
}

#[derive(Serialize, ToSchema)]
pub struct PaperView {
    paper: String,
    title: String,
    /// The newest version.
    version: u32,
    /// `draft`, or `decided` where every item is.
    status: String,
    session: String,
    versions: Vec<PaperVersionView>,
    items: Vec<ItemView>,
    /// The text of the version that was asked for, with its decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct PaperVersionView {
    number: u32,
    at: i64,
    run: u32,
    why: String,
}

#[derive(Serialize, ToSchema)]
pub struct ItemView {
    /// `F1` a finding, `Q1` an open question.
    id: String,
    title: String,
    /// `accepted`, `rejected` or `deferred`; nothing before that.
    decision: Option<String>,
    note: Option<String>,
}

impl PaperView {
    fn of(paper: &Paper, version: Option<u32>, with_text: bool) -> Answer<Self> {
        let shown = paper.version(version).map_err(problem)?;
        let head = paper.version(None).map_err(problem)?;
        let item = |item: &weft_research::papers::Item| {
            let decision = paper.decision(shown, item);
            ItemView {
                id: item.id.clone(),
                title: item.title.clone(),
                decision: decision.map(|decision| decision.decided.word().to_owned()),
                note: decision.map(|decision| decision.note.clone()),
            }
        };
        Ok(Self {
            paper: paper.slug.clone(),
            title: shown.title.clone(),
            version: head.number,
            status: paper.status().to_owned(),
            session: shown.session.clone(),
            versions: paper
                .versions
                .iter()
                .map(|one| PaperVersionView { number: one.number, at: one.at, run: one.run, why: one.why.clone() })
                .collect(),
            items: shown.items.iter().map(item).collect(),
            text: with_text.then(|| paper.text(shown)),
        })
    }
}

/// The papers that research was kept as
#[utoipa::path(get, path = "/papers", responses((status = 200, body = PaperList)), tag = "research")]
pub async fn list(State(desk): State<SharedDesk>) -> Answer<Json<PaperList>> {
    blocking(move || {
        let papers = desk.corpora.papers().list().map_err(problem)?;
        let papers = papers.iter().map(|paper| PaperView::of(paper, None, false)).collect::<Answer<Vec<_>>>()?;
        Ok(Json(PaperList { papers }))
    })
    .await?
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PaperQuery {
    /// The newest if left out.
    version: Option<u32>,
}

/// A paper, with the text of one version
#[utoipa::path(get, path = "/papers/{paper}", params(("paper" = String, Path), PaperQuery), responses((status = 200, body = PaperView)), tag = "research")]
pub async fn show(
    State(desk): State<SharedDesk>,
    Path(slug): Path<String>,
    Query(query): Query<PaperQuery>,
) -> Answer<Json<PaperView>> {
    blocking(move || {
        let paper = desk.corpora.papers().get(&slug).map_err(problem)?;
        PaperView::of(&paper, query.version, true).map(Json)
    })
    .await?
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PaperFileQuery {
    /// The newest if left out.
    version: Option<u32>,
    /// `md`, `html`, `docx` or `pdf`; Markdown if left out.
    format: Option<String>,
}

/// A version of a paper, with what was decided on it, as a file
#[utoipa::path(get, path = "/papers/{paper}/document", params(("paper" = String, Path), PaperFileQuery), responses((status = 200, content((Vec<u8> = "application/octet-stream"), (String = "text/plain")))), tag = "research")]
pub async fn document(
    State(desk): State<SharedDesk>,
    Path(slug): Path<String>,
    Query(query): Query<PaperFileQuery>,
) -> Answer<Response> {
    blocking(move || {
        let paper = desk.corpora.papers().get(&slug).map_err(problem)?;
        let version = paper.version(query.version).map_err(problem)?;
        let name = format!("{}-v{}", paper.slug, version.number);
        as_file(&name, &paper.text(version), query.format.as_deref())
    })
    .await?
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PaperIn {
    /// The question if left out.
    title: Option<String>,
    /// Why this version is made.
    #[serde(default)]
    why: String,
}

/// Make a paper of a session's research, or the next version of it
#[utoipa::path(post, path = "/sessions/{id}/research/paper", params(("id" = String, Path)), request_body = PaperIn, responses((status = 200, body = PaperView)), tag = "research")]
pub async fn make(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Body(body): Body<PaperIn>,
) -> Answer<Json<PaperView>> {
    desk.exists(session)?;
    desk.begun(session)?;
    blocking(move || {
        let Some((run, output)) = desk.engine.last_answer(session)? else {
            return Err(Problem::missing("There is no finished document in this session."));
        };
        let name = session.to_string();
        let title = body.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        let earlier = desk.engine.answers(session)?;
        let source = Source { session: &name, run, output: &output, earlier: &earlier, title, why: &body.why };
        let papers = desk.corpora.papers();
        let paper = papers.make(&source).map_err(problem)?;
        papers.ingest(&desk.corpora).map_err(problem)?;
        PaperView::of(&paper, None, true).map(Json)
    })
    .await?
}

/// The paper that a session's research was kept as
#[utoipa::path(get, path = "/sessions/{id}/research/paper", params(("id" = String, Path)), responses((status = 200, body = Object)), tag = "research")]
pub async fn of_session(State(desk): State<SharedDesk>, Session(session): Session) -> Answer<Json<Value>> {
    desk.exists(session)?;
    blocking(move || {
        let paper = desk.corpora.papers().of_session(&session.to_string()).map_err(problem)?;
        let view = paper.map(|paper| PaperView::of(&paper, None, false)).transpose()?;
        Ok(Json(json!({ "paper": view })))
    })
    .await?
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionIn {
    item: String,
    /// `accepted`, `rejected` or `deferred`.
    #[schema(value_type = String)]
    decision: Decided,
    #[serde(default)]
    note: String,
}

/// Accept, reject or defer an item of a paper
#[utoipa::path(post, path = "/papers/{paper}/decisions", params(("paper" = String, Path)), request_body = DecisionIn, responses((status = 200, body = PaperView)), tag = "research")]
pub async fn decide(
    State(desk): State<SharedDesk>,
    Path(slug): Path<String>,
    Body(body): Body<DecisionIn>,
) -> Answer<Json<PaperView>> {
    blocking(move || {
        let papers = desk.corpora.papers();
        let paper = papers.decide(&slug, &body.item, body.decision, &body.note, "web").map_err(problem)?;
        papers.ingest(&desk.corpora).map_err(problem)?;
        PaperView::of(&paper, None, false).map(Json)
    })
    .await?
}

fn problem(error: PaperError) -> Problem {
    match error {
        PaperError::Unknown(_) | PaperError::NoVersion { .. } => Problem::missing(format!("{error}.")),
        PaperError::NoItem { .. } | PaperError::NoAnswer | PaperError::LongNote => Problem::bad(format!("{error}.")),
        PaperError::File { .. } => Problem::failed(format!("{error}.")),
        PaperError::Corpus(error) => super::research::problem(error),
    }
}
