//! The offline model: what answers when no other model is set up.
//!
//! It is a handful of rules, and says so: it understands plain requests to look at, search, explain
//! by structure, change and run things, maps them to tool calls, and reports what came of them. It
//! keeps nothing between calls, uses only the tools it is given, and never claims success that a
//! result does not show. Everything else gets an answer on how to add a model.
//!
//! An [`Intent`] is one kind of request. Apps add their own with [`Offline::with_intent`].

mod change;
mod explain;
mod find;
mod help;
mod look;
mod outline;
mod report;
mod words;

use std::sync::Arc;

use futures_util::stream;
use serde_json::Value;
use weft_core::event::StopReason;
use weft_core::message::json_size;
use weft_core::units::estimate_tokens;
use weft_core::{CallId, Entry, Message, Part, ToolCall, ToolResult, Usage, UserPart};

use crate::model::{Answer, Chunk, ChunkStream, Model, Request, ToolSpec};

/// One kind of request that can be met without a language model.
pub trait Intent: Send + Sync {
    fn name(&self) -> &'static str;

    /// The first step, if the request is of this kind. Must depend on `asked` alone: it is asked
    /// again in every round.
    fn plan(&self, asked: &Asked<'_>) -> Option<Step>;

    /// What follows from the results so far: another step, or the answer.
    fn report(&self, asked: &Asked<'_>, results: &[Outcome<'_>]) -> Step;
}

/// What the person asked for.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The request in the person's words, without a fenced block.
    pub said: String,
    /// The contents of the first fenced block, if there is one.
    pub block: Option<String>,
    pub tools: &'a [ToolSpec],
}

/// A finished tool call.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    pub input: &'a Value,
    pub result: &'a ToolResult,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Call {
        tool: &'static str,
        input: Value,
    },
    Say(String),
    /// The same, where what was asked for was not done. A script must be able to tell.
    Unable(String),
}

impl Step {
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    pub fn unable(text: impl Into<String>) -> Self {
        Self::Unable(text.into())
    }
}

/// The offline model itself.
pub struct Offline {
    intents: Vec<Box<dyn Intent>>,
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

impl Offline {
    pub const NAME: &'static str = "offline";

    pub fn new() -> Self {
        let intents: Vec<Box<dyn Intent>> = vec![
            Box::new(help::Help),
            Box::new(change::Run),
            Box::new(change::Replace),
            Box::new(change::Append),
            Box::new(change::Write),
            Box::new(explain::Project),
            Box::new(explain::Explain),
            Box::new(find::FindFiles),
            Box::new(look::List),
            Box::new(look::Read),
            Box::new(look::Search),
        ];
        Self { intents }
    }

    /// Adds an intent that is tried before the built-in ones and those added earlier.
    #[must_use]
    pub fn with_intent(mut self, intent: Box<dyn Intent>) -> Self {
        self.intents.insert(0, intent);
        self
    }

