//! The AI SDK's UI message stream, version 1: what `useChat` sends and reads.
//!
//! A chat is a session, found again by the chat's own id. Only the newest message is new to us; the
//! rest is in the log. Tools run here, so their calls and results are shown and never asked for.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::extract::State;
use axum::http::HeaderName;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Sse};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use weft_core::event::Event as Fact;
use weft_core::{SessionId, UserPart};

use super::turn::{Piece, Turn, session_for};
use crate::desk::SharedDesk;
use crate::extract::Body;
use crate::problem::{Answer, Problem, clipped};
use crate::routes::blocking;
use crate::uploads;

const LONGEST_ID: usize = 200;
/// So many events are read from the log at a time.
const PAGE: usize = 512;

/// What `useChat` sends. What else it sends is not looked at.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UiChat {
    /// The chat's own id.
    #[schema(min_length = 1, max_length = 200)]
    id: String,
    messages: Vec<UiMessage>,
    /// Which agent answers.
    #[serde(default)]
    agent: Option<String>,
    /// `regenerate-message` asks for another answer to the last message.
    #[serde(default)]
    trigger: Option<String>,
    /// With a new message: the one that it stands for.
    #[serde(default, rename = "messageId")]
    message_id: Option<String>,
}

impl UiChat {
    fn regenerates(&self) -> bool {
        self.trigger.as_deref() == Some("regenerate-message")
    }
}

#[derive(Debug, Deserialize, ToSchema)]
struct UiMessage {
    /// The last message is the person's, `user`.
    role: String,
    #[serde(default)]
    parts: Vec<UiPart>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct UiPart {
    /// `text`, or `file` for a picture as a `data:` address.
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default, rename = "mediaType")]
    media_type: Option<String>,
}

fn content(message: &UiMessage) -> Answer<Vec<UserPart>> {
    message
        .parts
        .iter()
        .map(|part| match part.r#type.as_str() {
            "text" => Ok(UserPart::text(part.text.clone().unwrap_or_default())),
            "file" => {
                let data = part.url.as_deref().and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
                match (data, part.media_type.as_deref()) {
                    (Some((_, data)), Some(kind)) => uploads::picture(kind, data),
                    _ => Err(Problem::bad("Only pictures that are in the message itself can be said.")),
                }
            }
            kind => Err(Problem::bad(format!("`{}` cannot be said.", clipped(kind)))),
        })
        .collect()
}

/// Say something as a chat of the AI SDK
///
/// A chat is a session, found again by the chat's own id; the answer is a UI message stream, version 1.
#[utoipa::path(post, path = "/ai-sdk/chat", request_body = UiChat, responses((status = 200, content_type = "text/event-stream", body = String)), tag = "other protocols")]
pub async fn chat(State(desk): State<SharedDesk>, Body(request): Body<UiChat>) -> Answer<impl IntoResponse> {
    if request.id.is_empty() || request.id.len() > LONGEST_ID {
        return Err(Problem::bad(format!("A chat's id has 1 to {LONGEST_ID} letters.")));
    }
    let Some(last) = request.messages.last().filter(|message| message.role == "user") else {
        return Err(Problem::bad("The last message must be the person's."));
    };
    let said = content(last)?;
    let name = format!("ai-sdk:{}", request.id);
    let (session, is_new) = session_for(&desk, Some(name.clone()), request.agent.clone()).await?;
    let goes_back = !is_new && (request.regenerates() || request.message_id.is_some());
    let session = if goes_back { take_back(&desk, session, &request, &said).await? } else { session };
    let turn = Turn::begin(&desk.engine, session, said).await?;
    desk.call_it(session, name).await?;
    let talk = Talk { turn, queue: VecDeque::new(), open: None, blocks: 0, answered: false, over: false };
    let events = futures_util::stream::unfold(talk.begin(), |mut talk| async move {
        let event = talk.next().await?;
        Some((Ok::<_, Infallible>(event), talk))
    });
    let version = [(HeaderName::from_static("x-vercel-ai-ui-message-stream"), "v1")];
    Ok((version, Sse::new(events).keep_alive(KeepAlive::default())))
}

/// The session up to what the chat takes back: another answer, or other words, are another way from there on.
/// What was said stays in the session that was.
async fn take_back(desk: &SharedDesk, session: SessionId, request: &UiChat, said: &[UserPart]) -> Answer<SessionId> {
    let inputs = inputs_of(desk, session).await?;
    // Somebody may have said more in the workbench: where other words stand in this place, the same words
    // are looked for.
    let place = request.messages.iter().filter(|message| message.role == "user").count().saturating_sub(1);
    let same = || inputs.iter().rev().find(|(_, content)| content.starts_with(said));
    let there = inputs.get(place);
    let is_same = there.is_some_and(|(_, content)| content.starts_with(said));
    let found = if request.regenerates() && !is_same { same().or(there) } else { there };
    match found {
        // It has not heard of it: nothing is to be taken back.
        None => Ok(session),
        Some((seq, _)) if inputs.first().is_some_and(|(first, _)| first == seq) => {
            Ok(session_for(desk, None, request.agent.clone()).await?.0)
        }
        Some((seq, _)) => Ok(desk.engine.fork(session, Some(seq - 1)).await?),
    }
}

