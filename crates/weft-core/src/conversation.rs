//! The contents of a session: what the model will be shown, and the calls that are being worked on.

use std::sync::Arc;

use serde_json::Value;

use crate::ask::{Answer, Ask, AskKind};
use crate::event::{Access, Compacted, Delivery, Event, FlowEnded, Outcome, Output, Plan};
use crate::id::{AskId, CallId, InputId};
use crate::message::{Entry, Message, Part, ToolCall, ToolResult, UserPart, calls_of};

/// One tool call of the current round.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    pub call: ToolCall,
    pub plan: Plan,
    pub stage: Stage,
    /// A person said yes to it.
    pub approved: Option<Approval>,
}

/// What a person said yes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// "Run `make`".
    pub words: String,
    /// Exactly what was shown: the full command, or a diff.
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// Not started: about to be checked by the guard, or behind a call it must wait for.
    Pending,
    Asking {
        ask: Ask,
    },
    Running,
    /// It runs, and has a question of its own to a person.
    Inquiring {
        ask: Ask,
    },
    Done {
        outcome: Outcome,
        output: Output,
    },
}

impl Stage {
    /// Whether somebody is at work on it.
    pub const fn is_running(&self) -> bool {
        match self {
            Self::Running | Self::Inquiring { .. } => true,
            Self::Pending | Self::Asking { .. } | Self::Done { .. } => false,
        }
    }
}

/// Something said that no turn has taken yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    pub id: InputId,
    pub seq: u64,
    pub content: Vec<UserPart>,
    pub delivery: Delivery,
    /// What the person wrote, where it stands for more.
    pub typed: Option<String>,
}

/// The contents: what the model will be shown, and what is being worked on.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    pub entries: Vec<Arc<Entry>>,
    pub queue: Vec<Queued>,
    pub calls: Vec<CallProgress>,
    /// A flow is at work: what its stages ask and are answered is not part of the conversation.
    staged: bool,
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
pub(crate) enum Change {
    None,
    Added {
        tokens: u64,
    },
    Replaced {
        tokens: u64,
    },
    RoundDone {
        tokens: u64,
        all_failed: bool,
        fingerprint: u64,
    },
    /// The calls of a flow's step are done.
    StepDone,
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

    pub(crate) fn first_source(&self) -> Option<u64> {
        let entries = self.entries.iter().map(|entry| entry.source).min();
        let queue = self.queue.iter().map(|queued| queued.seq).min();
        entries.into_iter().chain(queue).min()
    }

