//! Research over HTTP: the corpora, starting a run, what it came to, and its document as a file. How a
//! run goes is told by the session's own events, and its pauses are asks like all others.

use std::sync::PoisonError;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};
use weft_core::{Cost, InputId, SessionId};
use weft_engine::flow::NewRun;
use weft_research::{CorpusError, FLOW, export};

use super::artifacts::served;
use super::{blocking, to_the_end};
use crate::desk::SharedDesk;
use crate::extract::{Body, Query, Session};
use crate::problem::{Answer, Problem};

/// In bytes.
const LARGEST_DOCUMENT: u64 = 256 << 20;

#[derive(Serialize, ToSchema)]
pub struct CorpusList {
    corpora: Vec<CorpusView>,
    /// The one that is asked where none is named.
    usual: String,
    /// What is found: the same `words`, what is alike (`likeness`), or what means the same (`meaning`).
    finds: String,
}

#[derive(Serialize, ToSchema)]
pub struct CorpusView {
    name: String,
    title: String,
    folders: Vec<FolderView>,
}

#[derive(Serialize, ToSchema)]
pub struct FolderView {
    path: String,
    /// `primary` or `guide`.
    tier: String,
    /// What stands before a paragraph's number in citations.
    cite: String,
}

/// The corpora that can be asked
#[utoipa::path(get, path = "/corpora", responses((status = 200, body = CorpusList)), tag = "research")]
pub async fn corpora(State(desk): State<SharedDesk>) -> Answer<Json<CorpusList>> {
    blocking(move || {
        let mut corpora = Vec::new();
        for name in desk.corpora.names() {
            let corpus = desk.corpora.get(&name).map_err(problem)?;
            let folders = corpus.folders.iter().map(|folder| FolderView {
                path: folder.place(),
                tier: json!(folder.tier).as_str().unwrap_or_default().to_owned(),
                cite: folder.cite.clone(),
            });
            corpora.push(CorpusView { folders: folders.collect(), name: corpus.name, title: corpus.title });
        }
        // Where nobody knows which is meant, the first is as good as any to begin with.
        let first = corpora.first().map(|corpus| corpus.name.clone()).unwrap_or_default();
        let finds = desk.corpora.finds().to_owned();
        Ok(Json(CorpusList { corpora, usual: desk.corpora.usual().unwrap_or(first), finds }))
    })
    .await?
}

#[derive(Serialize, ToSchema)]
pub struct SetUp {
    finds: String,
}

