//! The file of a cassette, and what of it has been played.
//!
//! Several recorders may add to one file, in this process or another: lines are appended under a
//! lock, and refer to earlier lines by fingerprint, never by position.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weft_core::event::StopReason;
use weft_core::{CallId, Failure, Part, Usage};

use super::matching::{Asked, hide, replace_in, reveal};
use super::{CassetteError, Volatile};
use crate::model::{Answer, Chunk};

pub(super) const VERSION: u64 = 1;
/// A request mostly repeats an earlier one and adds to it. This many are tried for that.
const LOOK_BACK: usize = 32;

#[derive(Serialize, Deserialize)]
struct Header {
    cassette: u64,
    provider: String,
}

/// An exchange as a line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    asked: Asked,
    /// The messages begin with so many of an earlier exchange's, which are not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeats: Option<Repeat>,
    chunks: Vec<Value>,
}

#[derive(Serialize, Deserialize)]
struct Repeat {
    /// The fingerprint of the earlier request.
    request: String,
    messages: usize,
}

/// A chunk as it is stored, apart from the type in memory.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Text(String),
    Thinking(String),
    ToolStart { call: CallId, name: String },
    ToolDelta { call: CallId, json: String },
    Done { parts: Vec<Part>, stop: StopReason, usage: Usage },
    Failed { failure: Failure, usage: Option<Usage> },
}

struct Exchange {
    /// Of the request.
    fingerprint: String,
    asked: Asked,
    chunks: Vec<Value>,
    used: bool,
}

pub(super) struct Tape {
    path: PathBuf,
    /// Open for appending, when recording.
    file: Option<File>,
    provider: String,
    volatile: Vec<Volatile>,
    exchanges: Vec<Exchange>,
}

impl Tape {
    pub(super) fn open_to_replay(path: &Path, volatile: Vec<Volatile>) -> Result<Self, CassetteError> {
        let content = std::fs::read(path).map_err(|source| io(path, "read", source))?;
        let (provider, exchanges, _) = parse(path, &content)?;
        Ok(Self { path: path.to_owned(), file: None, provider, volatile: longest_first(volatile), exchanges })
    }

    pub(super) fn open_to_record(path: &Path, provider: &str, volatile: Vec<Volatile>) -> Result<Self, CassetteError> {
        let open = || OpenOptions::new().create(true).read(true).append(true).open(path);
        let mut file = open().map_err(|source| io(path, "opened for writing", source))?;
        file.lock().map_err(|source| io(path, "locked", source))?;
        let opened = continue_file(path, &mut file, provider);
        file.unlock().map_err(|source| io(path, "unlocked", source))?;
        let (provider, exchanges) = opened?;
        Ok(Self { path: path.to_owned(), file: Some(file), provider, volatile: longest_first(volatile), exchanges })
    }

    pub(super) fn provider(&self) -> &str {
        &self.provider
    }

    pub(super) fn volatile(&self) -> &[Volatile] {
        &self.volatile
    }

