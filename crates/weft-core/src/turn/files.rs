//! What a turn did to the files, told at its end, and what was taken back between turns.

use super::{Input, Machine, Rejected};
use crate::event::{Delivery, Event, FilesChanged, FilesRestored, StopReason};
use crate::message::calls_of;
use crate::state::Phase;

impl Machine {
    /// Whether a turn surely ends with this input.
    pub fn ends_turn(&self, input: &Input) -> bool {
        let Input::Answered(answered) = input else { return false };
        if self.in_flow() {
            return false;
        }
        let goes_on = answered.stop == StopReason::Pause
            || self.state.conversation.queue.iter().any(|queued| queued.delivery == Delivery::Steer);
        self.state.phase == Phase::Calling
            && calls_of(&answered.parts).next().is_none()
            && (answered.stop == StopReason::Refusal || !goes_on)
    }

    /// Whether a turn has ended with what is not durable yet.
    pub fn has_ended_turn(&self) -> bool {
        self.emitted.iter().any(|event| matches!(event, Event::TurnEnded(_)))
    }

    /// It belongs at the end of its turn, after what was said.
    pub(super) fn files_changed(&mut self, changed: FilesChanged) {
        if self.state.turn.as_ref().is_some_and(|turn| turn.number == changed.turn) {
            self.files = Some(changed);
        } else {
            self.emit(changed);
        }
    }

    /// Recorded once, however often it is reported.
    pub(super) fn restored(&mut self, restored: FilesRestored) -> Result<(), Rejected> {
        if self.state.files.last.as_ref() == Some(&restored.id) {
            return Ok(());
        }
        if self.state.phase != Phase::Idle {
            return Err(Rejected::Busy);
        }
        self.emit(restored);
        Ok(())
    }
}
