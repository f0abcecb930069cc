//! The index of sessions: lists, what a crash left behind, and what is due. Reads no events.

use std::collections::HashMap;

use rusqlite::{Connection, Row, ToSql, params};
use weft_core::{Cost, Mode, ModelName, SessionId, Status, Timestamp};

use crate::append::status_number;
use crate::error::StoreError;
use crate::ownership::{Identity, Owner};
use crate::schema::unsigned;

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    pub workspace: Option<String>,
    pub status: Option<Status>,
    pub limit: Option<usize>,
    /// Also those that ran on behalf of another session.
    pub children: bool,
}

/// A session as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    pub id: SessionId,
    pub seq: u64,
    pub owner: Owner,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub wake_at: Option<Timestamp>,
    pub status: Status,
    pub turns: u32,
    pub cost: Cost,
    pub tokens: u64,
    /// How many questions are open.
    pub asks: u32,
    pub mode: Mode,
    pub parent: Option<SessionId>,
    /// Set for a fork: the event of `parent` at which it branched off.
    pub forked_at: Option<u64>,
    pub workspace: String,
    pub agent: String,
    pub model: ModelName,
    pub title: Option<String>,
    /// The beginning of what was last said.
    pub preview: Option<String>,
    /// The flow that was last started in it.
    pub flow: Option<String>,
}

/// A session by its name. Small, since a list of names may be very long.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionName {
    pub id: SessionId,
    pub owner: Owner,
    pub updated_at: Timestamp,
    pub status: Status,
    pub cost: Cost,
    /// Its title, or the beginning of what was said first.
    pub name: Option<Box<str>>,
}

pub(crate) const COLUMNS: &str = "id, seq, owner, created_at, updated_at, wake_at, status, turns, cost, tokens, asks, mode, \
    parent, forked, workspace, agent, model, title, preview, flow";

/// Rows that there is room for at once.
const ROOM: usize = 10_000;
/// So many at most are picked by SQLite.
const FEW: usize = 500;

/// A fork has a parent too, but stands on its own.
pub(crate) const NOT_A_CHILD: &str = "(parent IS NULL OR forked IS NOT NULL)";

pub(crate) fn list(connection: &Connection, me: &Identity, filter: &ListFilter) -> Result<Vec<SessionRow>, StoreError> {
    let (mut judge, mut models) = (Judge::new(me), Models::default());
    let mut rows = listed(connection, COLUMNS, filter, |row| read(row, &mut judge, &mut models))?;
    newest(&mut rows, filter, |row| row.updated_at);
    Ok(rows)
}

pub(crate) fn names(
    connection: &Connection,
    me: &Identity,
    filter: &ListFilter,
) -> Result<Vec<SessionName>, StoreError> {
    let mut judge = Judge::new(me);
    let columns = "id, owner, updated_at, status, cost, coalesce(title, preview)";
    let mut rows = listed(connection, columns, filter, |row| {
        Ok(SessionName {
            id: session_id(row.get(0)?),
            owner: judge.owner(row.get(1)?)?,
            updated_at: Timestamp(row.get(2)?),
            status: status(row.get(3)?)?,
            cost: Cost(unsigned(row.get(4)?)),
            name: row.get_ref(5)?.as_str_or_null().map_err(rusqlite::Error::from)?.map(Box::from),
        })
    })?;
    newest(&mut rows, filter, |row| row.updated_at);
    Ok(rows)
}

/// What a filter leaves, as far as SQLite is to pick it: see [`newest`].
fn listed<T>(
    connection: &Connection,
    columns: &str,
    filter: &ListFilter,
    read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut conditions = Vec::new();
    let mut values: Vec<&dyn ToSql> = Vec::new();
    if let Some(workspace) = &filter.workspace {
        conditions.push("workspace = ?");
        values.push(workspace);
    }
    let status = filter.status.map(status_number);
    if let Some(status) = &status {
        conditions.push("status = ?");
        values.push(status);
    }
    if !filter.children {
        conditions.push(NOT_A_CHILD);
    }
    let clause = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    // SQLite is quick to pick the newest few, but slow to sort many.
    let limit = filter.limit.filter(|limit| *limit <= FEW).and_then(|limit| i64::try_from(limit).ok());
    let order = if let Some(limit) = &limit {
        values.push(limit);
        "ORDER BY updated_at DESC, n DESC LIMIT ?"
    } else {
        "ORDER BY n DESC"
    };
    let sql = format!("SELECT {columns} FROM sessions {clause} {order}");
    each_row(connection, &sql, values.as_slice(), read)
}

fn newest<T>(rows: &mut Vec<T>, filter: &ListFilter, updated_at: impl Fn(&T) -> Timestamp) {
    rows.sort_by_key(|row| std::cmp::Reverse(updated_at(row)));
    rows.truncate(filter.limit.unwrap_or(usize::MAX));
}

pub(crate) fn unfinished(connection: &Connection, me: &Identity) -> Result<Vec<SessionRow>, StoreError> {
    // Word for word the condition of the index `sessions_active`, which then answers it.
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE status = 1 OR owner IS NOT NULL ORDER BY updated_at DESC, n DESC"
    );
    let mut rows = collect(connection, me, &sql, &[])?;
    rows.retain(|row| !row.owner.is_alive());
    Ok(rows)
}

