//! One line of the audit log, and its canonical form.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weft_core::{SessionId, Timestamp, secret};

/// Longer texts are cut: the log says what was done, not all that was in it.
const LONGEST_TEXT: usize = 2_000;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($variant,)*
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let words: Vec<&str> = Self::ALL.iter().map(|each| each.word()).collect();
                let found = Self::ALL.iter().find(|each| each.word() == text);
                found.copied().ok_or_else(|| format!("choose one of {}", words.join(", ")))
            }
        }
    };
}

words! {
    /// What sort of deed it is.
    Category {
        Permission "permission",
        File "file",
        Process "process",
        Network "network",
        Model "model",
        Credential "credential",
        Session "session",
        Config "config",
    }
}

words! {
    Severity {
        Info "info",
        Warning "warning",
        Security "security",
        Critical "critical",
    }
}

words! {
    Outcome {
        Allowed "allowed",
        Denied "denied",
        Error "error",
    }
}

/// Something that happened, to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub at: Timestamp,
    pub category: Category,
    /// What happened: `tool.run`, `ask.answered`.
    pub event: &'static str,
    pub severity: Severity,
    pub session: Option<SessionId>,
    /// The workspace.
    pub project: Option<String>,
    pub agent: Option<String>,
    pub workflow: Option<String>,
    /// Who or what acted: a tool's name, `model`, `set`.
    pub action: String,
    /// On what: a path, a command, a model, an address.
    pub target: Option<String>,
    pub outcome: Outcome,
    pub details: Option<Value>,
}

impl Entry {
    pub fn new(at: Timestamp, category: Category, event: &'static str, action: impl Into<String>) -> Self {
        Self {
            at,
            category,
            event,
            severity: Severity::Info,
            session: None,
            project: None,
            agent: None,
            workflow: None,
            action: action.into(),
            target: None,
            outcome: Outcome::Allowed,
            details: None,
        }
    }

    /// The line as it is written, with the hash of the one before it, and its own hash.
    pub(super) fn seal(self, sequence: u64, previous_hash: &str, id: u128) -> Option<(String, String)> {
        let line = Canonical {
            id: uuid(id),
            timestamp: timestamp(self.at),
            sequence,
            category: self.category,
            event_type: self.event,
            severity: self.severity,
            session_id: self.session,
            project_id: self.project.map(clean),
            agent_id: self.agent.map(clean),
            workflow_id: self.workflow.map(clean),
            action: clean(self.action),
            target: self.target.map(clean),
            outcome: self.outcome,
            details: self.details.map(clean_value),
            previous_hash,
        };
        let body = serde_json::to_string(&line).ok()?;
        let hash = hash(body.as_bytes());
        let open = body.strip_suffix('}')?;
        Some((format!("{open}{HASH_KEY}{hash}\"}}\n"), hash))
    }
}

const HASH_KEY: &str = ",\"entry_hash\":\"";
const SIGNATURE_KEY: &str = "\",\"signature\":\"";
const LINE_END: &str = "\"}\n";

/// The line with a signature of its hash at the end, so that it is vouched for as soon as it is
/// written whole.
pub(super) fn with_signature(line: &str, signature: &str) -> String {
    let open = line.strip_suffix(LINE_END).unwrap_or(line);
    format!("{open}{SIGNATURE_KEY}{signature}{LINE_END}")
}

/// The order of the fields is the order in the line, and so part of the hash.
#[derive(Serialize)]
struct Canonical<'a> {
    id: String,
    timestamp: String,
    sequence: u64,
    category: Category,
    event_type: &'static str,
    severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<String>,
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    previous_hash: &'a str,
}

/// A line of the log, read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    pub id: String,
    pub timestamp: String,
    pub sequence: u64,
    pub category: Category,
    pub event_type: String,
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    pub previous_hash: String,
    pub entry_hash: String,
    /// Of the hash. Lines of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Recorded {
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    pub fn at(&self) -> Timestamp {
        read_timestamp(&self.timestamp)
    }
}

/// The hash that a line ought to have, from its bytes. None when it has more behind its hash than
/// the signature: that would be covered by nothing.
pub(super) fn hash_of_line(line: &str) -> Option<String> {
    let at = line.rfind(HASH_KEY)?;
    let rest = line.get(at + HASH_KEY.len()..)?.strip_suffix("\"}")?;
    let (hash_text, signature) = rest.split_once(SIGNATURE_KEY).unwrap_or((rest, ""));
    if hash_text.contains('"') || signature.contains('"') {
        return None;
    }
    let mut body = line.get(..at)?.to_owned();
    body.push('}');
    Some(hash(body.as_bytes()))
}

/// SHA-256 in hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS.get(usize::from(value & 15)).copied().unwrap_or(b'0'));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn uuid(id: u128) -> String {
    let text = format!("{:032x}", (id & !(0xf << 76) | (4 << 76)) & !(0x3 << 62) | (0x2 << 62));
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
}

pub(super) fn timestamp(at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    format!("{moment:.3}")
}

pub(super) fn read_timestamp(text: &str) -> Timestamp {
    text.parse::<jiff::Timestamp>().map_or(Timestamp(0), |moment| Timestamp(moment.as_millisecond()))
}

/// Without secrets, on one line and not too long.
fn clean(mut text: String) -> String {
    secret::redact(&mut text);
    if text.len() > LONGEST_TEXT {
        let mut end = LONGEST_TEXT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

fn clean_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => Value::Array(items.into_iter().map(clean_value).collect()),
        Value::Object(fields) => {
            let named = |(name, value): (String, Value)| {
                // The name decides whether a value is a secret, so they are looked at together.
                let value = match value {
                    Value::String(text) if hides(&name, &text) => Value::String(secret::MASK.to_owned()),
                    other => clean_value(other),
                };
                (clean(name), value)
            };
            Value::Object(fields.into_iter().map(named).collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

fn hides(name: &str, text: &str) -> bool {
    !secret::scan(format!("{name}={text}").as_bytes()).is_empty() && secret::scan(text.as_bytes()).is_empty()
}
