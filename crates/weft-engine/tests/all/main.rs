//! The engine through its public interface.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod broker;
mod flow_simulation;
mod leaving;
mod mishaps;
mod simulation;
mod stopped_flow;
mod trust;
mod turns;
mod world;
