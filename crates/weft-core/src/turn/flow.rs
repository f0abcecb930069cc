//! A run of a flow, as the turn sees it: stage after stage, with pauses, repairs and an end. What a
//! stage needs is worked out elsewhere and comes in as [`Work`]; which stage follows is decided here.

use super::{Effect, Machine, Rejected, stop_reason};
use crate::event::{Delivery, EndReason, Event, InputReceived, Plan, RoundAnswered, TurnStarted};
use crate::flow::{
    BreakoutAsked, Finish, FlowEnd, FlowEnded, FlowPaused, FlowResumed, FlowStarted, RepairStarted, Run, StageCalls,
    StageFailed, StageFinished, StageSkipped, StageStarted, StageStatus, Work,
};
use crate::id::InputId;
use crate::message::{Part, ToolCall, UserPart};
use crate::state::Phase;
use crate::units::Cost;

impl Machine {
    /// Whether the turn that is under way is a flow's.
    pub fn in_flow(&self) -> bool {
        self.state.turn.is_some() && self.state.run.as_ref().is_some_and(|run| run.under_way)
    }

    /// Events that are not durable yet, with the number of the first one.
    pub fn uncommitted(&self) -> (u64, &[Event]) {
        let count = u64::try_from(self.emitted.len()).unwrap_or_default();
        (self.state.seq.saturating_sub(count) + 1, &self.emitted)
    }

    pub(super) fn start_flow(
        &mut self,
        id: InputId,
        content: Vec<UserPart>,
        mut flow: FlowStarted,
    ) -> Result<(), Rejected> {
        if self.state.phase != Phase::Idle {
            return Err(Rejected::Busy);
        }
        flow.run = self.state.run.as_ref().map_or(1, |run| run.number.saturating_add(1));
        self.emit(InputReceived { input: id, content, delivery: Delivery::FollowUp, shorthand: None });
        let inputs = self.state.conversation.queue.iter().map(|queued| queued.id).collect();
        self.emit(TurnStarted { turn: self.state.turns.saturating_add(1), inputs });
        self.emit(flow);
        self.next_round();
        Ok(())
    }

    /// Between the steps of a run.
    pub(super) fn next_stage(&mut self) {
        let Some(run) = &self.state.run else { return };
        let Some(stage) = run.stage() else { return self.end_turn(EndReason::Completed) };
        if run.paused.is_none() && stage.status != StageStatus::Running {
            let (run, stage, iteration) = (run.number, stage.id.clone(), run.iteration());
            self.emit(StageStarted { run, stage, iteration });
        }
        self.effects.push(Effect::Stage);
    }

    /// The answer to a stage is the stage's; no calls come out of it.
    pub(super) fn stage_answered(&mut self, mut answered: RoundAnswered) {
        answered.parts.retain(|part| !matches!(part, Part::ToolCall(_)));
        answered.plan.clear();
        self.emit(answered);
        match self.stopping_cause() {
            Some(by) => self.end_turn(stop_reason(by, &self.state)),
            None => self.next_round(),
        }
    }

