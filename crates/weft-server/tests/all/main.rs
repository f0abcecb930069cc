//! The server over real HTTP, against a scripted model.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod artifacts;
mod asks;
mod door;
mod edges;
mod inbox;
mod knowledge;
mod papers;
mod replacing;
mod requests;
mod research;
mod sessions;
mod settings;
mod streams;
mod tls;
mod twice;
mod world;
