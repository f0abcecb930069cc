//! Request bodies, put together from parts that are written once.
//!
//! A message is written as JSON the first time it is sent to a protocol and kept in its entry; the
//! system prompt and the tools are kept per protocol client and shared by all requests. A round
//! therefore writes what is new and copies the other messages, in one buffer of the right size.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use weft_core::message::{Image, calls_of};
use weft_core::{CallId, Entry, Message, Part, ToolCall, ToolResult, UserPart};

use super::body::Body;
use super::{Protocol, anthropic, chat, gemini, responses};
use crate::catalog::ModelInfo;
use crate::model::{Request, ToolSpec};

/// How many system prompts and tool sets are kept. Sessions share them, so few are in use at once.
const KEPT_HEADS: usize = 16;

/// JSON being written. Only whole strings and values go in, so it is valid text.
#[derive(Default)]
pub(super) struct Json(Vec<u8>);

impl Json {
    pub(super) fn raw(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// A value. Writing to memory cannot fail, and our types have only string keys.
    pub(super) fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        let before = self.0.len();
        if serde_json::to_writer(&mut self.0, value).is_err() {
            self.0.truncate(before);
            self.raw("null");
        }
        self
    }

    /// A value written as JSON, and that as a string: how OpenAI wants arguments.
    pub(super) fn quoted(&mut self, value: &Value) -> &mut Self {
        self.value(&value.to_string())
    }

    /// A comma, unless this is the first item of its list.
    pub(super) fn next_item(&mut self) -> &mut Self {
        match self.0.last() {
            None | Some(b'[' | b'{' | b':' | b',') => self,
            Some(_) => self.raw(","),
        }
    }

    pub(super) fn finish(self) -> String {
        String::from_utf8(self.0).unwrap_or_default()
    }
}

/// The part of a request that stays the same through a session: everything from the system prompt
/// and tools to the opening of the list of messages.
#[derive(Default)]
pub(super) struct Heads(Mutex<VecDeque<Head>>);

struct Head {
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    json: Bytes,
}

impl Heads {
    fn get(&self, protocol: Protocol, request: &Request) -> Bytes {
        let mut heads = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Sessions in one workspace have the same prompt, each its own copy. Held, so that no other
        // tools can come to lie at the same address.
        let known = heads.iter().find(|head| head.system == request.system && Arc::ptr_eq(&head.tools, &request.tools));
        if let Some(head) = known {
            return head.json.clone();
        }
        let json: Bytes = match protocol {
            Protocol::Anthropic => anthropic::head(&request.system, &request.tools),
            Protocol::Responses => responses::head(&request.system, &request.tools),
            Protocol::Chat => chat::head(&request.system, &request.tools),
            Protocol::Gemini => gemini::head(&request.system, &request.tools),
        }
        .into();
        if heads.len() >= KEPT_HEADS {
            heads.pop_front();
        }
        heads.push_back(Head {
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            json: json.clone(),
        });
        json
    }
}

/// Writes a whole request. Reasoning in messages up to `forget` is left out.
pub(super) fn body(
    protocol: Protocol,
    request: &Request,
    info: &ModelInfo,
    base_url: &str,
    heads: &Heads,
    forget: Option<u64>,
) -> Body {
    let settings = match protocol {
        Protocol::Anthropic => anthropic::settings(request, info),
        Protocol::Responses => responses::settings(request, info),
        Protocol::Chat => chat::settings(request, info, base_url),
        Protocol::Gemini => gemini::settings(request, info),
    };
    let head = heads.get(protocol, request);
    let messages = fragments(protocol, request, info, forget);
    let breakpoints = match protocol {
        Protocol::Anthropic => anthropic::breakpoints(&messages),
        Protocol::Responses | Protocol::Chat | Protocol::Gemini => [None; 2],
    };
    let size: usize = messages.iter().map(|fragment| fragment.json.len() + 1).sum();
    let spare = 2 * anthropic::CACHE_CONTROL.len() + 8;
    let mut first = Json(Vec::with_capacity(settings.len() + 2));
    first.raw("{").raw(&settings).next_item();
    let mut json = Json(Vec::with_capacity(size + spare));
    // Some protocols have the system prompt as the first message.
    if !messages.is_empty() && !head.ends_with(b"[") {
        json.raw(",");
    }
    for (index, fragment) in messages.iter().enumerate() {
        json.next_item();
        match breakpoints.contains(&Some(index)).then(|| anthropic::split_for_breakpoint(&fragment.json)).flatten() {
            Some((before, after)) => json.raw(before).raw(anthropic::CACHE_CONTROL).raw(after),
            None => json.raw(&fragment.json),
        };
    }
    json.raw("]}");
    Body::new([first.0.into(), head, json.0.into()])
}

/// One message, written.
pub(super) struct Fragment<'a> {
    pub(super) json: Cow<'a, str>,
    pub(super) from_model: bool,
}

