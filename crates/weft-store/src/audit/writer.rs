//! The thread that writes the log: takes what has gathered, chains it, appends it under the lock,
//! and syncs soon after.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use weft_core::Timestamp;

use super::entry::{Category, Entry, Outcome, Severity, read_timestamp, with_signature};
use super::files::{SIGNATURE, Tail, open_for_append};
use super::key::{Key, Purpose, Statement};
use super::opening::{self, Finding, Opened};
use super::{AuditError, Place, SIGN_EVERY};
use crate::database::lock;

/// What waits beyond this is dropped and counted: a disk that hangs must not fill the memory.
const QUEUE: usize = 16_384;
const BATCH: usize = 1_024;
/// One entry seldom comes alone, and all that come together are written at once.
const GATHER: Duration = Duration::from_millis(4);
const SYNC_EVERY: Duration = Duration::from_secs(1);
const RETRY_EVERY: Duration = Duration::from_secs(1);

enum Message {
    Entry(Box<Entry>),
    Flush(Sender<Result<(), AuditError>>),
}

pub struct Writer {
    place: Arc<Place>,
    lost: Arc<AtomicU64>,
    /// Started with the first entry: a process that records nothing has no thread.
    thread: Mutex<Option<Thread>>,
}

struct Thread {
    queue: SyncSender<Message>,
    handle: JoinHandle<()>,
}

impl Writer {
    pub fn new(place: Arc<Place>) -> Self {
        Self { place, lost: Arc::default(), thread: Mutex::default() }
    }

