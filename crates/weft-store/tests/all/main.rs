//! The store through its public face.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod appending;
mod backups;
mod damage;
mod folding;
mod listing;
mod logs;
mod ownership;
mod speed;
mod support;
mod tailing;
