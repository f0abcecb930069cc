//! Open questions to people, across all sessions.

use rusqlite::{Connection, Row, params};
use weft_core::{Ask, AskId, SessionId, Timestamp};

use crate::error::StoreError;
use crate::reading::{id_range, shown};
use crate::schema::signed;

/// An open question, and where it was raised.
#[derive(Debug, Clone, PartialEq)]
pub struct AskRow {
    pub ask: Ask,
    pub session: SessionId,
    pub title: Option<String>,
    /// The folder of the session.
    pub workspace: String,
    pub raised_at: Timestamp,
}

/// Oldest first: they have waited longest.
pub(crate) fn open_asks(connection: &Connection) -> Result<Vec<AskRow>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT a.data, s.id, coalesce(s.title, s.preview), a.raised_at, s.workspace
         FROM asks a JOIN sessions s USING (n) ORDER BY a.raised_at, a.id, a.n",
    )?;
    collect(&mut select.query([])?)
}

/// A fork at an open question has that question too. The first session's comes first.
pub(crate) fn ask(connection: &Connection, prefix: &str) -> Result<AskRow, StoreError> {
    let missing = || StoreError::NoSuchAsk { id: shown(prefix) };
    let (first, last) = id_range::<AskId>(prefix)?.ok_or_else(missing)?;
    let mut select = connection.prepare_cached(
        "SELECT a.data, s.id, coalesce(s.title, s.preview), a.raised_at, s.workspace
         FROM asks a JOIN sessions s USING (n) WHERE a.id BETWEEN ?1 AND ?2 ORDER BY a.id, a.n LIMIT 10",
    )?;
    let mut found = collect(&mut select.query(params![signed(first.number()), signed(last.number())])?)?;
    found.dedup_by_key(|row| row.ask.id);
    match found.len() {
        0 | 1 => found.pop().ok_or_else(missing),
        _ => Err(StoreError::Ambiguous {
            prefix: shown(prefix),
            candidates: found.iter().map(|row| row.ask.id.to_string()).collect(),
        }),
    }
}

fn collect(rows: &mut rusqlite::Rows<'_>) -> Result<Vec<AskRow>, StoreError> {
    let mut asks = Vec::new();
    while let Some(row) = rows.next()? {
        asks.push(read(row)?);
    }
    Ok(asks)
}

fn read(row: &Row<'_>) -> Result<AskRow, StoreError> {
    let data = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    let ask = serde_json::from_slice(data).map_err(|error| StoreError::BadEvent { detail: error.to_string() })?;
    let session: i64 = row.get(1)?;
    Ok(AskRow {
        ask,
        session: SessionId::from_random(session.cast_unsigned()),
        title: row.get(2)?,
        raised_at: Timestamp(row.get(3)?),
        workspace: row.get(4)?,
    })
}
