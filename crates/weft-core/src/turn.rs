//! The turn loop: given what is known and what just happened, what follows.
//!
//! [`Machine::step`] takes one [`Input`], emits events (folded in at once) and returns the
//! [`Effect`]s to perform *after those events are durable*. It does nothing else: no clock, no
//! I/O, no randomness. A crash at any point is answered with [`Input::Recover`] on the folded log.
//!
//! ```text
//! Idle ─input▶ Ready ─▶ Calling ─answer▶ Tools ─all done▶ Ready ─▶ … ─▶ Idle
//!                 ▲        │ failure                         │
//!                 └─timer─ Retrying            Compacting ◀──┘ near the window
//! ```

mod files;
mod flow;
mod inquiry;
mod tools;

use std::collections::{HashMap, HashSet};

use crate::ask::{Answer, Ask, AskKind, Choice};
use crate::event::{
    AskAnswered, Compacted, CompactionCause, CompactionStarted, Delivery, EndReason, Event, FilesChanged,
    FilesRestored, GrantGiven, HookRan, InputReceived, InputWithdrawn, LimitsSet, ModeSet, ModelSet, Outcome, Output,
    Recovered, RoundAnswered, RoundFailed, RoundStarted, Sampled, SessionStarted, Shorthand, Spent, StopCause,
    StopReason, StopRequested, TitleSet, TurnEnded, TurnStarted, Withdrawn,
};
use crate::failure::{Failure, FailureKind};
use crate::flow::{FlowContinued, FlowStarted, Work};
use crate::id::{AskId, CallId, InputId};
use crate::limits::Limits;
use crate::message::{Part, ToolCall, UserPart, calls_of};
use crate::state::{Mode, ModelName, Phase, Stage, State};
use crate::units::{Cost, Timestamp};

/// Something that happened outside and matters to the session.
#[derive(Debug, Clone)]
pub enum Input {
    /// The first fact of a new session.
    Begin(SessionStarted),
    /// A person (or a parent session) says something.
    Submit {
        id: InputId,
        content: Vec<UserPart>,
        delivery: Delivery,
        shorthand: Option<Shorthand>,
    },
    /// Starts a run of a flow with something said, as a turn of its own.
    StartFlow {
        id: InputId,
        content: Vec<UserPart>,
        flow: Box<FlowStarted>,
    },
    /// What the stage under way needs next.
    Staged(Work),
    /// Takes back something that is still queued.
    Withdraw {
        id: InputId,
    },
    /// Goes on where the last turn ended early.
    Continue,
    /// The same with a run of a flow that may cost this much from now on.
    ContinueFlow {
        budget: Cost,
    },
    Answered(RoundAnswered),
    CallFailed {
        failure: Failure,
        partial: String,
        spent: Option<Spent>,
    },
    /// The guard's word on a call. It counts only as the answer to the question of this number: a
    /// later call may have the same name.
    Prepared {
        call: CallId,
        question: u64,
        verdict: Verdict,
    },
    ToolDone {
        call: CallId,
        outcome: Outcome,
        output: Output,
        millis: u64,
    },
    /// With `proceed` the turn goes on at once; without, the answer is only recorded, and the turn
    /// goes on when the session is next carried on.
    Answer {
        ask: AskId,
        answer: Answer,
        by: String,
        proceed: bool,
    },
    /// A call that runs has a question to a person.
    Inquire(Ask),
    /// It does not want to know any more, or nobody is there to say.
    CloseInquiry {
        ask: AskId,
        why: Withdrawn,
    },
    Sampled(Sampled),
    /// A summary is ready.
    Compacted(Compacted),
    Stop,
    /// The moment named by [`State::wake_at`] has come.
    Wake,
    /// The session was loaded from disk with a turn under way and nobody at work on it.
    Recover {
        partial: String,
        outputs: Vec<(CallId, String)>,
    },
    SetMode(Mode),
    SetModel(ModelName),
    SetLimits(Limits),
    SetTitle(TitleSet),
    HookRan(HookRan),
    FilesChanged(FilesChanged),
    FilesRestored(FilesRestored),
}

