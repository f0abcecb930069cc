//! What a person has noted about a session: labels, a word of their own, archived, deleted, how far
//! they have read. These are not facts of the session, so they are not in its log; they go with it.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use weft_core::{SessionId, Status, Timestamp};

use crate::append::{SessionHead, status_number};
use crate::error::StoreError;
use crate::ownership::Identity;
use crate::schema::{signed, unsigned};
use crate::sessions::{COLUMNS, NOT_A_CHILD, SessionRow, collect_with};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    pub labels: Vec<String>,
    /// A word of the person's own for where it stands.
    pub flag: Option<String>,
    pub archived: bool,
    /// Set when it is to go, and can still be brought back.
    pub deleted_at: Option<Timestamp>,
    /// The last event that a person has seen; nothing is unread in a session that nobody marked.
    pub read_seq: Option<u64>,
    /// A server works on it and goes on with it when it starts again.
    pub served: bool,
}

/// A session carries this many at most.
pub const MOST_LABELS: usize = 32;

/// What is to be different; `None` leaves it.
#[derive(Debug, Clone, Default)]
pub struct MarkChange {
    pub labels: Option<Vec<String>>,
    /// Besides those that it has.
    pub add_labels: Vec<String>,
    pub flag: Option<Option<String>>,
    pub archived: Option<bool>,
    pub deleted_at: Option<Option<Timestamp>>,
    /// Everything so far is read, or nothing is.
    pub read: Option<bool>,
    pub served: Option<bool>,
    /// What another program calls it.
    pub known_as: Option<String>,
}

/// Which sessions to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Neither archived nor deleted.
    #[default]
    Inbox,
    Archived,
    Deleted,
    /// All but the deleted ones.
    All,
}

#[derive(Debug, Clone, Default)]
pub struct MarkedFilter {
    pub view: View,
    /// In the title, the beginning of what was said, or the folder.
    pub words: Option<String>,
    pub status: Option<Status>,
    /// A label, with those below it: `work` is also `work/urgent`.
    pub label: Option<String>,
    /// The person's own word for where it stands.
    pub flag: Option<String>,
    /// Also those that others began to have something done.
    pub children: bool,
    pub workspace: Option<String>,
    /// Only those that changed at this moment or later.
    pub since: Option<Timestamp>,
    /// Where the page before ended.
    pub after: Option<Cursor>,
    pub limit: usize,
}

/// A place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub updated_at: Timestamp,
    pub n: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    pub row: SessionRow,
    pub marks: Marks,
    pub place: Cursor,
}

impl Marked {
    pub fn is_unread(&self) -> bool {
        self.marks.read_seq.is_some_and(|read| self.row.seq > read)
    }
}

/// How many sessions there are that are neither archived nor deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionCounts {
    pub total: u64,
    pub waiting: u64,
    pub running: u64,
    pub unread: u64,
}

const MARK_COLUMNS: &str = "labels, flag, archived, deleted_at, read_seq, served, s.n";
const OF_VIEW: [(View, &str); 4] = [
    (View::Inbox, "coalesce(archived, 0) = 0 AND deleted_at IS NULL"),
    (View::Archived, "archived = 1 AND deleted_at IS NULL"),
    (View::Deleted, "deleted_at IS NOT NULL"),
    (View::All, "deleted_at IS NULL"),
];

