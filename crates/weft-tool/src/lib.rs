//! Tools, and the guard that every call of one goes through.
//!
//! A [`Tool`] is one object: name, schema, risk, run. It can only be run with a [`Permit`], and only
//! the [`Guard`] makes those, after it has checked the call against the session's mode, its grants
//! and the borders of the workspace. Approval, redaction and size caps live in the guard and nowhere
//! else. This crate knows nothing of models, sessions' logs or screens.
//!
//! Where to go next: [`guard`] decides, [`tool`] is what a tool is, `tools/` holds the built-in
//! ones, [`process`] is the only place that starts processes, [`sandbox`] what they run in, `path`
//! knows where a path really leads, `admit` looks once more before a file is touched, `handle` is the
//! only way to one, `web` reaches the web, [`language`] talks to language servers.

pub mod discover;
pub mod guard;
pub mod jobs;
pub mod language;
pub mod outside;
pub mod permission;
pub mod process;
pub mod reading;
pub mod registry;
pub mod sandbox;
pub mod service;
pub mod shadow;
pub mod tool;
pub mod toolbox;
pub mod walking;
pub mod web;

mod admit;
mod aside;
mod capture;
mod changes;
mod diff;
mod effect;
mod file;
mod handle;
mod heeded;
mod input;
mod leak;
mod patch;
mod path;
mod redact;
mod survivor;
mod terminal;
mod text;
mod tools;
mod trash;
mod witness;

pub use file::ReadMarks;
pub use guard::{Guard, GuardConfig, Permit, Policy, Verdict};
pub use jobs::Jobs;
pub use permission::Need;
pub use permission::git::GitKind;
pub use permission::role::Role;
pub use permission::rules::{Decision, Rule, RuleError, Rules};
pub use redact::{Redaction, Secrets};
pub use registry::{Registry, Spec};
pub use sandbox::{Sandbox, SandboxPlaces, SandboxSettings};
pub use tool::{Context, Finished, LiveSink, Tool};
pub use toolbox::{PromptOffer, Toolbox};
pub use tools::git::past::{Commit, commits, commits_of_lines, newest_commit};
pub use witness::{Content, Deed, Moment, Witness, Written};
