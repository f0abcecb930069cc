//! One running server: its start, the files it was given, and what it is asked. Files are given to
//! it as they are on disk, and only to it; it gets no word in what they become.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;

use super::answer::{self, Diagnostic, Location, Symbol};
use super::connection::{Connection, Trouble};
use super::place::{self, Position};
use super::table::LanguageServer;
use crate::file;
use crate::redact::Redaction;
use crate::sandbox::Fence;
use crate::service::{Service, ServiceSpec};
use crate::text;

/// Files that are open in a server; the one that was asked about longest ago is closed.
const MOST_OPEN: usize = 100;
/// One that leaves so many questions unanswered is given up.
const MOST_UNANSWERED: usize = 2;
/// How much of what it writes to its error output is kept.
const LAST_WORDS: usize = 2 * 1024;

/// How long things may take.
#[derive(Debug, Clone)]
pub struct Patience {
    pub start: Duration,
    /// Until it has read the project.
    pub ready: Duration,
    pub answer: Duration,
    /// Until it has told of a file's problems.
    pub diagnostics: Duration,
    /// Problems are told in pieces.
    pub quiet: Duration,
    /// Without a question for so long, a server is stopped.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            ready: Duration::from_secs(60),
            answer: Duration::from_secs(30),
            diagnostics: Duration::from_secs(20),
            quiet: Duration::from_millis(500),
            idle: Duration::from_secs(600),
        }
    }
}

/// An answer, and whether the server was still reading the project when it gave it.
pub(crate) struct Answer<T> {
    pub found: T,
    pub is_early: bool,
}

pub(crate) struct Server {
    about: Arc<LanguageServer>,
    patience: Patience,
    connection: Connection,
    capabilities: Value,
    documents: tokio::sync::Mutex<HashMap<PathBuf, Document>>,
    last_words: Arc<Mutex<String>>,
    /// How many questions in a row it left without an answer.
    unanswered: AtomicUsize,
    /// Ends with this.
    service: Mutex<Service>,
}

/// A file as it was given to the server.
struct Document {
    version: i64,
    content: u64,
    /// Of the server's words about problems, how many there were when it was last given.
    sequence: u64,
    asked: Instant,
}

pub(super) struct Start<'a> {
    pub about: &'a Arc<LanguageServer>,
    pub program: PathBuf,
    pub root: PathBuf,
    pub redaction: &'a Redaction,
    pub fence: Option<Box<Fence>>,
    pub patience: Patience,
}

impl Server {
    pub(super) async fn start(start: Start<'_>) -> Result<Self, String> {
        let Start { about, program, root, redaction, fence, patience } = start;
        let spec = ServiceSpec {
            program: program.into(),
            args: about.args.iter().map(Into::into).collect(),
            cwd: root.clone(),
            env: Vec::new(),
            inherits: None,
        };
        let (service, pipes) = Service::start(&spec, redaction, fence).map_err(|error| error.to_string())?;
        let last_words = Arc::default();
        tokio::spawn(keep_last(pipes.stderr, Arc::clone(&last_words)));
        let folder = place::address(&root);
        let settings = (about.section.clone(), about.options.clone());
        let connection = Connection::new(pipes.stdout, pipes.stdin, settings, folder.clone());
        let mut server = Self {
            about: Arc::clone(about),
            patience,
            connection,
            capabilities: Value::Null,
            documents: tokio::sync::Mutex::default(),
            last_words,
            unanswered: AtomicUsize::new(0),
            service: Mutex::new(service),
        };
        let greeted = server.greet(&folder).await;
        greeted.map_err(|trouble| server.explain(&trouble))?;
        Ok(server)
    }

    async fn greet(&mut self, folder: &str) -> Result<(), Trouble> {
        let options = if self.about.options.is_null() { json!({}) } else { self.about.options.clone() };
        let params = json!({
            // In a sandbox it would not find us by our number, and take us for dead.
            "processId": null,
            "clientInfo": {"name": "weft"},
            "rootUri": folder,
            "workspaceFolders": [{"uri": folder, "name": "workspace"}],
            "initializationOptions": options,
            "capabilities": {
                "general": {"positionEncodings": ["utf-16"]},
                "window": {"workDoneProgress": true},
                "workspace": {"configuration": true, "workspaceFolders": true, "symbol": {}},
                "textDocument": {
                    "synchronization": {"didSave": true},
                    "publishDiagnostics": {"versionSupport": true},
                    "diagnostic": {},
                    "definition": {"linkSupport": true},
                    "references": {},
                    "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                    "hover": {"contentFormat": ["plaintext", "markdown"]},
                },
                "experimental": {"serverStatusNotification": self.about.tells_when_ready},
            },
        });
        let mut answer = self.connection.ask("initialize", &params, self.patience.start).await?;
        self.capabilities = answer.get_mut("capabilities").map(Value::take).unwrap_or_default();
        self.connection.notify("initialized", &json!({})).await?;
        let section = &self.about.section;
        let settings = if section.is_empty() { json!({}) } else { json!({section: self.about.options}) };
        self.connection.notify("workspace/didChangeConfiguration", &json!({"settings": settings})).await
    }

