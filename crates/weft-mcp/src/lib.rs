//! Sources: tools and data that other programs offer over MCP or HTTP, and Weft's own offer to them.
//!
//! A source is somebody else's program. Whatever it says is data: its names cannot shadow Weft's
//! tools, its descriptions are marked as its own words, its hints lower no risk, its results are
//! bounded in size and time, and nothing of a project's sources is started before a person has
//! allowed it. This crate decides nothing about permissions: its tools run through the guard.
//!
//! Where to go next: [`config`] says what a source is, [`files`] where they are written down,
//! [`sources`] holds them all, `client/` is one connection, [`bridge`] makes tools of it, `server/`
//! is what Weft offers to others.

pub mod api;
pub mod bridge;
pub mod client;
pub mod config;
pub mod confine;
pub mod files;
pub mod limits;
pub mod naming;
pub mod oauth;
mod prompts;
pub mod references;
pub mod server;
pub mod sources;
pub mod trust;
pub mod unwrap;

pub use client::{Connection, SourceError};
pub use config::{SourceConfig, Transport};
pub use limits::Limits;
pub use sources::Sources;
