//! What is known of a session: the fold over its events.
//!
//! [`State`] holds the small facts and is what a snapshot saves. [`Conversation`] holds the
//! contents; it is rebuilt from the events since `context_from`, of which compaction keeps few. So
//! opening a session costs what the model's window holds, however long the session is.

use serde::{Deserialize, Serialize};

use crate::ask::{Ask, Grant};
use crate::conversation::Change;
pub use crate::conversation::{CallProgress, Conversation, Queued, Stage};
use crate::event::{EndReason, Event, Origin, Spent, StopCause};
use crate::files::FileHistory;
use crate::flow::{Answered, Run};
use crate::id::SessionId;
use crate::limits::Limits;
use crate::message::calls_of;
pub use crate::name::{Mode, ModelName};
use crate::units::{Cost, Timestamp, Usage};

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
    const fn begin(number: u32, at: Timestamp) -> Self {
        Self {
            number,
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
        }
    }

    /// How long the turn has been worked on.
    pub fn worked_ms(&self, now: Timestamp) -> u64 {
        let waiting = self.waiting_since.map_or(0, |since| now.millis_since(since));
        now.millis_since(self.started_at).saturating_sub(self.waited_ms.saturating_add(waiting))
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
    /// Tools beyond the core that the model has asked for, in that order.
    #[serde(default)]
    pub loaded: Vec<String>,
    /// Which turns changed files, and can be taken back.
    #[serde(default)]
    pub files: FileHistory,
    /// The last run of a flow.
    #[serde(default)]
    pub run: Option<Run>,
    /// The last run that came to its end: what a follow-up builds on.
    #[serde(default)]
    pub answered: Option<Answered>,
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
            loaded: Vec::new(),
            files: FileHistory::default(),
            run: None,
            answered: None,
            conversation: Conversation::default(),
        }
    }

    /// Folds in the next event.
    pub fn apply(&mut self, seq: u64, at: Timestamp, event: &Event) {
        let before = self.updated_at;
        self.seq = seq;
        self.updated_at = at;
        self.apply_facts(at, event);
        crate::flow::apply(&mut self.run, &mut self.answered, seq, at, event);
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
            && !calls.iter().any(|call| call.stage.is_running())
            && !calls
                .iter()
                .enumerate()
                .any(|(index, call)| matches!(call.stage, Stage::Pending) && !self.conversation.is_blocked(index))
    }

    /// Nothing goes on before a person answers, whether or not a call runs that has asked.
    pub fn waits_for_person(&self) -> bool {
        let calls = &self.conversation.calls;
        let inquires = calls.iter().any(|call| matches!(call.stage, Stage::Inquiring { .. }));
        self.is_waiting() || (inquires && !calls.iter().any(|call| matches!(call.stage, Stage::Running)))
    }

    /// Whether this question comes out of a call that runs.
    pub fn is_inquiry(&self, ask: crate::id::AskId) -> bool {
        let is_it = |stage: &Stage| matches!(stage, Stage::Inquiring { ask: open } if open.id == ask);
        self.conversation.calls.iter().any(|call| is_it(&call.stage))
    }

    /// The moment at which something is due without anybody doing anything.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let retry = match self.phase {
            Phase::Retrying { at } => Some(at),
            Phase::Idle | Phase::Ready | Phase::Calling | Phase::Tools | Phase::Compacting => None,
        };
        let asks = self.open_asks().filter_map(|ask| ask.deadline);
        let limit =
            self.turn.as_ref().filter(|turn| turn.stopping.is_none() && !self.waits_for_person()).and_then(|turn| {
                self.limits
                    .wall_clock_ms
                    .map(|millis| turn.started_at.plus_millis(millis.saturating_add(turn.waited_ms)))
            });
        retry.into_iter().chain(asks).chain(limit).min()
    }

    pub fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        self.conversation.calls.iter().filter_map(|call| match &call.stage {
            Stage::Asking { ask } | Stage::Inquiring { ask } => Some(ask),
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
            Event::LimitsSet(set) => self.limits = set.limits.clone(),
            Event::TurnStarted(started) => {
                self.turns = started.turn;
                self.phase = Phase::Ready;
                self.turn = Some(Turn::begin(started.turn, at));
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
                let calls = calls_of(&answered.parts).count();
                self.count_calls(calls);
                if let Some(turn) = &mut self.turn {
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
            Event::Sampled(sampled) => self.spend(Some(&sampled.spent), true),
            Event::GrantGiven(given) => add_new(&mut self.grants, std::slice::from_ref(&given.grant)),
            Event::ToolFinished(finished) => add_new(&mut self.loaded, &finished.output.loads),
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
            Event::FilesChanged(changed) => self.files.changed(changed),
            Event::FilesRestored(restored) => self.files.restored(restored),
            Event::InputReceived(received) => {
                if let Some(shorthand) = &received.shorthand {
                    add_new(&mut self.loaded, &shorthand.loads);
                }
            }
            Event::StageCalls(made) => {
                self.phase = if made.calls.is_empty() { Phase::Ready } else { Phase::Tools };
                self.count_calls(made.calls.len());
            }
            Event::FlowStarted(_)
            | Event::FlowContinued(_)
            | Event::StageStarted(_)
            | Event::StageFinished(_)
            | Event::StageSkipped(_)
            | Event::StageFailed(_)
            | Event::FlowPaused(_)
            | Event::FlowResumed(_)
            | Event::BreakoutAsked(_)
            | Event::RepairStarted(_)
            | Event::FlowEnded(_)
            | Event::InputWithdrawn(_)
            | Event::ToolStarted(_)
            | Event::AskRaised(_)
            | Event::AskAnswered(_)
            | Event::AskWithdrawn(_)
            | Event::Recovered(_)
            | Event::HookRan(_)
            | Event::Unknown(_) => {}
        }
    }

    /// Calls of models and of stages count alike.
    fn count_calls(&mut self, calls: usize) {
        if let Some(turn) = &mut self.turn {
            turn.tool_calls = turn.tool_calls.saturating_add(u32::try_from(calls).unwrap_or(u32::MAX));
        }
    }

    /// What the conversation's change means for the facts.
    fn settle(&mut self, seq: u64, event: &Event, change: Change) {
        match change {
            Change::None => {}
            Change::StepDone => {
                self.phase = Phase::Ready;
                if let Some(run) = &mut self.run {
                    run.calls_done();
                }
            }
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
        let waiting = self.waits_for_person();
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

    fn spend(&mut self, spent: Option<&Spent>, in_turn: bool) {
        let Some(spent) = spent else { return };
        self.usage += spent.usage;
        self.cost += spent.cost;
        if let (true, Some(turn)) = (in_turn, &mut self.turn) {
            turn.tokens = turn.tokens.saturating_add(spent.usage.total());
            turn.cost += spent.cost;
        }
    }
}
/// Adds what is not there yet.
fn add_new<T: Clone + PartialEq>(known: &mut Vec<T>, more: &[T]) {
    for new in more {
        if !known.contains(new) {
            known.push(new.clone());
        }
    }
}
