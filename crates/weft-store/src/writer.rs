//! Group commit: the one writer takes everything that waits, writes it in one transaction, and answers
//! only after the disk has it.
//!
//! While one commit is being synced the next batch gathers, so that a thousand busy sessions share a
//! sync and a lone one pays for exactly one. A job that is refused does not disturb its neighbours.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use weft_core::SessionId;

use crate::append::Prepared;
use crate::database::{Database, lock};
use crate::error::StoreError;
use crate::logs::{self, Fork, Import};
use crate::marks::{self, MarkChange, Renaming};
use crate::ownership::Identity;
use crate::store::{Boundary, Commit, Side};
use crate::tail::Watchers;
use crate::words;

/// Bounds of one transaction: what waits beyond them goes into the next.
const BATCH_JOBS: usize = 1024;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

pub(crate) enum Work {
    Append(Box<Prepared>),
    Partial {
        session: SessionId,
        key: String,
        text: String,
    },
    Fork(Fork),
    Import(Box<Import>),
    Delete(SessionId),
    Mark {
        session: SessionId,
        change: Box<MarkChange>,
    },
    /// Sessions that have the old word get the new one, all at once.
    RenameFlags(Renaming),
    /// Brings the index of words a step further.
    Words,
}

impl Work {
    fn bytes(&self) -> usize {
        match self {
            Self::Append(prepared) => prepared.bytes,
            Self::Partial { text, .. } => text.len(),
            Self::Import(import) => import.bytes(),
            Self::Fork(_) | Self::Delete(_) | Self::Mark { .. } | Self::RenameFlags(_) | Self::Words => 0,
        }
    }

    fn write(&self, connection: &Connection, me: &Identity) -> Result<(), StoreError> {
        match self {
            Self::Append(prepared) => prepared.write(connection, me),
            Self::Partial { session, key, text } => logs::save_partial(connection, me, *session, key, text),
            Self::Fork(fork) => fork.write(connection),
            Self::Import(import) => import.write(connection),
            Self::Delete(session) => logs::delete(connection, me, *session),
            Self::Mark { session, change } => marks::write(connection, *session, change),
            Self::RenameFlags(renamed) => marks::rename_flags(connection, renamed),
            Self::Words => words::index(connection),
        }
    }

    /// The session that has new events now, and its last.
    fn news(&self) -> Option<(SessionId, u64)> {
        match self {
            Self::Append(prepared) => Some((prepared.append.session, prepared.last_seq())),
            Self::Delete(session) => Some((*session, u64::MAX)),
            Self::Partial { .. }
            | Self::Fork(_)
            | Self::Import(_)
            | Self::Mark { .. }
            | Self::RenameFlags(_)
            | Self::Words => None,
        }
    }

    /// The session that looks different in a list now.
    fn touched(&self) -> Option<SessionId> {
        match self {
            Self::Append(prepared) => Some(prepared.append.session),
            Self::Fork(fork) => Some(fork.new),
            Self::Import(import) => Some(import.session()),
            Self::Delete(session) | Self::Mark { session, .. } => Some(*session),
            Self::Partial { .. } | Self::RenameFlags(_) | Self::Words => None,
        }
    }
}

struct Job {
    work: Work,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

pub(crate) struct Writer {
    commit: Commit,
    boundary: Option<Boundary>,
    desk: Arc<Desk>,
    /// Started with the first job: a process that only reads has no writer.
    thread: Mutex<Option<Thread>>,
}

struct Thread {
    queue: Sender<Job>,
    handle: JoinHandle<()>,
}

impl Writer {
    pub(crate) fn new(commit: Commit, database: Arc<Database>, me: Arc<Identity>, watchers: Arc<Watchers>) -> Self {
        Self { commit, boundary: None, desk: Arc::new(Desk { database, me, watchers }), thread: Mutex::new(None) }
    }

    pub(crate) fn with_boundary(mut self, boundary: Option<Boundary>) -> Self {
        self.boundary = boundary;
        self
    }

