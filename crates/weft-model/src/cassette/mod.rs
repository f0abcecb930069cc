//! A cassette: a conversation with a model, recorded to a file and replayed from it.
//!
//! The file is JSON lines: a header, then one line per exchange with the request as far as it
//! matters and the answer chunk by chunk. A replayed request must equal a recorded one; a cassette
//! never guesses. Values that differ between machines and days, such as the workspace's path, are
//! declared and stand in the file as placeholders. No key is ever in a request, so none is here.
//!
//! A line is written and synced whole when its exchange is complete. A line torn by a crash is cut
//! off when the file is opened again.

mod matching;
mod tape;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use weft_core::{Failure, FailureKind};

use crate::model::{Chunk, ChunkStream, Model, Request};
use matching::Asked;
use tape::Tape;

/// A value that changes from run to run, and what stands for it in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volatile {
    pub value: String,
    pub placeholder: String,
}

impl Volatile {
    pub fn new(value: impl Into<String>, placeholder: impl Into<String>) -> Self {
        Self { value: value.into(), placeholder: placeholder.into() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("The cassette {} cannot be {doing}: {source}.", path.display())]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error("{} is not a cassette: its first line is not a cassette's header. Choose another file.", .0.display())]
    NotACassette(PathBuf),
    #[error("The cassette {} has version {version}, and this Weft reads version {}. Update Weft.", path.display(), tape::VERSION)]
    Newer { path: PathBuf, version: u64 },
    #[error("Line {line} of the cassette {} cannot be read: {why}. Remove the line, or record again.", path.display())]
    BadLine { path: PathBuf, line: usize, why: String },
}

/// A model that records another one, or replays what was recorded.
pub struct Cassette {
    kind: Kind,
}

enum Kind {
    Record { inner: Arc<dyn Model>, tape: Arc<Mutex<Tape>> },
    Replay { tape: Arc<Mutex<Tape>> },
}

impl Cassette {
    /// Passes every call on to `inner` and adds the exchange to the file, which is made if needed.
    pub fn record(
        path: &Path,
        inner: Arc<dyn Model>,
        provider: &str,
        volatile: Vec<Volatile>,
    ) -> Result<Self, CassetteError> {
        let tape = Arc::new(Mutex::new(Tape::open_to_record(path, provider, volatile)?));
        Ok(Self { kind: Kind::Record { inner, tape } })
    }

    /// Answers from the file. Each exchange is used once, in any order.
    pub fn replay(path: &Path, volatile: Vec<Volatile>) -> Result<Self, CassetteError> {
        let tape = Arc::new(Mutex::new(Tape::open_to_replay(path, volatile)?));
        Ok(Self { kind: Kind::Replay { tape } })
    }

    /// The provider whose answers these are.
    pub fn provider(&self) -> String {
        match &self.kind {
            Kind::Record { tape, .. } | Kind::Replay { tape } => lock(tape).provider().to_owned(),
        }
    }
}

impl Model for Cassette {
    fn stream(&self, request: Request) -> ChunkStream {
        match &self.kind {
            Kind::Record { inner, tape } => record(inner, Arc::clone(tape), request),
            Kind::Replay { tape } => {
                let mut tape = lock(tape);
                let asked = Asked::new(&request, tape.volatile());
                match tape.take(&asked) {
                    Ok(chunks) => Box::pin(stream::iter(chunks)),
                    Err(message) => Box::pin(stream::iter([failed(FailureKind::NotRecorded, message)])),
                }
            }
        }
    }
}

/// Passes the chunks through; when the last one comes, the exchange is written before it is seen.
/// An exchange that is dropped half-way leaves nothing.
fn record(inner: &Arc<dyn Model>, tape: Arc<Mutex<Tape>>, request: Request) -> ChunkStream {
    let asked = Asked::new(&request, lock(&tape).volatile());
    let mut exchange = Some((asked, Vec::new()));
    let chunks = inner.stream(request).map(move |chunk| {
        let Some((_, heard)) = &mut exchange else { return chunk };
        heard.push(chunk.clone());
        match chunk {
            Chunk::Text(_) | Chunk::Thinking(_) | Chunk::ToolStart { .. } | Chunk::ToolDelta { .. } => chunk,
            Chunk::Done(_) | Chunk::Failed { .. } => {
                let Some((asked, heard)) = exchange.take() else { return chunk };
                match lock(&tape).append(asked, &heard) {
                    Ok(()) => chunk,
                    Err(error) => failed(FailureKind::Config, error.to_string()),
                }
            }
        }
    });
    Box::pin(chunks)
}

fn failed(kind: FailureKind, message: String) -> Chunk {
    Chunk::Failed { failure: Failure::new(kind, message), usage: None }
}

fn lock(tape: &Mutex<Tape>) -> std::sync::MutexGuard<'_, Tape> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "cassette_tests.rs"]
mod tests;