    pub(super) fn staged(&mut self, work: Work) {
        let again = self.again.take();
        let ready = match self.state.phase {
            Phase::Ready => true,
            Phase::Retrying { .. } => again.is_some(),
            Phase::Idle | Phase::Calling | Phase::Tools | Phase::Compacting => false,
        };
        if !self.in_flow() || !ready {
            return;
        }
        let Some(run) = &self.state.run else { return };
        let number = run.number;
        let stage = run.stage().map(|stage| stage.id.clone()).unwrap_or_default();
        match work {
            Work::Skip { why, output } => {
                self.emit(StageSkipped { run: number, stage, why, output });
                self.next_round();
            }
            Work::Model { at_most, brief } => self.call_stage(at_most, brief, again),
            Work::Calls { calls, plan, kept } => self.call_for(number, stage, calls, plan, kept),
            Work::Finish(finish) => self.finish_stage(number, stage, *finish),
            Work::Fail { message, redo, brief } => {
                let reason = EndReason::StageFailed { stage: stage.clone(), message: message.clone() };
                self.emit(StageFailed { run: number, stage, message, redo, summary: brief });
                self.end_turn(reason);
            }
            Work::Resume { reply, inputs, skip, back } => {
                let stage = before(run);
                self.emit(FlowResumed { run: number, stage, reply, inputs, skip, back });
                self.next_round();
            }
            Work::AskToLeave { said, inputs, call, plan } => {
                let stage = before(run);
                self.emit(BreakoutAsked { run: number, said, inputs });
                self.call_for(number, stage, vec![call], vec![plan], Vec::new());
            }
            Work::Leave { said, inputs, summary } => {
                let goes_on = said.is_some();
                let reason = FlowEnd::Breakout;
                self.emit(FlowEnded { run: number, reason, document: None, summary, inputs, said });
                if goes_on {
                    self.next_round();
                } else {
                    self.end_turn(EndReason::Completed);
                }
            }
        }
    }

    fn call_stage(&mut self, at_most: Cost, brief: String, again: Option<(u32, u32)>) {
        let Some(run) = &self.state.run else { return };
        if let Some(limit) = run.budget.filter(|limit| run.cost + at_most > *limit) {
            // What was paid for is kept: with a larger budget it goes on from here.
            let stage = run.stage().map(|stage| stage.id.clone()).unwrap_or_default();
            let message = format!("the next call could exceed the budget of {limit}.");
            self.emit(StageFailed { run: run.number, stage, message, redo: false, summary: brief });
            return self.end_turn(EndReason::FlowBudget { limit });
        }
        let next = self.state.turn.as_ref().map_or(1, |turn| turn.round.saturating_add(1));
        let (round, attempt) = again.unwrap_or((next, 1));
        self.call(round, attempt);
    }

    fn call_for(&mut self, run: u32, stage: String, calls: Vec<ToolCall>, plan: Vec<Plan>, kept: Vec<u64>) {
        let none = calls.is_empty();
        self.emit(StageCalls { run, stage, calls, plan, kept });
        if none {
            self.next_round();
        } else {
            self.advance();
        }
    }

    fn finish_stage(&mut self, number: u32, stage: String, finish: Finish) {
        let Some(run) = &self.state.run else { return };
        let (at, is_last) = (run.at, run.at + 1 >= run.stages.len());
        let wanted = finish.repair.clone().filter(|feedback| !feedback.is_empty());
        let again = wanted.and_then(|feedback| run.repair_after(at).map(|again| (again, feedback)));
        let Finish { output, summary, pause, repair, document, brief } = finish;
        self.emit(StageFinished { run: number, stage: stage.clone(), output, summary, repair });
        if let Some(((first, iteration), feedback)) = again {
            let first = self.state.run.as_ref().and_then(|run| run.stages.get(first)).map(|stage| stage.id.clone());
            self.emit(RepairStarted { run: number, stage: first.unwrap_or(stage), iteration, feedback });
            return self.next_round();
        }
        if is_last {
            let reason = FlowEnd::Completed;
            self.emit(FlowEnded { run: number, reason, document, summary: brief, inputs: Vec::new(), said: None });
            return self.end_turn(EndReason::Completed);
        }
        match pause {
            Some(pause) => {
                self.emit(FlowPaused { run: number, stage: stage.clone(), text: pause.text, path: pause.path });
                self.call_for(number, stage, vec![pause.call], vec![pause.plan], Vec::new());
            }
            None => self.next_round(),
        }
    }
}

/// The stage that a paused run has just finished.
fn before(run: &Run) -> String {
    run.at.checked_sub(1).and_then(|at| run.stages.get(at)).map(|stage| stage.id.clone()).unwrap_or_default()
}
