//! What can go wrong with the log, in words that say what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;
use weft_core::SessionId;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the disk is full, so nothing more can be saved. Free some space, then `weft resume`; what was saved is safe"
    )]
    Full,
    #[error(
        "Weft may not write to its database. Make its folder writable (`weft doctor` shows where it is), or set WEFT_HOME to another folder"
    )]
    ReadOnly,
    #[error("the database was busy with another Weft for too long. Try again; if it stays so, close the other Weft")]
    Locked,
    #[error(
        "the database is damaged ({detail}). Close every Weft and start it again: it keeps the damaged file aside and restores the last backup"
    )]
    Corrupt { detail: String },
    #[error("the session has moved on (expected event {expected}, found {found}). Load it again and retry")]
    Stale { expected: u64, found: u64 },
    #[error("the session is being worked on by another Weft (process {pid}). Use that one, or wait until it is done")]
    Owned { pid: u32 },
    #[error("the session is being worked on (process {pid}). Stop it first, then try again")]
    Busy { pid: u32 },
    #[error("there is no session `{id}`. `weft sessions list` shows them")]
    NoSuchSession { id: String },
    #[error("there is no open question `{id}`; it may have been answered already. `weft asks` shows the open ones")]
    NoSuchAsk { id: String },
    #[error("`{prefix}` fits more than one: {}. Give more of the id", candidates.join(", "))]
    Ambiguous { prefix: String, candidates: Vec<String> },
    #[error("`{prefix}` is too short: give at least 3 letters of the id")]
    TooShort { prefix: String },
    #[error("there is already a session `{id}`. Delete it first, or choose another id")]
    Exists { id: SessionId },
    #[error("the session has {last} events, so it cannot be forked at event {seq}")]
    NoSuchEvent { seq: u64, last: u64 },
    #[error(
        "this database was written by a newer Weft (format {found}; this one knows up to {known}). Update Weft, or set WEFT_HOME to another folder; nothing was changed"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "an event cannot be read or written: {detail}. Export the session with a newer Weft, or fork it before this event"
    )]
    BadEvent { detail: String },
    #[error("this is not a session's log: {detail}")]
    BadLog { detail: String },
    #[error("{action} failed: {detail}. Check the folder's permissions and the disk (`weft doctor` helps)")]
    Io { action: String, detail: String },
    #[error("the database refused: {detail}. This is a defect in Weft; please report it")]
    Unexpected { detail: String },
}

impl StoreError {
    pub(crate) fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full,
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io { action: format!("{action} {}", path.display()), detail: error.to_string() },
        }
    }

    /// SQLite reports some writes that find no space, such as those to its shared index, as failures
    /// of the disk. Where there is no room for a few pages, that is the reason.
    pub(crate) fn with_space(self, free: impl FnOnce() -> Option<u64>) -> Self {
        const A_FEW_PAGES: u64 = 64 * 1024;
        match self {
            Self::Io { .. } if free().is_some_and(|bytes| bytes < A_FEW_PAGES) => Self::Full,
            other => other,
        }
    }

    pub(crate) fn no_session(id: SessionId) -> Self {
        Self::NoSuchSession { id: id.to_string() }
    }

    /// Whether the same call can succeed later without anything else being changed.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Locked | Self::Owned { .. } | Self::Busy { .. } => true,
            Self::Full
            | Self::ReadOnly
            | Self::Corrupt { .. }
            | Self::Stale { .. }
            | Self::NoSuchSession { .. }
            | Self::NoSuchAsk { .. }
            | Self::Ambiguous { .. }
            | Self::TooShort { .. }
            | Self::Exists { .. }
            | Self::NoSuchEvent { .. }
            | Self::Newer { .. }
            | Self::BadEvent { .. }
            | Self::BadLog { .. }
            | Self::Io { .. }
            | Self::Unexpected { .. } => false,
        }
    }

    /// Found by a check before anything was written: the rest of a transaction is untouched by it.
    pub(crate) const fn is_refusal(&self) -> bool {
        match self {
            Self::Stale { .. }
            | Self::Owned { .. }
            | Self::Busy { .. }
            | Self::NoSuchSession { .. }
            | Self::Exists { .. }
            | Self::NoSuchEvent { .. }
            | Self::BadLog { .. } => true,
            Self::Full
            | Self::ReadOnly
            | Self::Locked
            | Self::Corrupt { .. }
            | Self::NoSuchAsk { .. }
            | Self::Ambiguous { .. }
            | Self::TooShort { .. }
            | Self::Newer { .. }
            | Self::BadEvent { .. }
            | Self::Io { .. }
            | Self::Unexpected { .. } => false,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { detail },
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::FileLockingProtocolFailed) => {
                Self::Io { action: "using the database".to_owned(), detail }
            }
            _ => Self::Unexpected { detail },
        }
    }
}

impl From<weft_core::stored::BadEvent> for StoreError {
    fn from(error: weft_core::stored::BadEvent) -> Self {
        Self::BadEvent { detail: error.to_string() }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