    fn answer(&self, request: &Request) -> Step {
        if request.tools.is_empty() && request.system.starts_with("Title:") {
            return Step::Say(help::title(&last_request(&request.messages)));
        }
        let (text, since) = current_request(&request.messages);
        let (said, block) = split_block(&text);
        let asked = Asked { said, block, tools: &request.tools };
        let results = results_of(since);
        let step = self.intents.iter().find_map(|intent| {
            let first = intent.plan(&asked)?;
            Some(if results.is_empty() { first } else { intent.report(&asked, &results) })
        });
        match step {
            Some(Step::Call { tool, .. }) if !request.tools.iter().any(|spec| spec.name == tool) => {
                Step::Unable(format!("That needs the tool `{tool}`, and this session does not have it."))
            }
            Some(Step::Say(text)) if text.trim().is_empty() => Step::say("The tool gave nothing back."),
            Some(step) => step,
            None => Step::unable(help::not_understood()),
        }
    }
}

impl Model for Offline {
    fn stream(&self, request: Request) -> ChunkStream {
        let step = self.answer(&request);
        let input = request.messages.iter().map(|entry| entry.tokens).sum::<u64>()
            + estimate_tokens(request.system.len())
            + request.tools.iter().map(|tool| estimate_tokens(json_size(&tool.schema))).sum::<u64>();
        let mut chunks = Vec::new();
        let stop = if let Step::Unable(_) = step { StopReason::Unable } else { StopReason::End };
        let (part, stop) = match step {
            Step::Say(text) | Step::Unable(text) => {
                chunks.extend(pieces(&text).map(|piece| Chunk::Text(piece.to_owned())));
                (Part::Text { text }, stop)
            }
            Step::Call { tool, input } => {
                // The conversation only grows, so its length makes the id unique in the session.
                let id = CallId::new(format!("offline_{}", request.messages.len()));
                chunks.push(Chunk::ToolStart { call: id.clone(), name: tool.to_owned() });
                chunks.push(Chunk::ToolDelta { call: id.clone(), json: input.to_string() });
                (Part::ToolCall(ToolCall { id, name: tool.to_owned(), input, signature: None }), StopReason::ToolCalls)
            }
        };
        let output = match &part {
            Part::Text { text } | Part::Thinking { text, .. } => estimate_tokens(text.len()),
            Part::ToolCall(call) => estimate_tokens(json_size(&call.input)),
            Part::Opaque { .. } => 0,
        };
        let usage = Usage { input, output, ..Usage::default() };
        chunks.push(Chunk::Done(Answer { parts: vec![part], stop, usage }));
        Box::pin(stream::iter(chunks))
    }
}

/// The last thing the person said, with everything since. "Again" means what was said before it.
fn current_request(messages: &[Arc<Entry>]) -> (String, &[Arc<Entry>]) {
    let said: Vec<_> = messages.iter().enumerate().filter_map(|(at, entry)| Some((at, user_text(entry)?))).collect();
    let since = said.last().and_then(|(at, _)| messages.get(at + 1..)).unwrap_or_default();
    let meant = said.iter().rev().find(|(_, text)| !words::is_again(text)).or(said.last());
    (meant.map(|(_, text)| text.clone()).unwrap_or_default(), since)
}

fn last_request(messages: &[Arc<Entry>]) -> String {
    current_request(messages).0
}

fn user_text(entry: &Entry) -> Option<String> {
    let Message::User(parts) = &entry.message else { return None };
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            UserPart::Text { text } => Some(text.as_str()),
            UserPart::Image(_) => None,
        })
        .collect();
    Some(texts.join("\n"))
}

fn results_of(since: &[Arc<Entry>]) -> Vec<Outcome<'_>> {
    let calls: Vec<&ToolCall> = since
        .iter()
        .flat_map(|entry| match &entry.message {
            Message::Assistant(parts) => weft_core::message::calls_of(parts).collect(),
            Message::User(_) | Message::Tool(_) => Vec::new(),
        })
        .collect();
    let results = since.iter().flat_map(|entry| match &entry.message {
        Message::Tool(results) => results.as_slice(),
        Message::User(_) | Message::Assistant(_) => &[],
    });
    results
        .filter_map(|result| {
            let call = calls.iter().find(|call| call.id == result.call)?;
            Some(Outcome { input: &call.input, result })
        })
        .collect()
}

/// Takes the first fenced block out of a request.
fn split_block(text: &str) -> (String, Option<String>) {
    let fence = |line: &str| line.trim_start().starts_with("```");
    let mut lines = text.lines();
    let before: Vec<&str> = lines.by_ref().take_while(|line| !fence(line)).collect();
    if !text.lines().any(fence) {
        return (text.trim().to_owned(), None);
    }
    let block: Vec<&str> = lines.by_ref().take_while(|line| !fence(line)).collect();
    let said: Vec<&str> = before.into_iter().chain(lines).collect();
    let block = block.iter().map(|line| format!("{line}\n")).collect();
    (said.join("\n").trim().to_owned(), Some(block))
}

/// Cuts a text into a few pieces at line ends, as a stream would bring it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const LINES: usize = 8;
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.match_indices('\n').nth(LINES - 1).map_or(rest.len(), |(at, _)| at + 1);
        let (piece, later) = rest.split_at(end);
        rest = later;
        Some(piece)
    })
}

#[cfg(test)]
#[path = "offline_tests.rs"]
mod tests;
