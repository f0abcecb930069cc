//! The real binary against a scripted model server, each test in a home of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

mod answered;
mod asks;
mod audit;
mod auth;
mod bubblewrap;
mod chat;
mod clients;
mod crash;
mod embeddings;
mod escapes;
mod forbidden;
mod inquiries;
mod jobs;
mod keychain;
mod knowledge;
mod language;
mod peers;
#[path = "../../../weft-sandbox/tests/all/refusal.rs"]
mod refusal;
mod rerank;
mod research;
mod research_flows;
mod research_trouble;
mod research_web;
mod run;
mod sandbox;
mod secrets;
mod serve;
mod sessions;
mod shorthand;
mod source_talk;
mod sources;
mod trouble;
mod undo;
mod web;
mod world;
