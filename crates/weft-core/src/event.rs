//! The facts of a session. All state is a fold over them (see [`crate::state`]).
//!
//! A kind's number is its name on disk and is never used again. A changed shape gets a new number;
//! the old one is still read and lifted to the new shape in [`crate::stored`]. Kinds from a newer
//! Weft arrive as [`Event::Unknown`]: kept, shown as such, and skipped by the fold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::{Answer, Ask, Grant};
use crate::failure::Failure;
pub use crate::files::{FilesChanged, FilesRestored};
pub use crate::flow::{
    BreakoutAsked, FlowContinued, FlowEnded, FlowPaused, FlowResumed, FlowStarted, RepairStarted, StageCalls,
    StageFailed, StageFinished, StageSkipped, StageStarted,
};
use crate::id::{AskId, CallId, InputId, SessionId};
use crate::limits::Limits;
use crate::message::{Image, Part, UserPart};
use crate::state::{Mode, ModelName};
use crate::units::{Cost, Timestamp, Usage};

/// An event in its place: number `seq` of its session, written at `at`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recorded {
    pub session: SessionId,
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

macro_rules! events {
    ($($(#[$doc:meta])* $number:literal $name:ident,)*) => {
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
            /// Written by a newer Weft.
            Unknown(Unknown),
        }

        impl Event {
            /// The number this kind has on disk.
            pub const fn kind(&self) -> u16 {
                match self {
                    $(Self::$name(_) => $number,)*
                    Self::Unknown(unknown) => unknown.kind,
                }
            }

            /// The payload as JSON, without its kind.
            pub(crate) fn payload(&self) -> Result<Vec<u8>, serde_json::Error> {
                match self {
                    $(Self::$name(payload) => serde_json::to_vec(payload),)*
                    Self::Unknown(unknown) => serde_json::to_vec(&unknown.data),
                }
            }

            pub(crate) fn from_payload(kind: u16, data: &[u8]) -> Result<Self, serde_json::Error> {
                match kind {
                    $($number => serde_json::from_slice(data).map(Self::$name),)*
                    _ => serde_json::from_slice(data).map(|data| Self::Unknown(Unknown { kind, data })),
                }
            }

            /// Every kind this version writes.
            pub const KINDS: &'static [(u16, &'static str)] = &[$(($number, stringify!($name)),)*];
        }

        $(impl From<$name> for Event {
            fn from(payload: $name) -> Self {
                Self::$name(payload)
            }
        })*
    };
}

