//! What goes to the model before the conversation, for people who want to see it.

use std::sync::Arc;

use weft_core::SessionId;
use weft_model::ToolSpec;

use crate::engine::Engine;
use crate::error::EngineError;

/// The beginning of every request of a session, as its next turn would send it.
pub struct Preamble {
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
}

impl Engine {
    pub fn preamble(&self, session: SessionId) -> Result<Preamble, EngineError> {
        let state = self.state(session)?;
        let chosen = self.shared.models.choose(&self.shared, &state)?;
        Ok(Preamble { system: Arc::clone(&chosen.system), tools: Arc::clone(&chosen.tools) })
    }
}