    async fn cross(&self, side: Side) -> Result<(), StoreError> {
        match &self.boundary {
            Some(boundary) => boundary(side).await,
            None => Ok(()),
        }
    }

    pub(crate) const fn commit(&self) -> Commit {
        self.commit
    }

    pub(crate) async fn submit(&self, work: Work) -> Result<(), StoreError> {
        match self.commit {
            Commit::Inline => {
                self.cross(Side::Before).await?;
                let result =
                    self.desk.carry_out(std::slice::from_ref(&work)).pop().unwrap_or_else(|| Err(writer_gone()));
                self.cross(Side::After).await?;
                result
            }
            Commit::Thread => {
                let (reply, answer) = oneshot::channel();
                self.enqueue(Job { work, reply })?;
                answer.await.unwrap_or_else(|_| Err(writer_gone()))
            }
        }
    }

    fn enqueue(&self, job: Job) -> Result<(), StoreError> {
        let mut thread = lock(&self.thread);
        let running = match &mut *thread {
            Some(running) => running,
            none @ None => none.insert(start(Arc::clone(&self.desk))?),
        };
        running.queue.send(job).map_err(|_| writer_gone())
    }
}

impl Drop for Writer {
    /// Whatever is queued is still written; then the connection closes in order.
    fn drop(&mut self) {
        let Some(Thread { queue, handle }) = lock(&self.thread).take() else { return };
        drop(queue);
        if handle.thread().id() != std::thread::current().id() {
            let _ = handle.join();
        }
    }
}

fn writer_gone() -> StoreError {
    StoreError::Unexpected { detail: "the writer has stopped".to_owned() }
}

fn start(desk: Arc<Desk>) -> Result<Thread, StoreError> {
    let (queue, jobs) = channel();
    let handle = std::thread::Builder::new()
        .name("weft-writer".to_owned())
        .spawn(move || desk.serve(&jobs))
        .map_err(|error| StoreError::Io { action: "starting the writer".to_owned(), detail: error.to_string() })?;
    Ok(Thread { queue, handle })
}

/// Where the writing is done, on whichever thread.
struct Desk {
    database: Arc<Database>,
    me: Arc<Identity>,
    watchers: Arc<Watchers>,
}

impl Desk {
    fn serve(&self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut bytes = first.work.bytes();
            let (mut works, mut replies) = (vec![first.work], vec![first.reply]);
            while works.len() < BATCH_JOBS
                && bytes < BATCH_BYTES
                && let Ok(job) = jobs.try_recv()
            {
                bytes += job.work.bytes();
                works.push(job.work);
                replies.push(job.reply);
            }
            let results = self.carry_out(&works);
            for (reply, result) in replies.into_iter().zip(results) {
                // Nobody waits any more: the events are in the log all the same.
                let _ = reply.send(result);
            }
        }
    }

    /// One result for each work, in order. Those that succeeded are on disk.
    fn carry_out(&self, works: &[Work]) -> Vec<Result<(), StoreError>> {
        let together = self.database.write(|connection| transact(connection, &self.me, works));
        let results = match together {
            Ok(results) => results,
            // Waiting for the lock once was long enough.
            Err(StoreError::Locked) => works.iter().map(|_| Err(StoreError::Locked)).collect(),
            Err(error) => match works {
                [_] => vec![Err(error)],
                // One of them spoils the transaction: alone, only it fails.
                several => return several.iter().flat_map(|work| self.carry_out(std::slice::from_ref(work))).collect(),
            },
        };
        let done = works.iter().zip(&results).filter(|(_, result)| result.is_ok());
        self.watchers.touch(done.clone().filter_map(|(work, _)| work.touched()));
        self.watchers.tell(done.filter_map(|(work, _)| work.news()));
        results
    }
}

fn transact(
    connection: &mut Connection,
    me: &Identity,
    works: &[Work],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut results = Vec::with_capacity(works.len());
    for work in works {
        match work.write(&transaction, me) {
            Err(error) if !error.is_refusal() => return Err(error),
            result => results.push(result),
        }
    }
    transaction.commit()?;
    Ok(results)
}