pub(crate) fn list(connection: &Connection, me: &Identity, filter: &MarkedFilter) -> Result<Vec<Marked>, StoreError> {
    let mut conditions = if filter.children { Vec::new() } else { vec![NOT_A_CHILD] };
    conditions.extend(OF_VIEW.iter().find(|(view, _)| *view == filter.view).map(|(_, condition)| *condition));
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let words = filter.words.as_deref().map(|words| format!("%{}%", escaped(words)));
    if let Some(words) = &words {
        conditions.push("coalesce(title, '') || ' ' || coalesce(preview, '') || ' ' || workspace LIKE ? ESCAPE '\\'");
        values.push(words);
    }
    let status = filter.status.map(status_number);
    if let Some(status) = &status {
        conditions.push("status = ?");
        values.push(status);
    }
    let below = filter.label.as_deref().map(|label| format!("{}/%", escaped(label)));
    if let (Some(label), Some(below)) = (&filter.label, &below) {
        conditions.push(
            "labels IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ? OR value LIKE ? ESCAPE '\\')",
        );
        values.push(label);
        values.push(below);
    }
    if let Some(flag) = &filter.flag {
        conditions.push("flag = ?");
        values.push(flag);
    }
    if let Some(workspace) = &filter.workspace {
        conditions.push("workspace = ?");
        values.push(workspace);
    }
    if let Some(since) = &filter.since {
        conditions.push("updated_at >= ?");
        values.push(&since.0);
    }
    if let Some(after) = &filter.after {
        conditions.push("(updated_at, s.n) < (?, ?)");
        values.push(&after.updated_at.0);
        values.push(&after.n);
    }
    let limit = signed(filter.limit as u64);
    values.push(&limit);
    let sql = format!(
        "SELECT {COLUMNS}, {MARK_COLUMNS} FROM sessions s LEFT JOIN marks m ON m.n = s.n WHERE {}
         ORDER BY updated_at DESC, s.n DESC LIMIT ?",
        conditions.join(" AND ")
    );
    collect(connection, me, &sql, &values)
}

/// All labels that sessions carry, and how many do.
pub(crate) fn labels(connection: &Connection) -> Result<Vec<(String, u64)>, StoreError> {
    let sql = "SELECT value, count(*) FROM marks, json_each(labels)
         WHERE labels IS NOT NULL AND deleted_at IS NULL AND coalesce(archived, 0) = 0 GROUP BY value ORDER BY value";
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, unsigned(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn one(connection: &Connection, me: &Identity, session: SessionId) -> Result<Marked, StoreError> {
    let sql = format!("SELECT {COLUMNS}, {MARK_COLUMNS} FROM sessions s LEFT JOIN marks m ON m.n = s.n WHERE id = ?");
    let found = collect(connection, me, &sql, &[&signed(session.number())])?.pop();
    found.ok_or_else(|| StoreError::no_session(session))
}

/// Sessions that were deleted before this moment.
pub(crate) fn deleted_before(connection: &Connection, moment: Timestamp) -> Result<Vec<SessionId>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id FROM marks JOIN sessions USING (n) WHERE deleted_at < ?1")?;
    let rows = select.query_map([moment.0], |row| row.get::<_, i64>(0))?;
    Ok(rows.map(|id| id.map(crate::sessions::session_id)).collect::<Result<_, _>>()?)
}

/// The session that another program calls so, the newest if there are several.
pub(crate) fn known_as(connection: &Connection, name: &str) -> Result<Option<SessionId>, StoreError> {
    let sql = "SELECT id FROM marks JOIN sessions USING (n) WHERE known_as = ?1 AND deleted_at IS NULL
         ORDER BY n DESC LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([name], |row| row.get::<_, i64>(0)).optional()?;
    Ok(found.map(crate::sessions::session_id))
}

pub(crate) fn counts(connection: &Connection) -> Result<SessionCounts, StoreError> {
    let sql = format!(
        "SELECT count(*), coalesce(sum(status = 2), 0), coalesce(sum(status = 1), 0),
            coalesce(sum(read_seq IS NOT NULL AND seq > read_seq), 0)
         FROM sessions s LEFT JOIN marks m ON m.n = s.n
         WHERE {NOT_A_CHILD} AND coalesce(archived, 0) = 0 AND deleted_at IS NULL"
    );
    let counts = connection.prepare_cached(&sql)?.query_row([], |row| {
        let number = |column| row.get(column).map(unsigned);
        Ok(SessionCounts { total: number(0)?, waiting: number(1)?, running: number(2)?, unread: number(3)? })
    })?;
    Ok(counts)
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unexpected { detail: error.to_string() })
}

