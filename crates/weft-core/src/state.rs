//! What is known of a session: the fold over its events.
//!
//! [`State`] holds the small facts and is what a snapshot saves. [`Conversation`] holds the
//! contents; it is rebuilt from the events since `context_from`, of which compaction keeps few. So
//! opening a session costs what the model's window holds, however long the session is.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::{Answer, Ask, Grant};
use crate::event::{Access, Compacted, Delivery, EndReason, Event, Origin, Outcome, Output, Plan, StopCause};
use crate::id::{AskId, CallId, InputId, SessionId};
use crate::limits::Limits;
use crate::message::{Entry, Message, Part, ToolCall, ToolResult, UserPart, calls_of};
use crate::units::{Cost, Timestamp, Usage};

/// What an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Look, but change nothing.
    Safe,
    /// Ask before every change and every command.
    #[default]
    Ask,
    /// Go ahead.
    Auto,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Safe, Self::Ask, Self::Auto];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Ask => "ask",
            Self::Auto => "auto",
        }
    }

    /// The next one, as Shift+Tab cycles.
    pub const fn next(self) -> Self {
        match self {
            Self::Safe => Self::Ask,
            Self::Ask => Self::Auto,
            Self::Auto => Self::Safe,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| format!("`{text}` is not a mode: use safe, ask or auto"))
    }
}

/// Provider and model, written `provider/model`. The model's own name may contain slashes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelName {
    pub provider: Arc<str>,
    pub model: Arc<str>,
}

impl ModelName {
    pub fn new(provider: impl Into<Arc<str>>, model: impl Into<Arc<str>>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

impl FromStr for ModelName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(Self::new(provider, model)),
            _ => Err(format!("`{text}` is not a model: write PROVIDER/MODEL, like anthropic/claude-sonnet-4-5")),
        }
    }
}

impl Serialize for ModelName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where the turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// No turn.
    #[default]
    Idle,
    /// Between rounds.
    Ready,
    /// A model call is under way.
    Calling,
    /// A model call failed and is tried again at that moment.
    Retrying { at: Timestamp },
    /// The calls of the last answer are being worked through.
    Tools,
    /// A summary is being made.
    Compacting,
}

/// What a person sees of a session in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing under way.
    Idle,
    /// A turn is under way (or was, when the process that ran it died).
    Running,
    /// An ask is open and nothing else can go on.
    Waiting,
    /// The last turn ended early.
    Failed,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
        }
    }
}

/// The turn that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub number: u32,
    pub started_at: Timestamp,
    pub round: u32,
    pub attempt: u32,
    pub tool_calls: u32,
    pub tokens: u64,
    pub cost: Cost,
    /// Rounds in a row in which every tool failed.
    pub failed_rounds: u32,
    /// Fingerprint of the last round's calls and results, and how often in a row it came.
    pub repeated: (u64, u32),
    /// Set once the turn has been told to stop.
    pub stopping: Option<StopCause>,
    /// How many compactions since the last answer; more than one does not help.
    pub compactions: u32,
    /// Time spent waiting for a person or lying on disk, which the wall clock limit does not count.
    pub waited_ms: u64,
    pub waiting_since: Option<Timestamp>,
}

