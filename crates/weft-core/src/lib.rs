//! The heart of Weft: what can happen in a session, and what follows from it.
//!
//! Everything here is pure. This crate opens no file, no socket and no clock, and draws no random
//! number: time, ids and results come in as inputs. It knows nothing of SQLite, HTTP, tools or
//! terminals.
//!
//! Where to go next: [`event`] lists the facts, [`state`] folds them, [`turn`] decides what to do
//! next, [`stored`] is the form on disk.

pub mod ask;
pub mod conversation;
pub mod event;
pub mod failure;
pub mod files;
pub mod flow;
pub mod form;
pub mod id;
pub mod limits;
pub mod message;
pub mod name;
pub mod secret;
pub mod state;
pub mod stored;
pub mod turn;
pub mod units;

pub use ask::{Answer, Ask, AskKind, Choice};
pub use event::{Event, Recorded};
pub use failure::{Failure, FailureKind, Tier};
pub use form::Field;
pub use id::{AskId, CallId, InputId, SessionId};
pub use limits::Limits;
pub use message::{Entry, Message, Part, ToolCall, ToolResult, UserPart};
pub use name::{Mode, ModelName};
pub use state::{Phase, State, Status};
pub use turn::{Effect, Input, Machine};
pub use units::{Cost, Timestamp, Usage};
