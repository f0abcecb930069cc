//! The sandbox, for real: every test starts the helper and tries to get out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::too_many_lines
)]
#![cfg(target_os = "linux")]

mod attacker;
mod attacks;
mod behaviour;
mod bubblewrap;
mod git;
mod ground;
mod proxy;
mod refusal;
mod world;
