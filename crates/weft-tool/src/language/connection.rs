//! The conversation with one server: questions and their answers, what it says unasked, and what it
//! asks of us. It is told things and never obeyed: nothing that it says opens, changes or runs
//! anything. Whatever it keeps us waiting for has an end.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::{self, Diagnostic};
use super::place;
use super::wire::{self, Message, Refusal};

/// Messages on their way to a server.
const MOST_WAITING: usize = 64;
/// Files that a server may tell of problems in.
const MOST_FILES: usize = 2_000;
const MOST_PROGRESS: usize = 200;
/// More messages than this in [`FLOOD_TIME`] are no use to anybody.
const FLOOD: usize = 20_000;
const FLOOD_TIME: Duration = Duration::from_secs(10);
/// Answers that say: the files have just changed, ask again.
const TRY_AGAIN: [i64; 2] = [-32801, -32802];
const PAUSE: Duration = Duration::from_millis(100);

/// What is wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("it has ended: {0}")]
    Ended(String),
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    #[error("it does not read what it is sent")]
    Deaf,
    #[error("it says: {0}")]
    Refused(String),
}

/// What it has said of the problems in a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Published {
    pub version: Option<i64>,
    /// Counts up with each time that it tells of problems.
    pub sequence: u64,
    pub diagnostics: Vec<Diagnostic>,
}

/// What is known of a server from what it said.
#[derive(Default)]
pub(super) struct State {
    pending: HashMap<u64, oneshot::Sender<Result<Value, Refusal>>>,
    pub published: HashMap<PathBuf, Published>,
    pub sequence: u64,
    /// What it is at work on.
    pub progress: HashSet<String>,
    /// It knows all it can, by its own words.
    pub quiescent: Option<bool>,
    pub ended: Option<String>,
}

struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<()>,
    /// What it is told when it asks for its settings: the section, and what is in it.
    settings: (String, Value),
    folder: String,
}

pub(super) struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
    next: AtomicU64,
    tasks: [JoinHandle<()>; 2],
}