impl Turn {
    /// How long the turn has been worked on.
    pub fn worked_ms(&self, now: Timestamp) -> u64 {
        let waiting = self.waiting_since.map_or(0, |since| now.millis_since(since));
        now.millis_since(self.started_at).saturating_sub(self.waited_ms + waiting)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub id: SessionId,
    /// The last event folded in; 0 before the first.
    pub seq: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub workspace: String,
    pub agent: String,
    pub model: ModelName,
    pub mode: Mode,
    pub limits: Limits,
    pub origin: Option<Origin>,
    pub title: Option<String>,
    pub turns: u32,
    pub turn: Option<Turn>,
    pub phase: Phase,
    pub last_end: Option<EndReason>,
    pub grants: Vec<Grant>,
    pub usage: Usage,
    pub cost: Cost,
    /// What the next call will send, as far as known.
    pub context_tokens: u64,
    /// The same by our own estimate of the conversation, for providers that do not count.
    pub estimated_tokens: u64,
    /// The first event that the conversation is made of.
    pub context_from: u64,
    #[serde(skip)]
    pub conversation: Conversation,
}

impl State {
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            seq: 0,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
            workspace: String::new(),
            agent: String::new(),
            model: ModelName::new("offline", "offline"),
            mode: Mode::default(),
            limits: Limits::default(),
            origin: None,
            title: None,
            turns: 0,
            turn: None,
            phase: Phase::Idle,
            last_end: None,
            grants: Vec::new(),
            usage: Usage::default(),
            cost: Cost::ZERO,
            context_tokens: 0,
            estimated_tokens: 0,
            context_from: 1,
            conversation: Conversation::default(),
        }
    }

    /// Folds in the next event.
    pub fn apply(&mut self, seq: u64, at: Timestamp, event: &Event) {
        let before = self.updated_at;
        self.seq = seq;
        self.updated_at = at;
        self.apply_facts(at, event);
        let change = self.conversation.apply(seq, event);
        self.settle(seq, event, change);
        self.count_waiting(before, at, event);
    }

    /// A snapshot may be taken now: no call is half-way, so that the state without its conversation
    /// says everything.
    pub fn can_snapshot(&self) -> bool {
        self.conversation.calls.is_empty()
    }

    pub fn status(&self) -> Status {
        match self.phase {
            Phase::Idle => match &self.last_end {
                Some(end) if !end.is_success() && *end != EndReason::Interrupted => Status::Failed,
                _ => Status::Idle,
            },
            Phase::Tools if self.is_waiting() => Status::Waiting,
            Phase::Ready | Phase::Calling | Phase::Retrying { .. } | Phase::Tools | Phase::Compacting => {
                Status::Running
            }
        }
    }

    /// Every unfinished call waits for a person, or behind one that does.
    pub fn is_waiting(&self) -> bool {
        let calls = &self.conversation.calls;
        self.phase == Phase::Tools
            && calls.iter().any(|call| matches!(call.stage, Stage::Asking { .. }))
            && !calls.iter().any(|call| matches!(call.stage, Stage::Running))
            && !calls
                .iter()
                .enumerate()
                .any(|(index, call)| matches!(call.stage, Stage::Pending) && !self.conversation.is_blocked(index))
    }

    /// The moment at which something is due without anybody doing anything.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let retry = match self.phase {
            Phase::Retrying { at } => Some(at),
            Phase::Idle | Phase::Ready | Phase::Calling | Phase::Tools | Phase::Compacting => None,
        };
        let asks = self.open_asks().filter_map(|ask| ask.deadline);
        let limit = self.turn.as_ref().filter(|turn| turn.stopping.is_none() && !self.is_waiting()).and_then(|turn| {
            self.limits.wall_clock_ms.map(|millis| turn.started_at.plus_millis(millis.saturating_add(turn.waited_ms)))
        });
        retry.into_iter().chain(asks).chain(limit).min()
    }

    pub fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        self.conversation.calls.iter().filter_map(|call| match &call.stage {
            Stage::Asking { ask } => Some(ask),
            Stage::Pending | Stage::Running | Stage::Done { .. } => None,
        })
    }

    fn apply_facts(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::SessionStarted(started) => {
                self.created_at = at;
                self.workspace.clone_from(&started.workspace);
                self.agent.clone_from(&started.agent);
                self.model = started.model.clone();
                self.mode = started.mode;
                self.limits = started.limits.clone();
                self.origin = started.origin;
            }
            Event::TitleSet(set) => {
                self.title = Some(set.title.clone());
                self.spend(set.spent.as_ref(), false);
            }
            Event::ModeSet(set) => self.mode = set.mode,
            Event::ModelSet(set) => self.model = set.model.clone(),
            Event::TurnStarted(started) => {
                self.turns = started.turn;
                self.phase = Phase::Ready;
                self.turn = Some(Turn {
                    number: started.turn,
                    started_at: at,
                    round: 0,
                    attempt: 0,
                    tool_calls: 0,
                    tokens: 0,
                    cost: Cost::ZERO,
                    failed_rounds: 0,
                    repeated: (0, 0),
                    stopping: None,
                    compactions: 0,
                    waited_ms: 0,
                    waiting_since: None,
                });
            }
            Event::RoundStarted(started) => {
                self.phase = Phase::Calling;
                if let Some(turn) = &mut self.turn {
                    turn.round = started.round;
                    turn.attempt = started.attempt;
                }
            }
            Event::RoundAnswered(answered) => {
                self.spend(Some(&answered.spent), true);
                self.phase = Phase::Ready;
                if let Some(turn) = &mut self.turn {
                    let calls = calls_of(&answered.parts).count();
                    turn.tool_calls = turn.tool_calls.saturating_add(u32::try_from(calls).unwrap_or(u32::MAX));
                    turn.compactions = 0;
                    if calls > 0 {
                        self.phase = Phase::Tools;
                    }
                }
            }
            Event::RoundFailed(failed) => {
                self.spend(failed.spent.as_ref(), true);
                self.phase = failed.retry_at.map_or(Phase::Ready, |at| Phase::Retrying { at });
            }
            Event::GrantGiven(given) => {
                if !self.grants.contains(&given.grant) {
                    self.grants.push(given.grant.clone());
                }
            }
            Event::StopRequested(requested) => {
                if let Some(turn) = &mut self.turn {
                    turn.stopping = Some(requested.by);
                }
            }
            Event::TurnEnded(ended) => {
                self.phase = Phase::Idle;
                self.turn = None;
                self.last_end = Some(ended.reason.clone());
            }
            Event::CompactionStarted(_) => {
                self.phase = Phase::Compacting;
                if let Some(turn) = &mut self.turn {
                    turn.compactions += 1;
                }
            }
            Event::Compacted(compacted) => {
                self.phase = Phase::Ready;
                self.spend(compacted.spent.as_ref(), true);
            }
            Event::InputReceived(_)
            | Event::InputWithdrawn(_)
            | Event::ToolStarted(_)
            | Event::ToolFinished(_)
            | Event::AskRaised(_)
            | Event::AskAnswered(_)
            | Event::AskWithdrawn(_)
            | Event::Recovered(_)
            | Event::HookRan(_)
            | Event::Unknown(_) => {}
        }
    }

    /// What the conversation's change means for the facts.
    fn settle(&mut self, seq: u64, event: &Event, change: Change) {
        match change {
            Change::None => {}
            Change::Added { tokens } => {
                // A reported count includes the prompt and the tools, where it can be trusted.
                self.estimated_tokens = self.estimated_tokens.saturating_add(tokens);
                self.context_tokens = match event {
                    Event::RoundAnswered(answered) => answered.spent.usage.total().max(self.estimated_tokens),
                    _ => self.context_tokens.saturating_add(tokens),
                };
            }
            Change::Replaced { tokens } => {
                self.context_tokens = tokens;
                self.estimated_tokens = tokens;
                self.context_from = self.conversation.first_source().unwrap_or(seq).min(seq);
            }
            Change::RoundDone { tokens, all_failed, fingerprint } => {
                self.context_tokens = self.context_tokens.saturating_add(tokens);
                self.estimated_tokens = self.estimated_tokens.saturating_add(tokens);
                self.phase = Phase::Ready;
                if let Some(turn) = &mut self.turn {
                    turn.failed_rounds = if all_failed { turn.failed_rounds + 1 } else { 0 };
                    let (last, times) = turn.repeated;
                    turn.repeated = (fingerprint, if last == fingerprint { times + 1 } else { 1 });
                }
            }
        }
    }

    fn count_waiting(&mut self, before: Timestamp, at: Timestamp, event: &Event) {
        let waiting = self.is_waiting();
        let Some(turn) = &mut self.turn else { return };
        if let Event::Recovered(_) = event {
            turn.waited_ms = turn.waited_ms.saturating_add(at.millis_since(before));
        }
        match (turn.waiting_since, waiting) {
            (None, true) => turn.waiting_since = Some(at),
            (Some(since), false) => {
                turn.waited_ms = turn.waited_ms.saturating_add(at.millis_since(since));
                turn.waiting_since = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    fn spend(&mut self, spent: Option<&crate::event::Spent>, in_turn: bool) {
        let Some(spent) = spent else { return };
        self.usage += spent.usage;
        self.cost += spent.cost;
        if let (true, Some(turn)) = (in_turn, &mut self.turn) {
            turn.tokens = turn.tokens.saturating_add(spent.usage.total());
            turn.cost += spent.cost;
        }
    }
}

/// One tool call of the current round.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    pub call: ToolCall,
    pub plan: Plan,
    pub stage: Stage,
    /// A person said yes to this, in these words.
    pub approved: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// Not started: about to be checked by the guard, or behind a call it must wait for.
    Pending,
    Asking {
        ask: Ask,
    },
    Running,
    Done {
        outcome: Outcome,
        output: Output,
    },
}

/// Something said that no turn has taken yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    pub id: InputId,
    pub seq: u64,
    pub content: Vec<UserPart>,
    pub delivery: Delivery,
}