pub(crate) fn latest(connection: &Connection, workspace: Option<&str>) -> Result<Option<SessionId>, StoreError> {
    let sql = format!(
        "SELECT id FROM sessions WHERE (?1 IS NULL OR workspace = ?1) AND {NOT_A_CHILD}
         ORDER BY updated_at DESC, n DESC LIMIT 1"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params![workspace])?;
    Ok(match rows.next()? {
        Some(row) => Some(session_id(row.get(0)?)),
        None => None,
    })
}

pub(crate) fn due(connection: &Connection, me: &Identity, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
    let mut due = Vec::new();
    sleepers(connection, me, now, |session, _| {
        due.push(session);
        true
    })?;
    Ok(due)
}

pub(crate) fn next_wake(connection: &Connection, me: &Identity) -> Result<Option<Timestamp>, StoreError> {
    let mut next = None;
    sleepers(connection, me, Timestamp(i64::MAX), |_, at| {
        next = Some(at);
        false
    })?;
    Ok(next)
}

/// Sessions with something due by `until` that nobody alive works on, soonest first, until `each`
/// has enough.
fn sleepers(
    connection: &Connection,
    me: &Identity,
    until: Timestamp,
    mut each: impl FnMut(SessionId, Timestamp) -> bool,
) -> Result<(), StoreError> {
    let mut judge = Judge::new(me);
    let mut select = connection.prepare_cached(
        "SELECT id, owner, wake_at FROM sessions WHERE wake_at IS NOT NULL AND wake_at <= ?1 ORDER BY wake_at, n",
    )?;
    let mut rows = select.query([until.0])?;
    while let Some(row) = rows.next()? {
        if !judge.owner(row.get(1)?)?.is_alive() && !each(session_id(row.get(0)?), Timestamp(row.get(2)?)) {
            break;
        }
    }
    Ok(())
}

fn collect(
    connection: &Connection,
    me: &Identity,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<SessionRow>, StoreError> {
    collect_with(connection, me, sql, values, |_, session| Ok(session))
}

/// The sessions of a query, each judged by whether its owner lives, with what else its row says.
pub(crate) fn collect_with<T>(
    connection: &Connection,
    me: &Identity,
    sql: &str,
    values: &[&dyn ToSql],
    with: impl Fn(&Row<'_>, SessionRow) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let (mut judge, mut models) = (Judge::new(me), Models::default());
    each_row(connection, sql, values, |row| {
        let session = read(row, &mut judge, &mut models)?;
        with(row, session)
    })
}

fn each_row<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(values)?;
    // Most homes hold fewer; growing step by step would copy the rows of a large one again and again.
    let mut found = Vec::with_capacity(ROOM);
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>, judge: &mut Judge<'_>, models: &mut Models) -> Result<SessionRow, StoreError> {
    Ok(SessionRow {
        id: session_id(row.get(0)?),
        seq: unsigned(row.get(1)?),
        owner: judge.owner(row.get(2)?)?,
        created_at: Timestamp(row.get(3)?),
        updated_at: Timestamp(row.get(4)?),
        wake_at: row.get::<_, Option<i64>>(5)?.map(Timestamp),
        status: status(row.get(6)?)?,
        turns: row.get(7)?,
        cost: Cost(unsigned(row.get(8)?)),
        tokens: unsigned(row.get(9)?),
        asks: row.get(10)?,
        mode: mode(row.get(11)?)?,
        parent: row.get::<_, Option<i64>>(12)?.map(session_id),
        forked_at: row.get::<_, Option<i64>>(13)?.map(unsigned),
        workspace: row.get(14)?,
        agent: row.get(15)?,
        model: models.named(row.get_ref(16)?.as_str().map_err(rusqlite::Error::from)?),
        title: row.get(17)?,
        preview: row.get(18)?,
        flow: row.get(19)?,
    })
}

pub(crate) const fn session_id(number: i64) -> SessionId {
    SessionId::from_random(number.cast_unsigned())
}

fn status(number: i64) -> Result<Status, StoreError> {
    [Status::Idle, Status::Running, Status::Waiting, Status::Failed]
        .into_iter()
        .find(|status| status_number(*status) == number)
        .ok_or_else(|| StoreError::Corrupt { detail: format!("no status has the number {number}") })
}

fn mode(number: i64) -> Result<Mode, StoreError> {
    Mode::ALL
        .into_iter()
        .find(|mode| crate::append::mode_number(*mode) == number)
        .ok_or_else(|| StoreError::Corrupt { detail: format!("no mode has the number {number}") })
}

/// Looks at each owner once, however many sessions it has.
struct Judge<'a> {
    me: &'a Identity,
    known: HashMap<i64, Owner>,
}

impl<'a> Judge<'a> {
    fn new(me: &'a Identity) -> Self {
        Self { me, known: HashMap::new() }
    }

    fn owner(&mut self, number: Option<i64>) -> Result<Owner, StoreError> {
        let Some(number) = number else { return Ok(Owner::Nobody) };
        if let Some(owner) = self.known.get(&number) {
            return Ok(*owner);
        }
        let owner = self.me.judge(Some(number))?;
        self.known.insert(number, owner);
        Ok(owner)
    }
}

/// Most sessions of a list use the same few models, whose names are then shared.
#[derive(Default)]
struct Models(HashMap<String, ModelName>);

impl Models {
    fn named(&mut self, text: &str) -> ModelName {
        if let Some(model) = self.0.get(text) {
            return model.clone();
        }
        let (provider, name) = text.split_once('/').unwrap_or((text, ""));
        let model = ModelName::new(provider, name);
        self.0.insert(text.to_owned(), model.clone());
        model
    }
}
