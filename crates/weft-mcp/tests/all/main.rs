//! Sources as they really are: child processes, other people's servers, and hostile ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod conformance;
mod hostile;
mod hostile_http;
mod live;
mod peers;
mod renewed_sign_in;
mod world;