    pub(crate) fn apply(&mut self, seq: u64, event: &Event) -> Change {
        match event {
            Event::InputReceived(received) => {
                self.queue.push(Queued {
                    id: received.input,
                    seq,
                    content: received.content.clone(),
                    delivery: received.delivery,
                    typed: received.shorthand.as_ref().map(|shorthand| shorthand.typed.clone()),
                });
                Change::None
            }
            Event::InputWithdrawn(withdrawn) => {
                self.queue.retain(|queued| queued.id != withdrawn.input);
                Change::None
            }
            Event::TurnStarted(started) => self.take(seq, &started.inputs),
            Event::RoundStarted(started) => self.take(seq, &started.steered),
            Event::RoundAnswered(_) if self.staged => Change::None,
            Event::RoundAnswered(answered) => {
                self.calls = in_order(calls_of(&answered.parts), &answered.plan);
                if answered.parts.is_empty() {
                    return Change::None;
                }
                self.push(seq, seq, Message::Assistant(answered.parts.clone()))
            }
            Event::RoundFailed(_) if self.staged => Change::None,
            Event::RoundFailed(failed) => {
                // What the model had said when it was stopped stays said.
                if failed.failure.kind == crate::FailureKind::Cancelled && !failed.partial.trim().is_empty() {
                    let text = format!("{}\n\n[stopped here by the person]", failed.partial.trim_end());
                    return self.push(seq, seq, Message::Assistant(vec![Part::Text { text }]));
                }
                Change::None
            }
            Event::ToolStarted(started) => self.set_stage(&started.call, Stage::Running),
            Event::AskRaised(raised) => {
                let ask = raised.ask.clone();
                let runs = self.calls.iter().any(|call| call.call.id == ask.call && call.stage.is_running());
                let stage = if runs { Stage::Inquiring { ask } } else { Stage::Asking { ask } };
                self.set_stage(&raised.ask.call, stage)
            }
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
            Event::FilesRestored(restored) => self.push(seq, seq, Message::user(restored.notice())),
            Event::FlowStarted(_) | Event::FlowContinued(_) => {
                self.staged = true;
                Change::None
            }
            Event::TurnEnded(_) => {
                self.staged = false;
                Change::None
            }
            Event::StageCalls(made) => {
                self.calls = in_order(made.calls.iter(), &made.plan);
                if self.calls.is_empty() { Change::StepDone } else { Change::None }
            }
            Event::FlowResumed(resumed) => self.drop_queued(&resumed.inputs),
            Event::BreakoutAsked(asked) => self.drop_queued(&asked.inputs),
            Event::FlowEnded(ended) => self.flow_ended(seq, ended),
            Event::SessionStarted(_)
            | Event::TitleSet(_)
            | Event::ModeSet(_)
            | Event::ModelSet(_)
            | Event::LimitsSet(_)
            | Event::GrantGiven(_)
            | Event::StopRequested(_)
            | Event::StageStarted(_)
            | Event::StageFinished(_)
            | Event::StageSkipped(_)
            | Event::StageFailed(_)
            | Event::FlowPaused(_)
            | Event::RepairStarted(_)
            | Event::CompactionStarted(_)
            | Event::Recovered(_)
            | Event::HookRan(_)
            | Event::Sampled(_)
            | Event::FilesChanged(_)
            | Event::Unknown(_) => Change::None,
        }
    }

    fn push(&mut self, seq: u64, source: u64, message: Message) -> Change {
        let entry = Entry::new(seq, source, message);
        let tokens = entry.tokens;
        self.entries.push(entry);
        Change::Added { tokens }
    }

    /// Replies to a flow's pause are answered by the flow.
    fn drop_queued(&mut self, inputs: &[InputId]) -> Change {
        self.queue.retain(|queued| !inputs.contains(&queued.id));
        Change::None
    }

    /// What a run leaves behind: its document, and what the person said when they left it.
    fn flow_ended(&mut self, seq: u64, ended: &FlowEnded) -> Change {
        self.staged = false;
        self.drop_queued(&ended.inputs);
        let mut tokens = 0;
        let left = ended.document.clone().unwrap_or_else(|| ended.summary.clone());
        let said = ended.said.clone().map(Message::user);
        let answer = Message::Assistant(vec![Part::Text { text: left }]);
        for message in [Some(answer), said].into_iter().flatten() {
            if let Change::Added { tokens: more } = self.push(seq, seq, message) {
                tokens += more;
            }
        }
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
            if matches!(&progress.stage, Stage::Inquiring { ask } if ask.id == id) {
                progress.stage = Stage::Running;
            }
            let Stage::Asking { ask } = &progress.stage else { continue };
            if ask.id == id {
                // "Write `a`? It is new." was asked; "Write `a`" is done.
                let words = ask.question.rsplit_once('?').map_or(ask.question.as_str(), |(before, _)| before);
                let detail = match &ask.kind {
                    AskKind::Approval { detail, .. } => detail.clone(),
                    AskKind::Question { .. } | AskKind::Form { .. } => String::new(),
                };
                progress.approved = approved.then(|| Approval { words: words.to_owned(), detail });
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
        if self.staged {
            return Change::StepDone;
        }
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

/// Calls that nothing has been done about yet, each with what it touches.
fn in_order<'a>(calls: impl Iterator<Item = &'a ToolCall>, plan: &[Plan]) -> Vec<CallProgress> {
    let unknown = Plan { access: Access::Run, idempotent: false };
    calls
        .enumerate()
        .map(|(index, call)| CallProgress {
            call: call.clone(),
            plan: plan.get(index).unwrap_or(&unknown).clone(),
            stage: Stage::Pending,
            approved: None,
        })
        .collect()
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
