//! OpenAI's chat completions: an agent as a model.
//!
//! A conversation that goes on is found again by what was said in it: the next request repeats all of
//! it, and its beginning is the name of the session. What the agent does with tools happens here and
//! is not told; its words are. A question to a person waits in the workbench, and the answer says so:
//! a stream goes on when it is answered, a whole answer ends with it, and both name it under `weft`.

use std::convert::Infallible;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse as _, Response, Sse};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use weft_core::UserPart;
use weft_core::event::EndReason;
use weft_engine::agent::Agent;

use super::turn::{Piece, Turn, Waiting, problem_of, session_for};
use crate::desk::{Desk, SharedDesk};
use crate::extract::{Body, Path};
use crate::problem::{Answer, Problem, clipped};
use crate::uploads;

const MOST_MESSAGES: usize = 2_000;

/// What OpenAI's clients send. What else they send is not looked at.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ChatCompletion {
    /// The name of an agent.
    #[serde(default)]
    model: String,
    messages: Vec<ChatMessage>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize, ToSchema)]
struct ChatMessage {
    /// The last message is the person's, `user`.
    role: String,
    #[serde(default)]
    content: Option<ChatContent>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum ChatContent {
    Text(String),
    Parts(Vec<ChatPart>),
}

#[derive(Debug, Deserialize, ToSchema)]
struct ChatPart {
    /// `text` or `image_url`.
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    image_url: Option<ChatImage>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct ChatImage {
    url: String,
}

impl ChatMessage {
    fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(ChatContent::Text(text)) => text.clone(),
            Some(ChatContent::Parts(parts)) => {
                parts.iter().filter_map(|part| part.text.as_deref()).collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn parts(&self) -> Answer<Vec<UserPart>> {
        let Some(ChatContent::Parts(parts)) = &self.content else { return Ok(vec![UserPart::text(self.text())]) };
        parts
            .iter()
            .map(|part| match (part.r#type.as_str(), &part.text, &part.image_url) {
                ("text", Some(text), _) => Ok(UserPart::text(text.clone())),
                ("image_url", _, Some(image)) => picture(&image.url),
                (kind, _, _) => Err(Problem::bad(format!("`{}` cannot be said here.", clipped(kind)))),
            })
            .collect()
    }
}

/// Only pictures that are in the request: nothing is fetched for whoever asks.
fn picture(url: &str) -> Answer<UserPart> {
    let inside = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inside {
        Some((media_type, data)) => uploads::picture(media_type, data),
        None => Err(Problem::bad("Send pictures as `data:image/png;base64,…`.")),
    }
}

/// The error as OpenAI's clients read it.
struct Refused(Problem);

impl axum::response::IntoResponse for Refused {
    fn into_response(self) -> Response {
        let kind = if self.0.status.is_server_error() { "server_error" } else { "invalid_request_error" };
        let error = json!({ "message": self.0.message, "type": kind, "code": self.0.code, "param": null });
        (self.0.status, Json(json!({ "error": error }))).into_response()
    }
}

fn model_view(name: &str) -> Value {
    json!({ "id": name, "object": "model", "created": 0, "owned_by": "weft" })
}

impl Desk {
    fn agent_names(&self) -> Vec<String> {
        Agent::all(&self.home, &self.workspace).0.into_iter().map(|agent| agent.name).collect()
    }
}

/// The agents, as models
#[utoipa::path(get, path = "/v1/models", responses((status = 200, body = Object)), tag = "other protocols")]
pub async fn models(State(desk): State<SharedDesk>) -> Json<Value> {
    let models: Vec<Value> = desk.agent_names().iter().map(|name| model_view(name)).collect();
    Json(json!({ "object": "list", "data": models }))
}

/// An agent, as a model
#[utoipa::path(get, path = "/v1/models/{model}", params(("model" = String, Path)), responses((status = 200, body = Object)), tag = "other protocols")]
pub async fn model(State(desk): State<SharedDesk>, Path(name): Path<String>) -> Response {
    if desk.agent_names().contains(&name) {
        return Json(model_view(&name)).into_response();
    }
    Refused(no_model(&name)).into_response()
}

fn no_model(name: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "model_not_found",
        format!("There is no agent `{}`. /v1/models lists them.", clipped(name)),
    )
}

/// Say something to an agent as to a model of OpenAI's
///
/// With `stream` the answer comes piece by piece.
#[utoipa::path(post, path = "/v1/chat/completions", request_body = ChatCompletion, responses((status = 200, content((Object = "application/json"), (String = "text/event-stream"))), (status = 502, description = "The model behind the agent failed", body = crate::problem::ErrorBody)), tag = "other protocols")]
pub async fn complete(State(desk): State<SharedDesk>, Body(request): Body<ChatCompletion>) -> Response {
    match begin(&desk, &request).await {
        Ok(talk) if request.stream => {
            let usage = request.stream_options.is_some_and(|options| options.include_usage);
            stream(talk, usage).into_response()
        }
        Ok(talk) => whole(talk).await,
        Err(problem) => Refused(problem).into_response(),
    }
}

/// A turn under way, and what its conversation will be called.
struct Talk {
    desk: SharedDesk,
    turn: Turn,
    name: Names,
    id: String,
    model: String,
    created: i64,
    said: String,
    /// A blank line comes before the next words.
    gap: bool,
    /// What waits for a person since the last words.
    waiting: Option<Waiting>,
}

/// The name of a conversation, message by message.
#[derive(Clone)]
struct Names(Sha256);

impl Names {
    fn new(model: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(model.as_bytes());
        Self(hash)
    }

