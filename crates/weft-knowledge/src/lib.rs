//! What Weft knows: code, documents and history in one graph, with full text and vectors.
//!
//! The tables are the truth; the full-text and the vector index are made from them and can be thrown
//! away at any time. This crate never calls a model, never changes a file outside its own folder and
//! never keeps a secret.

pub mod chunk;
pub mod embed;
pub mod filter;
pub mod rank;
pub mod text;
pub mod vector;

pub use chunk::{Chunk, ChunkId, Domain, Kind, Language, Place};
pub use filter::Filter;
