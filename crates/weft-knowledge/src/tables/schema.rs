//! The tables, and what version of them this Weft knows.
//!
//! Everything here is made of files and sessions and can be made again. A newer version is refused.

use rusqlite::Connection;

use crate::error::KnowledgeError;

pub(crate) const VERSION: u32 = 4;

/// `generation` counts the changes, of which a transaction may hold many. Each chunk knows the one that
/// made it, and `gone` keeps the numbers of removed chunks until both indexes have heard of them: that is
/// all an index needs to catch up. An edge names what it leads to and is resolved when it is asked for, so
/// that a changed file never leaves a wrong edge in another one.
const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE files (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        domain INTEGER NOT NULL,
        language INTEGER,
        size INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        hash BLOB,
        trouble TEXT,
        indexed_at INTEGER NOT NULL
    );
    CREATE TABLE nodes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
        parent INTEGER REFERENCES nodes ON DELETE CASCADE,
        domain INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        name TEXT NOT NULL,
        context TEXT NOT NULL,
        signature TEXT NOT NULL,
        doc TEXT NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        paragraph TEXT,
        time INTEGER NOT NULL
    );
    CREATE INDEX nodes_file ON nodes (file);
    CREATE INDEX nodes_parent ON nodes (parent);
    CREATE INDEX nodes_name ON nodes (name COLLATE NOCASE);
    CREATE INDEX nodes_paragraph ON nodes (paragraph) WHERE paragraph IS NOT NULL;
    CREATE TABLE edges (
        id INTEGER PRIMARY KEY,
        source INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        kind INTEGER NOT NULL,
        name TEXT NOT NULL,
        qualifier TEXT NOT NULL,
        line INTEGER NOT NULL
    );
    CREATE INDEX edges_source ON edges (source);
    CREATE INDEX edges_name ON edges (name, kind);
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX chunks_node ON chunks (node);
    CREATE INDEX chunks_file ON chunks (file);
    CREATE INDEX chunks_generation ON chunks (generation);
    CREATE TABLE gone (chunk INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
    CREATE INDEX gone_generation ON gone (generation);
    CREATE TRIGGER chunk_gone AFTER DELETE ON chunks BEGIN
        INSERT OR REPLACE INTO gone (chunk, generation)
        VALUES (OLD.id, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'generation'));
    END;
    INSERT INTO meta VALUES ('generation', '0');
";

/// What version 2 added: the page of a paragraph, how far a node of the past was borne out by code,
/// where that was found, and what contradicts what. A conflict that somebody settled stays settled
/// when the files are read again, so that is kept by what it says and not by its rows.
const SINCE_2: &str = "
    ALTER TABLE nodes ADD COLUMN page INTEGER;
    ALTER TABLE nodes ADD COLUMN confidence REAL NOT NULL DEFAULT 1.0;
    ALTER TABLE nodes ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE nodes ADD COLUMN warning TEXT;
    CREATE TABLE provenance (
        id INTEGER PRIMARY KEY,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        kind INTEGER NOT NULL,
        claim TEXT NOT NULL,
        path TEXT NOT NULL,
        line INTEGER NOT NULL,
        confidence REAL NOT NULL,
        verified_at INTEGER NOT NULL
    );
    CREATE INDEX provenance_node ON provenance (node);
    CREATE TABLE conflicts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind INTEGER NOT NULL,
        subject TEXT NOT NULL,
        one INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        other INTEGER REFERENCES nodes ON DELETE CASCADE,
        one_text TEXT NOT NULL,
        other_text TEXT NOT NULL,
        description TEXT NOT NULL,
        mark TEXT NOT NULL UNIQUE,
        detected_at INTEGER NOT NULL
    );
    CREATE INDEX conflicts_one ON conflicts (one);
    CREATE INDEX conflicts_other ON conflicts (other);
    CREATE TABLE settled (mark TEXT PRIMARY KEY, resolution TEXT NOT NULL, resolved_at INTEGER NOT NULL) WITHOUT ROWID;
";

/// What version 3 added: which side of a conflict counts, and answers that models made, with what they
/// were made from.
const SINCE_3: &str = "
    ALTER TABLE conflicts ADD COLUMN counts TEXT;
    CREATE TABLE answers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        intent INTEGER NOT NULL,
        subject TEXT NOT NULL,
        question TEXT NOT NULL,
        answer TEXT NOT NULL,
        warning TEXT,
        mark BLOB NOT NULL,
        made_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        told INTEGER NOT NULL DEFAULT 0,
        UNIQUE (intent, subject)
    );
    CREATE TABLE answer_sources (
        answer INTEGER NOT NULL REFERENCES answers ON DELETE CASCADE,
        path TEXT NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (answer, path)
    ) WITHOUT ROWID;
";

/// What version 4 added: what was said of answers, and how often something was told.
const SINCE_4: &str = "
    CREATE TABLE feedback (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        subject TEXT NOT NULL,
        question TEXT NOT NULL,
        fault INTEGER NOT NULL,
        given TEXT NOT NULL,
        outcome TEXT NOT NULL,
        correct TEXT NOT NULL,
        forgotten INTEGER NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE TABLE told (what TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
";

/// Makes the tables if there are none, and brings older ones up to this version; says whether it made
/// them.
pub(crate) fn prepare(connection: &Connection) -> Result<bool, KnowledgeError> {
    let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > VERSION {
        return Err(KnowledgeError::Newer { found, known: VERSION });
    }
    if found == VERSION {
        return Ok(false);
    }
    let made = found == 0;
    let steps = [(1, TABLES), (2, SINCE_2), (3, SINCE_3), (4, SINCE_4)];
    let steps: String = steps.into_iter().filter(|(version, _)| *version > found).map(|(_, step)| step).collect();
    let changed =
        connection.execute_batch(&format!("BEGIN IMMEDIATE; {steps} PRAGMA user_version = {VERSION}; COMMIT;"));
    if let Err(error) = changed {
        let _ = connection.execute_batch("ROLLBACK");
        // Another process may have been faster.
        let now: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        return if now == VERSION { Ok(false) } else { Err(error.into()) };
    }
    Ok(made)
}
