//! The scripted model server: answers model requests on loopback from a script, in the four
//! protocols that Weft speaks, and misbehaves on request down to the byte.
//!
//! It is for tests and benchmarks. It never reaches the network, never thinks, and the product
//! never depends on it. Start with [`Server::start`] and the builders [`text`] and [`call`].

mod answering;
mod behaviour;
mod connection;
mod conversation;
mod http;
mod limits;
mod plan;
mod random;
mod reply;
mod server;
mod story;
mod wire;

pub use behaviour::{Behaviour, Place};
pub use conversation::Seen;
pub use limits::raise_open_files;
pub use random::RandomFaults;
pub use reply::{
    Body, ChatShape, Fault, Piece, Reply, Stop, Usage, call, failure, nothing, raw_call, status, text, thinking,
};
pub use server::{Server, Settings, Stats, WaitError};
pub use story::Story;

/// The wire format of a request, told by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

impl Protocol {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini];

    /// Any prefix is accepted, so that a base URL may or may not carry a version.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
        }
    }
}
