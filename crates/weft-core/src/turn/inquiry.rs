//! Questions that come out of a call while it runs, such as a form that a source wants filled in.
//! The call goes on when they are answered or closed; the session is held by its process meanwhile.

use super::{Machine, Rejected};
use crate::ask::Ask;
use crate::event::{AskRaised, AskWithdrawn, Sampled, Withdrawn};
use crate::id::{AskId, CallId};
use crate::state::Stage;

impl Machine {
    /// One question of a call at a time, and only while it runs.
    pub(super) fn inquire(&mut self, ask: Ask) -> Result<(), Rejected> {
        let calls = &self.state.conversation.calls;
        let stage = calls.iter().find(|progress| progress.call.id == ask.call).map(|progress| &progress.stage);
        match stage {
            Some(Stage::Running) if !self.stopping() => {
                self.emit(AskRaised { ask });
                Ok(())
            }
            Some(Stage::Inquiring { .. }) => Err(Rejected::Busy),
            Some(Stage::Running | Stage::Pending | Stage::Asking { .. } | Stage::Done { .. }) | None => {
                Err(Rejected::NoSuchAsk)
            }
        }
    }

    /// Whoever asked does not want to know any more.
    pub(super) fn close_inquiry(&mut self, ask: AskId, why: Withdrawn) {
        if self.inquiries().any(|open| open.id == ask) {
            self.emit(AskWithdrawn { ask, why });
        }
    }

    /// A call that is over has no questions left.
    pub(super) fn close_inquiry_of(&mut self, call: &CallId) {
        let open: Vec<AskId> = self.inquiries().filter(|ask| ask.call == *call).map(|ask| ask.id).collect();
        for ask in open {
            self.emit(AskWithdrawn { ask, why: Withdrawn::Stopped });
        }
    }

    pub(super) fn is_inquiry(&self, ask: AskId) -> bool {
        self.inquiries().any(|open| open.id == ask)
    }

    fn inquiries(&self) -> impl Iterator<Item = &Ask> {
        self.state.conversation.calls.iter().filter_map(|progress| match &progress.stage {
            Stage::Inquiring { ask } => Some(ask),
            Stage::Pending | Stage::Asking { .. } | Stage::Running | Stage::Done { .. } => None,
        })
    }

    /// A model was asked on behalf of a source; what it cost counts for the turn.
    pub(super) fn sampled(&mut self, sampled: Sampled) {
        self.emit(sampled);
    }
}
