//! Models: one trait, its clients, and the gate that every call goes through.
//!
//! This crate speaks HTTP to providers. It knows nothing of sessions, tools' workings or disks
//! (but for a cassette's own file), and it writes no log: what a call used comes back in its
//! answer and becomes an event.

pub mod cassette;
pub mod catalog;
pub mod gate;
pub mod model;
pub mod offline;
pub mod provider;

pub use catalog::{Catalog, ModelInfo};
pub use gate::{Admission, Gate, GateNotice, Priority};
pub use model::{Answer, Chunk, ChunkStream, Effort, Model, Request, ToolSpec};