    pub fn send(&self, entry: Entry) {
        let mut slot = lock(&self.thread);
        let thread = slot.get_or_insert_with(|| self.start());
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            thread.queue.try_send(Message::Entry(Box::new(entry)))
        {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn flush(&self) -> Result<(), AuditError> {
        let (sender, answer) = channel();
        let queue = match &*lock(&self.thread) {
            Some(thread) => thread.queue.clone(),
            None => return Ok(()),
        };
        if queue.send(Message::Flush(sender)).is_err() {
            return Ok(());
        }
        if let Some(thread) = &*lock(&self.thread) {
            thread.handle.thread().unpark();
        }
        answer.recv().unwrap_or(Ok(()))
    }

    fn start(&self) -> Thread {
        let (queue, inbox) = sync_channel(QUEUE);
        let log = Log {
            place: Arc::clone(&self.place),
            lost: Arc::clone(&self.lost),
            inbox,
            waiting: VecDeque::new(),
            chain: None,
            unsynced: None,
        };
        let handle = std::thread::spawn(move || log.run());
        Thread { queue, handle }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(Thread { queue, handle }) = lock(&self.thread).take() {
            drop(queue);
            handle.thread().unpark();
            // It signs, syncs and ends.
            let _ = handle.join();
        }
    }
}

/// The end of the chain as this process last saw it.
struct Chain {
    key: Key,
    tail: Tail,
    path: PathBuf,
    file: File,
    length: u64,
    /// What was found about the log when it was opened, to be recorded before anything else.
    found: Vec<Finding>,
}

struct Log {
    place: Arc<Place>,
    lost: Arc<AtomicU64>,
    inbox: Receiver<Message>,
    waiting: VecDeque<Entry>,
    chain: Option<Chain>,
    /// When the first line that is not synced was written.
    unsynced: Option<Instant>,
}

impl Log {
    fn run(mut self) {
        while let Some(flushes) = self.gather() {
            let mut written = self.write_waiting();
            let due = self.unsynced.is_some_and(|since| since.elapsed() >= SYNC_EVERY);
            if written.is_ok() && (due || !flushes.is_empty()) {
                written = self.sync(false);
            }
            for flush in flushes {
                let _ = flush.send(written.clone());
            }
        }
        // Nobody can record any more. What cannot be written now is lost with the process.
        if self.write_waiting().is_ok() && self.chain.is_some() {
            let _ = self.sync(true);
        }
    }

    /// Waits for something to do. `None` when nobody can record any more.
    fn gather(&mut self) -> Option<Vec<Sender<Result<(), AuditError>>>> {
        let mut flushes = Vec::new();
        let patience = match self.unsynced {
            _ if !self.waiting.is_empty() => Some(RETRY_EVERY),
            Some(since) => Some(SYNC_EVERY.saturating_sub(since.elapsed())),
            None => None,
        };
        let mut next = match patience {
            Some(patience) => match self.inbox.recv_timeout(patience) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => return Some(flushes),
                Err(RecvTimeoutError::Disconnected) => return None,
            },
            None => Some(self.inbox.recv().ok()?),
        };
        if matches!(next, Some(Message::Entry(_))) {
            std::thread::park_timeout(GATHER);
        }
        while let Some(message) = next {
            match message {
                Message::Entry(entry) => self.waiting.push_back(*entry),
                Message::Flush(flush) => flushes.push(flush),
            }
            next = if self.waiting.len() < BATCH { self.inbox.try_recv().ok() } else { None };
        }
        Some(flushes)
    }

    fn write_waiting(&mut self) -> Result<(), AuditError> {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let at = self.waiting.back().map_or(Timestamp(0), |entry| entry.at);
            self.waiting.push_back(told(at, "audit.lost", json!({ "entries": lost })));
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.place.make_folder()?;
        let _turn = self.place.lock()?;
        let mut chain = self.current()?;
        let written = chain.append(&self.place, &self.waiting);
        match written {
            Ok(()) => {
                self.waiting.clear();
                self.unsynced.get_or_insert_with(Instant::now);
                self.chain = Some(chain);
                Ok(())
            }
            // What is on disk is looked at anew before the next try.
            Err(error) => Err(error),
        }
    }

    /// The end of the chain, read anew if somebody else has written.
    fn current(&mut self) -> Result<Chain, AuditError> {
        if let Some(chain) = self.chain.take() {
            let newest = self.place.segments()?.pop();
            let unchanged = chain.file.metadata().is_ok_and(|file| file.len() == chain.length);
            if unchanged && newest.as_ref() == Some(&chain.path) {
                return Ok(chain);
            }
            let opened = opening::look(&self.place, &chain.key, false, Some(&chain.tail))?;
            return self.found(chain.key, opened);
        }
        let (key, is_new) = opening::key(&self.place)?;
        let opened = opening::look(&self.place, &key, is_new, None)?;
        self.found(key, opened)
    }

    fn found(&mut self, key: Key, opened: Opened) -> Result<Chain, AuditError> {
        if opened.torn > 0 {
            let at = self.waiting.front().map_or_else(|| read_timestamp(&opened.tail.timestamp), |entry| entry.at);
            self.waiting.push_front(told(at, "audit.mended", json!({ "torn_bytes": opened.torn })));
        }
        Chain::at(&self.place, key, opened)
    }

    /// Makes what was written last. `closing` also signs it.
    fn sync(&mut self, closing: bool) -> Result<(), AuditError> {
        if self.unsynced.is_none() && !closing {
            return Ok(());
        }
        let _turn = self.place.lock()?;
        let mut chain = self.current()?;
        if !chain.found.is_empty() {
            chain.append(&self.place, &VecDeque::new())?;
        }
        if closing {
            chain.sign()?;
        }
        chain.file.sync_data().map_err(|error| AuditError::io("syncing", &chain.path, &error))?;
        chain.set_head(&self.place)?;
        self.unsynced = None;
        self.chain = Some(chain);
        Ok(())
    }
}

impl Chain {
    fn at(place: &Place, key: Key, opened: Opened) -> Result<Self, AuditError> {
        let Opened { tail, path, findings: found, .. } = opened;
        let path = path.unwrap_or_else(|| place.segment(tail.sequence + 1));
        let file = open_for_append(&path)?;
        let length = file.metadata().map_err(|error| AuditError::io("opening", &path, &error))?.len();
        Ok(Self { key, tail, path, file, length, found })
    }

