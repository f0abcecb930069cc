//! Opening the database: making it, bringing it up to date, and healing it when it is damaged.
//!
//! A sound database of this version takes the short way: one connection and a few pages read.
//! Everything else is done by one process at a time. A damaged file is never written to or removed;
//! it is put aside under another name. A person can ask to go back to a backup; that is done here too, by the
//! first process that has the database to itself.

use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use weft_core::Timestamp;

use crate::backup::{self, exclusive, stamp, sync_folder, unused};
use crate::database::{connect, damage_marker, restore_marker, with_suffix};
use crate::error::StoreError;
use crate::schema::{Migration, known_version, migrate, version};

/// Something a person should know about how the database was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// A person wanted to go back to the backup; otherwise the database was damaged.
    pub asked: bool,
    /// Where the database that was there before is now.
    pub kept: PathBuf,
    /// The backup that took its place, and when it was made.
    pub restored: Option<(PathBuf, Timestamp)>,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept.display();
        let date = |taken_at: &Timestamp| {
            let moment = jiff::Timestamp::from_millisecond(taken_at.0).unwrap_or_default();
            moment.strftime("%Y-%m-%d %H:%M").to_string()
        };
        match &self.restored {
            Some((_, taken_at)) if self.asked => write!(
                f,
                "Weft went back to the backup of {} UTC, as you asked. What there was before was kept at {kept}.",
                date(taken_at)
            ),
            Some((backup, taken_at)) => {
                let date = date(taken_at);
                write!(
                    f,
                    "The database was damaged. It was restored from the backup of {date} UTC ({}); work done since \
                     then is missing. The damaged file was kept at {kept}.",
                    backup.display()
                )
            }
            None => write!(
                f,
                "The database was damaged and there was no usable backup, so Weft started with an empty one. The \
                 damaged file was kept at {kept}; do not delete it if you need what is in it."
            ),
        }
    }
}

/// Where things are, and what this version knows.
pub(crate) struct Opening<'a> {
    pub path: &'a Path,
    pub backups: &'a Path,
    pub locks: &'a Path,
    pub migrations: &'a [Migration],
    pub now: Timestamp,
}

