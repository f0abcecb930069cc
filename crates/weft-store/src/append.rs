//! One append: what it carries, when it is refused, and what it writes.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use weft_core::event::{Origin, Spent};
use weft_core::stored::{self, Stored};
use weft_core::{Ask, AskId, Cost, Event, InputId, Mode, ModelName, SessionId, State, Status, Timestamp, UserPart};

use crate::error::StoreError;
use crate::ownership::{Identity, Owner};
use crate::schema::{event_key, signed, unsigned};
use crate::snapshot;

/// Events to be added to a session, with what lists and timers need to know afterwards.
#[derive(Debug, Clone)]
pub struct Append {
    pub session: SessionId,
    /// The last event the caller knows; 0 creates the session.
    pub expected_seq: u64,
    pub at: Timestamp,
    pub events: Arc<[Event]>,
    pub index: Index,
    /// The state after these events, from [`crate::encode_snapshot`].
    pub snapshot: Option<Vec<u8>>,
    /// Whether this store owns the session from now on, or gives it up.
    pub hold: bool,
    pub clear_partials: bool,
}

impl Append {
    pub fn new(before_seq: u64, state_after: &State, at: Timestamp, events: impl Into<Arc<[Event]>>) -> Self {
        let events = events.into();
        Self {
            session: state_after.id,
            expected_seq: before_seq,
            at,
            index: Index::of(state_after, &events),
            events,
            snapshot: None,
            hold: state_after.turn.is_some() && !state_after.is_waiting(),
            clear_partials: false,
        }
    }
}

/// What a session's row shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    pub title: Option<String>,
    /// The beginning of what was said first, which is what a session without a title is called;
    /// `None` leaves the row's as it is.
    pub preview: Option<String>,
    /// The first turn begins now, or has not begun: what the row shows may have been taken back.
    pub begins: bool,
    pub status: Status,
    pub workspace: String,
    pub agent: String,
    /// The flow that was last started in it.
    pub flow: Option<String>,
    pub model: ModelName,
    pub mode: Mode,
    pub cost: Cost,
    pub tokens: u64,
    pub wake_at: Option<Timestamp>,
    pub asks: u32,
    pub turns: u32,
    /// Written when the session is created, and never changed.
    pub origin: Option<Origin>,
}

impl Index {
    pub fn of(state: &State, new: &[Event]) -> Self {
        let first = new.iter().find_map(|event| match event {
            Event::TurnStarted(started) if state.turns == 1 => Some(&started.inputs),
            _ => None,
        });
        let preview = match first {
            Some(inputs) => new.iter().filter(|event| is_one_of(event, inputs)).find_map(words),
            None if state.turns == 0 => new.iter().rev().find_map(words),
            None => new.iter().find_map(words),
        };
        Self {
            begins: first.is_some() || state.turns == 0,
            preview,
            title: state.title.as_deref().map(|title| one_line(title, TITLE_LENGTH)),
            status: state.status(),
            workspace: state.workspace.clone(),
            agent: state.agent.clone(),
            flow: state.run.as_ref().map(|run| run.flow.clone()),
            model: state.model.clone(),
            mode: state.mode,
            cost: state.cost,
            tokens: state.usage.total(),
            wake_at: state.wake_at(),
            asks: u32::try_from(state.open_asks().count()).unwrap_or(u32::MAX),
            turns: state.turns,
            origin: state.origin,
        }
    }
}

const TITLE_LENGTH: usize = 200;
const PREVIEW_LENGTH: usize = 80;

fn is_one_of(event: &Event, inputs: &[InputId]) -> bool {
    matches!(event, Event::InputReceived(received) if inputs.contains(&received.input))
}

fn words(event: &Event) -> Option<String> {
    let Event::InputReceived(received) = event else { return None };
    let text = received.content.iter().find_map(|part| match part {
        UserPart::Text { text } => Some(one_line(text, PREVIEW_LENGTH)),
        UserPart::Image(_) => None,
    });
    text.filter(|text| !text.is_empty())
}

fn one_line(text: &str, length: usize) -> String {
    let mut line = String::new();
    let mut letters = 0;
    for word in text.split_whitespace() {
        let gap = (!line.is_empty()).then_some(' ');
        for letter in gap.into_iter().chain(word.chars()) {
            if letters == length {
                return line;
            }
            line.push(letter);
            letters += 1;
        }
    }
    line
}

/// An append made ready on the caller's thread, so that the writer has little left to do.
pub(crate) struct Prepared {
    pub append: Append,
    stored: Vec<Stored>,
    pub bytes: usize,
}

impl Prepared {
    pub(crate) fn new(append: Append) -> Result<Self, StoreError> {
        let stored = append.events.iter().map(stored::encode).collect::<Result<Vec<_>, _>>()?;
        let bytes =
            stored.iter().map(|event| event.data.len()).sum::<usize>() + append.snapshot.as_ref().map_or(0, Vec::len);
        Ok(Self { append, stored, bytes })
    }

    /// The session's last event once this is written.
    pub(crate) fn last_seq(&self) -> u64 {
        self.append.expected_seq + self.stored.len() as u64
    }

