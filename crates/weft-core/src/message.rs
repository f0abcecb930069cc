//! What is said in a session: by the person, by the model, and by tools.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::CallId;
use crate::units::estimate_tokens;

/// One message of the conversation that a model sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", content = "parts", rename_all = "snake_case")]
pub enum Message {
    User(Vec<UserPart>),
    Assistant(Vec<Part>),
    Tool(Vec<ToolResult>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UserPart {
    Text { text: String },
    Image(Image),
}

impl UserPart {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// A picture, base64-encoded as every provider wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Image {
    pub media_type: String,
    pub data: Arc<str>,
}

/// A piece of a model's answer, in the order in which the model gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
    },
    /// Reasoning that may be shown. `signature` is the provider's proof that it is unchanged.
    Thinking {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    ToolCall(ToolCall),
    /// Something only its provider understands and wants back verbatim, such as encrypted
    /// reasoning. Sent back to that protocol only.
    Opaque {
        protocol: String,
        data: Value,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    /// The arguments. An object, or, when the model sent something that is not JSON, that text as
    /// a string: it is given back to the model as an error, never guessed at.
    pub input: Value,
    /// A token some providers attach to a call and want back with it (Gemini's thought signature).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What a tool call came to, as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: CallId,
    pub name: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![UserPart::text(text)])
    }

    /// A cautious estimate of the message's size in tokens.
    pub fn tokens(&self) -> u64 {
        const PER_IMAGE: u64 = 1_600;
        const OVERHEAD: u64 = 4;
        let size = match self {
            Self::User(parts) => parts
                .iter()
                .map(|part| match part {
                    UserPart::Text { text } => estimate_tokens(text.len()),
                    UserPart::Image(_) => PER_IMAGE,
                })
                .sum(),
            Self::Assistant(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Text { text } | Part::Thinking { text, .. } => estimate_tokens(text.len()),
                    Part::ToolCall(call) => estimate_tokens(call.name.len() + json_size(&call.input)) + OVERHEAD,
                    Part::Opaque { data, .. } => estimate_tokens(json_size(data)),
                })
                .sum(),
            Self::Tool(results) => results
                .iter()
                .map(|result| estimate_tokens(result.text.len()) + PER_IMAGE * result.images.len() as u64 + OVERHEAD)
                .sum::<u64>(),
        };
        size + OVERHEAD
    }
}

/// The length of a value written as JSON, near enough, without writing it.
pub fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 6,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_size(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => fields.iter().map(|(name, item)| name.len() + 4 + json_size(item)).sum::<usize>() + 2,
    }
}

/// The text of an answer without reasoning and calls.
pub fn text_of(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        if let Part::Text { text: piece } = part {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(piece);
        }
    }
    text
}

/// The tool calls of an answer, in order.
pub fn calls_of(parts: &[Part]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        Part::Text { .. } | Part::Thinking { .. } | Part::Opaque { .. } => None,
    })
}

/// A message in its place in the conversation. It carries a slot per wire protocol in which a
/// provider keeps the bytes it made of it, so that a round serialises only what is new.
#[derive(Debug)]
pub struct Entry {
    /// The event that put it there; compaction refers to it.
    pub seq: u64,
    /// The earliest event needed to make it again.
    pub source: u64,
    pub message: Message,
    pub tokens: u64,
    wire: [OnceLock<Box<str>>; WIRE_SLOTS],
}

/// How many wire protocols can cache their form of an entry.
pub const WIRE_SLOTS: usize = 4;

impl Entry {
    pub fn new(seq: u64, source: u64, message: Message) -> Arc<Self> {
        let tokens = message.tokens();
        Arc::new(Self { seq, source, message, tokens, wire: Default::default() })
    }

    /// The message as `slot`'s protocol writes it, made at most once.
    pub fn wire(&self, slot: usize, write: impl FnOnce(&Message) -> String) -> std::borrow::Cow<'_, str> {
        match self.wire.get(slot) {
            Some(cell) => cell.get_or_init(|| write(&self.message).into_boxed_str()).as_ref().into(),
            None => write(&self.message).into(),
        }
    }
}