impl Opening<'_> {
    pub(crate) fn open(&self) -> Result<(Connection, Option<Notice>), StoreError> {
        if self.has_content() && !damage_marker(self.path).exists() && !restore_marker(self.path).exists() {
            match self.open_sound() {
                Ok(Some(connection)) => return Ok((connection, None)),
                Ok(None) | Err(StoreError::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.prepare()
    }

    fn has_content(&self) -> bool {
        self.path.metadata().is_ok_and(|file| file.len() > 0)
    }

    /// The short way. `None` if the database must be brought up to date first.
    fn open_sound(&self) -> Result<Option<Connection>, StoreError> {
        let connection = connect(self.path)?;
        let found = version(&connection)?;
        let known = known_version(self.migrations);
        if found > known {
            return Err(StoreError::Newer { found, known });
        }
        if found > 0 {
            probe(&connection)?;
        }
        Ok((found == known).then_some(connection))
    }

    /// The long way, one process at a time: heal, create, migrate.
    fn prepare(&self) -> Result<(Connection, Option<Notice>), StoreError> {
        for folder in [self.path.parent(), Some(self.locks)].into_iter().flatten() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| StoreError::io("creating", folder, &error))?;
        }
        let _turn = exclusive(&self.locks.join("opening"))?;
        let notice = match self.go_back()? {
            Some(notice) => Some(notice),
            None if self.is_damaged()? => Some(self.heal()?),
            None => None,
        };
        // Conversations are private: the file is made for its owner's eyes before SQLite fills it.
        let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(self.path);
        made.map_err(|error| StoreError::io("opening", self.path, &error))?;
        let mut connection = connect(self.path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        migrate(&mut connection, self.migrations, &mut || backup::make(self.path, self.backups, self.now).map(drop))?;
        probe(&connection)?;
        Ok((connection, notice))
    }

    fn is_damaged(&self) -> Result<bool, StoreError> {
        if !self.has_content() {
            // Emptied, rather than new: there was something to back up once.
            return Ok(self.path.exists() && !backup::list(self.backups).is_empty());
        }
        match self.examine() {
            Ok(damaged) => Ok(damaged),
            Err(StoreError::Corrupt { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn examine(&self) -> Result<bool, StoreError> {
        self.open_sound()?;
        let marker = damage_marker(self.path);
        if !marker.exists() {
            return Ok(false);
        }
        let damaged = !backup::problems(&connect(self.path)?)?.is_empty();
        if !damaged {
            std::fs::remove_file(&marker).map_err(|error| StoreError::io("removing", &marker, &error))?;
        }
        Ok(damaged)
    }

    /// Goes back to the backup that a person asked for. Left for a later start while another process has the
    /// database open; given up where the backup is gone or damaged.
    fn go_back(&self) -> Result<Option<Notice>, StoreError> {
        let marker = restore_marker(self.path);
        let Ok(wanted) = std::fs::read_to_string(&marker) else { return Ok(None) };
        let done = || std::fs::remove_file(&marker).map_err(|error| StoreError::io("removing", &marker, &error));
        let known = known_version(self.migrations);
        let copy = backup::named(self.backups, wanted.trim()).filter(|copy| backup::is_good(&copy.path, known));
        let Some(copy) = copy else {
            done()?;
            return Ok(None);
        };
        if self.has_content() && !is_alone(self.path) {
            return Ok(None);
        }
        let kept = self.put_aside("before-restore")?;
        self.restore(&copy.path)?;
        done()?;
        Ok(Some(Notice { asked: true, kept, restored: Some((copy.path, copy.taken_at)) }))
    }

    fn heal(&self) -> Result<Notice, StoreError> {
        let kept = self.put_aside("damaged")?;
        let known = known_version(self.migrations);
        let good = backup::list(self.backups).into_iter().find(|copy| backup::is_good(&copy.path, known));
        let restored = match good {
            Some(copy) => {
                self.restore(&copy.path)?;
                Some((copy.path, copy.taken_at))
            }
            None => None,
        };
        // The marker asked for what has just been done.
        let _ = std::fs::remove_file(damage_marker(self.path));
        Ok(Notice { asked: false, kept, restored })
    }

    fn put_aside(&self, why: &str) -> Result<PathBuf, StoreError> {
        let stamp = stamp(self.now);
        let kept = unused(|counter| match counter {
            1 => with_suffix(self.path, &format!(".{why}-{stamp}")),
            _ => with_suffix(self.path, &format!(".{why}-{stamp}-{counter}")),
        });
        for suffix in ["-wal", "-shm", ""] {
            let from = with_suffix(self.path, suffix);
            if from.exists() {
                std::fs::rename(&from, with_suffix(&kept, suffix))
                    .map_err(|error| StoreError::io("putting aside", &from, &error))?;
            }
        }
        Ok(kept)
    }

    fn restore(&self, copy: &Path) -> Result<(), StoreError> {
        let incoming = with_suffix(self.path, ".restoring");
        let copied = std::fs::copy(copy, &incoming)
            .and_then(|_| OpenOptions::new().write(true).open(&incoming)?.sync_all())
            .and_then(|()| std::fs::rename(&incoming, self.path));
        copied.map_err(|error| StoreError::io("restoring", self.path, &error))?;
        self.path.parent().map_or(Ok(()), sync_folder)
    }
}

/// Whether no other connection to the database is open anywhere: only then SQLite lets go of its log.
/// A damaged one cannot say; it is put aside whole in any case.
fn is_alone(path: &Path) -> bool {
    let without_log = || -> Result<String, StoreError> {
        let connection = connect(path)?;
        connection.busy_timeout(std::time::Duration::ZERO)?;
        Ok(connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?)
    };
    match without_log() {
        Ok(mode) => mode == "delete",
        Err(StoreError::Corrupt { .. }) => true,
        Err(_) => false,
    }
}

/// Reads the schema and both ends of the main tables: a few pages, and where damage shows soonest.
fn probe(connection: &Connection) -> Result<(), StoreError> {
    let read = || {
        for sql in [
            "SELECT count(*) FROM sqlite_schema",
            "SELECT min(n) + max(n) FROM sessions",
            "SELECT (SELECT max(place) FROM events) + (SELECT max(key) FROM events)",
        ] {
            connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0))?;
        }
        Ok::<_, rusqlite::Error>(())
    };
    read().map_err(|error| match StoreError::from(error) {
        // A table that is not there, in a file that says it has our format.
        StoreError::Unexpected { detail } => StoreError::Corrupt { detail },
        other => other,
    })
}

#[cfg(test)]
#[path = "opening_tests.rs"]
mod tests;
