//! Whole logs: copied, brought in, deleted. And partials, which are not in the log yet.

use std::collections::HashSet;

use rusqlite::{Connection, params};
use weft_core::event::{AskWithdrawn, ModeSet, Origin, Withdrawn};
use weft_core::state::Stage;
use weft_core::stored::{self, Stored};
use weft_core::{Answer, AskId, CallId, Event, Mode, SessionId, State, Timestamp};

use crate::append::{Index, SessionHead, insert_session, write_ask, write_events};
use crate::error::StoreError;
use crate::ownership::{Identity, Owner};
use crate::reading::state_at;
use crate::schema::event_key;
use crate::snapshot;

/// Copies the beginning of a session into a new one. What the beginning cost was spent once, so the
/// ledger is left alone.
pub(crate) struct Fork {
    pub from: SessionId,
    pub seq: u64,
    pub new: SessionId,
    pub at: Timestamp,
}

/// So many events are copied at a time, to keep SQLite's working set small.
const COPY_AT_ONCE: u64 = 64;

impl Fork {
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let head = SessionHead::expect(connection, self.from)?;
        if self.seq == 0 || self.seq > head.seq {
            return Err(StoreError::NoSuchEvent { seq: self.seq, last: head.seq });
        }
        refuse_existing(connection, self.new)?;
        let mut state = state_at(connection, self.from, head.n, self.seq)?;
        state.id = self.new;
        let mut index = Index::of(&state, &[]);
        if state.turns > 0 {
            let mut select = connection.prepare_cached("SELECT preview FROM sessions WHERE n = ?1")?;
            index.preview = select.query_row([head.n], |row| row.get(0))?;
        }
        index.origin = Some(Origin::Fork { parent: self.from, seq: self.seq });
        let n = insert_session(connection, self.new, self.seq, None, self.at, &index)?;
        let mut first = 1;
        while first <= self.seq {
            let last = self.seq.min(first + COPY_AT_ONCE - 1);
            connection
                .prepare_cached(
                    "INSERT INTO events (key, kind, at, data)
                     SELECT key - ?1 + ?2, kind, at, data FROM events WHERE key BETWEEN ?3 AND ?4 ORDER BY key",
                )?
                .execute(params![
                    event_key(head.n, 0)?,
                    event_key(n, 0)?,
                    event_key(head.n, first)?,
                    event_key(head.n, last)?
                ])?;
            first = last + 1;
        }
        write_aside(connection, n, &state)
    }
}

/// A log from elsewhere. Its cost was paid elsewhere, so the ledger is left alone.
pub(crate) struct Import {
    session: SessionId,
    state: State,
    index: Index,
    started_at: Timestamp,
    events: Vec<(Timestamp, Stored)>,
}

impl Import {
    pub(crate) fn new(session: SessionId, events: &[(Timestamp, Event)]) -> Result<Self, StoreError> {
        let Some((started_at, Event::SessionStarted(_))) = events.first() else {
            return Err(StoreError::BadLog { detail: "it does not begin with the start of a session".to_owned() });
        };
        let events = without_permissions(session, events);
        let mut state = State::new(session);
        let mut encoded = Vec::with_capacity(events.len());
        let mut said = Vec::new();
        let mut preview = None;
        for (seq, (at, event)) in (1..).zip(&events) {
            state.apply(seq, *at, event);
            match event {
                Event::InputReceived(_) => said.push(event.clone()),
                Event::TurnStarted(_) if preview.is_none() => {
                    said.push(event.clone());
                    preview = Index::of(&state, &said).preview;
                }
                _ => {}
            }
            encoded.push((*at, stored::encode(event)?));
        }
        let mut index = Index::of(&state, &[]);
        index.preview = preview;
        Ok(Self { session, state, index, started_at: *started_at, events: encoded })
    }

    pub(crate) const fn session(&self) -> SessionId {
        self.session
    }

