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
use weft_core::UserPart;
use weft_core::message::Image;

use super::turn::{Piece, Turn, session_for};
use crate::desk::SharedDesk;
use crate::extract::Body;
use crate::problem::{Answer, Problem, clipped};

const LONGEST_ID: usize = 200;

#[derive(Debug, Deserialize)]
pub struct Request {
    /// The chat's own id.
    id: String,
    messages: Vec<UiMessage>,
    /// Which agent answers.
    #[serde(default)]
    agent: Option<String>,
}

#[derive(Debug, Deserialize)]
struct UiMessage {
    role: String,
    #[serde(default)]
    parts: Vec<UiPart>,
}

#[derive(Debug, Deserialize)]
struct UiPart {
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
                    (Some((_, data)), Some(kind)) if kind.starts_with("image/") => {
                        Ok(UserPart::Image(Image { media_type: kind.to_owned(), data: data.into() }))
                    }
                    _ => Err(Problem::bad("Only pictures that are in the message itself can be said.")),
                }
            }
            kind => Err(Problem::bad(format!("`{}` cannot be said.", clipped(kind)))),
        })
        .collect()
}

pub async fn chat(State(desk): State<SharedDesk>, Body(request): Body<Request>) -> Answer<impl IntoResponse> {
    if request.id.is_empty() || request.id.len() > LONGEST_ID {
        return Err(Problem::bad(format!("A chat's id has 1 to {LONGEST_ID} letters.")));
    }
    let Some(last) = request.messages.last().filter(|message| message.role == "user") else {
        return Err(Problem::bad("The last message must be the person's."));
    };
    let said = content(last)?;
    let name = format!("ai-sdk:{}", request.id);
    let (session, _) = session_for(&desk, Some(name.clone()), request.agent).await?;
    let turn = Turn::begin(&desk.engine, session, said).await?;
    desk.call_it(session, name).await?;
    let talk = Talk { turn, queue: VecDeque::new(), open: None, blocks: 0, over: false };
    let events = futures_util::stream::unfold(talk.begin(), |mut talk| async move {
        let event = talk.next().await?;
        Some((Ok::<_, Infallible>(event), talk))
    });
    let version = [(HeaderName::from_static("x-vercel-ai-ui-message-stream"), "v1")];
    Ok((version, Sse::new(events).keep_alive(KeepAlive::default())))
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

    fn say(&mut self, block: Block, delta: &str) {
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
                self.queue.push_back(json!({ "type": "finish-step" }));
                self.queue.push_back(json!({ "type": "start-step" }));
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
