//! The server through a socket, as a client meets it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod client;
mod faults;
mod load;
mod program;
mod protocols;
mod serving;
