//! What Weft knows: code, documents and history in one graph, with full text and vectors.
//!
//! The tables are the truth; the full-text and the vector index are made from them and can be thrown
//! away at any time. This crate never calls a model, never changes a file outside its own folder and
//! never keeps a secret.
//!
//! Where to go next: [`Knowledge`] is what others use; `indexing` brings it up to what is on disk,
//! `ingest` reads one file, `code` and `documents` take it apart, `history` takes in
//! sessions, `tables` keeps it all; `search` and
//! `graph` answer; `shelf` keeps them open in programs that run for long, and `tools` lets agents ask.

pub mod chunk;
pub mod embed;
pub mod filter;
pub mod rank;
pub mod text;
pub mod vector;
pub mod verify;

mod answers;
mod code;
mod commits;
mod distance;
mod documents;
mod error;
mod export;
mod find;
mod graph;
mod health;
mod history;
mod indexing;
mod ingest;
mod judgement;
mod knowledge;
mod language;
mod library;
mod parsed;
mod passage;
mod renewal;
mod search;
mod shelf;
mod summary;
mod tables;
mod tools;
mod watching;

pub use answers::{
    Asked, Doubt, Fault, Feedback, Intent, KeptAnswer, Missing, NewAnswer, NewFeedback, Origin, Quality, Relation,
    Replied, Resolved, Traced,
};
pub use chunk::{Chunk, ChunkId, Domain, EdgeKind, Kind, Language, Place};
pub use error::KnowledgeError;
pub use filter::Filter;
pub use graph::{DEEPEST, Direction, MOST, Neighbour, Way};
pub use health::{Debt, Health, Maturity, Pattern};
pub use history::{Memory, Remembered};
pub use indexing::{Progress, READER, Report, Run};
pub use judgement::{Conflict, ConflictKind, Context, ContextItem, Provenance, Reply, Verified};
pub use knowledge::{Knowledge, Places, Status};
pub use library::{Document, Hop, Paragraph};
pub use passage::Passage;
pub use search::{Answer, Class, Freshness, Hit, Lists, Query, Spot};
pub use shelf::{Now, Shelf, WorkKind, WorkState};
pub use tables::{Counts, Symbol};
pub use tools::{is_tool, tools};