/// Something the driver must now do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    CallModel,
    CancelModel,
    /// Ask the guard what to do with a call. Has no effect outside and may be done before the
    /// events are durable.
    Prepare {
        call: ToolCall,
        /// The number of the question, for the answer.
        question: u64,
    },
    /// `approved`: a person said yes to it.
    RunTool {
        call: ToolCall,
        approved: bool,
    },
    CancelTools,
    Compact {
        cause: CompactionCause,
    },
    /// Work out what the flow's stage needs next. Has no effect outside and may be done before the
    /// events are durable.
    Stage,
}

/// What the guard says of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Run { summary: String },
    Refuse { outcome: Outcome, text: String, summary: String },
    Ask { ask: AskId, kind: AskKind, question: String, deadline: Option<Timestamp> },
}

/// An input that does not fit the session as it is. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("this question is not open: it was answered before, or its turn is over")]
    NoSuchAsk,
    #[error("this answer does not fit the question: approve or reject an approval, answer a question with text")]
    WrongAnswer,
    #[error("there is nothing to carry on: the last turn is done")]
    NothingToContinue,
    #[error("this input is no longer queued")]
    NotQueued,
    #[error("a turn is under way: wait for its end or stop it first; if it was cut off, `weft resume` ends it")]
    Busy,
}

/// A session being worked on: its state and what this process alone knows of it.
#[derive(Debug)]
pub struct Machine {
    state: State,
    now: Timestamp,
    emitted: Vec<Event>,
    effects: Vec<Effect>,
    /// Calls the guard has been asked about and has not answered yet, with the question's number.
    preparing: HashMap<CallId, u64>,
    questions: u64,
    /// The conversation is compacted when it reaches this many tokens.
    compact_at: u64,
    /// What the turn did to the files, told when it ends.
    files: Option<FilesChanged>,
    /// The call of a stage that is tried again: its round, and the number of the try.
    again: Option<(u32, u32)>,
}

impl Machine {
    pub fn new(state: State) -> Self {
        Self {
            now: state.updated_at,
            state,
            emitted: Vec::new(),
            effects: Vec::new(),
            preparing: HashMap::new(),
            questions: 0,
            compact_at: u64::MAX,
            files: None,
            again: None,
        }
    }

    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The size from which a conversation is compacted, which depends on the model's window.
    pub const fn set_compact_at(&mut self, tokens: u64) {
        self.compact_at = tokens;
    }

