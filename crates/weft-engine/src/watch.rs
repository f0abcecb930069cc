//! Looking on while a session works.

use std::sync::Arc;

use tokio::sync::mpsc;
use weft_core::{CallId, Recorded};

/// Something to show. Only `Event` is a fact; the rest is what a screen wants in between.
#[derive(Debug, Clone)]
pub enum Live {
    /// Durable.
    Event(Arc<Recorded>),
    Text(Arc<str>),
    Thinking(Arc<str>),
    /// What has been streamed so far, sent once to a watcher that joins in the middle.
    Partial(Arc<str>),
    /// The model is writing a tool call.
    ToolBegun {
        call: CallId,
        name: Arc<str>,
    },
    ToolOutput {
        call: CallId,
        text: Arc<str>,
    },
    /// Worth telling a person, such as a wait that is longer than usual.
    Notice(Arc<str>),
    /// The session cannot go on in this process; the log is as it was.
    Broken(Arc<str>),
    /// This watcher missed something, being too slow or because another process wrote: read the log
    /// again.
    Lagged,
}

/// How far a watcher may fall behind.
pub(crate) const WATCH_BUFFER: usize = 4_096;

/// A place at the window of one session.
#[derive(Debug)]
pub struct Watch {
    pub(crate) inbox: mpsc::Receiver<Live>,
    pub(crate) closed: bool,
}

impl Watch {
    /// The next thing to show; `None` when the engine is gone.
    pub async fn next(&mut self) -> Option<Live> {
        match self.inbox.recv().await {
            Some(live) => Some(live),
            None if self.closed => None,
            None => {
                self.closed = true;
                Some(Live::Lagged)
            }
        }
    }
}
