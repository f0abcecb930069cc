//! What the driver has to know of an input or event before it steps the machine.

use weft_core::{Event, Input, SessionId};
use weft_store::MarkChange;

use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// A session that was deleted goes for good after a while, and what people say in it must not go with it:
    /// whoever has work done in it brings it back.
    pub(crate) async fn bring_back(&self, session: SessionId, input: &Input) -> Result<(), EngineError> {
        let is_work = matches!(
            input,
            Input::Submit { .. }
                | Input::StartFlow { .. }
                | Input::ContinueFlow { .. }
                | Input::Answer { .. }
                | Input::Continue
        );
        let store = self.store();
        if is_work && store.marked_session(session).is_ok_and(|marked| marked.marks.deleted_at.is_some()) {
            store.mark(session, MarkChange { deleted_at: Some(None), ..MarkChange::default() }).await?;
        }
        Ok(())
    }
}

/// Whether an input asks for work. The others only record something, and a turn that lies waiting
/// is left lying.
pub const fn carries_on(input: &Input) -> bool {
    match input {
        Input::Answer { proceed, .. } => *proceed,
        Input::Withdraw { .. }
        | Input::SetMode(_)
        | Input::SetModel(_)
        | Input::SetLimits(_)
        | Input::SetTitle(_)
        | Input::HookRan(_)
        | Input::Inquire(_)
        | Input::CloseInquiry { .. }
        | Input::Sampled(_)
        | Input::FilesChanged(_)
        | Input::FilesRestored(_) => false,
        Input::Begin(_)
        | Input::Submit { .. }
        | Input::StartFlow { .. }
        | Input::Staged(_)
        | Input::Continue
        | Input::ContinueFlow { .. }
        | Input::Answered(_)
        | Input::CallFailed { .. }
        | Input::Prepared { .. }
        | Input::ToolDone { .. }
        | Input::Compacted(_)
        | Input::Stop
        | Input::Wake
        | Input::Recover { .. } => true,
    }
}

/// Whether an event changes which tools the model has.
pub fn loads(event: &Event) -> bool {
    match event {
        Event::ToolFinished(done) => !done.output.loads.is_empty(),
        Event::InputReceived(received) => received.shorthand.as_ref().is_some_and(|words| !words.loads.is_empty()),
        _ => false,
    }
}

pub fn loads_of(input: &Input) -> &[String] {
    match input {
        Input::Submit { shorthand: Some(shorthand), .. } => &shorthand.loads,
        _ => &[],
    }
}
