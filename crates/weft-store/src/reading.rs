//! Reading a session back: its events, its state, what was being streamed.

use std::str::FromStr;

use rusqlite::{Connection, Row, params};
use weft_core::stored;
use weft_core::{Event, Recorded, SessionId, State, Timestamp};

use crate::append::SessionHead;
use crate::error::StoreError;
use crate::schema::{event_key, seq_of, signed};
use crate::snapshot;

pub(crate) fn load(connection: &Connection, session: SessionId) -> Result<State, StoreError> {
    // One view for the row, the snapshot and the events, whatever is appended meanwhile.
    let view = connection.unchecked_transaction()?;
    let head = SessionHead::expect(&view, session)?;
    let state = state_at(&view, session, head.n, head.seq)?;
    view.finish()?;
    Ok(state)
}

/// Folds the session's events up to `upto`, beginning at the snapshot if there is an earlier one.
pub(crate) fn state_at(connection: &Connection, session: SessionId, n: i64, upto: u64) -> Result<State, StoreError> {
    let mut state = snapshot::read(connection, session, n, upto)?.unwrap_or_else(|| State::new(session));
    let saved = state.seq;
    let from = if saved == 0 { 1 } else { state.context_from.min(saved + 1) };
    for_each_event(connection, n, from, upto, |seq, at, event| {
        if seq <= saved {
            state.conversation.replay(seq, &event);
        } else {
            state.apply(seq, at, &event);
        }
    })?;
    if state.seq == upto {
        Ok(state)
    } else {
        Err(StoreError::Corrupt { detail: format!("session {session} ends at event {} of {upto}", state.seq) })
    }
}

fn for_each_event(
    connection: &Connection,
    n: i64,
    from: u64,
    upto: u64,
    mut each: impl FnMut(u64, Timestamp, Event),
) -> Result<(), StoreError> {
    let mut select =
        connection.prepare_cached("SELECT key, kind, at, data FROM events WHERE key BETWEEN ?1 AND ?2 ORDER BY key")?;
    let mut rows = select.query(params![event_key(n, from)?, event_key(n, upto)?])?;
    while let Some(row) = rows.next()? {
        let (seq, at, event) = decode(row)?;
        each(seq, at, event);
    }
    Ok(())
}

fn decode(row: &Row<'_>) -> Result<(u64, Timestamp, Event), StoreError> {
    let data = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
    Ok((seq_of(row.get(0)?), Timestamp(row.get(2)?), stored::decode(row.get(1)?, data)?))
}

/// All that a session did to files, oldest first. The log is not read for it, only those events.
pub(crate) fn file_events(connection: &Connection, session: SessionId) -> Result<Vec<Recorded>, StoreError> {
    let head = SessionHead::expect(connection, session)?;
    let mut select = connection.prepare_cached(
        "SELECT key, kind, at, data FROM events WHERE key BETWEEN ?1 AND ?2 AND kind IN (30, 31) ORDER BY key",
    )?;
    let mut rows = select.query(params![event_key(head.n, 1)?, event_key(head.n, head.seq)?])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, at, event) = decode(row)?;
        events.push(Recorded { session, seq, at, event });
    }
    Ok(events)
}

pub(crate) fn events(
    connection: &Connection,
    session: SessionId,
    after_seq: u64,
    limit: usize,
) -> Result<Vec<Recorded>, StoreError> {
    let head = SessionHead::expect(connection, session)?;
    if after_seq >= head.seq {
        return Ok(Vec::new());
    }
    let mut select = connection
        .prepare_cached("SELECT key, kind, at, data FROM events WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT ?3")?;
    let range = params![event_key(head.n, after_seq + 1)?, event_key(head.n, head.seq)?, signed(limit as u64)];
    let mut rows = select.query(range)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, at, event) = decode(row)?;
        events.push(Recorded { session, seq, at, event });
    }
    Ok(events)
}

/// The last `limit` events before `before_seq`, in order.
pub(crate) fn events_before(
    connection: &Connection,
    session: SessionId,
    before_seq: u64,
    limit: usize,
) -> Result<Vec<Recorded>, StoreError> {
    let head = SessionHead::expect(connection, session)?;
    let last = head.seq.min(before_seq.saturating_sub(1));
    let mut select = connection.prepare_cached(
        "SELECT key, kind, at, data FROM events WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT ?3",
    )?;
    let range = params![event_key(head.n, 1)?, event_key(head.n, last)?, signed(limit as u64)];
    let mut rows = select.query(range)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, at, event) = decode(row)?;
        events.push(Recorded { session, seq, at, event });
    }
    events.reverse();
    Ok(events)
}

pub(crate) fn partials(connection: &Connection, session: SessionId) -> Result<Vec<(String, String)>, StoreError> {
    let head = SessionHead::expect(connection, session)?;
    let mut select = connection.prepare_cached("SELECT key, text FROM partials WHERE n = ?1 ORDER BY rowid")?;
    let rows = select.query_map([head.n], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn find(connection: &Connection, prefix: &str) -> Result<SessionId, StoreError> {
    let range = id_range::<SessionId>(prefix)?;
    let missing = || StoreError::NoSuchSession { id: shown(prefix) };
    let (first, last) = range.ok_or_else(missing)?;
    let mut select =
        connection.prepare_cached("SELECT id FROM sessions WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 10")?;
    let bounds = params![signed(first.number()), signed(last.number())];
    let rows = select.query_map(bounds, |row| row.get::<_, i64>(0))?;
    let found =
        rows.map(|id| id.map(|id| SessionId::from_random(id.cast_unsigned()))).collect::<Result<Vec<_>, _>>()?;
    match found.as_slice() {
        [] => Err(missing()),
        [one] => Ok(*one),
        several => Err(StoreError::Ambiguous {
            prefix: shown(prefix),
            candidates: several.iter().map(ToString::to_string).collect(),
        }),
    }
}

const ID_LENGTH: usize = 12;
const SHORTEST_PREFIX: usize = 3;

/// The lowest and the highest id that begin with `prefix`; `None` if no id can.
pub(crate) fn id_range<Id: FromStr>(prefix: &str) -> Result<Option<(Id, Id)>, StoreError> {
    if prefix.chars().count() < SHORTEST_PREFIX {
        return Err(StoreError::TooShort { prefix: shown(prefix) });
    }
    let filled = |digit: char| format!("{prefix}{}", digit.to_string().repeat(ID_LENGTH.saturating_sub(prefix.len())));
    Ok(filled('0').parse().ok().zip(filled('z').parse().ok()))
}

/// What a person typed, short enough for a message.
pub(crate) fn shown(prefix: &str) -> String {
    prefix.chars().take(40).collect()
}
