//! The store: one handle to the log for the whole process.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use weft_core::{Cost, Event, Recorded, SessionId, State, Timestamp};

use crate::append::{Append, Prepared, SessionHead};
use crate::asks::{self, AskRow};
use crate::backup;
use crate::database::{Database, connect_memory, restore_marker};
use crate::error::StoreError;
use crate::ledger::{self, SpentScope, UsageFilter, UsageRow};
use crate::logs::{Fork, Import};
use crate::marks::{self, MarkChange, Marked, MarkedFilter, Renaming, SessionCounts};
use crate::opening::{Notice, Opening};
use crate::ownership::{Census, Identity, Owner};
use crate::reading;
use crate::schema::{MIGRATIONS, known_version, migrate};
use crate::sessions::{self, ListFilter, SessionName, SessionRow};
use crate::tail::{Tail, Watchers};
use crate::words::{self, Hit};
use crate::writer::{Work, Writer};

#[derive(Debug, Clone)]
pub struct Options {
    /// The database file, `weft.db`.
    pub path: PathBuf,
    /// The folder for copies of it.
    pub backups: PathBuf,
    /// The folder in which living owners keep their locks.
    pub locks: PathBuf,
    pub commit: Commit,
}

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// A thread of its own, which commits everything that waits together.
    Thread,
    /// The caller's thread, at once: always the same order, for simulation.
    Inline,
}

/// Called on both sides of every write of a simulated store. It may take its time, fail the write,
/// or never return, as when the process dies there.
pub type Boundary = Arc<dyn Fn(Side) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>> + Send + Sync>;

/// Where a [`Boundary`] lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Nothing is written yet.
    Before,
    /// It is on disk, and nobody knows yet.
    After,
}

/// An open store, and what a person should know about how it was opened.
pub struct Opened {
    pub store: Store,
    pub notice: Option<Notice>,
}

/// The log. Cheap to clone; the database is closed with the last clone.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    // The order of the fields is the order of closing: the writer finishes, then the connections
    // close, then the sessions that are still owned are given up.
    writer: Writer,
    database: Arc<Database>,
    watchers: Arc<Watchers>,
    me: Arc<Identity>,
    backups: Option<PathBuf>,
}

/// A copy of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupCopy {
    pub taken_at: Timestamp,
    pub path: PathBuf,
}

impl Store {
    pub fn open(options: Options) -> Result<Opened, StoreError> {
        let (connection, notice) = Opening {
            path: &options.path,
            backups: &options.backups,
            locks: &options.locks,
            migrations: MIGRATIONS,
            now: wall_clock(),
        }
        .open()?;
        let database = Arc::new(Database::file(options.path, connection));
        let me = Identity::on_disk(options.locks)?;
        Ok(Opened { store: Self::assemble(options.commit, database, me, Some(options.backups)), notice })
    }

    /// A database that ends with its last handle, for tests and simulation.
    pub fn in_memory(commit: Commit) -> Result<Self, StoreError> {
        let mut connection = connect_memory()?;
        migrate(&mut connection, MIGRATIONS, &mut || Ok(()))?;
        let me = Identity::in_memory(Arc::new(Census::default()));
        Ok(Self::assemble(commit, Arc::new(Database::memory(connection)), me, None))
    }

    fn assemble(commit: Commit, database: Arc<Database>, me: Identity, backups: Option<PathBuf>) -> Self {
        let (me, watchers) = (Arc::new(me), Arc::new(Watchers::default()));
        let writer = Writer::new(commit, Arc::clone(&database), Arc::clone(&me), Arc::clone(&watchers));
        Self { shared: Arc::new(Shared { writer, database, watchers, me, backups }) }
    }

    /// The data of an in-memory store as a new process would find it: the earlier owner is dead. A
    /// store on disk is not a simulation, so there this is another handle to the same store.
    pub fn reopened(&self) -> Self {
        self.simulated(true, None)
    }

