//! The one thing a model can do: answer a conversation as a stream.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use serde_json::Value;
use weft_core::event::StopReason;
use weft_core::{CallId, Entry, Failure, Part, SessionId, Usage};

/// Anything that answers a conversation.
pub trait Model: Send + Sync {
    /// Starts an answer. The stream never fails in between: its last item, and only that, is
    /// [`Chunk::Done`] or [`Chunk::Failed`]. Dropping the stream cancels the call.
    fn stream(&self, request: Request) -> ChunkStream;
}

pub type ChunkStream = Pin<Box<dyn Stream<Item = Chunk> + Send>>;

/// A model call, frozen: nothing in it changes while it is under way.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model's own name, without its provider.
    pub model: Arc<str>,
    /// The system prompt. Stays the same through a session so that providers can cache it.
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    pub messages: Vec<Arc<Entry>>,
    /// The most tokens the answer may have.
    pub max_output: u32,
    pub effort: Option<Effort>,
    /// Whose call it is; providers use it to route to a warm cache.
    pub session: SessionId,
}

/// How hard to think, for models that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Low,
    Medium,
    High,
    Max,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A JSON Schema of type object.
    pub schema: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    Text(String),
    Thinking(String),
    /// A tool call has begun; its arguments follow.
    ToolStart {
        call: CallId,
        name: String,
    },
    /// More of a call's arguments, for showing progress only.
    ToolDelta {
        call: CallId,
        json: String,
    },
    Done(Answer),
    Failed {
        failure: Failure,
        /// What the provider said was used, if it got that far.
        usage: Option<Usage>,
    },
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Text, reasoning and calls in the order in which they came. Call ids are not empty and
    /// unique within the answer.
    pub parts: Vec<Part>,
    pub stop: StopReason,
    pub usage: Usage,
}
