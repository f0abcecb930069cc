//! The tools through the guard, as the engine uses them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod edit_write;
mod find;
mod guard;
mod process;
mod read;
mod shell;
mod world;
