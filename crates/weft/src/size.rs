//! What is said must fit the model's window: nothing larger is sent, and nothing is cut off quietly.

use weft_core::units::estimate_tokens;
use weft_model::ModelInfo;

use crate::exit::UsageError;
use crate::show::units::{bytes, grouped};

/// The most of the window that is kept free for the answer.
const ANSWER: u64 = 32_000;

/// How many tokens of a prompt a model takes.
fn room(info: &ModelInfo) -> u64 {
    let answer = u64::from(info.max_output).min(ANSWER).min(info.window / 2);
    info.window.saturating_sub(answer)
}

/// Refuses what this model could never take.
pub fn check(text: &str, model: &str, info: &ModelInfo) -> Result<(), UsageError> {
    let (tokens, room) = (estimate_tokens(text.len()), room(info));
    if tokens <= room {
        return Ok(());
    }
    Err(UsageError(format!(
        "this is too large for {model}: {}, about {} tokens, and {} fit. Put it in a file here and name the file in \
         the request; then it is read piece by piece",
        bytes(text.len() as u64),
        grouped(tokens),
        grouped(room)
    )))
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
