//! What a request says: the conversation so far, read exactly or by a quick scan.
//!
//! The scan finds the markers of messages in the raw body without building a JSON tree. Quotes
//! inside JSON strings are escaped, so a marker can never be found inside what somebody wrote.

use memchr::memmem;
use serde_json::Value;

use crate::Protocol;
use crate::behaviour::Place;

/// A model request that the server has received.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub protocol: Protocol,
    /// The path with its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// `Null` if the body was not JSON.
    pub body: Value,
    /// The number of assistant messages in the whole conversation; several in a row count as one.
    pub round: usize,
    /// The same since the last user message.
    pub round_in_turn: usize,
    /// The number of user messages.
    pub turn: usize,
    pub last_user: String,
    /// The tool results after the last assistant message.
    pub last_results: Vec<String>,
    /// When its first byte arrived, in microseconds since 1970.
    pub arrived_micros: u64,
    pub body_bytes: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn place(&self) -> Place {
        Place { turn: self.turn, round: self.round_in_turn }
    }
}

/// A message, or a part of one, as far as it matters for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    User,
    Assistant,
    /// Tool results that are a message of their own.
    Results,
    /// Tool results inside a message that claims to be the user's.
    ResultsInUser,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub turn: usize,
    pub round: usize,
    pub round_in_turn: usize,
}

fn count(marks: impl Iterator<Item = Mark>) -> Counts {
    let mut counts = Counts::default();
    let mut user_pending = false;
    let mut in_assistant = false;
    for mark in marks {
        if mark == Mark::ResultsInUser {
            user_pending = false;
            in_assistant = false;
            continue;
        }
        counts.begin_turn_if(user_pending);
        user_pending = mark == Mark::User;
        if mark == Mark::Assistant && !in_assistant {
            counts.round += 1;
            counts.round_in_turn += 1;
        }
        in_assistant = mark == Mark::Assistant;
    }
    counts.begin_turn_if(user_pending);
    counts
}

impl Counts {
    pub fn place(&self) -> Place {
        Place { turn: self.turn, round: self.round_in_turn }
    }

    fn begin_turn_if(&mut self, user: bool) {
        if user {
            self.turn += 1;
            self.round_in_turn = 0;
        }
    }
}

/// What the exact reading finds in a body.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    marks: Vec<Mark>,
    pub last_user: String,
    pub last_results: Vec<String>,
}

impl Conversation {
    pub fn read(protocol: Protocol, body: &Value) -> Self {
        let mut conversation = Self::default();
        match protocol {
            Protocol::Anthropic => items(body, "messages").for_each(|message| conversation.anthropic(message)),
            Protocol::Chat => items(body, "messages").for_each(|message| conversation.chat(message)),
            Protocol::Gemini => items(body, "contents").for_each(|message| conversation.gemini(message)),
            Protocol::Responses => match body.get("input") {
                Some(Value::String(text)) => conversation.user(text.clone()),
                _ => items(body, "input").for_each(|item| conversation.responses(item)),
            },
        }
        conversation
    }

    pub fn counts(&self) -> Counts {
        count(self.marks.iter().copied())
    }

    fn user(&mut self, text: String) {
        self.marks.push(Mark::User);
        self.last_user = text;
    }

    fn assistant(&mut self) {
        self.marks.push(Mark::Assistant);
        self.last_results.clear();
    }

    fn results(&mut self, results: Vec<String>) {
        self.marks.push(Mark::Results);
        self.last_results.extend(results);
    }

    fn anthropic(&mut self, message: &Value) {
        if text_at(message, "role") == "assistant" {
            return self.assistant();
        }
        let results: Vec<String> = items(message, "content")
            .filter(|part| text_at(part, "type") == "tool_result")
            .map(|part| plain_text(part.get("content")))
            .collect();
        if results.is_empty() { self.user(plain_text(message.get("content"))) } else { self.results(results) }
    }

    fn chat(&mut self, message: &Value) {
        match text_at(message, "role") {
            "user" => self.user(plain_text(message.get("content"))),
            "assistant" => self.assistant(),
            "tool" | "function" => self.results(vec![plain_text(message.get("content"))]),
            _ => {}
        }
    }

