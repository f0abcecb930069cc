//! What sessions were told of, with the hash of what it held then: an answer that one of them keeps rests on
//! that, and not on what a file has become while a model thought.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_core::SessionId;

/// A session that nobody ends, such as a client's of the MCP server, must not fill the memory.
const MOST_SESSIONS: usize = 64;
const MOST_PATHS: usize = 2_000;

const MOST_QUESTIONS: usize = 50;
const MOST_PLACES: usize = 50;

#[derive(Default)]
struct OfSession {
    /// Paths with the hashes of what they held.
    hashes: HashMap<String, Vec<u8>>,
    /// What questions are about, and the places that they were answered from.
    answered: HashMap<String, Vec<String>>,
}

#[derive(Default)]
pub(super) struct Told {
    sessions: Mutex<HashMap<SessionId, OfSession>>,
}

impl Told {
    /// Notes what was told of last.
    pub fn note(&self, session: SessionId, read: Vec<(String, Vec<u8>)>) {
        let mut sessions = self.lock();
        let known = &mut of_session(&mut sessions, session).hashes;
        if known.len() + read.len() > MOST_PATHS {
            known.clear();
        }
        known.extend(read.into_iter().take(MOST_PATHS));
    }

    pub fn of(&self, session: SessionId, path: &str) -> Option<Vec<u8>> {
        self.lock().get(&session)?.hashes.get(path).cloned()
    }

    /// Notes what a question was answered from.
    pub fn answered(&self, session: SessionId, about: &str, places: impl Iterator<Item = String>) {
        let mut sessions = self.lock();
        let known = &mut of_session(&mut sessions, session).answered;
        if known.len() >= MOST_QUESTIONS {
            known.clear();
        }
        known.insert(about.to_owned(), places.take(MOST_PLACES).collect());
    }

    pub fn answered_from(&self, session: SessionId, about: &str) -> Vec<String> {
        self.lock().get(&session).and_then(|known| known.answered.get(about)).cloned().unwrap_or_default()
    }

    pub fn forget(&self, session: SessionId) {
        self.lock().remove(&session);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, OfSession>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_session(sessions: &mut HashMap<SessionId, OfSession>, session: SessionId) -> &mut OfSession {
    if sessions.len() >= MOST_SESSIONS && !sessions.contains_key(&session) {
        sessions.clear();
    }
    sessions.entry(session).or_default()
}
