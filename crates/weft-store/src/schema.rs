//! The tables, and how a database of an earlier version becomes one of this version.
//!
//! A migration that has been released is never changed; a new one is added at the end.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;

pub(crate) struct Migration {
    pub version: u32,
    /// It removes something that cannot be made again, so a backup is taken before it.
    pub destructive: bool,
    pub sql: &'static str,
}

/// `events` is in the order of writing, so that a busy process fills one page after the other;
/// `events.key` is the session's number and the event's number in one integer (see [`event_key`]).
/// Everything else is a projection of the events, except the partials, which are not facts yet, the
/// usage ledger, which outlives its sessions, and what people have noted about sessions.
pub(crate) const MIGRATIONS: &[Migration] = &[FIRST, MARKS_AND_WORDS, FLOWS, RENAMES];

/// The last renaming of words for where sessions stand, so that one that a crash interrupted is finished
/// exactly once: the names themselves are in a file, which no transaction reaches.
const RENAMES: Migration = Migration {
    version: 4,
    destructive: false,
    sql: "CREATE TABLE last_rename (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL);",
};

/// Which flow a session runs, so that a list can say what kind of work it is. 50 is `FlowStarted`.
const FLOWS: Migration = Migration {
    version: 3,
    destructive: false,
    sql: "
        ALTER TABLE sessions ADD COLUMN flow TEXT;
        UPDATE sessions SET flow = last.flow FROM (
            SELECT key >> 32 AS n, json_extract(CAST(data AS TEXT), '$.flow') AS flow, max(key)
            FROM events WHERE kind = 50 GROUP BY key >> 32
        ) AS last WHERE last.n = sessions.n;
    ",
};

/// `words` holds no texts, only where words occur: its row numbers are those of `events.key`. It is
/// made when somebody searches, from the events after `word_index.upto`.
const MARKS_AND_WORDS: Migration = Migration {
    version: 2,
    destructive: false,
    sql: "
        CREATE TABLE marks (
            n INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            labels TEXT,
            flag TEXT,
            archived INTEGER NOT NULL DEFAULT 0,
            deleted_at INTEGER,
            read_seq INTEGER,
            served INTEGER NOT NULL DEFAULT 0,
            known_as TEXT
        );
        CREATE INDEX marks_known_as ON marks (known_as) WHERE known_as IS NOT NULL;
        CREATE VIRTUAL TABLE words USING fts5(
            text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
        );
        CREATE TABLE word_index (one INTEGER PRIMARY KEY CHECK (one = 1), upto INTEGER NOT NULL);
        INSERT INTO word_index (one, upto) VALUES (1, 0);
    ",
};

const FIRST: Migration = Migration {
    version: 1,
    destructive: false,
    sql: "
        CREATE TABLE sessions (
            n INTEGER PRIMARY KEY,
            id INTEGER NOT NULL UNIQUE,
            seq INTEGER NOT NULL,
            owner INTEGER,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            wake_at INTEGER,
            status INTEGER NOT NULL,
            turns INTEGER NOT NULL,
            cost INTEGER NOT NULL,
            tokens INTEGER NOT NULL,
            asks INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            parent INTEGER,
            forked INTEGER,
            workspace TEXT NOT NULL,
            agent TEXT NOT NULL,
            model TEXT NOT NULL,
            title TEXT,
            preview TEXT
        );
        CREATE INDEX sessions_active ON sessions (n) WHERE status = 1 OR owner IS NOT NULL;
        CREATE INDEX sessions_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;
        CREATE TABLE events (
            place INTEGER PRIMARY KEY,
            key INTEGER NOT NULL UNIQUE,
            kind INTEGER NOT NULL,
            at INTEGER NOT NULL,
            data BLOB NOT NULL
        );
        CREATE TABLE snapshots (
            n INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            format INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            data BLOB NOT NULL
        );
        CREATE TABLE partials (
            n INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            key TEXT NOT NULL,
            text TEXT NOT NULL,
            UNIQUE (n, key)
        );
        CREATE TABLE asks (
            id INTEGER NOT NULL,
            n INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            raised_at INTEGER NOT NULL,
            deadline INTEGER,
            data BLOB NOT NULL,
            PRIMARY KEY (id, n)
        );
        CREATE INDEX asks_of_session ON asks (n);
        CREATE TABLE usage (
            entry INTEGER PRIMARY KEY,
            session INTEGER NOT NULL,
            turn INTEGER NOT NULL,
            at INTEGER NOT NULL,
            agent TEXT NOT NULL,
            provider TEXT NOT NULL,
            model TEXT NOT NULL,
            input INTEGER NOT NULL,
            output INTEGER NOT NULL,
            cache_read INTEGER NOT NULL,
            cache_write INTEGER NOT NULL,
            reasoning INTEGER NOT NULL,
            cost INTEGER NOT NULL,
            millis INTEGER NOT NULL
        );
        CREATE INDEX usage_at ON usage (at);
        CREATE INDEX usage_session ON usage (session);
    ",
};

pub(crate) fn known_version(migrations: &[Migration]) -> u32 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or(0)
}

pub(crate) fn version(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings the database up to date. `before_destruction` is called once, before the first step that
/// would remove something from a database that already holds something.
pub(crate) fn migrate(
    connection: &mut Connection,
    migrations: &[Migration],
    before_destruction: &mut dyn FnMut() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let known = known_version(migrations);
    let start = version(connection)?;
    let mut backed_up = start == 0;
    for migration in migrations.iter().filter(|migration| migration.version > start) {
        if migration.destructive && !backed_up {
            before_destruction()?;
            backed_up = true;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have done it while this one waited for the lock.
        let found = version(&transaction)?;
        if found > known {
            return Err(StoreError::Newer { found, known });
        }
        if found < migration.version {
            transaction.execute_batch(migration.sql)?;
            transaction.pragma_update(None, "user_version", migration.version)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

const SEQ_BITS: u32 = 32;

/// Where event `seq` of the session with row `n` lies in `events.key`.
pub(crate) fn event_key(n: i64, seq: u64) -> Result<i64, StoreError> {
    let seq = u32::try_from(seq)
        .map_err(|_| StoreError::Unexpected { detail: "a session holds at most 4 billion events".to_owned() })?;
    Ok((n << SEQ_BITS) | i64::from(seq))
}

pub(crate) const fn seq_of(key: i64) -> u64 {
    (key & ((1 << SEQ_BITS) - 1)).cast_unsigned()
}

/// SQLite's integers are signed. Counts that do not fit are held at the largest that does.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