events! {
    1 SessionStarted,
    2 TitleSet,
    3 ModeSet,
    4 ModelSet,
    /// Somebody said something. It waits in the queue until a turn or round takes it.
    5 InputReceived,
    6 InputWithdrawn,
    7 TurnStarted,
    /// A model call is about to be made.
    8 RoundStarted,
    9 RoundAnswered,
    10 RoundFailed,
    /// A tool is about to run.
    11 ToolStarted,
    12 ToolFinished,
    13 AskRaised,
    14 AskAnswered,
    /// An ask closed without an answer.
    15 AskWithdrawn,
    16 GrantGiven,
    17 StopRequested,
    18 TurnEnded,
    19 CompactionStarted,
    20 Compacted,
    /// The session was found unfinished and is carried on.
    21 Recovered,
    22 HookRan,
    23 LimitsSet,
    30 FilesChanged,
    31 FilesRestored,
    /// A model answered a source that asked it during a call.
    40 Sampled,
    50 FlowStarted,
    51 FlowContinued,
    52 StageStarted,
    53 StageCalls,
    54 StageFinished,
    55 StageSkipped,
    56 StageFailed,
    57 FlowPaused,
    58 FlowResumed,
    59 BreakoutAsked,
    60 RepairStarted,
    61 FlowEnded,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unknown {
    pub kind: u16,
    pub data: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// The folder it works in, absolute.
    pub workspace: String,
    pub agent: String,
    pub model: ModelName,
    pub mode: Mode,
    pub limits: Limits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Where a session that is not a root came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    /// Run on behalf of another session.
    Child { parent: SessionId },
    /// A copy of another session up to and including event `seq`.
    Fork { parent: SessionId, seq: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TitleSet {
    pub title: String,
    /// What it cost to find, if a model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModeSet {
    pub mode: Mode,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSet {
    pub model: ModelName,
}

/// Other limits, from the turn that is under way on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitsSet {
    pub limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputReceived {
    pub input: InputId,
    pub content: Vec<UserPart>,
    pub delivery: Delivery,
    /// What the person wrote, where it stands for more, such as `/review src`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shorthand: Option<Shorthand>,
}

/// A few words that stand for the content of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shorthand {
    pub typed: String,
    /// Tools that the model has from then on; `mcp__docs__*` stands for all of a source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<String>,
}

/// When something said during a turn reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// With the next round of the turn that runs.
    Steer,
    /// As a turn of its own, after this one.
    FollowUp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputWithdrawn {
    pub input: InputId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// Counts from 1 within the session.
    pub turn: u32,
    /// What it answers. Empty when a turn that ended early is carried on.
    pub inputs: Vec<InputId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundStarted {
    /// Counts from 1 within the turn.
    pub round: u32,
    /// Counts from 1 within the round.
    pub attempt: u32,
    pub model: ModelName,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steered: Vec<InputId>,
}

/// One paid call: who was asked, and what it used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub model: ModelName,
    pub usage: Usage,
    pub cost: Cost,
    pub millis: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundAnswered {
    pub parts: Vec<Part>,
    pub stop: StopReason,
    pub spent: Spent,
    /// How long it thought, as far as it was heard: from the first words of a thought until it said or did something
    /// else. The rest of `spent.millis` is waiting and answering.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thinking_millis: u64,
    /// For each tool call in `parts`, in order, what the registry knows of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<Plan>,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    End,
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// The provider wants to be called again with what it has said.
    Pause,
    Refusal,
    /// It has nothing more to try, and what it said is that the request was not met.
    Unable,
}

/// What a tool call touches, so that calls that could disturb each other run one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "access", rename_all = "snake_case")]
pub enum Access {
    Read,
    Write { path: String },
    Run,
}

impl Access {
    /// Whether a later call must wait for an earlier one. Reads and commands run side by side, and
    /// so do writes to different files.
    pub fn waits_for(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Read | Self::Run, Self::Read | Self::Run) => false,
            (Self::Write { path }, Self::Write { path: other }) => path == other,
            (Self::Write { .. }, Self::Read | Self::Run) | (Self::Read | Self::Run, Self::Write { .. }) => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    #[serde(flatten)]
    pub access: Access,
    /// Running it again does no harm, so it may be run again after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundFailed {
    pub failure: Failure,
    /// What had been streamed when it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
    /// When it will be tried again, if it will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolStarted {
    pub call: CallId,
    pub tool: String,
    /// In plain words: "Run `cargo test`".
    pub summary: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFinished {
    pub call: CallId,
    pub tool: String,
    pub outcome: Outcome,
    pub output: Output,
    #[serde(default)]
    pub millis: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// It ran and could not do what was asked.
    Failed,
    /// Unknown tool, or arguments that are not JSON or do not fit the schema. It did not run.
    Invalid,
    /// Permission was refused. It did not run.
    Denied,
    /// Stopped half-way, by a person, a limit or a crash. What it did is not known.
    Interrupted,
}

impl Outcome {
    pub const fn is_error(self) -> bool {
        match self {
            Self::Ok => false,
            Self::Failed | Self::Invalid | Self::Denied | Self::Interrupted => true,
        }
    }
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// What the model sees. Capped by the guard.
    pub text: String,
    /// In plain words, for people: "Edited `src/gate.rs` +12 −3".
    pub summary: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// Where the whole output lies, when `text` is only a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// Fields of the call's input that are now on disk and need not be sent to the model again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<String>,
    /// Tools that the model has from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<String>,
    /// The result for programs. A flow's stages read this; a model never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// What a screen can show of a result beyond its summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Display {
    /// A unified diff.
    Diff {
        path: String,
        diff: String,
        added: u32,
        removed: u32,
    },
    Command {
        command: String,
        exit_code: Option<i32>,
    },
    Todo {
        items: Vec<TodoItem>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub text: String,
    pub state: TodoState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    Open,
    Active,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    pub path: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskRaised {
    pub ask: Ask,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskAnswered {
    pub ask: AskId,
    pub answer: Answer,
    /// The client it came from: "terminal", "cli", "web".
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskWithdrawn {
    pub ask: AskId,
    pub why: Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    Expired,
    /// The person said something else instead.
    Superseded,
    Stopped,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantGiven {
    pub grant: Grant,
    /// In this workspace for good, not only in this session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopRequested {
    pub by: StopCause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    Person,
    WallClock,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnEnded {
    pub turn: u32,
    pub reason: EndReason,
}

/// Why a turn is over. Ending is a fact in the log, not a flag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum EndReason {
    Completed,
    /// Cut off by the model's output limit.
    Truncated,
    /// The model declined to answer.
    Refused,
    Interrupted,
    RoundLimit {
        limit: u32,
    },
    ToolCallLimit {
        limit: u32,
    },
    TimeLimit {
        limit_ms: u64,
    },
    TokenLimit {
        limit: u64,
    },
    CostLimit {
        limit: Cost,
    },
    AllToolsFailed {
        rounds: u32,
    },
    /// The same calls with the same results, again and again.
    Stuck {
        rounds: u32,
    },
    ModelFailed {
        failure: Failure,
    },
    /// A stage of a flow could not go on.
    StageFailed {
        stage: String,
        message: String,
    },
    /// The next call of a flow could have cost more than its budget.
    FlowBudget {
        limit: Cost,
    },
}

/// How a turn ended, where it does not matter why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Completed,
    Interrupted,
    /// By a limit or a failure.
    Early,
}

impl EndReason {
    pub const fn ending(&self) -> Ending {
        match self {
            Self::Completed => Ending::Completed,
            Self::Interrupted => Ending::Interrupted,
            Self::Truncated
            | Self::Refused
            | Self::RoundLimit { .. }
            | Self::ToolCallLimit { .. }
            | Self::TimeLimit { .. }
            | Self::TokenLimit { .. }
            | Self::CostLimit { .. }
            | Self::AllToolsFailed { .. }
            | Self::Stuck { .. }
            | Self::ModelFailed { .. }
            | Self::StageFailed { .. }
            | Self::FlowBudget { .. } => Ending::Early,
        }
    }

    pub const fn is_success(&self) -> bool {
        matches!(self.ending(), Ending::Completed)
    }
}

impl std::fmt::Display for EndReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Completed => f.write_str("Done."),
            Self::Truncated => {
                f.write_str("The answer was cut off by the model's output limit. Say `go on` to continue.")
            }
            Self::Refused => {
                f.write_str("The model declined to answer. Rephrase the request, or choose another model.")
            }
            Self::Interrupted => f.write_str("Stopped."),
            Self::RoundLimit { limit } => {
                write!(f, "Stopped after {}, the limit for one turn. `weft resume` goes on.", counted(*limit, "round"))
            }
            Self::ToolCallLimit { limit } => {
                write!(
                    f,
                    "Stopped after {}, the limit for one turn. `weft resume` goes on.",
                    counted(*limit, "tool call")
                )
            }
            Self::TimeLimit { limit_ms } => {
                write!(f, "Stopped after {} s, the limit for one turn. `weft resume` goes on.", limit_ms / 1000)
            }
            Self::TokenLimit { limit } => {
                write!(f, "Stopped at {limit} tokens, the limit for one turn. `weft resume` goes on.")
            }
            Self::CostLimit { limit } => {
                write!(f, "Stopped at {limit}, the limit for one turn. `weft resume` goes on.")
            }
            Self::AllToolsFailed { rounds } => {
                write!(
                    f,
                    "Stopped: every tool failed in {} in a row. See the errors above, then say how to go on.",
                    counted(*rounds, "round")
                )
            }
            Self::Stuck { rounds } => {
                write!(
                    f,
                    "Stopped: the same calls gave the same results {rounds} times in a row. Say what to do differently."
                )
            }
            Self::ModelFailed { failure } => write!(f, "{} {}", failure.message, failure.advice()),
            Self::StageFailed { stage, message } => {
                write!(f, "Stopped in the stage \"{stage}\": {message} `weft resume` tries it again.")
            }
            Self::FlowBudget { limit } => {
                write!(
                    f,
                    "Stopped before the next call could exceed the budget of {limit}. What it has found is kept: `weft \
                     research resume --budget USD` goes on."
                )
            }
        }
    }
}

fn counted(count: u32, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionStarted {
    pub cause: CompactionCause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionCause {
    /// The conversation neared the model's window.
    Threshold,
    /// The model refused it as too long.
    Overflow,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compacted {
    /// Messages put in place by events up to this one are now represented by `summary`.
    pub upto: u64,
    pub summary: String,
    pub method: Method,
    pub tokens_before: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A model wrote the summary.
    Model,
    /// Put together from the conversation's own sentences, without a model.
    Extractive,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recovered {
    /// Tool calls that were under way and are now marked as interrupted.
    pub interrupted: Vec<CallId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    /// The call during which it asked.
    pub call: CallId,
    pub source: String,
    pub spent: Spent,
}

/// A user's hook did something worth knowing: it blocked, added something, or failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookRan {
    pub hook: String,
    pub point: String,
    pub result: String,
}
