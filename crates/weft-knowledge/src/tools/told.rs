//! What sessions were told of, with the hash of what it held then: an answer that one of them keeps rests on
//! that, and not on what a file has become while a model thought.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_core::SessionId;

/// A session that nobody ends, such as a client's of the MCP server, must not fill the memory.
const MOST_SESSIONS: usize = 64;
const MOST_PATHS: usize = 2_000;

type Hashes = HashMap<String, Vec<u8>>;

#[derive(Default)]
pub(super) struct Told {
    sessions: Mutex<HashMap<SessionId, Hashes>>,
}

impl Told {
    /// Notes what was told of last.
    pub fn note(&self, session: SessionId, read: Vec<(String, Vec<u8>)>) {
        let mut sessions = self.lock();
        if sessions.len() >= MOST_SESSIONS && !sessions.contains_key(&session) {
            sessions.clear();
        }
        let known = sessions.entry(session).or_default();
        if known.len() + read.len() > MOST_PATHS {
            known.clear();
        }
        known.extend(read.into_iter().take(MOST_PATHS));
    }

    pub fn of(&self, session: SessionId, path: &str) -> Option<Vec<u8>> {
        self.lock().get(&session)?.get(path).cloned()
    }

    pub fn forget(&self, session: SessionId) {
        self.lock().remove(&session);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Hashes>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