    fn responses(&mut self, item: &Value) {
        match (text_at(item, "type"), text_at(item, "role")) {
            ("function_call_output", _) => self.results(vec![plain_text(item.get("output"))]),
            ("function_call" | "reasoning", _) | (_, "assistant") => self.assistant(),
            (_, "user") => self.user(plain_text(item.get("content"))),
            _ => {}
        }
    }

    fn gemini(&mut self, message: &Value) {
        if text_at(message, "role") == "model" {
            return self.assistant();
        }
        let results: Vec<String> = items(message, "parts")
            .filter_map(|part| part.get("functionResponse"))
            .map(|answer| plain_text(answer.get("response")))
            .collect();
        if results.is_empty() { self.user(plain_text(message.get("parts"))) } else { self.results(results) }
    }
}

fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A string, the texts of a list of parts, or the JSON of anything else.
fn plain_text(content: Option<&Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
        }
        Some(other) => other.to_string(),
    }
}

/// Counts without parsing. Agrees with the exact reading on any body that a real client writes.
pub(crate) fn scan(protocol: Protocol, body: &[u8]) -> Counts {
    // Where results stand inside a message it matters where that message begins.
    let mut marks: Vec<(usize, Mark)> = match protocol {
        Protocol::Anthropic | Protocol::Gemini => message_starts(body).collect(),
        Protocol::Chat | Protocol::Responses => roles(body).collect(),
    };
    match protocol {
        Protocol::Chat => {}
        Protocol::Anthropic => marks.extend(
            string_values(body, b"\"type\"")
                .filter(|found| found.value == b"tool_result")
                .map(|found| (found.key_at, Mark::ResultsInUser)),
        ),
        Protocol::Responses => {
            marks.extend(string_values(body, b"\"type\"").filter_map(|found| match found.value {
                b"function_call_output" => Some((found.key_at, Mark::Results)),
                b"function_call" | b"reasoning" => Some((found.key_at, Mark::Assistant)),
                _ => None,
            }));
        }
        Protocol::Gemini => {
            marks.extend(memmem::find_iter(body, b"\"functionResponse\"").map(|at| (at, Mark::ResultsInUser)));
        }
    }
    marks.sort_by_key(|(at, _)| *at);
    count(marks.into_iter().map(|(_, mark)| mark))
}

/// Whether the body asks for a stream.
pub(crate) fn scan_stream(body: &[u8]) -> bool {
    memmem::find_iter(body, b"\"stream\"").any(|at| {
        let rest = body.get(at + b"\"stream\"".len()..).unwrap_or_default();
        after_colon(rest).is_some_and(|value| value.starts_with(b"true"))
    })
}

fn roles(body: &[u8]) -> impl Iterator<Item = (usize, Mark)> {
    string_values(body, b"\"role\"").filter_map(|found| {
        let mark = match found.value {
            b"user" => Mark::User,
            b"assistant" | b"model" => Mark::Assistant,
            b"tool" | b"function" => Mark::Results,
            _ => return None,
        };
        Some((found.key_at, mark))
    })
}

/// Some clients write the role after the content: then the message began where the one before it
/// ended.
fn message_starts(body: &[u8]) -> impl Iterator<Item = (usize, Mark)> {
    let mut end_of_previous = 0;
    roles(body).map(move |(role_at, mark)| {
        let role_comes_first = before(body, role_at) == Some(b'{');
        let start = if role_comes_first { role_at } else { end_of_previous };
        end_of_previous = role_at + 1;
        (start, mark)
    })
}

struct Found<'a> {
    key_at: usize,
    value: &'a [u8],
}

/// The string values of a key, wherever it stands.
fn string_values<'a>(body: &'a [u8], quoted_key: &'static [u8]) -> impl Iterator<Item = Found<'a>> {
    memmem::find_iter(body, quoted_key).filter_map(move |key_at| {
        let rest = body.get(key_at + quoted_key.len()..)?;
        let value = after_colon(rest)?.strip_prefix(b"\"")?;
        let end = memchr::memchr(b'"', value)?;
        Some(Found { key_at, value: value.get(..end)? })
    })
}

fn after_colon(rest: &[u8]) -> Option<&[u8]> {
    Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())
}

fn before(body: &[u8], at: usize) -> Option<u8> {
    body.get(..at)?.trim_ascii_end().last().copied()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
