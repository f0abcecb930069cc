//! What can go wrong with the knowledge of a workspace, in words that say what to do about it.
//!
//! Trouble with one file is no error: it is noted with the file and the rest goes on.

use std::path::Path;

use weft_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    #[error(
        "the knowledge of this folder was written by a newer Weft (format {found}; this one knows up to {known}). Update Weft; nothing was changed"
    )]
    Newer { found: u32, known: u32 },
    #[error("the knowledge of this folder is being written by another Weft. Wait until it is done, or stop it")]
    Busy,
    #[error("nothing is known of this folder yet. Run `weft index` first")]
    Empty,
    #[error("there is no folder {0} to index. Give one that exists")]
    NoFolder(String),
    #[error("no symbol here is called `{name}`.{}", near(.similar))]
    NoSymbol { name: String, similar: Vec<String> },
    #[error(
        "the work ended unexpectedly. What it had done stays done: start it again, and tell of it if that happens twice"
    )]
    GaveUp,
    #[error("{action} failed: {detail}. Check the folder's permissions and the disk (`weft doctor` helps)")]
    Io { action: String, detail: String },
    #[error("the full text of this folder's knowledge cannot be used: {0}. Run `weft knowledge rebuild`")]
    Text(String),
    #[error("the vectors of this folder's knowledge cannot be used: {0}. Run `weft knowledge rebuild`")]
    Vector(String),
    #[error("{0}")]
    Model(String),
    #[error("nothing was put down. {0}")]
    NoFeedback(&'static str),
    #[error(transparent)]
    NoMoment(#[from] weft_store::NoMoment),
    #[error("no language is called `{0}`")]
    NoLanguage(String),
    #[error(
        "the disk is full, so nothing more can be taken in. Free some space and start it again; what was taken in is safe"
    )]
    Full,
    #[error(transparent)]
    Store(StoreError),
}

pub(crate) fn near(similar: &[String]) -> String {
    if similar.is_empty() {
        " Run `weft index` if it is new".to_owned()
    } else {
        format!(" Did you mean {}?", similar.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "))
    }
}

impl KnowledgeError {
    pub(crate) fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io { action: format!("{action} {}", path.display()), detail: error.to_string() }
    }
}

impl From<StoreError> for KnowledgeError {
    fn from(error: StoreError) -> Self {
        // The store speaks of sessions.
        if matches!(error, StoreError::Full) { Self::Full } else { Self::Store(error) }
    }
}

impl From<rusqlite::Error> for KnowledgeError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}
