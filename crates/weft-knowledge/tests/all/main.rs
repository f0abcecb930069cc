//! What crosses the parts of the crate: files on disk, indexed, searched, changed.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests may panic, and print what they measure"
)]

mod bad_input;
mod context;
mod golden;
mod graph;
mod incremental;
mod library;
mod questions;
mod ranking;
mod renewal;
mod repair;
mod world;
