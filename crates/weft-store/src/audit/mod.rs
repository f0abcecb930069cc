//! The audit log: what was allowed, refused, run, changed, sent and paid for, in lines that cannot
//! be changed without it being seen.
//!
//! Each line holds the hash of the one before it and of itself, byte for byte, and a signature of it
//! with this installation's Ed25519 key. Every hundred lines, and when a process ends, one more
//! signature vouches for all before it; a signed `head` beside the log says how far it reached, so
//! that a cut end is seen too. When old lines are purged, a signed `anchor` says where the rest
//! begins. A writer that finds another log than was left records that first, and for good (`opening`).
//!
//! All Weft processes of a home write one chain. A process writes what has gathered under a file
//! lock, after it has looked whether another one has written meanwhile: the order of lines is then
//! the order of deeds over all processes, and there is one thing to verify.
//!
//! What is promised: [`Audit::record`] costs the caller a few microseconds and never waits for the
//! disk. A background thread hands lines to the system as fast as it takes them, so a killed process
//! loses at most the last milliseconds, and syncs them within a second, so a power cut loses at most
//! that. What cannot be written (a full disk) is tried again; what had to be dropped is counted, and
//! the count is written as soon as that works.
//!
//! No secret is ever written: what looks like one is hidden first.

mod entry;
mod files;
mod key;
mod opening;
mod purge;
mod query;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use entry::{Category, Entry, Outcome, Recorded, Severity};
pub use query::Filter;
pub use verify::{Problem, ProblemKind, Report};
use writer::Writer;

use crate::plain::NotPlain;

/// Lines between two signatures.
const SIGN_EVERY: u64 = 100;
const ROTATE_BYTES: u64 = 100 * 1024 * 1024;

#[derive(Debug, Clone, thiserror::Error)]
pub enum AuditError {
    #[error(
        "the audit log cannot be used: {action} `{path}` failed: {detail}. Check the disk and the folder's permissions"
    )]
    Io { action: &'static str, path: String, detail: String },
    #[error(
        "the audit log cannot be used: `{path}` is a pipe, a link, a folder or a device, and Weft made none there. Take it away"
    )]
    NotAFile { path: String },
    #[error(
        "the audit log's key `{path}` cannot be used: {detail}. Put the right one back; without it old lines cannot be verified"
    )]
    Key { path: String, detail: String },
    #[error("the audit log is damaged, so nothing was purged. `weft audit verify` says where")]
    Damaged,
}

impl AuditError {
    fn io(action: &'static str, path: &Path, error: &std::io::Error) -> Self {
        let path = path.display().to_string();
        if NotPlain::is_why(error) {
            return Self::NotAFile { path };
        }
        Self::Io { action, path, detail: error.to_string() }
    }
}

/// Where a log lies and how it is kept.
#[derive(Debug, Clone)]
pub struct Place {
    pub folder: PathBuf,
    /// The private key. Made when first needed, for the owner's eyes only.
    pub key: PathBuf,
    /// When a file is full.
    pub rotate_bytes: u64,
}

impl Place {
    pub fn new(folder: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), key: key.into(), rotate_bytes: ROTATE_BYTES }
    }
}

/// A handle on the log. Cheap to clone; the last one dropped signs and closes it.
#[derive(Clone)]
pub struct Audit {
    place: Arc<Place>,
    writer: Option<Arc<Writer>>,
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Audit").field("folder", &self.place.folder).finish_non_exhaustive()
    }
}

impl Audit {
    /// Touches nothing on disk until something is recorded.
    pub fn open(place: Place) -> Self {
        let place = Arc::new(place);
        Self { writer: Some(Arc::new(Writer::new(Arc::clone(&place)))), place }
    }

    /// A log that keeps nothing, for those who simulate.
    pub fn nowhere() -> Self {
        Self { place: Arc::new(Place::new("", "")), writer: None }
    }

    /// Takes note of something. Returns at once.
    pub fn record(&self, entry: Entry) {
        if let Some(writer) = &self.writer {
            writer.send(entry);
        }
    }

    /// Waits until everything recorded so far is on disk.
    pub fn flush(&self) -> Result<(), AuditError> {
        self.writer.as_ref().map_or(Ok(()), |writer| writer.flush())
    }

    pub fn verify(&self) -> Result<Report, AuditError> {
        verify::verify(&self.place)
    }

    /// The latest lines that fit, oldest first.
    pub fn query(&self, filter: &Filter<'_>) -> Result<Vec<Recorded>, AuditError> {
        query::query(&self.place, filter)
    }

    /// Every line that fits, oldest first, as it stands in the log.
    pub fn export(&self, filter: &Filter<'_>, each: impl FnMut(&str)) -> Result<(), AuditError> {
        query::each_line(&self.place, filter, each)
    }

    /// How many lines were written before a moment.
    pub fn count_before(&self, before: weft_core::Timestamp) -> Result<u64, AuditError> {
        purge::count(&self.place, before)
    }

    /// Removes the lines before a moment and says how many. The rest still verifies.
    pub fn purge(&self, before: weft_core::Timestamp) -> Result<u64, AuditError> {
        self.flush()?;
        purge::purge(&self.place, before)
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
