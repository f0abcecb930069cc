//! Saved states, so that opening a session does not read all of it.
//!
//! A snapshot is only a shortcut: without it, or with one that cannot be read, the events say the same.

use rusqlite::{Connection, OptionalExtension, params};
use weft_core::{SessionId, State};

use crate::error::StoreError;
use crate::schema::{signed, unsigned};

/// A change of this number means that older snapshots are not used any more.
const FORMAT: u32 = 1;

/// The form in which a state is kept to start from. Take one only when `state.can_snapshot()`.
pub fn encode_snapshot(state: &State) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(state).map_err(|error| StoreError::BadEvent { detail: error.to_string() })
}

/// The latest snapshot that is not later than `upto`, if this version can read it.
pub(crate) fn read(
    connection: &Connection,
    session: SessionId,
    n: i64,
    upto: u64,
) -> Result<Option<State>, StoreError> {
    let found: Option<(i64, Vec<u8>)> = connection
        .prepare_cached("SELECT seq, data FROM snapshots WHERE n = ?1 AND format = ?2 AND seq <= ?3")?
        .query_row(params![n, FORMAT, signed(upto)], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((seq, data)) = found else { return Ok(None) };
    // One that cannot be read is no loss: the events say the same, only slower.
    let state: Option<State> = serde_json::from_slice(&data).ok();
    Ok(state.filter(|state| state.id == session && state.seq == unsigned(seq)))
}

pub(crate) fn write(connection: &Connection, n: i64, seq: u64, data: &[u8]) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO snapshots (n, format, seq, data) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![n, FORMAT, signed(seq), data])?;
    Ok(())
}