    /// Adds a complete exchange to the file, on disk when this returns.
    pub(super) fn append(&mut self, asked: Asked, heard: &[Chunk]) -> Result<(), CassetteError> {
        let chunks = store(heard, &self.volatile);
        let from = self.exchanges.len().saturating_sub(LOOK_BACK);
        let earlier = self.exchanges.iter().skip(from);
        let repeats = earlier
            .map(|earlier| (earlier.asked.common_messages(&asked), earlier))
            .filter(|(messages, _)| *messages > 0)
            .max_by_key(|(messages, _)| *messages)
            .map(|(messages, earlier)| Repeat { request: earlier.fingerprint.clone(), messages });
        let mut line = Line { asked: asked.clone(), repeats, chunks };
        if let Some(repeat) = &line.repeats {
            line.asked.messages.drain(..repeat.messages);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.lock().map_err(|source| io(&self.path, "locked", source))?;
        let written = write_line(&self.path, file, &line);
        file.unlock().map_err(|source| io(&self.path, "unlocked", source))?;
        written?;
        self.exchanges.push(Exchange { fingerprint: asked.fingerprint(), asked, chunks: line.chunks, used: false });
        Ok(())
    }

    /// The answer to a recorded request, which is then used up; or why there is none.
    pub(super) fn take(&mut self, asked: &Asked) -> Result<Vec<Chunk>, String> {
        let volatile = &self.volatile;
        let fresh = self.exchanges.iter_mut().find(|exchange| !exchange.used && exchange.asked == *asked);
        if let Some(exchange) = fresh {
            exchange.used = true;
            return Ok(exchange.chunks.iter().filter_map(|chunk| play(chunk.clone(), volatile)).collect());
        }
        Err(self.why_not(asked))
    }

    fn why_not(&self, asked: &Asked) -> String {
        let path = self.path.display();
        let total = self.exchanges.len();
        if self.exchanges.iter().any(|exchange| exchange.asked == *asked) {
            return format!("The cassette {path} holds this request, but its recording has been used already.");
        }
        let unused = self.exchanges.iter().filter(|exchange| !exchange.used);
        let nearest = unused.max_by_key(|exchange| exchange.asked.nearness(asked));
        match nearest.and_then(|nearest| nearest.asked.difference(asked)) {
            Some(difference) => {
                format!("The cassette {path} has no recording of this request. Of the nearest one, {difference}.")
            }
            None => format!("The cassette {path} has no recording of this request: all {total} have been used."),
        }
    }
}

fn longest_first(mut volatile: Vec<Volatile>) -> Vec<Volatile> {
    volatile.sort_by_key(|volatile| std::cmp::Reverse(volatile.value.len()));
    volatile
}

/// Reads what a file holds already, cuts off a torn last line, or begins a new file.
fn continue_file(path: &Path, file: &mut File, provider: &str) -> Result<(String, Vec<Exchange>), CassetteError> {
    let mut content = Vec::new();
    file.read_to_end(&mut content).map_err(|source| io(path, "read", source))?;
    if content.is_empty() {
        write_line(path, file, &Header { cassette: VERSION, provider: provider.to_owned() })?;
        return Ok((provider.to_owned(), Vec::new()));
    }
    let (provider, exchanges, good) = parse(path, &content)?;
    let header_only = !content.contains(&b'\n');
    let repaired = file.set_len(good).and_then(|()| if header_only { append(file, b"\n") } else { Ok(()) });
    repaired.map_err(|source| io(path, "written", source))?;
    Ok((provider, exchanges))
}

/// Reads all lines. Also says how many bytes are good: a last line that is torn is not.
fn parse(path: &Path, content: &[u8]) -> Result<(String, Vec<Exchange>, u64), CassetteError> {
    let mut lines = content.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let header: Header = serde_json::from_slice(first).map_err(|_| CassetteError::NotACassette(path.to_owned()))?;
    if header.cassette != VERSION {
        return Err(CassetteError::Newer { path: path.to_owned(), version: header.cassette });
    }
    let mut exchanges = Vec::new();
    let mut good = first.len() as u64;
    for (index, line) in lines.enumerate() {
        if !line.ends_with(b"\n") {
            break;
        }
        let bad = |why: String| CassetteError::BadLine { path: path.to_owned(), line: index + 2, why };
        good += line.len() as u64;
        if !line.trim_ascii().is_empty() {
            let line: Line = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
            exchanges.push(restore(line, &exchanges).map_err(bad)?);
        }
    }
    Ok((header.provider, exchanges, good))
}

fn restore(line: Line, earlier: &[Exchange]) -> Result<Exchange, String> {
    let Line { mut asked, repeats, chunks } = line;
    if let Some(Repeat { request, messages }) = repeats {
        let base = earlier.iter().rev().find(|earlier| earlier.fingerprint == request);
        let base = base.and_then(|earlier| earlier.asked.messages.get(..messages));
        let base = base.ok_or("it repeats messages of an exchange that is not there")?;
        asked.messages = base.iter().cloned().chain(asked.messages).collect();
    }
    for chunk in &chunks {
        Stored::deserialize(chunk).map_err(|error| error.to_string())?;
    }
    Ok(Exchange { fingerprint: asked.fingerprint(), asked, chunks, used: false })
}

fn write_line(path: &Path, file: &mut File, line: &impl Serialize) -> Result<(), CassetteError> {
    let mut bytes = serde_json::to_vec(line).map_err(|error| io(path, "written", error.into()))?;
    bytes.push(b'\n');
    append(file, &bytes).map_err(|source| io(path, "written", source))
}

/// Writes all of it or, when the disk is full, none of it: half a line would spoil the next one.
fn append(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    let before = file.metadata()?.len();
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(before)?;
    }
    written
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> CassetteError {
    CassetteError::Io { path: path.to_owned(), doing, source }
}

fn play(mut chunk: Value, volatile: &[Volatile]) -> Option<Chunk> {
    replace_in(&mut chunk, &|text| reveal(text, volatile));
    Stored::deserialize(chunk).ok().map(Chunk::from)
}

/// The chunks as they are stored, with placeholders in place.
fn store(heard: &[Chunk], volatile: &[Volatile]) -> Vec<Value> {
    let whole = join_where_split(heard, volatile);
    let stored = whole.into_iter().map(|chunk| {
        let mut value = serde_json::to_value(Stored::from(chunk)).unwrap_or(Value::Null);
        replace_in(&mut value, &|text| hide(text, volatile));
        value
    });
    stored.collect()
}

/// A value may be streamed in two halves, neither of which a placeholder could stand for. Such
/// pieces are joined; all others stay as they came.
fn join_where_split(heard: &[Chunk], volatile: &[Volatile]) -> Vec<Chunk> {
    let mut pieces: Vec<Chunk> = Vec::with_capacity(heard.len());
    for run in heard.chunk_by(same_kind) {
        let texts: Vec<&str> = run.iter().filter_map(text_of).collect();
        let joined = texts.concat();
        let apart: String = texts.iter().map(|text| hide(text, volatile)).collect();
        match run.first() {
            Some(first) if hide(&joined, volatile) != apart => pieces.push(with_text(first, joined)),
            _ => pieces.extend(run.iter().cloned()),
        }
    }
    pieces
}

fn same_kind(one: &Chunk, next: &Chunk) -> bool {
    match (one, next) {
        (Chunk::Text(_), Chunk::Text(_)) | (Chunk::Thinking(_), Chunk::Thinking(_)) => true,
        (Chunk::ToolDelta { call, .. }, Chunk::ToolDelta { call: other, .. }) => call == other,
        _ => false,
    }
}

fn text_of(chunk: &Chunk) -> Option<&str> {
    match chunk {
        Chunk::Text(text) | Chunk::Thinking(text) | Chunk::ToolDelta { json: text, .. } => Some(text),
        Chunk::ToolStart { .. } | Chunk::Done(_) | Chunk::Failed { .. } => None,
    }
}

fn with_text(chunk: &Chunk, text: String) -> Chunk {
    match chunk {
        Chunk::Text(_) => Chunk::Text(text),
        Chunk::Thinking(_) => Chunk::Thinking(text),
        Chunk::ToolDelta { call, .. } => Chunk::ToolDelta { call: call.clone(), json: text },
        Chunk::ToolStart { .. } | Chunk::Done(_) | Chunk::Failed { .. } => chunk.clone(),
    }
}

impl From<Chunk> for Stored {
    fn from(chunk: Chunk) -> Self {
        match chunk {
            Chunk::Text(text) => Self::Text(text),
            Chunk::Thinking(text) => Self::Thinking(text),
            Chunk::ToolStart { call, name } => Self::ToolStart { call, name },
            Chunk::ToolDelta { call, json } => Self::ToolDelta { call, json },
            Chunk::Done(Answer { parts, stop, usage }) => Self::Done { parts, stop, usage },
            Chunk::Failed { failure, usage } => Self::Failed { failure, usage },
        }
    }
}

impl From<Stored> for Chunk {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Text(text) => Self::Text(text),
            Stored::Thinking(text) => Self::Thinking(text),
            Stored::ToolStart { call, name } => Self::ToolStart { call, name },
            Stored::ToolDelta { call, json } => Self::ToolDelta { call, json },
            Stored::Done { parts, stop, usage } => Self::Done(Answer { parts, stop, usage }),
            Stored::Failed { failure, usage } => Self::Failed { failure, usage },
        }
    }
}
