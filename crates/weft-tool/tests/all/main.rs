//! The tools through the guard, as the engine uses them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::too_many_lines
)]

mod attacks_paths;
mod discover;
mod edit_write;
mod files;
mod find;
mod git;
mod git_branches;
mod git_hostile;
mod git_server;
mod guard;
mod jobs;
mod language;
mod language_hostile;
mod process;
mod read;
mod shell;
mod structure;
mod web;
mod world;