    fn add(&mut self, role: &str, text: &str) {
        for piece in [role, text] {
            self.0.update((piece.len() as u64).to_le_bytes());
            self.0.update(piece.as_bytes());
        }
    }

    fn name(&self) -> String {
        let digest: [u8; 32] = self.0.clone().finalize().into();
        format!("openai:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }
}

async fn begin(desk: &SharedDesk, request: &ChatCompletion) -> Answer<Talk> {
    let model = if request.model.is_empty() { weft_engine::agent::DEFAULT } else { request.model.as_str() };
    if !desk.agent_names().iter().any(|name| name == model) {
        return Err(no_model(model));
    }
    if request.messages.len() > MOST_MESSAGES {
        return Err(Problem::bad(format!("At most {MOST_MESSAGES} messages are taken.")));
    }
    let Some((last, before)) = request.messages.split_last().filter(|(last, _)| last.role == "user") else {
        return Err(Problem::bad("The last message must be the person's."));
    };
    let mut names = Names::new(model);
    before.iter().for_each(|message| names.add(&message.role, &message.text()));
    let known_as = (!before.is_empty()).then(|| names.name());
    let (session, is_new) = session_for(desk, known_as, Some(model.to_owned())).await?;
    let mut content = last.parts()?;
    if is_new && !before.is_empty() {
        content.insert(0, UserPart::text(preface(before)));
    }
    names.add("user", &last.text());
    let turn = Turn::begin(&desk.engine, session, content).await?;
    Ok(Talk {
        desk: desk.clone(),
        turn,
        name: names,
        id: format!("chatcmpl-{session}"),
        model: model.to_owned(),
        created: desk.engine.clock().now().0 / 1000,
        said: String::new(),
        gap: false,
        waiting: None,
    })
}

/// A conversation that began elsewhere, told to the agent.
fn preface(before: &[ChatMessage]) -> String {
    let mut text = String::from("What was said before, as the calling program has it:\n");
    for message in before {
        text.push_str(&format!("<{0}>\n{1}\n</{0}>\n", clipped(&message.role), message.text()));
    }
    text.push_str("\nNow: ");
    text
}

impl Talk {
    /// The next words; between rounds there is a blank line.
    async fn words(&mut self) -> Result<String, Option<EndView>> {
        loop {
            match self.turn.next().await {
                Some(Piece::Text(text)) => return Ok(self.say(&text)),
                // Only if more is said; an answer does not end in blank lines.
                Some(Piece::RoundOver) => self.gap = true,
                Some(Piece::Asked(waiting)) => {
                    self.gap = true;
                    let words = self.say(&waiting.notice(self.turn.session));
                    self.gap = true;
                    self.waiting = Some(waiting);
                    return Ok(words);
                }
                Some(Piece::Ended { reason, usage }) => return Err(Some(self.end(reason, usage).await)),
                Some(Piece::Broken(reason)) => return Err(Some(EndView::broken(reason))),
                Some(Piece::Thinking(_) | Piece::Called { .. } | Piece::Finished { .. }) => {}
                None => return Err(None),
            }
        }
    }

    fn say(&mut self, text: &str) -> String {
        let needs_gap = std::mem::take(&mut self.gap) && !self.said.is_empty() && !self.said.ends_with("\n\n");
        let words = if needs_gap { format!("\n\n{text}") } else { text.to_owned() };
        self.said.push_str(&words);
        words
    }

    /// What a program can act on.
    fn about(&self, waiting: &Waiting) -> Value {
        json!({ "session": self.turn.session, "waiting": { "ask": waiting.ask, "question": waiting.question } })
    }

    /// The next request repeats what was said here; without the name it begins a new session.
    async fn remember(&self) {
        let mut names = self.name.clone();
        names.add("assistant", &self.said);
        let _ = self.desk.call_it(self.turn.session, names.name()).await;
    }

    async fn end(&mut self, reason: EndReason, usage: weft_core::Usage) -> EndView {
        self.remember().await;
        let finish = match &reason {
            EndReason::Truncated => "length",
            EndReason::Refused => "content_filter",
            _ => "stop",
        };
        let problem = problem_of(&reason);
        EndView { finish, problem, usage: usage_view(usage) }
    }

    fn completion(&self, finish: &str, usage: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": self.said, "refusal": null },
                "logprobs": null,
                "finish_reason": finish,
            }],
            "usage": usage,
        })
    }