/// The contents: what the model will be shown, and what is being worked on.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    pub entries: Vec<Arc<Entry>>,
    pub queue: Vec<Queued>,
    pub calls: Vec<CallProgress>,
}

impl PartialEq for Conversation {
    fn eq(&self, other: &Self) -> bool {
        self.queue == other.queue
            && self.calls == other.calls
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(|(a, b)| a.seq == b.seq && a.message == b.message)
    }
}

/// What folding an event did to the conversation.
enum Change {
    None,
    Added { tokens: u64 },
    Replaced { tokens: u64 },
    RoundDone { tokens: u64, all_failed: bool, fingerprint: u64 },
}

impl Conversation {
    /// Folds in an event without regard to the rest of the state. Used alone to rebuild the part
    /// that lies before a snapshot.
    pub fn replay(&mut self, seq: u64, event: &Event) {
        self.apply(seq, event);
    }

    pub fn tokens(&self) -> u64 {
        self.entries.iter().map(|entry| entry.tokens).sum()
    }

    /// Whether the call at `index` must wait for an earlier one.
    pub fn is_blocked(&self, index: usize) -> bool {
        let Some(call) = self.calls.get(index) else { return false };
        self.calls.iter().take(index).any(|earlier| {
            !matches!(earlier.stage, Stage::Done { .. }) && call.plan.access.waits_for(&earlier.plan.access)
        })
    }

