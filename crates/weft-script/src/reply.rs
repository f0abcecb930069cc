//! What the server says: a reply in words of no protocol, and how it goes wrong.

use serde_json::Value;

/// One answer of the model, or one failure to answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    pub pieces: Vec<Piece>,
    /// `None` means what a well-behaved server would say: tool use if there are calls, else the end.
    pub stop: Option<Stop>,
    pub usage: Usage,
    pub faults: Vec<Fault>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    Thinking(String),
    Call {
        name: String,
        input: Value,
    },
    /// A call whose arguments are sent as they are, valid JSON or not. Gemini has no room for
    /// invalid arguments; there they become a JSON string.
    RawCall {
        name: String,
        raw_json: String,
    },
}

impl Piece {
    pub fn is_call(&self) -> bool {
        match self {
            Self::Call { .. } | Self::RawCall { .. } => true,
            Self::Text(_) | Self::Thinking(_) => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    End,
    ToolUse,
    MaxTokens,
    Refusal,
    /// Anthropic's `pause_turn`; an ordinary end elsewhere.
    Pause,
}

/// Tokens. `input` counts everything sent, cached or not; `output` includes `reasoning`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 120, output: 24, cache_read: 0, cache_write: 0, reasoning: 0 }
    }
}

/// A way to misbehave. Several may be combined; the first one that ends the stream wins.
///
/// `after` and `pieces` count whole pieces already sent; a number past the last piece means after
/// all pieces and before the closing events.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// An HTTP error instead of an answer.
    Status { code: u16, body: Body, headers: Vec<(String, String)> },
    /// The connection is reset once the request has been read.
    ResetBefore,
    /// The connection is reset in the middle of the answer.
    ResetAfter { pieces: usize },
    /// The HTTP response ends properly, the model's stream does not.
    CutAfter { pieces: usize },
    /// As `CutAfter`, but anywhere, even inside an event or a character.
    CutAfterBytes { bytes: usize },
    /// Nothing more is sent; the connection stays open until the client closes it.
    Silent { after: usize },
    /// Broken events are sent in between; the answer then goes on as if nothing had happened.
    Rubbish { after: usize },
    /// A pause after each event.
    SlowChunks { ms: u64 },
    /// Each byte in an HTTP chunk and a write of its own.
    SplitBytes,
    /// Each event is sent twice.
    Duplicate,
    /// The events of all pieces take turns. The pieces then count as one.
    Interleave,
    /// A pause before the first byte of the response.
    Delay { ms: u64 },
    /// The stream ends with the protocol's own error event.
    StreamError { after: usize, kind: String, message: String },
    /// An odd shape of chat completions; no effect on other protocols.
    Shape(ChatShape),
}

/// The body of an HTTP error.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Raw(String),
    /// Written the way the protocol writes its errors.
    Error {
        kind: String,
        message: String,
    },
}

/// Odd shapes in which OpenAI-compatible servers send their chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatShape {
    /// Tool call chunks have no `index`.
    NoIndex,
    /// Every chunk of a call repeats its id.
    IdEveryChunk,
    /// Every chunk of a call has the id `""`.
    EmptyId,
    /// Every chunk of a call repeats its name.
    NameEveryChunk,
    /// The name of a call comes in two chunks.
    NameInPieces,
    /// A call comes in one chunk.
    WholeCall,
    /// A call comes in one chunk and its arguments are an object, not a string.
    ObjectArguments,
    /// All calls have index 0; only the id tells them apart.
    SameIndexNewId,
    /// `function_call` instead of `tool_calls`.
    LegacyFunctionCall,
    /// The finish reason is `stop` although calls were made.
    StopWithCalls,
    /// No `[DONE]` at the end.
    NoDone,
    /// No usage chunk.
    NoUsage,
    /// One JSON document although a stream was asked for.
    PlainJson,
    /// Thinking comes as `reasoning_content` instead of `reasoning`.
    ReasoningContent,
}

impl Reply {
    /// Adds what another reply says, and its faults, to this one.
    #[must_use]
    pub fn then(mut self, next: impl Into<Reply>) -> Self {
        let next = next.into();
        self.pieces.extend(next.pieces);
        self.faults.extend(next.faults);
        self.stop = next.stop.or(self.stop);
        self
    }

    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    #[must_use]
    pub fn shape(self, shape: ChatShape) -> Self {
        self.fault(Fault::Shape(shape))
    }

    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Adds a header to an error reply made by [`status`] or [`failure`].
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        for fault in &mut self.faults {
            if let Fault::Status { headers, .. } = fault {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        self
    }

    pub(crate) fn final_stop(&self) -> Stop {
        let natural = if self.pieces.iter().any(Piece::is_call) { Stop::ToolUse } else { Stop::End };
        self.stop.unwrap_or(natural)
    }

    pub(crate) fn has_shape(&self, shape: ChatShape) -> bool {
        self.faults.contains(&Fault::Shape(shape))
    }
}

impl From<Piece> for Reply {
    fn from(piece: Piece) -> Self {
        Self { pieces: vec![piece], ..Self::default() }
    }
}

impl From<&str> for Body {
    fn from(raw: &str) -> Self {
        Self::Raw(raw.to_owned())
    }
}

pub fn text(text: impl Into<String>) -> Reply {
    Piece::Text(text.into()).into()
}

pub fn thinking(text: impl Into<String>) -> Reply {
    Piece::Thinking(text.into()).into()
}

pub fn call(name: &str, input: Value) -> Reply {
    Piece::Call { name: name.to_owned(), input }.into()
}

pub fn raw_call(name: &str, raw_json: &str) -> Reply {
    Piece::RawCall { name: name.to_owned(), raw_json: raw_json.to_owned() }.into()
}

/// An answer without any content.
pub fn nothing() -> Reply {
    Reply::default()
}

/// An HTTP error with this body, to the letter.
pub fn status(code: u16, body: &str) -> Reply {
    nothing().fault(Fault::Status { code, body: body.into(), headers: Vec::new() })
}

/// An HTTP error written the way the protocol writes its errors.
pub fn failure(code: u16, kind: &str, message: &str) -> Reply {
    let body = Body::Error { kind: kind.to_owned(), message: message.to_owned() };
    nothing().fault(Fault::Status { code, body, headers: Vec::new() })
}
