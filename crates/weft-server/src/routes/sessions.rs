//! Sessions: listed, begun, named, marked, deleted.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weft_core::{InputId, ModelName, SessionId, State as SessionState};
use weft_engine::NewSession;
use weft_store::{MOST_LABELS, MarkChange, MarkedFilter, Store, StoreError, View};

use super::turns::{PartIn, Said, content_of};
use super::{blocking, to_the_end};
use crate::chores::GRACE_MS;
use crate::desk::{Desk, SharedDesk};
use crate::expression::{Around, Expression, ExpressionError};
use crate::extract::{Body, OptionalBody, Query, Session};
use crate::once::begun_by;
use crate::problem::{Answer, Problem};
use crate::rows::{ModeWord, SessionView, StatusWord, read_cursor, write_cursor};

const USUAL_PAGE: usize = 100;
const LARGEST_PAGE: usize = 500;
const LONGEST_TITLE: usize = 200;
const LONGEST_LABEL: usize = 60;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Words in the title, the first words said, or the folder.
    q: Option<String>,
    #[serde(default)]
    view: ViewWord,
    status: Option<StatusWord>,
    /// A label, with those below it: `work` is also `work/urgent`.
    label: Option<String>,
    /// The person's own word for where it stands.
    flag: Option<String>,
    /// Also sessions that others began to have something done.
    #[serde(default)]
    children: bool,
    workspace: Option<String>,
    /// An expression over what the list knows, such as `unread and (label == work or cost > 1)`.
    #[serde(rename = "where")]
    #[param(rename = "where")]
    condition: Option<String>,
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViewWord {
    #[default]
    Inbox,
    Archived,
    Deleted,
    All,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SessionPage {
    sessions: Vec<SessionView>,
    next: Option<String>,
    counts: CountsView,
}

/// How many sessions there are that are neither archived nor deleted.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountsView {
    total: u64,
    waiting: u64,
    running: u64,
    unread: u64,
}

/// The newest sessions first
#[utoipa::path(get, path = "/sessions", params(ListQuery), responses((status = 200, body = SessionPage)), tag = "sessions")]
pub async fn list(State(desk): State<SharedDesk>, Query(query): Query<ListQuery>) -> Answer<Json<SessionPage>> {
    let limit = query.limit.unwrap_or(USUAL_PAGE);
    if limit == 0 || limit > LARGEST_PAGE {
        return Err(Problem::bad(format!("`limit` is from 1 to {LARGEST_PAGE}.")));
    }
    let after = match query.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
        Some(cursor) => {
            Some(read_cursor(cursor).ok_or_else(|| Problem::bad("This is not a `next` of a page before."))?)
        }
        None => None,
    };
    let filter = MarkedFilter {
        view: match query.view {
            ViewWord::Inbox => View::Inbox,
            ViewWord::Archived => View::Archived,
            ViewWord::Deleted => View::Deleted,
            ViewWord::All => View::All,
        },
        words: query.q.filter(|words| !words.trim().is_empty()),
        status: query.status.map(Into::into),
        label: query.label.filter(|label| !label.is_empty()),
        flag: query.flag.filter(|flag| !flag.is_empty()),
        children: query.children,
        workspace: query.workspace.filter(|workspace| !workspace.is_empty()),
        since: None,
        after,
        limit,
    };
    let condition = query.condition.as_deref().filter(|text| !text.trim().is_empty());
    let condition = condition.map(Expression::parse).transpose().map_err(|error| bad_expression(&error))?;
    let listed = blocking(move || {
        let store = desk.engine.store();
        let around = || Around { now: desk.engine.clock().now().0, closed: desk.closed_statuses() };
        let condition = condition.map(|expression| (expression, around()));
        Ok::<_, Problem>((page(store, filter, condition.as_ref())?, store.counts()?))
    });
    let ((sessions, next), counts) = listed.await??;
    let counts =
        CountsView { total: counts.total, waiting: counts.waiting, running: counts.running, unread: counts.unread };
    Ok(Json(SessionPage { sessions, next, counts }))
}