    fn first_source(&self) -> Option<u64> {
        let entries = self.entries.iter().map(|entry| entry.source).min();
        let queue = self.queue.iter().map(|queued| queued.seq).min();
        entries.into_iter().chain(queue).min()
    }

    fn apply(&mut self, seq: u64, event: &Event) -> Change {
        match event {
            Event::InputReceived(received) => {
                self.queue.push(Queued {
                    id: received.input,
                    seq,
                    content: received.content.clone(),
                    delivery: received.delivery,
                });
                Change::None
            }
            Event::InputWithdrawn(withdrawn) => {
                self.queue.retain(|queued| queued.id != withdrawn.input);
                Change::None
            }
            Event::TurnStarted(started) => self.take(seq, &started.inputs),
            Event::RoundStarted(started) => self.take(seq, &started.steered),
            Event::RoundAnswered(answered) => {
                self.calls = calls_of(&answered.parts)
                    .enumerate()
                    .map(|(index, call)| CallProgress {
                        call: call.clone(),
                        plan: answered
                            .plan
                            .get(index)
                            .cloned()
                            .unwrap_or(Plan { access: Access::Run, idempotent: false }),
                        stage: Stage::Pending,
                        approved: None,
                    })
                    .collect();
                if answered.parts.is_empty() {
                    return Change::None;
                }
                self.push(seq, seq, Message::Assistant(answered.parts.clone()))
            }
            Event::RoundFailed(failed) => {
                // What the model had said when it was stopped stays said.
                if failed.failure.kind == crate::FailureKind::Cancelled && !failed.partial.trim().is_empty() {
                    let text = format!("{}\n\n[stopped here by the person]", failed.partial.trim_end());
                    return self.push(seq, seq, Message::Assistant(vec![Part::Text { text }]));
                }
                Change::None
            }
            Event::ToolStarted(started) => self.set_stage(&started.call, Stage::Running),
            Event::AskRaised(raised) => self.set_stage(&raised.ask.call, Stage::Asking { ask: raised.ask.clone() }),
            Event::ToolFinished(finished) => {
                let stage = Stage::Done { outcome: finished.outcome, output: finished.output.clone() };
                self.set_stage(&finished.call, stage);
                self.finish_round(seq)
            }
            Event::AskAnswered(answered) => {
                self.close_ask(answered.ask, matches!(answered.answer, Answer::Approve { .. }))
            }
            Event::AskWithdrawn(withdrawn) => self.close_ask(withdrawn.ask, false),
            Event::Compacted(compacted) => self.compact(seq, compacted),
            Event::SessionStarted(_)
            | Event::TitleSet(_)
            | Event::ModeSet(_)
            | Event::ModelSet(_)
            | Event::GrantGiven(_)
            | Event::StopRequested(_)
            | Event::TurnEnded(_)
            | Event::CompactionStarted(_)
            | Event::Recovered(_)
            | Event::HookRan(_)
            | Event::Unknown(_) => Change::None,
        }
    }

