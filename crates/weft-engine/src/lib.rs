//! The engine: makes happen what the machines of `weft-core` decide.
//!
//! [`driver`] is the loop: commit events, then perform effects, then feed the results back.
//! [`engine`] starts and finds drivers, [`present`] holds those in memory. It reaches models only through the gate, effects only
//! through the guard and state only through the log, and knows nothing of terminals or HTTP.

pub mod agent;
mod answering;
pub mod audit;
mod batch;
mod broker;
mod checkpoint;
pub mod clock;
pub mod commands;
pub mod config;
mod driver;
mod effects;
mod embeddings;
pub mod engine;
pub mod error;
pub mod flow;
mod front_matter;
pub mod hooks;
mod inputs;
mod inquiry;
mod keys;
pub mod labelling;
mod lazy;
mod mail;
mod memory;
mod models;
pub mod own;
pub mod paths;
pub mod permissions;
mod preamble;
mod present;
mod prompt;
mod prompt_check;
mod renew;
mod resident;
mod secrets;
pub mod settings;
mod setup;
mod shorthand;
pub mod skills;
mod staging;
mod titles;
mod trouble;
mod undo;
mod validate;
mod watch;

pub use audit::NetworkLog;
pub use broker::{Handle, Reveal, Wanted};
pub use clock::Clock;
pub use config::{Config, Loaded};
pub use embeddings::embeddings;
pub use engine::Engine;
pub use error::EngineError;
pub use inquiry::{Sample, SampledText, WeakEngine};
pub use keys::{vault, vault_of_all};
pub use mail::Recorder;
pub use models::{OFFLINE, providers};
pub use paths::Home;
pub use permissions::SharedRules;
pub use preamble::Preamble;
pub use setup::{Env, NewSession, Setup, Tape, open_store};
pub use shorthand::{Callable, CallableKind};
pub use undo::{Version, Which};
pub use watch::{Live, Watch};