    /// Whether it can still be asked.
    pub fn is_alive(&self) -> bool {
        self.connection.state().ended.is_none() && self.unanswered.load(Ordering::Relaxed) < MOST_UNANSWERED
    }

    /// What went wrong, for the model.
    pub fn explain(&self, trouble: &Trouble) -> String {
        let ended = self.service.lock().unwrap_or_else(PoisonError::into_inner).ended();
        let mut text = match ended {
            Some(how) => format!("{trouble} ({how})"),
            None => trouble.to_string(),
        };
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Trouble::Ended(_), Some(line)) = (trouble, words.lines().find(|line| !line.trim().is_empty())) {
            text.push_str(&format!(". Its last words: {}", text::one_line(line)));
        }
        text
    }

    pub async fn definition(&self, file: &Path, at: Position) -> Result<Answer<Vec<Location>>, Trouble> {
        let answer = self.ask_at("textDocument/definition", file, at, json!({})).await?;
        Ok(answer.map(|value| answer::locations(&value)))
    }

    pub async fn references(&self, file: &Path, at: Position) -> Result<Answer<Vec<Location>>, Trouble> {
        let context = json!({"context": {"includeDeclaration": true}});
        let answer = self.ask_at("textDocument/references", file, at, context).await?;
        Ok(answer.map(|value| answer::locations(&value)))
    }

    pub async fn hover(&self, file: &Path, at: Position) -> Result<Answer<String>, Trouble> {
        let answer = self.ask_at("textDocument/hover", file, at, json!({})).await?;
        Ok(answer.map(|value| answer::hover(&value)))
    }

    /// The symbols of a file, or those of the project that a query fits.
    pub async fn symbols(&self, file: &Path, query: Option<&str>) -> Result<Answer<Vec<Symbol>>, Trouble> {
        let (method, params) = match query {
            Some(query) => ("workspace/symbol", json!({"query": query})),
            None => ("textDocument/documentSymbol", json!({"textDocument": {"uri": place::address(file)}})),
        };
        let answer = self.ask(method, file, &params).await?;
        Ok(answer.map(|value| answer::symbols(&value)))
    }

    async fn ask_at(
        &self,
        method: &str,
        file: &Path,
        at: Position,
        mut params: Value,
    ) -> Result<Answer<Value>, Trouble> {
        if let Value::Object(params) = &mut params {
            params.insert("textDocument".to_owned(), json!({"uri": place::address(file)}));
            params.insert("position".to_owned(), json!({"line": at.line, "character": at.character}));
        }
        self.ask(method, file, &params).await
    }

    async fn ask(&self, method: &str, file: &Path, params: &Value) -> Result<Answer<Value>, Trouble> {
        self.give(file).await?;
        let is_early = !self.is_ready().await?;
        let found = self.answered(self.connection.ask(method, params, self.patience.answer).await)?;
        Ok(Answer { found, is_early })
    }

    fn answered<T>(&self, answer: Result<T, Trouble>) -> Result<T, Trouble> {
        match &answer {
            Ok(_) | Err(Trouble::Refused(_)) => self.unanswered.store(0, Ordering::Relaxed),
            Err(Trouble::Silent(_)) => {
                self.unanswered.fetch_add(1, Ordering::Relaxed);
            }
            Err(Trouble::Deaf | Trouble::Ended(_)) => self.unanswered.store(MOST_UNANSWERED, Ordering::Relaxed),
        }
        answer
    }

    /// The problems in a file, the first line first.
    pub async fn diagnostics(&self, file: &Path) -> Result<Answer<Vec<Diagnostic>>, Trouble> {
        let given = self.give(file).await?;
        let mut is_early = !self.is_ready().await?;
        let pulls = self.capabilities.get("diagnosticProvider").is_some_and(|provider| !provider.is_null());
        let mut found = if pulls {
            let params = json!({"textDocument": {"uri": place::address(file)}});
            let report = self.connection.ask("textDocument/diagnostic", &params, self.patience.answer).await;
            let report = self.answered(report)?;
            answer::diagnostics(report.get("items"))
        } else {
            let told = |state: &super::connection::State| {
                let published = state.published.get(file);
                published.is_some_and(|published| given.is_about(published.version, published.sequence))
            };
            is_early |= !self.connection.until(self.patience.diagnostics, told).await?;
            self.connection.until_quiet(self.patience.quiet, self.patience.diagnostics).await?;
            Vec::new()
        };
        if self.about.checks_when_saved {
            if given.is_new {
                self.connection.until(self.patience.quiet * 4, |state| !state.progress.is_empty()).await?;
            }
            is_early |= !self.is_ready().await?;
        }
        let told = self.connection.state().published.get(file).map(|published| published.diagnostics.clone());
        for diagnostic in told.unwrap_or_default() {
            let is_known = |known: &Diagnostic| known.line == diagnostic.line && known.message == diagnostic.message;
            if !found.iter().any(is_known) {
                found.push(diagnostic);
            }
        }
        found.sort_by_key(|found| (found.line, found.severity));
        Ok(Answer { found, is_early })
    }

    /// Waits until it has read the project; whether it has.
    async fn is_ready(&self) -> Result<bool, Trouble> {
        let tells = self.about.tells_when_ready;
        let ready = |state: &super::connection::State| {
            state.progress.is_empty() && (state.quiescent == Some(true) || !tells && state.quiescent.is_none())
        };
        self.connection.until(self.patience.ready, ready).await
    }

    /// Gives it a file, and what has changed in those that it was given before.
    async fn give(&self, file: &Path) -> Result<Given, Trouble> {
        let given = self.give_all(file).await;
        if given.is_err() {
            self.unanswered.store(MOST_UNANSWERED, Ordering::Relaxed);
        }
        given
    }

    async fn give_all(&self, file: &Path) -> Result<Given, Trouble> {
        let mut documents = self.documents.lock().await;
        let mut known: Vec<PathBuf> = documents.keys().filter(|known| *known != file).cloned().collect();
        known.push(file.to_owned());
        let contents = tokio::task::spawn_blocking(move || read(known)).await.unwrap_or_default();
        let mut given = Given { version: 0, sequence: 0, is_new: false };
        for (path, content) in contents {
            let is_new = self.give_one(&mut documents, &path, content).await?;
            if path == file
                && let Some(document) = documents.get_mut(&path)
            {
                document.asked = Instant::now();
                given = Given { version: document.version, sequence: document.sequence, is_new };
            }
        }
        if documents.len() > MOST_OPEN
            && let Some(oldest) = documents.iter().min_by_key(|(_, document)| document.asked)
        {
            let oldest = oldest.0.clone();
            self.close(&mut documents, &oldest).await?;
        }
        Ok(given)
    }

    /// Whether it is news to the server.
    async fn give_one(
        &self,
        documents: &mut HashMap<PathBuf, Document>,
        path: &Path,
        content: Option<String>,
    ) -> Result<bool, Trouble> {
        let Some(content) = content else {
            self.close(documents, path).await?;
            return Ok(false);
        };
        let address = place::address(path);
        let hash = hash(&content);
        let sequence = self.connection.state().sequence;
        match documents.get_mut(path) {
            Some(document) if document.content == hash => Ok(false),
            Some(document) => {
                (document.version, document.content) = (document.version + 1, hash);
                document.sequence = sequence;
                let named = json!({"uri": address, "version": document.version});
                let changed = json!({"textDocument": named, "contentChanges": [{"text": content}]});
                self.connection.notify("textDocument/didChange", &changed).await?;
                let saved = json!({"textDocument": {"uri": address}});
                self.connection.notify("textDocument/didSave", &saved).await?;
                Ok(true)
            }
            None => {
                let language = self.about.language(path).unwrap_or_default();
                let opened = json!({"uri": address, "languageId": language, "version": 1, "text": content});
                self.connection.notify("textDocument/didOpen", &json!({"textDocument": opened})).await?;
                let document = Document { version: 1, content: hash, sequence, asked: Instant::now() };
                documents.insert(path.to_owned(), document);
                Ok(true)
            }
        }
    }

    async fn close(&self, documents: &mut HashMap<PathBuf, Document>, path: &Path) -> Result<(), Trouble> {
        if documents.remove(path).is_none() {
            return Ok(());
        }
        self.connection.state().published.remove(path);
        let closed = json!({"textDocument": {"uri": place::address(path)}});
        self.connection.notify("textDocument/didClose", &closed).await
    }

    /// Lets it end by itself; what does not is killed.
    pub async fn stop(&self) {
        let goodbye = async {
            self.connection.ask("shutdown", &Value::Null, Duration::from_secs(2)).await?;
            self.connection.notify("exit", &Value::Null).await?;
            self.connection.until(Duration::from_secs(1), |_| false).await
        };
        let _ = goodbye.await;
    }
}

impl<T> Answer<T> {
    fn map<U>(self, with: impl FnOnce(T) -> U) -> Answer<U> {
        Answer { found: with(self.found), is_early: self.is_early }
    }
}

/// How a file was given.
struct Given {
    version: i64,
    sequence: u64,
    is_new: bool,
}

impl Given {
    /// Whether words about problems are about the file as it is now.
    fn is_about(&self, version: Option<i64>, sequence: u64) -> bool {
        sequence > self.sequence && version.is_none_or(|version| version >= self.version)
    }
}

/// Those that cannot be read, or not as text, are as good as gone.
fn read(paths: Vec<PathBuf>) -> Vec<(PathBuf, Option<String>)> {
    let content = |path: &Path| file::read_whole(path, &path.to_string_lossy()).ok().map(|whole| whole.text);
    paths.into_iter().map(|path| (path.clone(), content(&path))).collect()
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

async fn keep_last(mut from: impl AsyncRead + Unpin, kept: Arc<Mutex<String>>) {
    let mut piece = vec![0; 4096];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        let words = String::from_utf8_lossy(piece.get(..read).unwrap_or_default()).into_owned();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_str(&words);
        let last = text::tail(&kept, LAST_WORDS).to_owned();
        *kept = last;
    }
}
