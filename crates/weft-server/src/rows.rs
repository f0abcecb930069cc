//! Sessions as clients see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_core::event::SessionStarted;
use weft_core::{SessionId, Status, Timestamp};
use weft_engine::agent;
use weft_store::{Cursor, Marked};

/// A session as a list shows it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SessionView {
    #[schema(value_type = String)]
    pub id: SessionId,
    pub title: Option<String>,
    /// The beginning of what was said first.
    pub preview: Option<String>,
    /// Which kind of work it is: `chat`, `research`, or the name of a flow or an agent.
    pub app: String,
    pub agent: String,
    /// The folder it works in.
    pub workspace: String,
    pub status: StatusWord,
    pub labels: Vec<String>,
    /// The person's own word for where it stands.
    pub flag: Option<String>,
    pub archived: bool,
    pub deleted: bool,
    pub unread: bool,
    pub asks_open: u32,
    pub cost_usd: f64,
    pub tokens: u64,
    pub turns: u32,
    /// The number of its last event.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub created_at: i64,
    pub updated_at: i64,
    /// As PROVIDER/MODEL.
    pub model: String,
    pub mode: ModeWord,
    #[schema(value_type = Option<String>)]
    pub parent: Option<SessionId>,
    pub forked_at: Option<u64>,
    /// False while nobody has said anything in it: then it is not on disk.
    pub begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    Idle,
    Running,
    Waiting,
    Failed,
}

impl From<Status> for StatusWord {
    fn from(status: Status) -> Self {
        match status {
            Status::Idle => Self::Idle,
            Status::Running => Self::Running,
            Status::Waiting => Self::Waiting,
            Status::Failed => Self::Failed,
        }
    }
}

impl From<StatusWord> for Status {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Idle => Self::Idle,
            StatusWord::Running => Self::Running,
            StatusWord::Waiting => Self::Waiting,
            StatusWord::Failed => Self::Failed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeWord {
    Safe,
    Ask,
    Auto,
}

impl From<weft_core::Mode> for ModeWord {
    fn from(mode: weft_core::Mode) -> Self {
        match mode {
            weft_core::Mode::Safe => Self::Safe,
            weft_core::Mode::Ask => Self::Ask,
            weft_core::Mode::Auto => Self::Auto,
        }
    }
}

impl From<ModeWord> for weft_core::Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::Safe => Self::Safe,
            ModeWord::Ask => Self::Ask,
            ModeWord::Auto => Self::Auto,
        }
    }
}

impl SessionView {
    pub fn of(marked: Marked) -> Self {
        let unread = marked.is_unread();
        let Marked { row, marks, .. } = marked;
        // A turn whose process died is not running; it waits to be carried on.
        Self {
            id: row.id,
            title: row.title,
            preview: row.preview,
            app: app_of(row.flow.as_deref(), &row.agent),
            agent: row.agent,
            workspace: row.workspace,
            status: row.status.into(),
            labels: marks.labels,
            flag: marks.flag,
            archived: marks.archived,
            deleted: marks.deleted_at.is_some(),
            unread,
            asks_open: row.asks,
            cost_usd: row.cost.usd(),
            tokens: row.tokens,
            turns: row.turns,
            seq: row.seq,
            created_at: row.created_at.0,
            updated_at: row.updated_at.0,
            model: row.model.to_string(),
            mode: row.mode.into(),
            parent: row.parent,
            forked_at: row.forked_at,
            begun: true,
        }
    }

    /// A session that nobody has said anything in.
    pub fn unbegun(id: SessionId, started: SessionStarted, now: Timestamp) -> Self {
        Self {
            id,
            title: None,
            preview: None,
            app: app_of(None, &started.agent),
            agent: started.agent,
            workspace: started.workspace,
            status: StatusWord::Idle,
            labels: Vec::new(),
            flag: None,
            archived: false,
            deleted: false,
            unread: false,
            asks_open: 0,
            cost_usd: 0.0,
            tokens: 0,
            turns: 0,
            seq: 0,
            created_at: now.0,
            updated_at: now.0,
            model: started.model.to_string(),
            mode: started.mode.into(),
            parent: None,
            forked_at: None,
            begun: false,
        }
    }
}

/// A flow is called by its name, as research is. The usual agent without one is the chat; another agent
/// is called by its name.
fn app_of(flow: Option<&str>, agent: &str) -> String {
    match flow {
        Some(flow) => flow.to_owned(),
        None if agent == agent::DEFAULT => "chat".to_owned(),
        None => agent.to_owned(),
    }
}

/// A place in a list as clients hand it back.
pub fn write_cursor(cursor: Cursor) -> String {
    format!("{}.{}", cursor.updated_at.0, cursor.n)
}

pub fn read_cursor(text: &str) -> Option<Cursor> {
    let (updated_at, n) = text.split_once('.')?;
    Some(Cursor { updated_at: Timestamp(updated_at.parse().ok()?), n: n.parse().ok()? })
}