    /// Words as a chunk, with what waits for a person since.
    fn words_chunk(&mut self, text: &str) -> Event {
        let mut chunk = self.chunk_value(&json!({ "content": text }), None);
        if let (Some(waiting), Some(chunk)) = (self.waiting.take(), chunk.as_object_mut()) {
            chunk.insert("weft".to_owned(), self.about(&waiting));
        }
        Event::default().data(chunk.to_string())
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Event {
        Event::default().data(self.chunk_value(delta, finish).to_string())
    }

    fn chunk_value(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    }
}

fn usage_view(usage: weft_core::Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
    })
}

struct EndView {
    finish: &'static str,
    problem: Option<Problem>,
    usage: Value,
}

impl EndView {
    fn broken(reason: String) -> Self {
        Self { finish: "stop", problem: Some(Problem::failed(reason)), usage: Value::Null }
    }
}

async fn whole(mut talk: Talk) -> Response {
    loop {
        match talk.words().await {
            Ok(_) => {
                let Some(waiting) = talk.waiting.take() else { continue };
                // Nobody can say how long a person takes: what there is to say is said now.
                talk.remember().await;
                let mut answer = talk.completion("stop", &usage_view(talk.turn.usage()));
                if let Some(answer) = answer.as_object_mut() {
                    answer.insert("weft".to_owned(), talk.about(&waiting));
                }
                return Json(answer).into_response();
            }
            Err(Some(EndView { problem: Some(problem), .. })) => return Refused(problem).into_response(),
            Err(end) => {
                let end = end.unwrap_or_else(|| EndView::broken("The turn ended without an end.".to_owned()));
                return Json(talk.completion(end.finish, &end.usage)).into_response();
            }
        }
    }
}

fn stream(talk: Talk, with_usage: bool) -> impl axum::response::IntoResponse {
    enum Step {
        First(Box<Talk>),
        Words(Box<Talk>),
        Rest(std::vec::IntoIter<Event>),
    }
    let events = futures_util::stream::unfold(Step::First(Box::new(talk)), move |step| async move {
        match step {
            Step::First(talk) => {
                let event = talk.chunk(&json!({ "role": "assistant", "content": "" }), None);
                Some((Ok::<_, Infallible>(event), Step::Words(talk)))
            }
            Step::Words(mut talk) => match talk.words().await {
                Ok(text) => Some((Ok(talk.words_chunk(&text)), Step::Words(talk))),
                Err(end) => {
                    let mut rest = last_chunks(&talk, end, with_usage).into_iter();
                    let first = rest.next()?;
                    Some((Ok(first), Step::Rest(rest)))
                }
            },
            Step::Rest(mut rest) => rest.next().map(|event| (Ok(event), Step::Rest(rest))),
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn last_chunks(talk: &Talk, end: Option<EndView>, with_usage: bool) -> Vec<Event> {
    let end = end.unwrap_or_else(|| EndView::broken("The turn ended without an end.".to_owned()));
    let mut events = Vec::new();
    if let Some(problem) = end.problem {
        let error = json!({ "error": { "message": problem.message, "type": "server_error", "code": problem.code } });
        events.push(Event::default().data(error.to_string()));
    } else {
        events.push(talk.chunk(&json!({}), Some(end.finish)));
        if with_usage {
            let chunk = json!({
                "id": talk.id,
                "object": "chat.completion.chunk",
                "created": talk.created,
                "model": talk.model,
                "choices": [],
                "usage": end.usage,
            });
            events.push(Event::default().data(chunk.to_string()));
        }
    }
    events.push(Event::default().data("[DONE]"));
    events
}
