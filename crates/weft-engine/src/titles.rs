//! Short calls beside the conversation: a title for a session, and reading a plain text answer.
//! They have no effect on what the session's own model sees.

use futures_util::StreamExt;
use weft_core::event::TitleSet;
use weft_core::{Failure, FailureKind, Message, State, Usage, UserPart};
use weft_model::{Chunk, ChunkStream, Request};

use crate::clock::Clock;
use crate::models::Chosen;

const TITLE: &str = "Title: give this conversation a title of two to six words in its own language, in sentence case. \
    Answer with the title alone: no quotes, no full stop.";
const TITLE_TOKENS: u32 = 40;
const TITLE_LENGTH: usize = 60;
const EXCERPT: usize = 1_000;

pub fn request(state: &State, chosen: &Chosen) -> Request {
    let said = state.conversation.entries.iter().find_map(|entry| match &entry.message {
        Message::User(parts) => parts.iter().find_map(|part| match part {
            UserPart::Text { text } => Some(text.chars().take(EXCERPT).collect::<String>()),
            UserPart::Image(_) => None,
        }),
        Message::Assistant(_) | Message::Tool(_) => None,
    });
    chosen.plain_request(TITLE, said.unwrap_or_default(), TITLE_TOKENS, state.id)
}

/// The title, if the model gave one that can be used.
pub async fn read(stream: ChunkStream, chosen: &Chosen, clock: Clock) -> Option<TitleSet> {
    let started = clock.now();
    let (text, usage) = collect(stream).await.ok()?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let title: String =
        line.trim_matches(|c| matches!(c, '"' | '\'' | '.' | '#' | '*' | ' ')).chars().take(TITLE_LENGTH).collect();
    (!title.is_empty()).then(|| TitleSet { title, spent: Some(chosen.spent(usage, clock.now().millis_since(started))) })
}

/// The whole text of an answer, or why there is none, with what was used either way.
pub async fn collect(mut stream: ChunkStream) -> Result<(String, Usage), (Failure, Option<Usage>)> {
    while let Some(chunk) = stream.next().await {
        match chunk {
            Chunk::Done(answer) => return Ok((weft_core::message::text_of(&answer.parts), answer.usage)),
            Chunk::Failed { failure, usage } => return Err((failure, usage)),
            Chunk::Text(_) | Chunk::Thinking(_) | Chunk::ToolStart { .. } | Chunk::ToolDelta { .. } => {}
        }
    }
    Err((Failure::new(FailureKind::StreamBroken, "The model's answer ended without an end."), None))
}