    fn check(&self, row: Option<&SessionHead>, me: &Identity) -> Result<(), StoreError> {
        let expected = self.append.expected_seq;
        let Some(row) = row else {
            return if expected == 0 { Ok(()) } else { Err(StoreError::no_session(self.append.session)) };
        };
        // Said first: one who is merely stale would only try again.
        if let Owner::Alive { pid } = me.judge(row.owner)? {
            return Err(StoreError::Owned { pid });
        }
        if row.seq != expected || expected == 0 {
            return Err(StoreError::Stale { expected, found: row.seq });
        }
        Ok(())
    }

    /// Checks first and writes after, so that a refusal leaves the transaction as it was.
    pub(crate) fn write(&self, connection: &Connection, me: &Identity) -> Result<(), StoreError> {
        let append = &self.append;
        let row = SessionHead::find(connection, append.session)?;
        self.check(row.as_ref(), me)?;
        let owner = if append.hold { Some(me.prove()?) } else { None };
        let had_asks = row.as_ref().is_some_and(|row| row.asks > 0);
        let n = match row {
            None => insert_session(connection, append.session, self.last_seq(), owner, append.at, &append.index)?,
            Some(row) => {
                update_session(connection, &row, self.last_seq(), owner, append.at, &append.index)?;
                if append.clear_partials {
                    connection.prepare_cached("DELETE FROM partials WHERE n = ?1")?.execute([row.n])?;
                }
                row.n
            }
        };
        write_events(connection, n, append.expected_seq + 1, append.at, &self.stored)?;
        for event in &*append.events {
            project(connection, n, append, event)?;
        }
        // A call that ended some other way leaves no question behind.
        if append.index.asks == 0
            && (had_asks || append.events.iter().any(|event| matches!(event, Event::AskRaised(_))))
        {
            connection.prepare_cached("DELETE FROM asks WHERE n = ?1")?.execute([n])?;
        }
        if let Some(snapshot) = &append.snapshot {
            snapshot::write(connection, n, self.last_seq(), snapshot)?;
        }
        Ok(())
    }
}

/// The part of a session's row that decides whether an append is taken.
pub(crate) struct SessionHead {
    pub n: i64,
    pub seq: u64,
    pub owner: Option<i64>,
    wake_at: Option<i64>,
    status: i64,
    asks: i64,
}

impl SessionHead {
    pub(crate) fn find(connection: &Connection, session: SessionId) -> Result<Option<Self>, StoreError> {
        let row = connection
            .prepare_cached("SELECT n, seq, owner, wake_at, status, asks FROM sessions WHERE id = ?1")?
            .query_row([signed(session.number())], |row| {
                Ok(Self {
                    n: row.get(0)?,
                    seq: unsigned(row.get(1)?),
                    owner: row.get(2)?,
                    wake_at: row.get(3)?,
                    status: row.get(4)?,
                    asks: row.get(5)?,
                })
            })
            .optional()?;
        Ok(row)
    }

    pub(crate) fn expect(connection: &Connection, session: SessionId) -> Result<Self, StoreError> {
        Self::find(connection, session)?.ok_or_else(|| StoreError::no_session(session))
    }
}

pub(crate) const fn status_number(status: Status) -> i64 {
    match status {
        Status::Idle => 0,
        Status::Running => 1,
        Status::Waiting => 2,
        Status::Failed => 3,
    }
}

pub(crate) const fn mode_number(mode: Mode) -> i64 {
    match mode {
        Mode::Safe => 0,
        Mode::Ask => 1,
        Mode::Auto => 2,
    }
}

pub(crate) fn insert_session(
    connection: &Connection,
    session: SessionId,
    seq: u64,
    owner: Option<i64>,
    at: Timestamp,
    index: &Index,
) -> Result<i64, StoreError> {
    let (parent, forked) = match index.origin {
        None => (None, None),
        Some(Origin::Child { parent }) => (Some(signed(parent.number())), None),
        Some(Origin::Fork { parent, seq }) => (Some(signed(parent.number())), Some(signed(seq))),
    };
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, seq, owner, created_at, updated_at, wake_at, status, turns, cost, tokens, asks,
                mode, parent, forked, workspace, agent, model, title, preview, flow)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
        )?
        .execute(params![
            signed(session.number()),
            signed(seq),
            owner,
            at.0,
            index.wake_at.map(|at| at.0),
            status_number(index.status),
            index.turns,
            signed(index.cost.0),
            signed(index.tokens),
            index.asks,
            mode_number(index.mode),
            parent,
            forked,
            index.workspace,
            index.agent,
            index.model.to_string(),
            index.title,
            index.preview,
            index.flow,
        ])?;
    Ok(connection.last_insert_rowid())
}