pub(crate) fn write(connection: &Connection, session: SessionId, change: &MarkChange) -> Result<(), StoreError> {
    let head = SessionHead::expect(connection, session)?;
    connection.prepare_cached("INSERT OR IGNORE INTO marks (n) VALUES (?1)")?.execute([head.n])?;
    let set = |column: &str, value: &dyn ToSql| -> Result<(), StoreError> {
        let sql = format!("UPDATE marks SET {column} = ?2 WHERE n = ?1");
        connection.prepare_cached(&sql)?.execute(params![head.n, value])?;
        Ok(())
    };
    if let Some(labels) = &change.labels {
        set("labels", &json(labels)?)?;
    }
    if !change.add_labels.is_empty() {
        let select = "SELECT labels FROM marks WHERE n = ?1";
        let kept: Option<String> = connection.prepare_cached(select)?.query_row([head.n], |row| row.get(0))?;
        let kept: Vec<String> = kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let new: Vec<&String> = change.add_labels.iter().filter(|label| !kept.contains(label)).collect();
        let all: Vec<&String> = kept.iter().chain(new).take(MOST_LABELS).collect();
        set("labels", &json(&all)?)?;
    }
    if let Some(flag) = &change.flag {
        set("flag", flag)?;
    }
    if let Some(archived) = change.archived {
        set("archived", &archived)?;
    }
    if let Some(deleted_at) = change.deleted_at {
        set("deleted_at", &deleted_at.map(|at| at.0))?;
    }
    if let Some(read) = change.read {
        set("read_seq", &if read { signed(head.seq) } else { 0 })?;
    }
    if let Some(served) = change.served {
        set("served", &served)?;
    }
    if let Some(known_as) = &change.known_as {
        set("known_as", known_as)?;
    }
    Ok(())
}

/// Words that people use for where sessions stand, from old to new. Two can trade places.
#[derive(Debug, Clone)]
pub struct Renaming {
    /// Given once and never again: whoever does not know whether it was done can ask for it a second time.
    pub id: String,
    pub words: BTreeMap<String, String>,
}

/// Done once, however often it is asked for.
pub(crate) fn rename_flags(connection: &Connection, renaming: &Renaming) -> Result<(), StoreError> {
    let last: Option<String> =
        connection.prepare_cached("SELECT id FROM last_rename")?.query_row([], |row| row.get(0)).optional()?;
    if last.as_ref() == Some(&renaming.id) {
        return Ok(());
    }
    let renamed = json(&renaming.words)?;
    let sql = "UPDATE marks SET flag = (SELECT value FROM json_each(?1) WHERE key = flag)
         WHERE flag IN (SELECT key FROM json_each(?1))";
    connection.prepare_cached(sql)?.execute([renamed])?;
    let note = "INSERT INTO last_rename (one, id) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET id = excluded.id";
    connection.prepare_cached(note)?.execute([&renaming.id])?;
    Ok(())
}

/// Sessions that have one of these words, also those that are deleted and may come back.
pub(crate) fn flagged<'a>(
    connection: &Connection,
    flags: impl Iterator<Item = &'a String>,
) -> Result<Vec<SessionId>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id FROM marks JOIN sessions USING (n) WHERE flag = ?1")?;
    let mut found = Vec::new();
    for flag in flags {
        let rows = select.query_map([flag], |row| row.get::<_, i64>(0))?;
        for id in rows {
            found.push(crate::sessions::session_id(id?));
        }
    }
    Ok(found)
}

fn collect(
    connection: &Connection,
    me: &Identity,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Marked>, StoreError> {
    collect_with(connection, me, sql, values, |row, session| {
        let place = Cursor { updated_at: session.updated_at, n: row.get(26)? };
        Ok(Marked { row: session, marks: marks(row)?, place })
    })
}

fn marks(row: &Row<'_>) -> Result<Marks, StoreError> {
    let labels: Option<String> = row.get(20)?;
    Ok(Marks {
        labels: labels.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        flag: row.get(21)?,
        archived: row.get::<_, Option<bool>>(22)?.unwrap_or(false),
        deleted_at: row.get::<_, Option<i64>>(23)?.map(Timestamp),
        read_seq: row.get::<_, Option<i64>>(24)?.map(unsigned),
        served: row.get::<_, Option<bool>>(25)?.unwrap_or(false),
    })
}

/// Words in which `%` and `_` are nothing special.
fn escaped(words: &str) -> String {
    words.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
