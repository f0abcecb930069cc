//! The calls of a round: asked about in order, run side by side where they do not disturb each other,
//! answered in order.

use super::{Effect, Machine, Verdict, stop_reason};
use crate::ask::Ask;
use crate::event::{AskRaised, AskWithdrawn, Outcome, Output, ToolFinished, ToolStarted, Withdrawn};
use crate::id::CallId;
use crate::message::ToolCall;
use crate::state::{Phase, Stage};

impl Machine {
    /// Asks the guard about every call that nothing holds back, and goes on when all are done.
    pub(super) fn advance(&mut self) {
        if self.state.phase == Phase::Ready {
            return self.next_round();
        }
        if self.state.phase != Phase::Tools {
            return;
        }
        self.refuse_beyond_limit();
        let conversation = &self.state.conversation;
        let free: Vec<_> = conversation
            .calls
            .iter()
            .enumerate()
            .filter(|(index, _)| !conversation.is_blocked(*index))
            .filter(|(_, progress)| matches!(progress.stage, Stage::Pending))
            .map(|(_, progress)| (progress.call.clone(), progress.approved.clone()))
            .collect();
        for (call, approved) in free {
            if let Some(approval) = approved {
                self.start_tool(&call.id, approval.words);
            } else if !self.preparing.contains_key(&call.id) {
                self.questions += 1;
                self.preparing.insert(call.id.clone(), self.questions);
                self.effects.push(Effect::Prepare { call, question: self.questions });
            }
        }
        if self.state.phase == Phase::Ready {
            self.next_round();
        }
    }

    /// Calls over the turn's limit are answered, not run.
    pub(super) fn refuse_beyond_limit(&mut self) {
        let Some((turn, limit)) = self.state.turn.as_ref().zip(self.state.limits.tool_calls) else { return };
        let excess = turn.tool_calls.saturating_sub(limit) as usize;
        let calls = &self.state.conversation.calls;
        let beyond: Vec<CallId> = calls
            .iter()
            .skip(calls.len().saturating_sub(excess))
            .filter(|progress| matches!(progress.stage, Stage::Pending))
            .map(|progress| progress.call.id.clone())
            .collect();
        for call in beyond {
            let text = format!("Not run: this turn's limit of {limit} tool calls is reached.");
            self.refuse(&call, Outcome::Denied, text, "Over the limit".to_owned());
        }
    }

    pub(super) fn prepared(&mut self, call: &CallId, question: u64, verdict: Verdict) {
        if self.preparing.get(call) != Some(&question) {
            return;
        }
        self.preparing.remove(call);
        if !self.is_pending(call) {
            return;
        }
        if self.stopping() {
            self.stop_pending();
            return;
        }
        match verdict {
            Verdict::Run { summary } => self.start_tool(call, summary),
            Verdict::Refuse { outcome, text, summary } => self.refuse(call, outcome, text, summary),
            Verdict::Ask { ask, kind, question, deadline } => {
                self.emit(AskRaised { ask: Ask { id: ask, call: call.clone(), kind, question, deadline } });
            }
        }
        // Further answers of the guard are on their way; go on when the last one is in.
        if self.preparing.is_empty() {
            self.advance();
        }
    }

    pub(super) fn start_tool(&mut self, id: &CallId, summary: String) {
        let Some(progress) = self.state.conversation.calls.iter().find(|progress| progress.call.id == *id) else {
            return;
        };
        let (call, approved) = (progress.call.clone(), progress.approved.is_some());
        self.emit(ToolStarted { call: id.clone(), tool: call.name.clone(), summary });
        self.effects.push(Effect::RunTool { call, approved });
    }

    pub(super) fn tool_done(&mut self, call: &CallId, outcome: Outcome, output: Output, millis: u64) {
        let running = self
            .state
            .conversation
            .calls
            .iter()
            .any(|progress| progress.call.id == *call && progress.stage.is_running());
        if !running {
            return;
        }
        self.close_inquiry_of(call);
        self.finish(call, outcome, output, millis);
        if self.stopping() {
            self.stop_pending();
        } else {
            self.advance();
        }
    }

    pub(super) fn finish(&mut self, id: &CallId, outcome: Outcome, output: Output, millis: u64) {
        let Some(call) = self.find(id) else { return };
        self.emit(ToolFinished { call: id.clone(), tool: call.name, outcome, output, millis });
    }

    pub(super) fn refuse(&mut self, call: &CallId, outcome: Outcome, text: String, summary: String) {
        self.finish(call, outcome, Output { text, summary, ..Output::default() }, 0);
    }

    /// The turn is stopping: what has not started will not, and when nothing runs any more it ends.
    pub(super) fn stop_pending(&mut self) {
        self.preparing.clear();
        let pending: Vec<CallId> = self
            .state
            .conversation
            .calls
            .iter()
            .filter(|progress| matches!(progress.stage, Stage::Pending))
            .map(|progress| progress.call.id.clone())
            .collect();
        for call in pending {
            self.refuse(&call, Outcome::Interrupted, "Not run: the turn was stopped.".to_owned(), "Not run".to_owned());
        }
        if let (Phase::Ready, Some(by)) = (self.state.phase, self.stopping_cause()) {
            self.end_turn(stop_reason(by, &self.state));
        }
    }

    pub(super) fn close_asks(&mut self, why: Withdrawn) {
        let open: Vec<Ask> = self.state.open_asks().cloned().collect();
        for ask in open {
            self.withdraw_ask(&ask, why);
        }
        if why != Withdrawn::Stopped {
            self.advance();
        }
    }

    pub(super) fn withdraw_ask(&mut self, ask: &Ask, why: Withdrawn) {
        let of_running_call = self.is_inquiry(ask.id);
        self.emit(AskWithdrawn { ask: ask.id, why });
        if of_running_call {
            return;
        }
        let (outcome, text) = match why {
            Withdrawn::Expired => (Outcome::Denied, "Not done: nobody answered in time."),
            Withdrawn::Superseded => (
                Outcome::Denied,
                "Not done: the person did not answer this and said something else instead; see their next message.",
            ),
            Withdrawn::Stopped => (Outcome::Interrupted, "Not done: the turn was stopped."),
        };
        self.refuse(&ask.call, outcome, text.to_owned(), "No answer".to_owned());
    }

    pub(super) fn find(&self, id: &CallId) -> Option<ToolCall> {
        self.state
            .conversation
            .calls
            .iter()
            .find(|progress| progress.call.id == *id)
            .map(|progress| progress.call.clone())
    }

    pub(super) fn is_pending(&self, id: &CallId) -> bool {
        self.state
            .conversation
            .calls
            .iter()
            .any(|progress| progress.call.id == *id && matches!(progress.stage, Stage::Pending))
    }
}