    /// The events emitted since last asked, in order. They are folded in already; the caller makes
    /// them durable before it performs any effect, or drops the machine.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.emitted)
    }

    /// Takes one input. On `Err` nothing has changed.
    pub fn step(&mut self, now: Timestamp, input: Input) -> Result<Vec<Effect>, Rejected> {
        self.now = now.max(self.now);
        match input {
            Input::Begin(started) => self.emit(started),
            Input::Submit { id, content, delivery, shorthand } => {
                self.submit(InputReceived { input: id, content, delivery, shorthand });
            }
            Input::StartFlow { id, content, flow } => self.start_flow(id, content, *flow)?,
            Input::Staged(work) => self.staged(work),
            Input::Withdraw { id } => self.withdraw(id)?,
            Input::Continue => self.carry_on(None)?,
            Input::ContinueFlow { budget } => self.carry_on(Some(budget))?,
            Input::Answered(answered) => self.answered(answered),
            Input::CallFailed { failure, partial, spent } => self.call_failed(failure, partial, spent),
            Input::Prepared { call, question, verdict } => self.prepared(&call, question, verdict),
            Input::ToolDone { call, outcome, output, millis } => self.tool_done(&call, outcome, output, millis),
            Input::Answer { ask, answer, by, proceed } => self.answer(ask, answer, by, proceed)?,
            Input::Inquire(ask) => self.inquire(ask)?,
            Input::CloseInquiry { ask, why } => self.close_inquiry(ask, why),
            Input::Sampled(sampled) => self.sampled(sampled),
            Input::Compacted(compacted) => self.compacted(compacted),
            Input::Stop => self.stop(StopCause::Person),
            Input::Wake => self.wake(),
            Input::Recover { partial, outputs } => self.recover(partial, &outputs),
            Input::SetMode(mode) if mode != self.state.mode => self.emit(ModeSet { mode }),
            Input::SetModel(model) if model != self.state.model => self.emit(ModelSet { model }),
            Input::SetLimits(limits) if limits != self.state.limits => self.emit(LimitsSet { limits }),
            Input::SetMode(_) | Input::SetModel(_) | Input::SetLimits(_) => {}
            Input::SetTitle(title) => self.emit(title),
            Input::HookRan(ran) => self.emit(ran),
            Input::FilesChanged(changed) => self.files_changed(changed),
            Input::FilesRestored(restored) => self.restored(restored)?,
        }
        Ok(std::mem::take(&mut self.effects))
    }

    fn emit(&mut self, event: impl Into<Event>) {
        let event = event.into();
        self.state.apply(self.state.seq + 1, self.now, &event);
        self.emitted.push(event);
    }

    // ---- what people do

    fn submit(&mut self, mut received: InputReceived) {
        // Speaking instead of answering closes the questions: the box is never locked by one.
        let superseding = self.state.waits_for_person();
        if superseding {
            received.delivery = Delivery::Steer;
        }
        self.emit(received);
        match self.state.phase {
            Phase::Idle => self.start_turn(None),
            Phase::Tools if superseding => self.close_asks(Withdrawn::Superseded),
            Phase::Ready | Phase::Calling | Phase::Retrying { .. } | Phase::Tools | Phase::Compacting => {}
        }
    }

    fn withdraw(&mut self, id: InputId) -> Result<(), Rejected> {
        if !self.state.conversation.queue.iter().any(|queued| queued.id == id) {
            return Err(Rejected::NotQueued);
        }
        self.emit(InputWithdrawn { input: id });
        Ok(())
    }

    fn carry_on(&mut self, budget: Option<Cost>) -> Result<(), Rejected> {
        let unfinished = self.state.last_end.as_ref().is_some_and(|end| *end != EndReason::Completed);
        let queued = !self.state.conversation.queue.is_empty();
        // A run that the person has turned away from does not come back in place of what they did since.
        let run = self.state.run.as_ref().filter(|run| run.ended.is_none() && !(run.aside && (unfinished || queued)));
        let run = run.map(|run| FlowContinued { run: run.number, budget });
        if self.state.phase != Phase::Idle || !(unfinished || queued || run.is_some()) {
            return Err(Rejected::NothingToContinue);
        }
        self.start_turn(run);
        Ok(())
    }

    fn answer(&mut self, ask: AskId, answer: Answer, by: String, proceed: bool) -> Result<(), Rejected> {
        let open = self.state.open_asks().find(|open| open.id == ask).cloned().ok_or(Rejected::NoSuchAsk)?;
        if !open.kind.accepts(&answer) {
            return Err(Rejected::WrongAnswer);
        }
        let of_running_call = self.is_inquiry(ask);
        self.emit(AskAnswered { ask, answer: answer.clone(), by });
        match (answer, open.kind) {
            (Answer::Approve { scope }, AskKind::Approval { grant, .. }) => match (scope, grant) {
                (Choice::Once, _) | (_, None) => {}
                (Choice::Session, Some(grant)) => self.emit(GrantGiven { grant, always: false }),
                (Choice::Always, Some(grant)) => self.emit(GrantGiven { grant, always: true }),
            },
            // The call that asked runs, and is told by who runs it.
            (Answer::Text { .. } | Answer::Form { .. } | Answer::Reject { .. }, _) if of_running_call => {}
            (Answer::Text { text }, _) => {
                let summary = format!("Answered: {}", first_line(&text));
                self.finish(&open.call, Outcome::Ok, Output { text, summary, ..Output::default() }, 0);
            }
            (Answer::Form { values }, _) => self.finish(&open.call, Outcome::Ok, crate::form::filled_in(values), 0),
            (Answer::Reject { message }, _) => {
                let text = message.as_ref().map_or_else(
                    || {
                        "The person declined this. Do not try it again in another way; ask or choose something else."
                            .to_owned()
                    },
                    |message| format!("The person declined this and said: {message}"),
                );
                self.refuse(&open.call, Outcome::Denied, text, "Declined".to_owned());
            }
            (Answer::Approve { .. }, AskKind::Question { .. } | AskKind::Form { .. }) => {
                return Err(Rejected::WrongAnswer);
            }
        }
        if proceed {
            self.advance();
        }
        Ok(())
    }

    fn stop(&mut self, by: StopCause) {
        let Some(turn) = &self.state.turn else { return };
        if turn.stopping.is_some() {
            return;
        }
        self.emit(StopRequested { by });
        match self.state.phase {
            Phase::Calling | Phase::Compacting => self.effects.push(Effect::CancelModel),
            Phase::Tools => {
                // What is under way hears of it before anything new begins.
                if self.state.conversation.calls.iter().any(|call| call.stage.is_running())
                    || !self.preparing.is_empty()
                {
                    self.effects.push(Effect::CancelTools);
                }
                self.close_asks(Withdrawn::Stopped);
                self.stop_pending();
            }
            Phase::Ready | Phase::Retrying { .. } => self.end_turn(stop_reason(by, &self.state)),
            Phase::Idle => {}
        }
    }

    // ---- what time does

    fn wake(&mut self) {
        let limit = self.state.limits.wall_clock_ms;
        let out_of_time = !self.state.waits_for_person()
            && self
                .state
                .turn
                .as_ref()
                .zip(limit)
                .is_some_and(|(turn, limit)| turn.stopping.is_none() && turn.worked_ms(self.now) >= limit);
        if out_of_time {
            self.stop(StopCause::WallClock);
            return;
        }
        let expired: Vec<_> =
            self.state.open_asks().filter(|ask| ask.deadline.is_some_and(|at| at <= self.now)).cloned().collect();
        for ask in expired {
            self.withdraw_ask(&ask, Withdrawn::Expired);
        }
        match self.state.phase {
            Phase::Retrying { at } if at <= self.now => self.call_again(),
            Phase::Tools => self.advance(),
            Phase::Idle | Phase::Ready | Phase::Calling | Phase::Retrying { .. } | Phase::Compacting => {}
        }
    }

    fn recover(&mut self, partial: String, outputs: &[(CallId, String)]) {
        self.preparing.clear();
        if self.state.phase == Phase::Idle {
            return;
        }
        let mut lost = Vec::new();
        let mut again = Vec::new();
        for progress in &self.state.conversation.calls {
            match progress.stage {
                Stage::Running | Stage::Inquiring { .. } if progress.plan.idempotent => {
                    again.push(Effect::RunTool { call: progress.call.clone(), approved: progress.approved.is_some() });
                }
                Stage::Running | Stage::Inquiring { .. } => lost.push(progress.call.id.clone()),
                Stage::Pending | Stage::Asking { .. } | Stage::Done { .. } => {}
            }
        }
        // Who asked is gone with the process.
        let calls: Vec<CallId> = self.state.conversation.calls.iter().map(|call| call.call.id.clone()).collect();
        calls.iter().for_each(|call| self.close_inquiry_of(call));
        self.emit(Recovered { interrupted: lost.clone() });
        match self.state.phase {
            Phase::Idle => {}
            Phase::Calling => {
                let failure = Failure::new(FailureKind::Crashed, "Weft stopped while the model was answering.");
                self.call_failed(failure, partial, None);
            }
            Phase::Compacting => match self.stopping_cause() {
                Some(by) => self.end_turn(stop_reason(by, &self.state)),
                None => self.effects.push(Effect::Compact { cause: CompactionCause::Threshold }),
            },
            Phase::Ready => self.next_round(),
            Phase::Retrying { at } => {
                if at <= self.now {
                    self.call_again();
                }
            }
            Phase::Tools => {
                for call in lost {
                    let known = outputs.iter().find(|(id, _)| *id == call).map_or("", |(_, text)| text.as_str());
                    self.finish(&call, Outcome::Interrupted, crashed_output(known), 0);
                }
                self.effects.extend(again);
                if self.stopping() {
                    self.stop_pending();
                    if self.state.phase == Phase::Tools {
                        self.effects.push(Effect::CancelTools);
                    }
                } else {
                    self.advance();
                }
            }
        }
    }

    // ---- turns and rounds

    /// `run`: a run that had stopped is carried on in it.
    fn start_turn(&mut self, run: Option<FlowContinued>) {
        // What waits is for the conversation, or a reply to a question of the run.
        let waiting = self.state.conversation.queue.iter().filter(|_| run.is_none());
        let inputs = waiting.map(|queued| queued.id).collect();
        self.emit(TurnStarted { turn: self.state.turns.saturating_add(1), inputs });
        if let Some(run) = run {
            self.emit(run);
        }
        self.next_round();
    }

    /// Between rounds: stop, compact, or call the model.
    fn next_round(&mut self) {
        if let Some(reason) = self.over_limit() {
            return self.end_turn(reason);
        }
        if self.in_flow() {
            return self.next_stage();
        }
        let compacted = self.state.turn.as_ref().is_some_and(|turn| turn.compactions > 0);
        if self.state.context_tokens >= self.compact_at && !compacted && self.state.conversation.entries.len() > 2 {
            return self.compact(CompactionCause::Threshold);
        }
        let round = self.state.turn.as_ref().map_or(1, |turn| turn.round.saturating_add(1));
        self.call(round, 1);
    }

    fn call(&mut self, round: u32, attempt: u32) {
        // What is said while a flow runs is for the conversation, not for the call of a stage.
        let takes = !self.in_flow();
        let queue = self.state.conversation.queue.iter();
        let steered =
            queue.filter(|queued| takes && queued.delivery == Delivery::Steer).map(|queued| queued.id).collect();
        self.emit(RoundStarted { round, attempt, model: self.state.model.clone(), steered });
        self.effects.push(Effect::CallModel);
    }

    fn call_again(&mut self) {
        let (round, attempt) =
            self.state.turn.as_ref().map_or((1, 1), |turn| (turn.round, turn.attempt.saturating_add(1)));
        self.repeat(round, attempt);
    }

    /// A stage is asked anew what it needs: the budget of its run is looked at before every try.
    fn repeat(&mut self, round: u32, attempt: u32) {
        if self.in_flow() {
            self.again = Some((round, attempt));
            self.effects.push(Effect::Stage);
        } else {
            self.call(round, attempt);
        }
    }

    fn compact(&mut self, cause: CompactionCause) {
        self.emit(CompactionStarted { cause });
        self.effects.push(Effect::Compact { cause });
    }

    fn compacted(&mut self, mut compacted: Compacted) {
        if self.state.phase != Phase::Compacting {
            return;
        }
        // What the last run came to is never forgotten with the rest, also if it was left early.
        let run = self.state.run.as_ref().filter(|run| run.ended.is_some() && !run.summary.is_empty());
        if let Some(run) = run.filter(|run| !compacted.summary.contains(&run.summary)) {
            compacted.summary.push_str("\n\n");
            compacted.summary.push_str(&run.summary);
        }
        self.emit(compacted);
        match self.stopping_cause() {
            Some(by) => self.end_turn(stop_reason(by, &self.state)),
            None => self.next_round(),
        }
    }

    fn answered(&mut self, mut answered: RoundAnswered) {
        if self.state.phase != Phase::Calling {
            return;
        }
        if self.in_flow() {
            return self.stage_answered(answered);
        }
        tell_apart(&mut answered.parts);
        let stop = answered.stop;
        let has_calls = calls_of(&answered.parts).next().is_some();
        self.emit(answered);
        if let Some(by) = self.stopping_cause() {
            if has_calls {
                self.stop_pending();
            } else {
                self.end_turn(stop_reason(by, &self.state));
            }
            return;
        }
        if has_calls {
            return self.advance();
        }
        let steered = self.state.conversation.queue.iter().any(|queued| queued.delivery == Delivery::Steer);
        match stop {
            StopReason::Refusal => self.end_turn(EndReason::Refused),
            _ if steered => self.next_round(),
            StopReason::Pause => self.next_round(),
            StopReason::Length => self.end_turn(EndReason::Truncated),
            StopReason::End | StopReason::ToolCalls | StopReason::Unable => self.end_turn(EndReason::Completed),
        }
    }

    fn call_failed(&mut self, failure: Failure, partial: String, spent: Option<Spent>) {
        match self.state.phase {
            Phase::Calling => {}
            // A summary that could not be made, because the turn was told to stop.
            Phase::Compacting => {
                let by = self.stopping_cause().unwrap_or(StopCause::Person);
                // What it cost until then is not lost with it.
                if spent.is_some() {
                    self.emit(RoundFailed { failure, partial, retry_at: None, spent });
                }
                return self.end_turn(stop_reason(by, &self.state));
            }
            Phase::Idle | Phase::Ready | Phase::Retrying { .. } | Phase::Tools => return,
        }
        if let Some(by) = self.stopping_cause() {
            let failure = Failure::new(FailureKind::Cancelled, "Stopped while the model was answering.");
            self.emit(RoundFailed { failure, partial, retry_at: None, spent });
            return self.end_turn(stop_reason(by, &self.state));
        }
        let attempt = self.state.turn.as_ref().map_or(1, |turn| turn.attempt);
        let compactions = self.state.turn.as_ref().map_or(0, |turn| turn.compactions);
        let delay = failure.retry_delay_ms(attempt);
        let at_once = matches!(failure.kind, FailureKind::Preempted | FailureKind::Crashed) && delay.is_some();
        let retry_at = delay.filter(|_| !at_once).map(|millis| self.now.plus_millis(millis));
        self.emit(RoundFailed { failure: failure.clone(), partial, retry_at, spent });
        if at_once {
            // Not the call's own fault, so it has lost no try.
            let round = self.state.turn.as_ref().map_or(1, |turn| turn.round);
            self.repeat(round, attempt);
        } else if retry_at.is_none() {
            if failure.kind == FailureKind::ContextOverflow && compactions == 0 && !self.in_flow() {
                self.compact(CompactionCause::Overflow);
            } else if self.in_flow() && self.state.run.as_ref().is_some_and(|run| run.does_without(&failure)) {
                self.next_round();
            } else {
                self.end_turn(EndReason::ModelFailed { failure });
            }
        }
    }

    fn end_turn(&mut self, reason: EndReason) {
        let turn = self.state.turn.as_ref().map_or(self.state.turns, |turn| turn.number);
        let cut_off = self.in_flow() && !reason.is_success();
        let failed = matches!(reason, EndReason::ModelFailed { .. }) || cut_off;
        if let Some(files) = self.files.take() {
            self.emit(files);
        }
        self.emit(TurnEnded { turn, reason });
        // What was said meanwhile is the next turn; a model that just failed is not asked again.
        if !self.state.conversation.queue.is_empty() && !failed {
            self.start_turn(None);
        }
    }

    fn over_limit(&self) -> Option<EndReason> {
        let turn = self.state.turn.as_ref()?;
        let limits = &self.state.limits;
        if let Some(by) = turn.stopping {
            return Some(stop_reason(by, &self.state));
        }
        if let Some(limit) = limits.wall_clock_ms.filter(|limit| turn.worked_ms(self.now) >= *limit) {
            return Some(EndReason::TimeLimit { limit_ms: limit });
        }
        if let Some(rounds) = limits.failed_rounds.filter(|limit| turn.failed_rounds >= (*limit).max(1)) {
            return Some(EndReason::AllToolsFailed { rounds });
        }
        if let Some(rounds) = limits.repeats.filter(|limit| turn.repeated.1 >= (*limit).max(1)) {
            return Some(EndReason::Stuck { rounds });
        }
        if let Some(limit) = limits.rounds.filter(|limit| turn.round >= *limit) {
            return Some(EndReason::RoundLimit { limit });
        }
        if let Some(limit) = limits.tool_calls.filter(|limit| turn.tool_calls >= *limit && turn.tool_calls > 0) {
            return Some(EndReason::ToolCallLimit { limit });
        }
        if let Some(limit) = limits.tokens.filter(|limit| turn.tokens >= *limit) {
            return Some(EndReason::TokenLimit { limit });
        }
        limits.cost.filter(|limit| turn.cost >= *limit).map(|limit| EndReason::CostLimit { limit })
    }

    fn stopping_cause(&self) -> Option<StopCause> {
        self.state.turn.as_ref().and_then(|turn| turn.stopping)
    }

    fn stopping(&self) -> bool {
        self.stopping_cause().is_some()
    }
}

fn stop_reason(by: StopCause, state: &State) -> EndReason {
    match by {
        StopCause::Person => EndReason::Interrupted,
        StopCause::WallClock => EndReason::TimeLimit { limit_ms: state.limits.wall_clock_ms.unwrap_or(0) },
    }
}

/// Gives calls of the same name names of their own: a call is known by nothing else.
fn tell_apart(parts: &mut [Part]) {
    let mut taken = HashSet::new();
    for part in parts {
        let Part::ToolCall(call) = part else { continue };
        let wanted = call.id.clone();
        for number in 2.. {
            if taken.insert(call.id.clone()) {
                break;
            }
            call.id = CallId::new(format!("{wanted}-{number}"));
        }
    }
}

fn crashed_output(known: &str) -> Output {
    let mut text = "Interrupted: Weft stopped while this was running. It may or may not have taken effect; \
                    check before doing it again."
        .to_owned();
    if !known.is_empty() {
        text.push_str(" Its output until then:\n");
        text.push_str(known);
    }
    Output { text, summary: "Interrupted".to_owned(), ..Output::default() }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(80).collect()
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
