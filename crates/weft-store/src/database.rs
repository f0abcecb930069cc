//! Connections to the one database: a single writer, and readers that are opened when needed.
//!
//! Only this file opens SQLite, for the log and for what other crates keep in a database of their own.
//! It knows nothing of what is stored.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;

/// Readers beyond this many are closed after use.
const IDLE_READERS: usize = 4;
/// How long is waited for somebody else who writes.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS: usize = 64;

/// Small page caches: the operating system caches the file anyway, and memory is a promise.
const SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -1024;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 8388608;
";

pub(crate) struct Database {
    /// `None` when it lives in memory: then the writer's connection serves readers too.
    path: Option<PathBuf>,
    writer: Mutex<Option<Connection>>,
    readers: Mutex<Vec<Connection>>,
}

impl Database {
    /// Takes over a connection that has been checked; the first to need one, reader or writer, gets it.
    pub(crate) fn file(path: PathBuf, first: Connection) -> Self {
        Self { path: Some(path), writer: Mutex::new(None), readers: Mutex::new(vec![first]) }
    }

    pub(crate) fn memory(connection: Connection) -> Self {
        Self { path: None, writer: Mutex::new(Some(connection)), readers: Mutex::new(Vec::new()) }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let Some(path) = &self.path else { return self.write(|connection| work(connection)) };
        let idle = lock(&self.readers).pop();
        let connection = idle.map_or_else(|| connect(path), Ok)?;
        let result = work(&connection);
        let mut readers = lock(&self.readers);
        if readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        drop(readers);
        self.watch_for_damage(result)
    }

    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = lock(&self.writer);
        let connection = match (&mut *slot, &self.path) {
            (Some(connection), _) => connection,
            (none @ None, Some(path)) => {
                let idle = lock(&self.readers).pop();
                none.insert(idle.map_or_else(|| connect(path), Ok)?)
            }
            (None, None) => return Err(StoreError::Unexpected { detail: "the database in memory is gone".to_owned() }),
        };
        let result = work(connection);
        drop(slot);
        self.watch_for_damage(result)
    }

    pub(crate) fn watch_for_damage<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Corrupt { detail }) = &result {
            self.mark_damaged(detail);
        }
        result.map_err(|error| match &self.path {
            Some(path) => error.with_space(|| free_space(path)),
            None => error,
        })
    }

    /// Damage met while running is remembered, so that the next start looks at the whole file.
    pub(crate) fn mark_damaged(&self, detail: &str) {
        if let Some(path) = &self.path {
            // The caller hears of the damage itself; a marker that cannot be left changes nothing.
            let _ = std::fs::write(damage_marker(path), detail);
        }
    }
}

/// The file that asks the next start for a full check.
pub(crate) fn damage_marker(database: &Path) -> PathBuf {
    with_suffix(database, ".check")
}

/// The file that asks the next start to go back to the backup whose name it holds.
pub(crate) fn restore_marker(database: &Path) -> PathBuf {
    with_suffix(database, ".restore")
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    configured(path, flags).map_err(|error| error.with_space(|| free_space(path)))
}

fn configured(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = open(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise every new value of `LIMIT ?` has SQLite prepare its statement again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// How many bytes can still be written where the database lies.
fn free_space(path: &Path) -> Option<u64> {
    let file_system = rustix::fs::statvfs(path.parent()?).ok()?;
    Some(file_system.f_bavail.saturating_mul(file_system.f_frsize))
}

/// A plain connection to a backup that is being written or examined.
pub(crate) fn connect_backup(path: &Path) -> Result<Connection, StoreError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

#[allow(clippy::disallowed_methods, reason = "the one place where the database is opened")]
fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    Ok(Connection::open_with_flags(path, flags)?)
}

/// A database that can be made again from what it was made of. It is written in many small
/// transactions, so a commit is not synced: a crash of the machine may take the last ones back, and
/// never leaves half of one. Who reads keeps little of it in memory, since the system does; who writes much
/// may want [`LARGE_CACHE`] meanwhile.
pub fn connect_derived(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \
         PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
    )?;
    connection.execute_batch(SMALL_CACHE)?;
    Ok(connection)
}

pub const SMALL_CACHE: &str = "PRAGMA cache_size = -3072";
pub const LARGE_CACHE: &str = "PRAGMA cache_size = -8192";

#[allow(clippy::disallowed_methods, reason = "the one place where the database is opened")]
pub(crate) fn connect_memory() -> Result<Connection, StoreError> {
    let connection = Connection::open_in_memory()?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.execute_batch("PRAGMA foreign_keys = ON;")?;
    Ok(connection)
}

/// A panic elsewhere leaves SQLite's own state whole: an open transaction was rolled back.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