/// A page of the sessions that fit. The store knows nothing of expressions, so it is read on until the page
/// is full; what it costs is bounded by how many sessions there are.
fn page(
    store: &Store,
    mut filter: MarkedFilter,
    condition: Option<&(Expression, Around)>,
) -> Result<(Vec<SessionView>, Option<String>), StoreError> {
    let limit = filter.limit;
    let mut sessions = Vec::new();
    loop {
        let rows = store.marked(&filter)?;
        let is_last = rows.len() < filter.limit;
        for row in rows {
            let place = row.place;
            let view = SessionView::of(row);
            filter.after = Some(place);
            if condition.is_none_or(|(condition, around)| condition.fits(&view, around)) {
                sessions.push(view);
                if sessions.len() == limit {
                    return Ok((sessions, Some(write_cursor(place))));
                }
            }
        }
        if is_last {
            return Ok((sessions, None));
        }
    }
}

pub(super) fn bad_expression(error: &ExpressionError) -> Problem {
    let message = format!("This view cannot be understood: {error}.");
    Problem::new(StatusCode::BAD_REQUEST, "bad_expression", message).with("at", error.at)
}

/// What a new session starts with; what is left out comes from the agent and the settings.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSessionIn {
    /// The whole path of a folder.
    #[serde(default)]
    workspace: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    /// As PROVIDER/MODEL.
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    mode: Option<ModeWord>,
    /// Said at once. Without it nothing is on disk yet.
    #[serde(default)]
    content: Vec<PartIn>,
    /// An id of your own for what is said, 12 letters and digits drawn at random. Asked again with the same id,
    /// because the answer was lost, this is the session that was begun with it.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[0-9a-hjkmnp-tv-z]{12}$")]
    input: Option<InputId>,
    /// Send it although something in it looks like a secret.
    #[serde(default)]
    anyway: bool,
    /// Send it with what looks like a secret hidden.
    #[serde(default)]
    redact: bool,
}

/// Begin a session
#[utoipa::path(post, path = "/sessions", request_body = NewSessionIn, responses((status = 201, body = SessionView)), tag = "sessions")]
pub async fn create(
    State(desk): State<SharedDesk>,
    OptionalBody(new): OptionalBody<NewSessionIn>,
) -> Answer<(StatusCode, Json<SessionView>)> {
    let workspace = desk.folder(new.workspace.as_deref())?;
    let settings = desk.backstage.settings().map(|loaded| loaded.config).ok();
    let usual = settings.as_ref();
    let model = match new.model {
        Some(model) => Some(model.parse::<ModelName>().map_err(|reason| Problem::bad(format!("{reason}.")))?),
        None => usual.and_then(|config| config.model.clone()),
    };
    // Checked first, so that a session is not begun with words that cannot be said.
    let said = Said { content: content_of(&desk, new.content)?, anyway: new.anyway, redact: new.redact };
    let wanted = NewSession {
        workspace,
        agent: new.agent.or_else(|| usual.and_then(|config| config.agent.clone())),
        model,
        mode: new.mode.map(Into::into),
        limits: None,
        parent: None,
        title: true,
    };
    let session = match new.input.filter(|_| !said.content.is_empty()) {
        None => desk.begin_session(wanted, said, None).await?,
        Some(input) => {
            let desk = Arc::clone(&desk);
            to_the_end(async move {
                let once = desk.said.of(None, input);
                let begin = async {
                    match desk.engine.store().known_as(&begun_by(input))? {
                        Some(session) => Ok(session),
                        None => desk.begin_session(wanted, said, Some(input)).await,
                    }
                };
                once.get_or_try_init(|| begin).await.copied()
            })
            .await?
        }
    };
    Ok((StatusCode::CREATED, Json(desk.view(session)?)))
}

impl Desk {
    /// A new session, with its first words where there are any.
    async fn begin_session(
        self: &SharedDesk,
        new: NewSession,
        said: Said,
        input: Option<InputId>,
    ) -> Answer<SessionId> {
        let session = self.engine.create(new)?;
        if said.content.is_empty() {
            return Ok(session);
        }
        let id = input.unwrap_or_else(|| self.new_input());
        if let Err(problem) = self.say(session, id, said, weft_core::event::Delivery::FollowUp).await {
            self.engine.forget_unbegun(session);
            return Err(problem);
        }
        if let Some(input) = input {
            // Without the mark it is found again for as long as this server runs.
            let change = MarkChange { known_as: Some(begun_by(input)), ..MarkChange::default() };
            let _ = self.engine.store().mark(session, change).await;
        }
        Ok(session)
    }
}