/// The conversation as fragments, mended where a provider would refuse it: calls without results
/// get one that says so, and results without calls are left out.
fn fragments<'a>(protocol: Protocol, request: &'a Request, info: &ModelInfo, forget: Option<u64>) -> Vec<Fragment<'a>> {
    let mut fragments = Vec::with_capacity(request.messages.len());
    let mut previous: Option<&Message> = None;
    for (index, entry) in request.messages.iter().enumerate() {
        let next = request.messages.get(index + 1).map(|entry| &entry.message);
        let json = match &entry.message {
            Message::Tool(results) if !answers(previous, results) => continue,
            _ => written(protocol, entry, info, forget.is_some_and(|upto| entry.seq <= upto)),
        };
        let from_model = matches!(entry.message, Message::Assistant(_));
        if !json.is_empty() {
            fragments.push(Fragment { json, from_model });
        }
        if let Message::Assistant(parts) = &entry.message {
            let missing = unanswered(parts, next);
            if !missing.is_empty() {
                let json = message(protocol, &Message::Tool(missing));
                fragments.push(Fragment { json: json.into(), from_model: false });
            }
        }
        previous = Some(&entry.message);
    }
    fragments
}

fn written<'a>(protocol: Protocol, entry: &'a Entry, info: &ModelInfo, forget: bool) -> Cow<'a, str> {
    let forgetful = if forget { without_reasoning(&entry.message) } else { None };
    let current = forgetful.as_ref().unwrap_or(&entry.message);
    if protocol == Protocol::Gemini
        && let Some(json) = gemini::with_stand_in_signature(current, info)
    {
        return json.into();
    }
    match forgetful {
        Some(current) => message(protocol, &current).into(),
        None => entry.wire(protocol.wire_slot(), |current| message(protocol, current)),
    }
}

/// The message without anything that only its maker can read; `None` if it has no such thing.
pub(super) fn without_reasoning(message: &Message) -> Option<Message> {
    let Message::Assistant(parts) = message else { return None };
    let is_plain = |part: &Part| match part {
        Part::Text { .. } => true,
        Part::ToolCall(call) => call.signature.is_none(),
        Part::Thinking { .. } | Part::Opaque { .. } => false,
    };
    if parts.iter().all(is_plain) {
        return None;
    }
    let plain = parts.iter().filter_map(|part| match part {
        Part::Text { .. } => Some(part.clone()),
        Part::ToolCall(call) => Some(Part::ToolCall(ToolCall { signature: None, ..call.clone() })),
        Part::Thinking { .. } | Part::Opaque { .. } => None,
    });
    Some(Message::Assistant(plain.collect()))
}

/// A message as a protocol writes it: items of its list of messages, separated by commas. Empty when
/// nothing in it concerns that protocol.
pub(super) fn message(protocol: Protocol, message: &Message) -> String {
    match protocol {
        Protocol::Anthropic => anthropic::message(message),
        Protocol::Responses => responses::message(message),
        Protocol::Chat => chat::message(message),
        Protocol::Gemini => gemini::message(message),
    }
}

fn answers(previous: Option<&Message>, results: &[ToolResult]) -> bool {
    let Some(Message::Assistant(parts)) = previous else { return false };
    results.iter().any(|result| calls_of(parts).any(|call| call.id == result.call))
}

fn unanswered(parts: &[Part], next: Option<&Message>) -> Vec<ToolResult> {
    let results = match next {
        Some(Message::Tool(results)) => results.as_slice(),
        Some(Message::User(_) | Message::Assistant(_)) | None => &[],
    };
    calls_of(parts)
        .filter(|call| !results.iter().any(|result| result.call == call.id))
        .map(|call| ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            text: "This call was not carried out.".to_owned(),
            images: Vec::new(),
            is_error: true,
        })
        .collect()
}

/// A call's arguments as the object that every provider wants, also when the model sent none.
pub(super) fn object_input(input: &Value) -> Cow<'_, Value> {
    match input {
        Value::Object(_) => Cow::Borrowed(input),
        Value::String(text) => Cow::Owned(serde_json::json!({ "invalid_json": text })),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Cow::Owned(serde_json::json!({ "invalid_json": input.to_string() }))
        }
    }
}

/// A call id in the letters that strict providers take; ids that other providers made may need it.
pub(super) fn plain_id(id: &CallId) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let id = id.as_str();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !id.is_empty() && id.len() <= LONGEST && id.bytes().all(plain) {
        return id.into();
    }
    // FNV-1a: the same call must get the same id in every request.
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("call_{hash:016x}").into()
}

/// A tool's name in the letters that providers take. A model may have made up any name; the answer to
/// it says so, but the name itself goes back too.
pub(super) fn plain_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() {
        return "unknown".into();
    }
    if name.len() <= LONGEST && name.chars().all(plain) {
        return name.into();
    }
    name.chars().take(LONGEST).map(|letter| if plain(letter) { letter } else { '_' }).collect()
}

/// Whether a text says anything; providers refuse empty ones.
pub(super) fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Parts of a user's message that say something.
pub(super) fn spoken(parts: &[UserPart]) -> impl Iterator<Item = &UserPart> {
    parts.iter().filter(|part| match part {
        UserPart::Text { text } => says_something(text),
        UserPart::Image(_) => true,
    })
}

/// `data:image/png;base64,…`, as a JSON string.
pub(super) fn data_url(json: &mut Json, image: &Image) {
    json.value(&format_args!("data:{};base64,{}", image.media_type, image.data));
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