    fn append(&mut self, place: &Place, entries: &VecDeque<Entry>) -> Result<(), AuditError> {
        let mut tail = self.tail.clone();
        let mut text = String::new();
        let at = entries.front().map_or_else(|| read_timestamp(&tail.timestamp), |entry| entry.at);
        let found: Vec<Entry> = self.found.iter().map(|found| told(at, found.event, found.details.clone())).collect();
        let total = found.len();
        for (number, entry) in found.iter().chain(entries).enumerate() {
            let mut id = [0; 16];
            let _ = getrandom::fill(&mut id);
            let (at, sequence) = (entry.at, tail.sequence + 1);
            let Some((line, hash)) = entry.clone().seal(sequence, &tail.hash, u128::from_ne_bytes(id)) else {
                continue;
            };
            text.push_str(&with_signature(&line, &self.key.vouch(&hash)));
            (tail.sequence, tail.hash) = (sequence, hash);
            tail.timestamp = super::entry::timestamp(at);
            // What was found is signed at once. The head that follows says how far signatures
            // reach, and must not say so of lines before that nobody signs for: after a kill their
            // signature would be missed.
            let ends_found = number + 1 == total;
            if ends_found || tail.sequence - tail.signed_to >= SIGN_EVERY {
                text.push_str(&signature(&tail, &self.key));
                tail.signed_to = tail.sequence;
            }
        }
        self.write(&text)?;
        self.tail = tail;
        if !self.found.is_empty() {
            self.found.clear();
            // From here on the log itself says what was found; a head makes that known.
            self.file.sync_data().map_err(|error| AuditError::io("syncing", &self.path, &error))?;
            self.set_head(place)?;
        }
        if self.length >= place.rotate_bytes {
            self.sign()?;
            self.file.sync_data().map_err(|error| AuditError::io("syncing", &self.path, &error))?;
            self.path = place.segment(self.tail.sequence + 1);
            self.file = open_for_append(&self.path)?;
            self.length = 0;
            crate::backup::sync_folder(&place.folder).map_err(|error| AuditError::Io {
                action: "syncing",
                path: place.folder.display().to_string(),
                detail: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// All of it or nothing.
    fn write(&mut self, text: &str) -> Result<(), AuditError> {
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            let _ = self.file.set_len(self.length);
            return Err(AuditError::io("writing", &self.path, &error));
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// Vouches for what no signature covers.
    fn sign(&mut self) -> Result<(), AuditError> {
        if self.tail.signed_to < self.tail.sequence {
            let line = signature(&self.tail, &self.key);
            self.write(&line)?;
            self.tail.signed_to = self.tail.sequence;
        }
        Ok(())
    }

    fn set_head(&self, place: &Place) -> Result<(), AuditError> {
        let tail = &self.tail;
        let head = Statement::new(Purpose::Head, &tail.timestamp, 1, tail.sequence, &tail.hash);
        let head = Statement { signed_to: Some(tail.signed_to), ..head };
        place.set_statement(&head.sign(&self.key))
    }
}

fn signature(tail: &Tail, key: &Key) -> String {
    let from = tail.signed_to + 1;
    let statement = Statement::new(Purpose::Signature, &tail.timestamp, from, tail.sequence, &tail.hash).sign(key);
    format!("{SIGNATURE}{}\n", serde_json::to_string(&statement).unwrap_or_default())
}

/// Something about the log itself.
fn told(at: Timestamp, event: &'static str, details: serde_json::Value) -> Entry {
    Entry {
        severity: Severity::Critical,
        outcome: Outcome::Error,
        details: Some(details),
        ..Entry::new(at, Category::Session, event, "audit")
    }
}

/// Records that lines were purged, as the caller holds the lock.
pub fn record_purge(place: &Place, key: Key, count: u64, up_to: u64) -> Result<(), AuditError> {
    let opened = opening::look(place, &key, false, None)?;
    let at = read_timestamp(&opened.tail.timestamp);
    let mut chain = Chain::at(place, key, opened)?;
    let entry = Entry {
        severity: Severity::Security,
        details: Some(json!({ "entries": count, "up_to": up_to })),
        ..Entry::new(at, Category::Config, "audit.purged", "purge")
    };
    chain.append(place, &VecDeque::from([entry]))?;
    chain.sign()?;
    chain.file.sync_data().map_err(|error| AuditError::io("syncing", &chain.path, &error))?;
    chain.set_head(place)
}
