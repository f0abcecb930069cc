//! Weft over HTTP: a JSON API, event streams straight from the log, the web app, and the protocols of
//! others, translated at the edge.
//!
//! The server is a face of the engine like the terminal. It keeps no state of its own but what a
//! browser needs to come in: models are reached by the engine through the gate, effects through the
//! guard, facts through the log. Nothing is served to whoever has no token, and nobody outside this
//! machine can ask unless the person said so.
//!
//! Where to go next: [`door`] decides who comes in, [`routes`] is the API, [`stream`] is the event
//! stream of one session and [`inbox`] that of all, [`edges`] speaks other protocols, `chores` is
//! what is done without being asked.

pub mod assets;
pub mod backstage;
mod chores;
mod desk;
mod door;
mod edges;
mod expression;
mod extract;
mod files;
mod inbox;
mod listener;
mod names;
mod offer;
mod once;
mod openapi;
mod patience;
mod problem;
pub mod providers;
mod rate;
mod routes;
mod rows;
mod serving;
mod statuses;
mod stream;
pub mod tokens;
mod uploads;
mod version;

pub use backstage::{Backstage, Finding, Hook, Level, NewSource, Section, SourceList};
pub use desk::Parts;
pub use listener::Tls;
pub use offer::WeftOffer;
pub use openapi::document;
pub use serving::{Ended, Listening, Options, ServeError, Server};