/// What was said in a session and where, without what was taken back before it was heard.
async fn inputs_of(desk: &SharedDesk, session: SessionId) -> Answer<Vec<(u64, Vec<UserPart>)>> {
    let store = desk.engine.store().clone();
    blocking(move || {
        let (mut inputs, mut last) = (Vec::new(), 0);
        loop {
            let events = store.events(session, last, PAGE)?;
            let Some(newest) = events.last() else { break };
            last = newest.seq;
            for recorded in events {
                match recorded.event {
                    Fact::InputReceived(received) => inputs.push((recorded.seq, received.input, received.content)),
                    Fact::InputWithdrawn(withdrawn) => inputs.retain(|(_, input, _)| *input != withdrawn.input),
                    _ => {}
                }
            }
        }
        Ok(inputs.into_iter().map(|(seq, _, content)| (seq, content)).collect())
    })
    .await?
}

/// A block of text or thinking that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Reasoning,
}

impl Block {
    const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
        }
    }
}

struct Talk {
    turn: Turn,
    queue: VecDeque<Value>,
    open: Option<Block>,
    blocks: u32,
    /// Tools have answered; what comes next is another step.
    answered: bool,
    over: bool,
}

impl Talk {
    fn begin(mut self) -> Self {
        let id = format!("msg-{}-{}", self.turn.session, self.turn.input());
        self.queue.push_back(json!({ "type": "start", "messageId": id }));
        self.queue.push_back(json!({ "type": "start-step" }));
        self
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(part) = self.queue.pop_front() {
                let data = if part.is_null() { "[DONE]".to_owned() } else { part.to_string() };
                return Some(Event::default().data(data));
            }
            if self.over {
                return None;
            }
            match self.turn.next().await {
                Some(piece) => self.take(piece),
                None => self.over = true,
            }
        }
    }

    /// All that the tools of a round answered is one step with their calls.
    fn step(&mut self) {
        if std::mem::take(&mut self.answered) {
            self.queue.push_back(json!({ "type": "finish-step" }));
            self.queue.push_back(json!({ "type": "start-step" }));
        }
    }

    fn say(&mut self, block: Block, delta: &str) {
        self.step();
        if self.open != Some(block) {
            self.close();
            self.blocks += 1;
            self.open = Some(block);
            self.queue.push_back(json!({ "type": format!("{}-start", block.word()), "id": self.blocks.to_string() }));
        }
        let kind = format!("{}-delta", block.word());
        self.queue.push_back(json!({ "type": kind, "id": self.blocks.to_string(), "delta": delta }));
    }

    fn close(&mut self) {
        if let Some(block) = self.open.take() {
            self.queue.push_back(json!({ "type": format!("{}-end", block.word()), "id": self.blocks.to_string() }));
        }
    }

    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.say(Block::Text, &text),
            Piece::Thinking(text) => self.say(Block::Reasoning, &text),
            Piece::RoundOver => self.close(),
            Piece::Called { call, tool, input } => {
                self.close();
                self.step();
                self.queue.push_back(json!({
                    "type": "tool-input-available", "toolCallId": call, "toolName": tool, "input": input,
                    "dynamic": true, "providerExecuted": true,
                }));
            }
            Piece::Finished { call, text, failed } => {
                self.queue.push_back(if failed {
                    json!({ "type": "tool-output-error", "toolCallId": call, "errorText": text, "dynamic": true, "providerExecuted": true })
                } else {
                    json!({ "type": "tool-output-available", "toolCallId": call, "output": text, "dynamic": true, "providerExecuted": true })
                });
                self.answered = true;
            }
            Piece::Asked(waiting) => {
                let data = json!({ "question": waiting.question, "ask": waiting.ask, "session": self.turn.session });
                self.queue.push_back(json!({ "type": "data-ask", "data": data, "transient": true }));
            }
            Piece::Ended { reason, .. } => {
                self.close();
                if !reason.is_success() {
                    self.queue.push_back(json!({ "type": "error", "errorText": reason.to_string() }));
                }
                self.finish();
            }
            Piece::Broken(reason) => {
                self.close();
                self.queue.push_back(json!({ "type": "error", "errorText": reason }));
                self.finish();
            }
        }
    }

    fn finish(&mut self) {
        self.queue.push_back(json!({ "type": "finish-step" }));
        self.queue.push_back(json!({ "type": "finish" }));
        self.queue.push_back(Value::Null);
        self.over = true;
    }
}