    pub(crate) fn bytes(&self) -> usize {
        self.events.iter().map(|(_, event)| event.data.len()).sum()
    }

    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        refuse_existing(connection, self.session)?;
        let mut index = self.index.clone();
        // A child without its parent would be in no list.
        if let Some(Origin::Child { parent }) = index.origin
            && SessionHead::find(connection, parent)?.is_none()
        {
            index.origin = None;
        }
        let n = insert_session(connection, self.session, self.state.seq, None, self.started_at, &index)?;
        connection
            .prepare_cached("UPDATE sessions SET updated_at = ?2 WHERE n = ?1")?
            .execute(params![n, self.state.updated_at.0])?;
        for (seq, (at, event)) in (1..).zip(&self.events) {
            write_events(connection, n, seq, *at, std::slice::from_ref(event))?;
        }
        write_aside(connection, n, &self.state)
    }
}

/// A log says what people allowed where it was made. Here nobody has allowed anything: grants are
/// left out, the yes to a call that is not over is taken back, and `auto` becomes `ask`. Every event
/// keeps its number, because others refer to it.
fn without_permissions(session: SessionId, log: &[(Timestamp, Event)]) -> Vec<(Timestamp, Event)> {
    let mut state = State::new(session);
    let mut events = Vec::with_capacity(log.len() + 1);
    for (seq, (at, event)) in (1..).zip(log) {
        let event = match event {
            Event::GrantGiven(_) => ModeSet { mode: state.mode }.into(),
            other => other.clone(),
        };
        state.apply(seq, *at, &event);
        events.push((*at, event));
    }
    let unfinished = |call: &CallId| {
        let mut calls = state.conversation.calls.iter();
        calls.any(|progress| progress.call.id == *call && !matches!(progress.stage, Stage::Done { .. }))
    };
    let raised = log.iter().filter_map(|(_, event)| match event {
        Event::AskRaised(raised) if unfinished(&raised.ask.call) => Some(raised.ask.id),
        _ => None,
    });
    let taken_back: HashSet<AskId> = raised.collect();
    for (_, event) in &mut events {
        if let Event::AskAnswered(answered) = event
            && taken_back.contains(&answered.ask)
            && matches!(answered.answer, Answer::Approve { .. })
        {
            *event = AskWithdrawn { ask: answered.ask, why: Withdrawn::Superseded }.into();
        }
    }
    if state.mode == Mode::Auto {
        events.push((state.updated_at, ModeSet { mode: Mode::Ask }.into()));
    }
    events
}

pub(crate) fn delete(connection: &Connection, me: &Identity, session: SessionId) -> Result<(), StoreError> {
    let head = SessionHead::expect(connection, session)?;
    match me.judge(head.owner)? {
        Owner::Alive { pid } => return Err(StoreError::Busy { pid }),
        Owner::Me => return Err(StoreError::Busy { pid: std::process::id() }),
        Owner::Nobody | Owner::Dead => {}
    }
    connection
        .prepare_cached("DELETE FROM events WHERE key BETWEEN ?1 AND ?2")?
        .execute(params![event_key(head.n, 0)?, event_key(head.n, u64::from(u32::MAX))?])?;
    crate::words::forget(connection, head.n)?;
    // Snapshot, partials, asks and marks go with the row.
    connection.prepare_cached("DELETE FROM sessions WHERE n = ?1")?.execute([head.n])?;
    Ok(())
}

pub(crate) fn save_partial(
    connection: &Connection,
    me: &Identity,
    session: SessionId,
    key: &str,
    text: &str,
) -> Result<(), StoreError> {
    let head = SessionHead::expect(connection, session)?;
    if let Owner::Alive { pid } = me.judge(head.owner)? {
        return Err(StoreError::Owned { pid });
    }
    connection
        .prepare_cached(
            "INSERT INTO partials (n, key, text) VALUES (?1, ?2, ?3)
             ON CONFLICT (n, key) DO UPDATE SET text = excluded.text",
        )?
        .execute(params![head.n, key, text])?;
    Ok(())
}

fn refuse_existing(connection: &Connection, session: SessionId) -> Result<(), StoreError> {
    match SessionHead::find(connection, session)? {
        Some(_) => Err(StoreError::Exists { id: session }),
        None => Ok(()),
    }
}

/// What lies beside a log that did not come in by appends.
fn write_aside(connection: &Connection, n: i64, state: &State) -> Result<(), StoreError> {
    for ask in state.open_asks() {
        write_ask(connection, n, state.updated_at, ask)?;
    }
    if state.can_snapshot() {
        snapshot::write(connection, n, state.seq, &snapshot::encode_snapshot(state)?)?;
    }
    Ok(())
}