/// A session with what is going on in it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionDetail {
    #[serde(flatten)]
    session: SessionView,
    /// Tokens that the next call will send, as far as known.
    context_tokens: u64,
    /// Tokens that fit the model.
    window: u64,
    /// How far a turn may go.
    #[schema(value_type = Object)]
    limits: serde_json::Value,
    /// What was allowed for the rest of the session.
    #[schema(value_type = Vec<Object>)]
    grants: Vec<serde_json::Value>,
    /// What was said and no turn has taken yet.
    queue: Vec<QueuedView>,
    #[schema(value_type = Vec<Object>)]
    asks: Vec<serde_json::Value>,
    turn: Option<TurnView>,
    last_end: Option<EndView>,
    /// How many turns' changes to files can be taken back.
    can_undo: usize,
    can_redo: bool,
    /// Background jobs that run.
    jobs: usize,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct QueuedView {
    #[schema(value_type = String)]
    input: weft_core::InputId,
    #[schema(value_type = Vec<Object>)]
    content: Vec<serde_json::Value>,
    /// `steer` or `follow_up`.
    #[schema(value_type = String)]
    delivery: serde_json::Value,
    /// What the person wrote, where it stands for more.
    typed: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TurnView {
    number: u32,
    round: u32,
    started_at: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EndView {
    /// Such as `completed` or `round_limit`.
    reason: String,
    text: String,
}

/// One session
#[utoipa::path(get, path = "/sessions/{id}", params(("id" = String, Path)), responses((status = 200, body = SessionDetail)), tag = "sessions")]
pub async fn show(State(desk): State<SharedDesk>, Session(session): Session) -> Answer<Json<SessionDetail>> {
    let view = desk.view(session)?;
    let state = if view.begun {
        let store = desk.engine.store().clone();
        blocking(move || store.load(session)).await??
    } else {
        let mut state = SessionState::new(session);
        if let Some(started) = desk.engine.unbegun(session) {
            state.model = started.model;
            state.limits = started.limits;
        }
        state
    };
    Ok(Json(detail(&desk, session, view, &state)))
}

fn detail(desk: &Desk, session: SessionId, view: SessionView, state: &SessionState) -> SessionDetail {
    let json = |value: Result<serde_json::Value, _>| value.unwrap_or_default();
    let window = desk.engine.catalog().find(&state.model.provider, &state.model.model).window;
    SessionDetail {
        session: view,
        context_tokens: state.context_tokens,
        window,
        limits: json(serde_json::to_value(&state.limits)),
        grants: state.grants.iter().map(|grant| json(serde_json::to_value(grant))).collect(),
        queue: state
            .conversation
            .queue
            .iter()
            .map(|queued| QueuedView {
                input: queued.id,
                content: queued.content.iter().map(|part| json(serde_json::to_value(part))).collect(),
                delivery: json(serde_json::to_value(queued.delivery)),
                typed: queued.typed.clone(),
            })
            .collect(),
        asks: state.open_asks().map(|ask| json(serde_json::to_value(ask))).collect(),
        turn: state.turn.as_ref().map(|turn| TurnView {
            number: turn.number,
            round: turn.round,
            started_at: turn.started_at.0,
        }),
        last_end: state.last_end.as_ref().map(|end| EndView {
            reason: json(serde_json::to_value(end))
                .get("reason")
                .and_then(|word| word.as_str())
                .unwrap_or_default()
                .to_owned(),
            text: end.to_string(),
        }),
        can_undo: state.files.done.len(),
        can_redo: !state.files.undone.is_empty(),
        jobs: desk.engine.running_jobs(session),
    }
}

/// What is to be different; what is left out stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionChange {
    #[serde(default)]
    #[schema(max_length = 200)]
    title: Option<String>,
    #[serde(default)]
    mode: Option<ModeWord>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    labels: Option<Vec<String>>,
    /// A word of your own for where it stands; empty takes it away.
    #[serde(default)]
    flag: Option<String>,
    #[serde(default)]
    archived: Option<bool>,
    /// Everything so far is read, or nothing is.
    #[serde(default)]
    read: Option<bool>,
    /// `false` brings a deleted session back.
    #[serde(default)]
    deleted: Option<bool>,
}

/// Rename, mark, or go on in another way
#[utoipa::path(patch, path = "/sessions/{id}", params(("id" = String, Path)), request_body = SessionChange, responses((status = 200, body = SessionView)), tag = "sessions")]
pub async fn change(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Body(change): Body<SessionChange>,
) -> Answer<Json<SessionView>> {
    desk.exists(session)?;
    let model = match &change.model {
        Some(model) => Some(model.parse::<ModelName>().map_err(|reason| Problem::bad(format!("{reason}.")))?),
        None => None,
    };
    let title = change.title.as_deref().map(str::trim);
    if title.is_some_and(|title| title.is_empty() || title.chars().count() > LONGEST_TITLE) {
        return Err(Problem::bad(format!("A title has 1 to {LONGEST_TITLE} letters.")));
    }
    let labels = change.labels.map(checked_labels).transpose()?;
    let flag = change.flag.map(|flag| flag.trim().to_owned());
    if flag.as_ref().is_some_and(|flag| flag.chars().count() > LONGEST_LABEL) {
        return Err(Problem::bad(format!("A word for where a session stands has at most {LONGEST_LABEL} letters.")));
    }
    if let Some(model) = model {
        desk.engine.set_model(session, model).await?;
    }
    if let Some(mode) = change.mode {
        desk.engine.set_mode(session, mode.into()).await?;
    }
    if let Some(title) = title {
        desk.begun(session)?;
        desk.engine.set_title(session, title.to_owned()).await?;
    }
    let marks = MarkChange {
        labels,
        flag: flag.map(|flag| Some(flag).filter(|flag| !flag.is_empty())),
        archived: change.archived,
        deleted_at: match change.deleted {
            Some(false) => Some(None),
            Some(true) => Some(Some(desk.engine.clock().now())),
            None => None,
        },
        read: change.read,
        ..MarkChange::default()
    };
    let marked = marks.labels.is_some()
        || marks.flag.is_some()
        || marks.archived.is_some()
        || marks.deleted_at.is_some()
        || marks.read.is_some();
    if marked {
        desk.begun(session)?;
        desk.engine.store().mark(session, marks).await?;
    }
    Ok(Json(desk.view(session)?))
}

pub(super) fn checked_labels(labels: Vec<String>) -> Answer<Vec<String>> {
    let mut kept: Vec<String> = Vec::new();
    for label in labels {
        let label = label.trim().to_owned();
        if label.is_empty() || label.chars().count() > LONGEST_LABEL || label.chars().any(char::is_control) {
            return Err(Problem::bad(format!("A label has 1 to {LONGEST_LABEL} letters, on one line.")));
        }
        if !kept.contains(&label) {
            kept.push(label);
        }
    }
    if kept.len() > MOST_LABELS {
        return Err(Problem::bad(format!("A session has at most {MOST_LABELS} labels.")));
    }
    Ok(kept)
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Deleted {
    /// Until then `{"deleted": false}` brings it back. Milliseconds since 1970.
    restore_until: i64,
}

/// Delete a session, which can be taken back for ten minutes
#[utoipa::path(delete, path = "/sessions/{id}", params(("id" = String, Path)), responses((status = 202, body = Deleted)), tag = "sessions")]
pub async fn delete(State(desk): State<SharedDesk>, Session(session): Session) -> Answer<(StatusCode, Json<Deleted>)> {
    let now = desk.engine.clock().now();
    let answer = (StatusCode::ACCEPTED, Json(Deleted { restore_until: now.plus_millis(GRACE_MS).0 }));
    if desk.engine.unbegun(session).is_some() {
        desk.engine.forget_unbegun(session);
        return Ok(answer);
    }
    let marked = desk.engine.store().marked_session(session)?;
    if marked.marks.deleted_at.is_some() {
        return Err(Problem::no_session());
    }
    desk.engine.store().mark(session, MarkChange { deleted_at: Some(Some(now)), ..MarkChange::default() }).await?;
    if marked.row.status != weft_core::Status::Idle {
        // What another process does in it is stopped there.
        let _ = desk.engine.stop(session).await;
    }
    Ok(answer)
}

impl Desk {
    /// Refuses what can only be done to a session in which something was said.
    pub fn begun(&self, session: SessionId) -> Answer<()> {
        match self.engine.unbegun(session) {
            Some(_) => Err(Problem::conflict("not_begun", "Nobody has said anything in this session yet.")),
            None => Ok(()),
        }
    }
}