/// Fetch the model with which corpora are asked by meaning (84 MB, once); answered when it is there
#[utoipa::path(post, path = "/corpora/setup", responses((status = 200, body = SetUp)), tag = "research")]
pub async fn set_up(State(desk): State<SharedDesk>) -> Answer<Json<SetUp>> {
    to_the_end(async move {
        desk.corpora.set_up(None).await.map_err(problem)?;
        Ok(Json(SetUp { finds: desk.corpora.finds().to_owned() }))
    })
    .await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ParagraphQuery {
    corpus: Option<String>,
    /// Its id, or as it is cited: `3.8`, `HHS 3.8`.
    #[param(max_length = 500)]
    id: String,
}

#[derive(Serialize, ToSchema)]
pub struct ParagraphOut {
    id: String,
    cite: String,
    text: String,
    section: String,
    source: String,
    line: u32,
    page: Option<u32>,
    /// `primary` or `guide`.
    tier: String,
    /// What it refers to or is referred to by, as they are cited.
    linked: Vec<String>,
    /// The paragraphs before and after it in its section.
    before: Option<String>,
    after: Option<String>,
}

/// A paragraph of a corpus, as it is cited
#[utoipa::path(get, path = "/corpora/paragraph", params(ParagraphQuery), responses((status = 200, body = ParagraphOut)), tag = "research")]
pub async fn paragraph(
    State(desk): State<SharedDesk>,
    Query(query): Query<ParagraphQuery>,
) -> Answer<Json<ParagraphOut>> {
    blocking(move || {
        let name = desk.corpora.named(query.corpus.as_deref()).map_err(problem)?;
        let book = desk.corpora.book(&name).map_err(problem)?;
        let book = book.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = book.get(&query.id) else {
            return Err(Problem::missing("There is no such paragraph in this corpus."));
        };
        let linked = book.hops(std::slice::from_ref(&found.id), 1);
        let place = book.paragraphs().iter().position(|paragraph| paragraph.id == found.id).unwrap_or_default();
        let beside = |place: Option<usize>| {
            let near = place.and_then(|place| book.paragraphs().get(place));
            near.filter(|near| near.section == found.section).map(|near| format!("{} {}", near.cite, near.text))
        };
        Ok(Json(ParagraphOut {
            linked: linked.iter().map(|(paragraph, ..)| paragraph.cite.clone()).collect(),
            before: beside(place.checked_sub(1)),
            after: beside(Some(place + 1)),
            id: found.id.clone(),
            cite: found.cite.clone(),
            text: found.text.clone(),
            section: found.section.clone(),
            source: found.source.clone(),
            line: found.line,
            page: found.page,
            tier: json!(found.tier).as_str().unwrap_or_default().to_owned(),
        }))
    })
    .await?
}

/// The document that a paragraph stands in; a PDF opens where it is shown, others are saved
#[utoipa::path(get, path = "/corpora/document", params(ParagraphQuery), responses((status = 200, content((Vec<u8> = "application/pdf"), (Vec<u8> = "application/octet-stream"), (String = "text/plain")))), tag = "research")]
pub async fn source(State(desk): State<SharedDesk>, Query(query): Query<ParagraphQuery>) -> Answer<Response> {
    blocking(move || {
        let name = desk.corpora.named(query.corpus.as_deref()).map_err(problem)?;
        let book = desk.corpora.book(&name).map_err(problem)?;
        let path = {
            let book = book.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(found) = book.get(&query.id) else {
                return Err(Problem::missing("There is no such paragraph in this corpus."));
            };
            book.document_of(found).map_err(problem)?
        };
        let size = std::fs::metadata(&path).map_or(0, |about| about.len());
        if size > LARGEST_DOCUMENT {
            return Err(Problem::too_large("This document is too large to be shown here. Open it in its folder."));
        }
        let bytes = std::fs::read(&path)
            .map_err(|error| Problem::failed(format!("{} cannot be read: {error}.", path.display())))?;
        let shown = bytes.starts_with(b"%PDF-");
        let mut response = served(&path.to_string_lossy(), bytes);
        if shown {
            // Browsers show a PDF in a viewer of their own, apart from the page, and not at all in a sandbox.
            let fields = response.headers_mut();
            fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/pdf"));
            fields.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
            fields.insert(
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
            );
        }
        Ok(response)
    })
    .await?
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResearchIn {
    #[schema(min_length = 1)]
    question: String,
    /// The usual one if left out.
    corpus: Option<String>,
    /// `quick`, `standard` or `deep`.
    depth: Option<String>,
    /// Do not pause.
    #[serde(default)]
    yes: bool,
    /// Search the web, where the depth and the settings would.
    web: Option<bool>,
    #[schema(minimum = 0)]
    budget_usd: Option<f64>,
    /// It has nothing to do with the last answer of the session.
    #[serde(default)]
    afresh: bool,
    /// The session whose last answer it follows up, where this one has none.
    follows: Option<String>,
    /// Another flow than `research`.
    flow: Option<String>,
    /// An id of your own for the question, 12 letters and digits drawn at random. Asked again under the same id,
    /// because the answer was lost, it is not asked twice.
    #[schema(value_type = Option<String>, pattern = "^[0-9a-hjkmnp-tv-z]{12}$")]
    input: Option<InputId>,
}

#[derive(Serialize, ToSchema)]
pub struct Begun {
    session: String,
    run: u32,
}

/// Start a run of research in a session; a second one follows the first up
#[utoipa::path(post, path = "/sessions/{id}/research", params(("id" = String, Path)), request_body = ResearchIn, responses((status = 202, body = Begun)), tag = "research")]
pub async fn start(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Body(body): Body<ResearchIn>,
) -> Answer<(StatusCode, Json<Begun>)> {
    desk.exists(session)?;
    if body.question.trim().is_empty() {
        return Err(Problem::bad("Say what to research."));
    }
    weft_research::check_question(&body.question).map_err(Problem::too_large)?;
    // Whoever hears nothing of it asks again, while this may still be under way.
    to_the_end(async move {
        let input = body.input.unwrap_or_else(|| desk.new_input());
        let once = desk.said.of(Some(session), input);
        let asking = async {
            if !desk.was_said(session, input).await? {
                begin(&desk, session, input, body).await?;
            }
            Ok::<_, Problem>(session)
        };
        once.get_or_try_init(|| asking).await?;
        let run = desk.engine.state(session)?.run.map_or(1, |run| run.number);
        Ok((StatusCode::ACCEPTED, Json(Begun { session: session.to_string(), run })))
    })
    .await
}

async fn begin(desk: &SharedDesk, session: SessionId, input: InputId, body: ResearchIn) -> Answer<()> {
    let follows = body.follows.as_deref().map(|id| id.parse().map_err(|_| Problem::bad("`follows` is no session.")));
    let follows = follows.transpose()?;
    follows.iter().try_for_each(|session| desk.exists(*session))?;
    let flow = body.flow.unwrap_or_else(|| FLOW.to_owned());
    let known = desk.engine.flow(session, &flow)?.settings;
    let mut settings = Map::new();
    // A flow of one's own may have other settings; what was asked for and is not there is refused.
    if body.corpus.is_some() || known.contains_key("corpus") {
        let before = desk.engine.run_settings(follows.unwrap_or(session))?;
        let asked_before = || before?.get("corpus")?.as_str().map(str::to_owned);
        let name = desk.corpora.named(body.corpus.or_else(asked_before).as_deref()).map_err(problem)?;
        // Documents that were edited since are read again before they are asked.
        let corpora = std::sync::Arc::clone(&desk.corpora);
        let fresh = name.clone();
        blocking(move || corpora.freshen(&fresh)).await?.map_err(problem)?;
        let corpus = desk.corpora.get(&name).map_err(problem)?;
        if known.contains_key("prefixes") {
            let cites = corpus.folders.iter().map(|folder| folder.cite.as_str()).filter(|cite| !cite.is_empty());
            settings.insert("prefixes".to_owned(), cites.collect());
        }
        settings.insert("corpus".to_owned(), json!(corpus.name));
    }
    if body.yes || known.contains_key("yes") {
        settings.insert("yes".to_owned(), json!(body.yes));
    }
    settings.extend(body.depth.map(|depth| ("depth".to_owned(), json!(depth))));
    settings.extend(body.web.map(|web| ("web".to_owned(), json!(web))));
    let new = NewRun {
        flow,
        question: body.question,
        settings,
        budget: body.budget_usd.map(Cost::from_usd),
        follows,
        afresh: body.afresh,
    };
    desk.engine.start_flow_as(input, session, new).await?;
    desk.take_up(session).await;
    Ok(())
}

#[derive(Serialize, ToSchema)]
pub struct RunOut {
    /// Where the last run of the session stands: its stages, costs, pauses.
    #[schema(value_type = Object)]
    run: Value,
    /// What its last stage gave, with the document; nothing before that.
    #[schema(value_type = Object)]
    output: Value,
}

/// Where a session's research stands, and what it came to
#[utoipa::path(get, path = "/sessions/{id}/research", params(("id" = String, Path)), responses((status = 200, body = RunOut)), tag = "research")]
pub async fn show(State(desk): State<SharedDesk>, Session(session): Session) -> Answer<Json<RunOut>> {
    desk.exists(session)?;
    desk.begun(session)?;
    blocking(move || {
        let state = desk.engine.state(session)?;
        if state.run.is_none() {
            return Err(Problem::missing("There is no research in this session."));
        }
        let output = desk.engine.run_output(session)?.unwrap_or(json!({}));
        Ok(Json(RunOut { run: json!(state.run), output }))
    })
    .await?
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `md`, `html`, `docx` or `pdf`; Markdown if left out.
    format: Option<String>,
    /// An earlier answer of the session, by its number; the last if left out.
    run: Option<u32>,
}

/// The document of a session's research as a file
#[utoipa::path(get, path = "/sessions/{id}/research/document", params(("id" = String, Path), ExportQuery), responses((status = 200, content((Vec<u8> = "application/octet-stream"), (String = "text/plain")))), tag = "research")]
pub async fn document(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Query(query): Query<ExportQuery>,
) -> Answer<Response> {
    desk.exists(session)?;
    desk.begun(session)?;
    blocking(move || {
        let output = match query.run {
            Some(run) => desk.engine.output_of(session, run)?,
            None => desk.engine.run_output(session)?,
        };
        let text = output.as_ref().and_then(|output| output.get("document")).and_then(Value::as_str);
        let Some(text) = text else { return Err(Problem::missing("There is no finished document in this session.")) };
        as_file("research", text, query.format.as_deref())
    })
    .await?
}

/// A document in one of the forms it can be saved in.
pub(super) fn as_file(name: &str, text: &str, format: Option<&str>) -> Answer<Response> {
    let title = export::title(text);
    let bytes = match format.unwrap_or("md") {
        "md" => text.as_bytes().to_vec(),
        "html" => export::html(&title, text).into_bytes(),
        "docx" => export::docx(text).map_err(Problem::failed)?,
        "pdf" => export::pdf(&title, text).map_err(Problem::failed)?.bytes,
        _ => return Err(Problem::bad("The format is one of md, html, docx and pdf.")),
    };
    Ok(served(&format!("{name}.{}", format.unwrap_or("md")), bytes))
}

pub(super) fn problem(error: CorpusError) -> Problem {
    match error {
        CorpusError::Unknown { .. } | CorpusError::NoDocument(_) => Problem::missing(format!("{error}.")),
        CorpusError::Name(_)
        | CorpusError::Several(_)
        | CorpusError::Sample(_)
        | CorpusError::Exists(_)
        | CorpusError::NoPath(_)
        | CorpusError::NotRead { .. }
        | CorpusError::Empty(_) => Problem::bad(format!("{error}.")),
        CorpusError::File { .. } | CorpusError::Knowledge(_) | CorpusError::Model(_) => {
            Problem::failed(format!("{error}."))
        }
    }
}