impl Drop for Connection {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Connection {
    pub fn new(
        from: impl AsyncRead + Unpin + Send + 'static,
        to: impl AsyncWrite + Unpin + Send + 'static,
        settings: (String, Value),
        folder: String,
    ) -> Self {
        let (outgoing, waiting) = mpsc::channel(MOST_WAITING);
        let shared = Arc::new(Shared { state: Mutex::default(), changed: watch::Sender::new(()), settings, folder });
        let listening = tokio::spawn(listen(from, Arc::clone(&shared), outgoing.clone()));
        let talking = tokio::spawn(talk(to, waiting));
        Self { outgoing, shared, next: AtomicU64::new(1), tasks: [listening, talking] }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    pub async fn notify(&self, method: &str, params: &Value) -> Result<(), Trouble> {
        self.send(wire::notification(method, params)).await
    }

    async fn send(&self, message: Vec<u8>) -> Result<(), Trouble> {
        match self.outgoing.send_timeout(message, Duration::from_secs(5)).await {
            Ok(()) => Ok(()),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(Trouble::Deaf),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(self.end()),
        }
    }

    fn end(&self) -> Trouble {
        Trouble::Ended(self.state().ended.clone().unwrap_or_else(|| "it closed its input".to_owned()))
    }

    /// Asks, and asks again while the server says that the files have just changed.
    pub async fn ask(&self, method: &str, params: &Value, patience: Duration) -> Result<Value, Trouble> {
        let deadline = Instant::now() + patience;
        loop {
            let refusal = match self.ask_once(method, params, deadline, patience).await? {
                Ok(result) => return Ok(result),
                Err(refusal) => refusal,
            };
            if !TRY_AGAIN.contains(&refusal.code) || Instant::now() + PAUSE > deadline {
                return Err(Trouble::Refused(crate::text::head(&refusal.message, 500).to_owned()));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn ask_once(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
        patience: Duration,
    ) -> Result<Result<Value, Refusal>, Trouble> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (tell, told) = oneshot::channel();
        {
            let mut state = self.state();
            if let Some(why) = &state.ended {
                return Err(Trouble::Ended(why.clone()));
            }
            state.pending.insert(id, tell);
        }
        let forget = Forget { connection: self, id };
        self.send(wire::request(id, method, params)).await?;
        let answer = timeout_at(deadline, told).await;
        match answer {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) => Err(self.end()),
            Err(_) => {
                drop(forget);
                Err(Trouble::Silent(patience))
            }
        }
    }

    /// Waits until something is known, at most so long. Whether it is.
    pub async fn until(&self, patience: Duration, known: impl Fn(&State) -> bool + Send) -> Result<bool, Trouble> {
        let mut changed = self.shared.changed.subscribe();
        let deadline = Instant::now() + patience;
        loop {
            {
                let state = self.state();
                if let Some(why) = &state.ended {
                    return Err(Trouble::Ended(why.clone()));
                }
                if known(&state) {
                    return Ok(true);
                }
            }
            if timeout_at(deadline, changed.changed()).await.is_err() {
                return Ok(false);
            }
        }
    }

    /// Waits until nothing more is said of a file's problems for a while.
    pub async fn until_quiet(&self, quiet: Duration, patience: Duration) -> Result<(), Trouble> {
        let deadline = Instant::now() + patience;
        loop {
            let before = self.state().sequence;
            if Instant::now() > deadline || !self.until(quiet, |state| state.sequence > before).await? {
                return Ok(());
            }
        }
    }
}

/// A question that nobody waits for any more is taken back.
struct Forget<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        if self.connection.state().pending.remove(&self.id).is_some() {
            let cancel = wire::notification("$/cancelRequest", &json!({"id": self.id}));
            let _ = self.connection.outgoing.try_send(cancel);
        }
    }
}

async fn talk(mut to: impl AsyncWrite + Unpin, mut waiting: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = waiting.recv().await {
        if to.write_all(&message).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

async fn listen(from: impl AsyncRead + Unpin + Send, shared: Arc<Shared>, outgoing: mpsc::Sender<Vec<u8>>) {
    let mut from = BufReader::with_capacity(64 * 1024, from);
    let (mut since, mut count) = (Instant::now(), 0);
    let why = loop {
        match wire::read(&mut from).await {
            Ok(Some(message)) => {
                if let Some(answer) = shared.hear(message) {
                    // One that asks without listening gets no answers.
                    let _ = timeout(Duration::from_secs(5), outgoing.send(answer)).await;
                }
            }
            Ok(None) => break "its output is closed".to_owned(),
            Err(error) => break error.to_string(),
        }
        count += 1;
        if since.elapsed() > FLOOD_TIME {
            (since, count) = (Instant::now(), 0);
        }
        if count > FLOOD {
            break "it says far too much".to_owned();
        }
    };
    let mut state = shared.lock();
    state.ended = Some(why);
    state.pending.clear();
    drop(state);
    shared.changed.send_replace(());
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message in; perhaps there is something to answer.
    fn hear(&self, message: Message) -> Option<Vec<u8>> {
        match message {
            Message::Response { id, result } => {
                let asked = self.lock().pending.remove(&id);
                // Nobody asked, or nobody waits any more.
                let _ = asked?.send(result);
                None
            }
            Message::Request { id, method, params } => Some(self.asked(&id, &method, &params)),
            Message::Notification { method, params } => {
                self.told(&method, &params);
                None
            }
            Message::Other => None,
        }
    }

    /// What a server asks of us. It is let nothing do.
    fn asked(&self, id: &Value, method: &str, params: &Value) -> Vec<u8> {
        let result = match method {
            "workspace/configuration" => {
                let items = params.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let (section, options) = &self.settings;
                let of = |item: &Value| {
                    let wanted = item.get("section").and_then(Value::as_str).unwrap_or_default();
                    if !section.is_empty() && wanted == section { options.clone() } else { Value::Null }
                };
                Value::Array(items.iter().take(100).map(of).collect())
            }
            "workspace/workspaceFolders" => json!([{"uri": self.folder, "name": "workspace"}]),
            "workspace/applyEdit" => json!({"applied": false, "failureReason": "edits are not taken from servers"}),
            "window/showDocument" => json!({"success": false}),
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest" => Value::Null,
            other => return wire::refusal(id, crate::text::head(other, 100)),
        };
        wire::answer(id, &result)
    }

    fn told(&self, method: &str, params: &Value) {
        let mut state = self.lock();
        match method {
            "textDocument/publishDiagnostics" => {
                let Some(path) = params.get("uri").and_then(Value::as_str).and_then(place::path) else { return };
                if state.published.len() >= MOST_FILES && !state.published.contains_key(&path) {
                    return;
                }
                state.sequence += 1;
                let published = Published {
                    version: params.get("version").and_then(Value::as_i64),
                    sequence: state.sequence,
                    diagnostics: answer::diagnostics(params.get("diagnostics")),
                };
                state.published.insert(path, published);
            }
            "$/progress" => {
                let token = params.get("token").map(Value::to_string).unwrap_or_default();
                match params.pointer("/value/kind").and_then(Value::as_str) {
                    Some("begin") if state.progress.len() < MOST_PROGRESS && token.len() < 300 => {
                        state.progress.insert(token);
                    }
                    Some("end") => {
                        state.progress.remove(&token);
                    }
                    Some(_) | None => return,
                }
            }
            "experimental/serverStatus" => {
                state.quiescent = params.get("quiescent").and_then(Value::as_bool);
            }
            _ => return,
        }
        drop(state);
        self.changed.send_replace(());
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