    /// The same, with something that can happen around every write.
    pub fn reopened_with(&self, boundary: Boundary) -> Self {
        self.simulated(true, Some(boundary))
    }

    /// The data of an in-memory store as a second process sees it while this one lives.
    pub fn beside(&self) -> Self {
        self.simulated(false, None)
    }

    fn simulated(&self, outlives: bool, boundary: Option<Boundary>) -> Self {
        let shared = &*self.shared;
        let Some(me) = shared.me.another(outlives) else { return self.clone() };
        let (me, database, watchers) = (Arc::new(me), Arc::clone(&shared.database), Arc::clone(&shared.watchers));
        let writer = Writer::new(shared.writer.commit(), Arc::clone(&database), Arc::clone(&me), Arc::clone(&watchers))
            .with_boundary(boundary);
        Self { shared: Arc::new(Shared { writer, database, watchers, me, backups: None }) }
    }

    /// Adds events. They are on disk when this returns, and once asked for they are written even if
    /// nobody waits for the answer.
    pub fn append(&self, append: Append) -> impl Future<Output = Result<(), StoreError>> + Send + use<'_> {
        // Made ready here, so that a thousand that wait hold what is to be written and nothing else.
        let prepared = Prepared::new(append).map(Box::new);
        async move { self.shared.writer.submit(Work::Append(prepared?)).await }
    }

    /// Keeps what has been streamed so far under `key`, in place of what was kept before.
    pub async fn save_partial(&self, session: SessionId, key: &str, text: String) -> Result<(), StoreError> {
        self.shared.writer.submit(Work::Partial { session, key: key.to_owned(), text }).await
    }

    /// Copies events 1 to `seq` of a session into a new one.
    pub async fn fork(&self, from: SessionId, seq: u64, new: SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.shared.writer.submit(Work::Fork(Fork { from, seq, new, at })).await
    }

    /// Deletes a session that nobody works on. What it cost stays in the ledger.
    pub async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        self.shared.writer.submit(Work::Delete(session)).await
    }

    /// Brings in a whole log under a new id.
    pub async fn import(&self, session: SessionId, events: Vec<(Timestamp, Event)>) -> Result<(), StoreError> {
        let import = Box::new(Import::new(session, &events)?);
        drop(events);
        self.shared.writer.submit(Work::Import(import)).await
    }

    pub fn load(&self, session: SessionId) -> Result<State, StoreError> {
        self.shared.database.read(|connection| reading::load(connection, session))
    }

    /// What was being streamed when the last event was written, by key.
    pub fn partials(&self, session: SessionId) -> Result<Vec<(String, String)>, StoreError> {
        self.shared.database.read(|connection| reading::partials(connection, session))
    }

    pub fn events(&self, session: SessionId, after_seq: u64, limit: usize) -> Result<Vec<Recorded>, StoreError> {
        self.shared.database.read(|connection| reading::events(connection, session, after_seq, limit))
    }

    /// All that a session did to files, oldest first.
    pub fn file_events(&self, session: SessionId) -> Result<Vec<Recorded>, StoreError> {
        self.shared.database.read(|connection| reading::file_events(connection, session))
    }

    /// The last `limit` events before `before_seq`, in order.
    pub fn events_before(
        &self,
        session: SessionId,
        before_seq: u64,
        limit: usize,
    ) -> Result<Vec<Recorded>, StoreError> {
        self.shared.database.read(|connection| reading::events_before(connection, session, before_seq, limit))
    }

    /// Notes something about a session that is not a fact of it.
    pub async fn mark(&self, session: SessionId, change: MarkChange) -> Result<(), StoreError> {
        self.shared.writer.submit(Work::Mark { session, change: Box::new(change) }).await
    }

    /// Gives every session that has an old word for where it stands the new one: all of them, or none if
    /// that fails. Asked for again, it does nothing.
    pub async fn rename_flags(&self, renaming: Renaming) -> Result<(), StoreError> {
        let touched = self.shared.database.read(|connection| marks::flagged(connection, renaming.words.keys()))?;
        self.shared.writer.submit(Work::RenameFlags(renaming)).await?;
        self.shared.watchers.touch(touched.into_iter());
        Ok(())
    }

    /// Sessions with what people have noted about them, newest first, a page at a time.
    pub fn marked(&self, filter: &MarkedFilter) -> Result<Vec<Marked>, StoreError> {
        self.shared.database.read(|connection| marks::list(connection, &self.shared.me, filter))
    }

    pub fn marked_session(&self, session: SessionId) -> Result<Marked, StoreError> {
        self.shared.database.read(|connection| marks::one(connection, &self.shared.me, session))
    }

    /// The session that another program calls so.
    pub fn known_as(&self, name: &str) -> Result<Option<SessionId>, StoreError> {
        self.shared.database.read(|connection| marks::known_as(connection, name))
    }

    /// All labels that sessions in sight carry, and how many do.
    pub fn labels(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.shared.database.read(marks::labels)
    }

    pub fn counts(&self) -> Result<SessionCounts, StoreError> {
        self.shared.database.read(marks::counts)
    }

    /// Sessions that were marked as deleted before this moment.
    pub fn deleted_before(&self, moment: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        self.shared.database.read(|connection| marks::deleted_before(connection, moment))
    }

    /// Searches what was said in all sessions. What was said since the last time is indexed first.
    pub async fn search(&self, words: &str, limit: usize) -> Result<Vec<Hit>, StoreError> {
        while self.shared.database.read(words::is_behind)? {
            self.shared.writer.submit(Work::Words).await?;
        }
        self.shared.database.read(|connection| words::search(connection, words, limit))
    }

    /// Tells which sessions look different in a list, as this process changes them.
    pub fn touched(&self) -> tokio::sync::broadcast::Receiver<SessionId> {
        self.shared.watchers.touched()
    }

    /// A number that grows when anybody has changed the database. Looks at most ten times a second.
    pub fn changes(&self) -> Result<u64, StoreError> {
        self.shared.watchers.changes(&self.shared.database)
    }

    /// Follows a session from the event after `after_seq`.
    pub fn tail(&self, session: SessionId, after_seq: u64) -> Tail {
        Tail::new(self.clone(), session, after_seq)
    }

    /// The number of a session's last event.
    pub fn last_seq(&self, session: SessionId) -> Result<u64, StoreError> {
        self.shared.database.read(|connection| Ok(SessionHead::expect(connection, session)?.seq))
    }

    pub fn owner(&self, session: SessionId) -> Result<Owner, StoreError> {
        let head = self.shared.database.read(|connection| SessionHead::expect(connection, session))?;
        self.shared.me.judge(head.owner)
    }

    /// The session with this id, or the only one whose id begins so.
    pub fn find(&self, prefix: &str) -> Result<SessionId, StoreError> {
        self.shared.database.read(|connection| reading::find(connection, prefix))
    }

    /// The session that changed last, children apart.
    pub fn latest(&self, workspace: Option<&str>) -> Result<Option<SessionId>, StoreError> {
        self.shared.database.read(|connection| sessions::latest(connection, workspace))
    }

    /// Newest first.
    pub fn list(&self, filter: &ListFilter) -> Result<Vec<SessionRow>, StoreError> {
        self.shared.database.read(|connection| sessions::list(connection, &self.shared.me, filter))
    }

    /// As [`Store::list`], with nothing but what a list of names shows.
    pub fn names(&self, filter: &ListFilter) -> Result<Vec<SessionName>, StoreError> {
        self.shared.database.read(|connection| sessions::names(connection, &self.shared.me, filter))
    }

    /// What a crash left: sessions under way that nobody alive works on.
    pub fn unfinished(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.shared.database.read(|connection| sessions::unfinished(connection, &self.shared.me))
    }

    /// Sessions for which something is due and that nobody alive works on.
    pub fn due(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        self.shared.database.read(|connection| sessions::due(connection, &self.shared.me, now))
    }

    /// When [`Self::due`] will next have something.
    pub fn next_wake(&self) -> Result<Option<Timestamp>, StoreError> {
        self.shared.database.read(|connection| sessions::next_wake(connection, &self.shared.me))
    }

    pub fn open_asks(&self) -> Result<Vec<AskRow>, StoreError> {
        self.shared.database.read(asks::open_asks)
    }

    /// The open ask with this id, or the only one whose id begins so.
    pub fn ask(&self, prefix: &str) -> Result<AskRow, StoreError> {
        self.shared.database.read(|connection| asks::ask(connection, prefix))
    }

    pub fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError> {
        self.shared.database.read(|connection| ledger::usage(connection, filter))
    }

    pub fn spent(&self, scope: SpentScope, since: Timestamp) -> Result<Cost, StoreError> {
        self.shared.database.read(|connection| ledger::spent(connection, &scope, since))
    }

    /// Copies the database while it is in use. Only a copy that passed a check counts.
    pub async fn backup(&self) -> Result<PathBuf, StoreError> {
        let (Some(path), Some(folder)) = (self.shared.database.path(), &self.shared.backups) else {
            return Err(StoreError::Unexpected { detail: "a database in memory has no backups".to_owned() });
        };
        let (path, folder) = (path.to_owned(), folder.clone());
        let copying = tokio::task::spawn_blocking(move || backup::make(&path, &folder, wall_clock()));
        let copied = copying.await.unwrap_or_else(|error| Err(StoreError::Unexpected { detail: error.to_string() }));
        self.shared.database.watch_for_damage(copied)
    }

    /// The backups that there are, the newest first.
    pub fn backups(&self) -> Vec<BackupCopy> {
        let copies = self.shared.backups.as_deref().map(backup::list).unwrap_or_default();
        copies.into_iter().map(|copy| BackupCopy { taken_at: copy.taken_at, path: copy.path }).collect()
    }

    /// Asks the next start that has the database to itself to go back to this backup; what there is now is kept
    /// aside. False where there is no such backup, or it is damaged. Reads all of it.
    pub fn go_back_to(&self, name: &str) -> Result<bool, StoreError> {
        let (Some(path), Some(folder)) = (self.shared.database.path(), &self.shared.backups) else { return Ok(false) };
        let good =
            backup::named(folder, name).is_some_and(|copy| backup::is_good(&copy.path, known_version(MIGRATIONS)));
        if good {
            let marker = restore_marker(path);
            std::fs::write(&marker, name).map_err(|error| StoreError::io("writing", &marker, &error))?;
        }
        Ok(good)
    }

    /// The backup that the next start goes back to, if it was asked to.
    pub fn goes_back_to(&self) -> Option<String> {
        let marker = restore_marker(self.shared.database.path()?);
        std::fs::read_to_string(marker).ok().map(|name| name.trim().to_owned())
    }

    /// Takes back [`Store::go_back_to`].
    pub fn stay(&self) -> Result<(), StoreError> {
        let Some(path) = self.shared.database.path() else { return Ok(()) };
        let marker = restore_marker(path);
        match std::fs::remove_file(&marker) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io("removing", &marker, &error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub fn last_backup(&self) -> Option<Timestamp> {
        let folder = self.shared.backups.as_deref()?;
        backup::list(folder).first().map(|copy| copy.taken_at)
    }

    /// Reads the whole database and says what is wrong with it. If something is, the next start heals it.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let problems = self.shared.database.read(backup::problems)?;
        if let Some(problem) = problems.first() {
            self.shared.database.mark_damaged(problem);
        }
        Ok(problems)
    }

    pub(crate) fn database(&self) -> &Database {
        &self.shared.database
    }

    pub(crate) fn watchers(&self) -> &Watchers {
        &self.shared.watchers
    }
}

/// Only names of files come from this. The time of an event is an input.
#[allow(clippy::disallowed_methods, reason = "files are named by the wall clock, which no state depends on")]
fn wall_clock() -> Timestamp {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
