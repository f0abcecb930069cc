//! Following a session as it grows, whoever writes it.
//!
//! Appends of this store wake its followers at once. Other processes are noticed by asking SQLite,
//! ten times a second and once for all followers, whether the database has changed.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep};
use weft_core::{Recorded, SessionId};

use crate::database::{Database, connect, lock};
use crate::error::StoreError;
use crate::store::Store;

const POLL: Duration = Duration::from_millis(100);
/// So many events are handed out at once.
const AT_ONCE: usize = 256;

/// Who follows what.
pub(crate) struct Watchers {
    sessions: Mutex<HashMap<SessionId, watch::Sender<u64>>>,
    /// Which sessions look different in a list now.
    touched: broadcast::Sender<SessionId>,
    outside: Mutex<Option<Lookout>>,
}

/// So many changes may pile up for who looks at all sessions.
const TOUCHED_BUFFER: usize = 4_096;

impl Default for Watchers {
    fn default() -> Self {
        Self { sessions: Mutex::default(), touched: broadcast::Sender::new(TOUCHED_BUFFER), outside: Mutex::default() }
    }
}

/// Watches for changes to the database file.
struct Lookout {
    connection: Connection,
    version: i64,
    /// How many changes have been seen.
    changes: u64,
    looked_at: Instant,
}

impl Watchers {
    pub(crate) fn touch(&self, sessions: impl Iterator<Item = SessionId>) {
        if self.touched.receiver_count() > 0 {
            for session in sessions {
                // Whoever listened may have left meanwhile.
                let _ = self.touched.send(session);
            }
        }
    }

    pub(crate) fn touched(&self) -> broadcast::Receiver<SessionId> {
        self.touched.subscribe()
    }

    pub(crate) fn tell(&self, news: impl Iterator<Item = (SessionId, u64)>) {
        let sessions = lock(&self.sessions);
        if sessions.is_empty() {
            return;
        }
        for (session, seq) in news {
            if let Some(follower) = sessions.get(&session) {
                follower.send_replace(seq);
            }
        }
    }

    fn follow(&self, session: SessionId) -> watch::Receiver<u64> {
        lock(&self.sessions).entry(session).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    fn leave(&self, session: SessionId) {
        let mut sessions = lock(&self.sessions);
        if sessions.get(&session).is_some_and(|follower| follower.receiver_count() <= 1) {
            sessions.remove(&session);
        }
    }

    /// A number that grows whenever the database file was changed.
    pub(crate) fn changes(&self, database: &Database) -> Result<u64, StoreError> {
        let Some(path) = database.path() else { return Ok(0) };
        let mut outside = lock(&self.outside);
        let lookout = match &mut *outside {
            Some(lookout) if lookout.looked_at.elapsed() < POLL => return Ok(lookout.changes),
            Some(lookout) => lookout,
            none @ None => {
                let connection = connect(path)?;
                none.insert(Lookout { connection, version: -1, changes: 0, looked_at: Instant::now() })
            }
        };
        lookout.looked_at = Instant::now();
        let version = lookout.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != lookout.version {
            lookout.version = version;
            lookout.changes += 1;
        }
        Ok(lookout.changes)
    }
}

/// The events of one session from some point on, as they come.
pub struct Tail {
    store: Store,
    session: SessionId,
    after_seq: u64,
    news: watch::Receiver<u64>,
}

impl Tail {
    pub(crate) fn new(store: Store, session: SessionId, after_seq: u64) -> Self {
        let news = store.watchers().follow(session);
        Self { store, session, after_seq, news }
    }

    /// Waits until there is something new. Fails if the session does not exist, or not any more.
    pub async fn next(&mut self) -> Result<Vec<Recorded>, StoreError> {
        loop {
            // Noted before looking, so that what comes in between is not missed.
            self.news.borrow_and_update();
            let changes = self.store.watchers().changes(self.store.database())?;
            let events = self.store.events(self.session, self.after_seq, AT_ONCE)?;
            if let Some(last) = events.last() {
                self.after_seq = last.seq;
                return Ok(events);
            }
            self.wait(changes).await?;
        }
    }

    async fn wait(&mut self, changes: u64) -> Result<(), StoreError> {
        let in_memory = self.store.database().path().is_none();
        loop {
            tokio::select! {
                biased;
                _ = self.news.changed() => return Ok(()),
                () = sleep(POLL), if !in_memory => {
                    if self.store.watchers().changes(self.store.database())? != changes {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.store.watchers().leave(self.session);
    }
}
