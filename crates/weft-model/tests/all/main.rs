//! The crate as others use it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod cases;
mod provider_fixtures;
mod provider_http;
