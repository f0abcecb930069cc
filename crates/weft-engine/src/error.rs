//! What can go wrong in the engine, and what to do about it.

use weft_core::SessionId;
use weft_core::turn::Rejected;
use weft_store::StoreError;

use crate::config::ConfigError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("session {session} is at work in another Weft process (pid {pid}); wait for it, or stop it there")]
    InUse { session: SessionId, pid: u32 },
    #[error("a hook refused this: {0}")]
    Hook(String),
    #[error(
        "not sent: it holds {words} (`{kind}`), near `{near}`. Take it out; tools can use it from the environment without anybody seeing it"
    )]
    Secret { count: usize, kind: &'static str, words: String, near: String },
    #[error("{0}")]
    Model(String),
    #[error("{0}")]
    Agent(String),
    #[error("there is no command `/{name}`")]
    NoCommand { name: String, known: Vec<String> },
    #[error("`/{name}` cannot be sent: {reason}")]
    Command { name: String, reason: String },
    #[error(transparent)]
    Flow(#[from] crate::flow::FlowError),
    #[error("{0}")]
    Undo(String),
    #[error("the session stopped: {0}")]
    Stopped(String),
    #[error("cannot use `{path}`: {source}. Check that it exists and that you may write there, or set WEFT_HOME")]
    Home { path: String, source: std::io::Error },
}
