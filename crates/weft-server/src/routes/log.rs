//! What lies in the log: pages of it, what of it the model sees, what tools printed.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};
use weft_core::event::Event;
use weft_core::message::text_of;
use weft_core::{Message, Part, Recorded, State as SessionState, UserPart};

use super::blocking;
use crate::desk::SharedDesk;
use crate::extract::{self, Names, Query, Session, named};
use crate::problem::{Answer, Problem};

const USUAL_PAGE: usize = 500;
const LARGEST_PAGE: usize = 5_000;
/// So much of a message is shown with the context.
const SHOWN: usize = 4_000;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogQuery {
    /// The page that follows this event.
    after: Option<u64>,
    /// The page that ends before this event.
    before: Option<u64>,
    #[param(minimum = 1, maximum = 5000)]
    limit: Option<usize>,
}

/// A page of a session's log, in order. Without `after` and `before` it is the newest.
#[derive(Serialize, ToSchema)]
pub struct LogPage {
    #[schema(value_type = Vec<EventView>)]
    events: Vec<Box<RawValue>>,
    /// The number of the page's first event, 0 if it is empty.
    first: u64,
    last: u64,
    /// The number of the session's last event.
    end: u64,
}

/// An event in its place; what else it holds depends on its type.
#[derive(Serialize, ToSchema)]
pub struct EventView {
    session: String,
    seq: u64,
    at: i64,
    /// Such as `tool_finished`.
    r#type: String,
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

/// A page of what was recorded
#[utoipa::path(get, path = "/sessions/{id}/log", params(("id" = String, Path), LogQuery), responses((status = 200, body = LogPage)), tag = "events")]
pub async fn log(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    Query(query): Query<LogQuery>,
) -> Answer<Json<LogPage>> {
    let limit = query.limit.unwrap_or(USUAL_PAGE);
    if limit == 0 || limit > LARGEST_PAGE {
        return Err(Problem::bad(format!("`limit` is from 1 to {LARGEST_PAGE}.")));
    }
    if query.after.is_some() && query.before.is_some() {
        return Err(Problem::bad("Name `after` or `before`, not both."));
    }
    if desk.engine.unbegun(session).is_some() {
        return Ok(Json(LogPage { events: Vec::new(), first: 0, last: 0, end: 0 }));
    }
    let store = desk.engine.store().clone();
    let page = blocking(move || {
        let end = store.last_seq(session)?;
        let events = match query.after {
            Some(after) => store.events(session, after, limit)?,
            None => store.events_before(session, query.before.unwrap_or(end + 1), limit)?,
        };
        let (first, last) = (seq(events.first()), seq(events.last()));
        let raw = events.iter().filter_map(|event| serde_json::value::to_raw_value(event).ok()).collect();
        Ok::<_, Problem>(LogPage { events: raw, first, last, end })
    });
    Ok(Json(page.await??))
}

fn seq(event: Option<&Recorded>) -> u64 {
    event.map_or(0, |event| event.seq)
}

/// What the model sees of a session.
#[derive(Serialize, ToSchema)]
pub struct ContextView {
    model: String,
    /// Tokens that fit.
    window: u64,
    /// Tokens that the next call will send, as far as known.
    context_tokens: u64,
    parts: Vec<ContextPart>,
    messages: Vec<ContextMessage>,
}

/// A kind of content and its share, by our own estimate.
#[derive(Serialize, ToSchema)]
pub struct ContextPart {
    name: String,
    tokens: u64,
    /// Where it is not in the messages below.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ContextMessage {
    /// `person`, `agent` or `tool`.
    role: String,
    /// The event it came with.
    seq: u64,
    tokens: u64,
    /// Its beginning.
    text: String,
    cut: bool,
}

/// What the model sees, and how much room it takes
#[utoipa::path(get, path = "/sessions/{id}/context", params(("id" = String, Path)), responses((status = 200, body = ContextView)), tag = "events")]
pub async fn context(State(desk): State<SharedDesk>, Session(session): Session) -> Answer<Json<ContextView>> {
    desk.exists(session)?;
    desk.begun(session)?;
    let store = desk.engine.store().clone();
    let state = blocking(move || store.load(session)).await??;
    let window = desk.engine.catalog().find(&state.model.provider, &state.model.model).window;
    let engine = desk.engine.clone();
    // Without a key, or with an agent that is gone, the conversation is shown all the same.
    let before = blocking(move || engine.preamble(session).map(|preamble| preamble_parts(&preamble))).await?;
    Ok(Json(context_view(&state, window, before.unwrap_or_default())))
}

/// The instructions, cut where their named parts begin, and the tools.
fn preamble_parts(preamble: &weft_engine::Preamble) -> Vec<ContextPart> {
    let mut parts: Vec<ContextPart> = Vec::new();
    let mut rest: &str = &preamble.system;
    let starts =
        [("<environment>", "environment"), ("<project_instructions", "project instructions"), ("<skills", "skills")];
    let mut name = "agent's instructions";
    for (mark, next) in starts {
        let Some(at) = rest.find(&format!("\n\n{mark}")) else { continue };
        let (before, after) = rest.split_at(at);
        parts.push(text_part(name, before));
        (name, rest) = (next, after);
    }
    parts.push(text_part(name, rest));
    let tools: Vec<String> =
        preamble.tools.iter().map(|tool| format!("{}: {}\n{}", tool.name, tool.description, tool.schema)).collect();
    parts.push(text_part(&format!("{} tools", tools.len()), &tools.join("\n\n")));
    parts
}

fn text_part(name: &str, text: &str) -> ContextPart {
    let text = text.trim();
    let tokens = weft_core::units::estimate_tokens(text.len());
    ContextPart { name: name.to_owned(), tokens, text: Some(text.to_owned()) }
}

fn context_view(state: &SessionState, window: u64, before: Vec<ContextPart>) -> ContextView {
    let mut shares = [("person", 0), ("agent", 0), ("tool results", 0)];
    let mut messages = Vec::new();
    for entry in &state.conversation.entries {
        let (role, share, text) = match &entry.message {
            Message::User(parts) => ("person", 0, words(parts)),
            Message::Assistant(parts) => ("agent", 1, spoken(parts)),
            Message::Tool(results) => {
                let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
                ("tool", 2, texts.join("\n"))
            }
        };
        if let Some((_, tokens)) = shares.get_mut(share) {
            *tokens += entry.tokens;
        }
        let shown: String = text.chars().take(SHOWN).collect();
        let cut = shown.len() < text.len();
        messages.push(ContextMessage { role: role.to_owned(), seq: entry.seq, tokens: entry.tokens, text: shown, cut });
    }
    let mut parts = before;
    let said = shares.into_iter().filter(|(_, tokens)| *tokens > 0);
    parts.extend(said.map(|(name, tokens)| ContextPart { name: name.to_owned(), tokens, text: None }));
    // What the provider counted beyond our own estimate.
    let known: u64 = parts.iter().map(|part| part.tokens).sum();
    let rest = state.context_tokens.saturating_sub(known);
    if rest > 0 {
        parts.push(ContextPart { name: "not told apart".to_owned(), tokens: rest, text: None });
    }
    ContextView { model: state.model.to_string(), window, context_tokens: state.context_tokens, parts, messages }
}

fn words(parts: &[UserPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        UserPart::Text { text } => text.as_str(),
        UserPart::Image(_) => "[picture]",
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn spoken(parts: &[Part]) -> String {
    let mut text = text_of(parts);
    for part in parts {
        if let Part::ToolCall(call) = part {
            text.push_str(&format!("\n[{} {}]", call.name, call.input));
        }
    }
    text
}

/// The whole output of a tool call
#[utoipa::path(get, path = "/sessions/{id}/outputs/{call}", params(("id" = String, Path), ("call" = String, Path)), responses((status = 200, content_type = "text/plain", body = String)), tag = "events")]
pub async fn output(
    State(desk): State<SharedDesk>,
    Session(session): Session,
    extract::Path(names): Names,
) -> Answer<Response> {
    desk.exists(session)?;
    desk.begun(session)?;
    let call: String = named(&names, "call")?;
    let (store, folder) = (desk.engine.store().clone(), desk.home.outputs(session));
    let text = blocking(move || whole_output(&store, session, &call, &folder)).await??;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// Looks for the call from the end of the log, and for the file that its result names.
fn whole_output(
    store: &weft_store::Store,
    session: weft_core::SessionId,
    call: &str,
    folder: &Path,
) -> Answer<Vec<u8>> {
    let mut before = store.last_seq(session)? + 1;
    while before > 1 {
        let page = store.events_before(session, before, USUAL_PAGE)?;
        for recorded in page.iter().rev() {
            let Event::ToolFinished(finished) = &recorded.event else { continue };
            if finished.call.as_str() != call {
                continue;
            }
            let Some(saved) = &finished.output.saved else { return Ok(finished.output.text.clone().into_bytes()) };
            // Only what lies where outputs lie, whatever the log says.
            let path = Path::new(&saved.path);
            let inside = path.canonicalize().ok().zip(folder.canonicalize().ok());
            return match inside {
                Some((path, folder)) if path.starts_with(&folder) => {
                    std::fs::read(path).map_err(|error| Problem::failed(format!("The output cannot be read: {error}.")))
                }
                _ => Err(Problem::missing("The whole output is not there any more.")),
            };
        }
        before = page.first().map_or(1, |event| event.seq);
    }
    Err(Problem::missing("There is no result of such a call in this session."))
}