    fn push(&mut self, seq: u64, source: u64, message: Message) -> Change {
        let entry = Entry::new(seq, source, message);
        let tokens = entry.tokens;
        self.entries.push(entry);
        Change::Added { tokens }
    }

    /// Moves inputs from the queue into the conversation, as one message.
    fn take(&mut self, seq: u64, inputs: &[InputId]) -> Change {
        let mut source = seq;
        let mut content = Vec::new();
        self.queue.retain(|queued| {
            if !inputs.contains(&queued.id) {
                return true;
            }
            source = source.min(queued.seq);
            content.extend(queued.content.iter().cloned());
            false
        });
        if content.is_empty() { Change::None } else { self.push(seq, source, Message::User(content)) }
    }

    fn set_stage(&mut self, call: &CallId, stage: Stage) -> Change {
        if let Some(progress) = self.calls.iter_mut().find(|progress| progress.call.id == *call) {
            progress.stage = stage;
        }
        Change::None
    }

    /// An ask that closed leaves its call approved, or pending until the next event says what
    /// becomes of it.
    fn close_ask(&mut self, id: AskId, approved: bool) -> Change {
        for progress in &mut self.calls {
            let Stage::Asking { ask } = &progress.stage else { continue };
            if ask.id == id {
                // "Write `a`? It is new." was asked; "Write `a`" is done.
                let words = ask.question.rsplit_once('?').map_or(ask.question.as_str(), |(before, _)| before);
                progress.approved = approved.then(|| words.to_owned());
                progress.stage = Stage::Pending;
            }
        }
        Change::None
    }

    /// When the last call of a round is done, its results enter the conversation in call order.
    fn finish_round(&mut self, seq: u64) -> Change {
        if self.calls.is_empty() || !self.calls.iter().all(|call| matches!(call.stage, Stage::Done { .. })) {
            return Change::None;
        }
        let calls = std::mem::take(&mut self.calls);
        let mut results = Vec::with_capacity(calls.len());
        let mut fingerprint = Fingerprint::new();
        let mut all_failed = true;
        let mut settled = Vec::new();
        for progress in calls {
            let Stage::Done { outcome, output } = progress.stage else { continue };
            fingerprint.add(progress.call.name.as_bytes());
            fingerprint.add(progress.call.input.to_string().as_bytes());
            fingerprint.add(output.text.as_bytes());
            all_failed &= outcome.is_error();
            if !output.settled.is_empty() {
                settled.push((progress.call.id.clone(), output.settled));
            }
            results.push(ToolResult {
                call: progress.call.id,
                name: progress.call.name,
                text: output.text,
                images: output.images,
                is_error: outcome.is_error(),
            });
        }
        self.settle_bodies(&settled);
        let source = self.entries.last().map_or(seq, |entry| entry.source);
        let Change::Added { tokens } = self.push(seq, source, Message::Tool(results)) else { return Change::None };
        Change::RoundDone { tokens, all_failed, fingerprint: fingerprint.0 }
    }

    /// Bodies that a tool has written to disk are not sent again: their size stands in for them.
    fn settle_bodies(&mut self, settled: &[(CallId, Vec<String>)]) {
        if settled.is_empty() {
            return;
        }
        let Some(last) = self.entries.last_mut() else { return };
        let Message::Assistant(parts) = &last.message else { return };
        let mut parts = parts.clone();
        for part in &mut parts {
            let Part::ToolCall(call) = part else { continue };
            let Some((_, fields)) = settled.iter().find(|(id, _)| *id == call.id) else { continue };
            for field in fields {
                if let Some(value) = call.input.get_mut(field) {
                    shorten(value);
                }
            }
        }
        *last = Entry::new(last.seq, last.source, Message::Assistant(parts));
    }

    fn compact(&mut self, seq: u64, compacted: &Compacted) -> Change {
        self.entries.retain(|entry| entry.seq > compacted.upto);
        let summary = Entry::new(compacted.upto, seq, Message::user(compacted.summary.clone()));
        self.entries.insert(0, summary);
        Change::Replaced { tokens: self.tokens() }
    }
}

/// Strings longer than this are replaced by their size once they are on disk.
const KEEP_BODY: usize = 400;

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > KEEP_BODY => {
            *value = Value::String(format!("[{} bytes, saved]", text.len()));
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// FNV-1a: the same on every machine and version, which a log needs.
struct Fingerprint(u64);

impl Fingerprint {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