fn update_session(
    connection: &Connection,
    row: &SessionHead,
    seq: u64,
    owner: Option<i64>,
    at: Timestamp,
    index: &Index,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE sessions SET seq = ?2, updated_at = ?3, turns = ?4, cost = ?5, tokens = ?6, asks = ?7, mode = ?8,
                workspace = ?9, agent = ?10, model = ?11, title = ?12, flow = ?15,
                preview = CASE WHEN ?14 THEN coalesce(?13, preview) ELSE coalesce(preview, ?13) END WHERE n = ?1",
        )?
        .execute(params![
            row.n,
            signed(seq),
            at.0,
            index.turns,
            signed(index.cost.0),
            signed(index.tokens),
            index.asks,
            mode_number(index.mode),
            index.workspace,
            index.agent,
            index.model.to_string(),
            index.title,
            index.preview,
            index.begins,
            index.flow,
        ])?;
    let status = status_number(index.status);
    let wake_at = index.wake_at.map(|at| at.0);
    // Apart, because these have indexes, which most appends leave alone.
    if (row.owner, row.wake_at, row.status) != (owner, wake_at, status) {
        connection
            .prepare_cached("UPDATE sessions SET owner = ?2, wake_at = ?3, status = ?4 WHERE n = ?1")?
            .execute(params![row.n, owner, wake_at, status])?;
    }
    Ok(())
}

pub(crate) fn write_events(
    connection: &Connection,
    n: i64,
    first_seq: u64,
    at: Timestamp,
    events: &[Stored],
) -> Result<(), StoreError> {
    let mut insert = connection.prepare_cached("INSERT INTO events (key, kind, at, data) VALUES (?1, ?2, ?3, ?4)")?;
    for (seq, event) in (first_seq..).zip(events) {
        insert.execute(params![event_key(n, seq)?, event.kind, at.0, event.data])?;
    }
    Ok(())
}

/// What an event means for the tables beside the log.
fn project(connection: &Connection, n: i64, append: &Append, event: &Event) -> Result<(), StoreError> {
    match event {
        Event::AskRaised(raised) => write_ask(connection, n, append.at, &raised.ask),
        Event::AskAnswered(answered) => close_ask(connection, n, answered.ask),
        Event::AskWithdrawn(withdrawn) => close_ask(connection, n, withdrawn.ask),
        Event::RoundAnswered(answered) => record_spent(connection, append, Some(&answered.spent)),
        Event::RoundFailed(failed) => record_spent(connection, append, failed.spent.as_ref()),
        Event::TitleSet(set) => record_spent(connection, append, set.spent.as_ref()),
        Event::Compacted(compacted) => record_spent(connection, append, compacted.spent.as_ref()),
        Event::Sampled(sampled) => record_spent(connection, append, Some(&sampled.spent)),
        Event::SessionStarted(_)
        | Event::ModeSet(_)
        | Event::ModelSet(_)
        | Event::LimitsSet(_)
        | Event::FilesChanged(_)
        | Event::FilesRestored(_)
        | Event::FlowStarted(_)
        | Event::FlowContinued(_)
        | Event::StageStarted(_)
        | Event::StageCalls(_)
        | Event::StageFinished(_)
        | Event::StageSkipped(_)
        | Event::StageFailed(_)
        | Event::FlowPaused(_)
        | Event::FlowResumed(_)
        | Event::BreakoutAsked(_)
        | Event::RepairStarted(_)
        | Event::FlowEnded(_)
        | Event::InputReceived(_)
        | Event::InputWithdrawn(_)
        | Event::TurnStarted(_)
        | Event::RoundStarted(_)
        | Event::ToolStarted(_)
        | Event::ToolFinished(_)
        | Event::GrantGiven(_)
        | Event::StopRequested(_)
        | Event::TurnEnded(_)
        | Event::CompactionStarted(_)
        | Event::Recovered(_)
        | Event::HookRan(_)
        | Event::Unknown(_) => Ok(()),
    }
}

pub(crate) fn write_ask(connection: &Connection, n: i64, at: Timestamp, ask: &Ask) -> Result<(), StoreError> {
    let data = serde_json::to_vec(ask).map_err(|error| StoreError::BadEvent { detail: error.to_string() })?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO asks (id, n, raised_at, deadline, data) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![signed(ask.id.number()), n, at.0, ask.deadline.map(|at| at.0), data])?;
    Ok(())
}

fn close_ask(connection: &Connection, n: i64, ask: AskId) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM asks WHERE id = ?1 AND n = ?2")?
        .execute(params![signed(ask.number()), n])?;
    Ok(())
}

fn record_spent(connection: &Connection, append: &Append, spent: Option<&Spent>) -> Result<(), StoreError> {
    let Some(spent) = spent else { return Ok(()) };
    connection
        .prepare_cached(
            "INSERT INTO usage (session, turn, at, agent, provider, model, input, output, cache_read, cache_write,
                reasoning, cost, millis) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            signed(append.session.number()),
            append.index.turns,
            append.at.0,
            append.index.agent,
            &*spent.model.provider,
            &*spent.model.model,
            signed(spent.usage.input),
            signed(spent.usage.output),
            signed(spent.usage.cache_read),
            signed(spent.usage.cache_write),
            signed(spent.usage.reasoning),
            signed(spent.cost.0),
            signed(spent.millis),
        ])?;
    Ok(())
}
