//! What a provider's error means: its status, headers and words become one typed [`Failure`].

use reqwest::header::HeaderMap;
use serde_json::Value;
use weft_core::{Failure, FailureKind};

use super::draft::text;
use super::retry_after;
use super::secret::{Secret, scrub};

/// How much of a provider's explanation a person gets to read.
const LONGEST_DETAIL: usize = 500;

/// A response that is not a success.
pub(super) fn from_response(
    provider: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    key: Option<&Secret>,
) -> Failure {
    if let (300..=399, Some(target)) = (status, headers.get("location").and_then(|value| value.to_str().ok())) {
        let message = format!("{provider} has moved to {}. Set that as its base URL.", scrub(target, key));
        return Failure::new(FailureKind::Config, message).with_status(status);
    }
    let document = serde_json::from_slice::<Value>(body).ok();
    let said = match &document {
        Some(document) => Said::from_json(document),
        None => Said::from_plain(body),
    };
    let kind = classify(Some(status), &said);
    let wait = match kind {
        FailureKind::RateLimited | FailureKind::Overloaded | FailureKind::Server => {
            retry_after::from_headers(headers).or(said.retry_after_ms)
        }
        _ => None,
    };
    Failure::new(kind, sentence(provider, kind, Some(status), &said, key)).with_status(status).with_retry_after(wait)
}

/// An error reported inside a stream that had begun well.
pub(super) fn from_stream(provider: &str, error: &Value, key: Option<&Secret>) -> Failure {
    let said = Said::from_json(error);
    let status = said.code.parse::<u16>().ok().filter(|status| (400..=599).contains(status));
    let kind = classify(status, &said);
    let mut failure = Failure::new(kind, sentence(provider, kind, status, &said, key));
    failure.status = status;
    failure.with_retry_after(said.retry_after_ms)
}

/// What an error says, whatever shape it came in.
#[derive(Debug, Default)]
struct Said {
    /// Type, code or status words.
    code: String,
    message: String,
    retry_after_ms: Option<u64>,
}

impl Said {
    fn from_json(document: &Value) -> Self {
        let document = document.as_array().and_then(|list| list.first()).unwrap_or(document);
        let error = match document.get("error") {
            Some(Value::String(message)) => return Self { message: message.clone(), ..Self::default() },
            Some(error @ Value::Object(_)) => error,
            _ => document,
        };
        let mut code = String::new();
        for field in ["code", "type", "status"] {
            match error.get(field) {
                Some(Value::String(word)) if word != "error" => push_word(&mut code, word),
                Some(Value::Number(number)) => push_word(&mut code, &number.to_string()),
                _ => {}
            }
        }
        let message = ["message", "detail", "error_description"]
            .iter()
            .find_map(|field| error.get(*field))
            .map(|message| message.as_str().map_or_else(|| message.to_string(), str::to_owned))
            .unwrap_or_default();
        let mut said = Self { code, message, retry_after_ms: None };
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            push_word(&mut said.code, text(detail, "reason"));
            said.retry_after_ms = said.retry_after_ms.or_else(|| retry_after::duration(text(detail, "retryDelay")));
        }
        // OpenRouter wraps what the provider behind it said.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            push_word(&mut said.message, raw);
        }
        said
    }

    fn from_plain(body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        let body = body.trim();
        if !body.starts_with('<') {
            return Self { message: body.to_owned(), ..Self::default() };
        }
        let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        let message = match title {
            Some((title, _)) => format!("a web page came back instead of an answer, titled `{}`", title.trim()),
            None => "a web page came back instead of an answer".to_owned(),
        };
        Self { message, ..Self::default() }
    }
}

fn push_word(words: &mut String, word: &str) {
    if word.is_empty() {
        return;
    }
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(word);
}

const OVERFLOW: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "request_too_large",
    "prompt is too long",
    "input is too long",
    "maximum context length",
    "context window",
    "context size",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
];
const QUOTA: &[&str] =
    &["insufficient_quota", "billing_error", "billing_hard_limit", "credit balance is too low", "insufficient credits"];
const AUTH: &[&str] =
    &["authentication_error", "invalid_api_key", "api_key_invalid", "api key not valid", "unauthenticated"];
const OVERLOADED: &[&str] = &["overloaded", "slow_down"];
const RATE: &[&str] = &["rate_limit", "resource_exhausted", "too_many_requests"];
const FORBIDDEN: &[&str] = &["permission_error", "permission_denied"];
const NOT_FOUND: &[&str] = &["not_found_error", "model_not_found"];
const BAD_REQUEST: &[&str] = &["invalid_request", "invalid_argument", "invalid_prompt"];

fn classify(status: Option<u16>, said: &Said) -> FailureKind {
    let code = said.code.to_lowercase();
    let all = format!("{code} {}", said.message.to_lowercase());
    let says = |words: &[&str]| words.iter().any(|word| all.contains(word));
    let coded = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if status == Some(413) || (status != Some(429) && says(OVERFLOW)) {
        return FailureKind::ContextOverflow;
    }
    if status == Some(402) || says(QUOTA) {
        return FailureKind::Quota;
    }
    if status == Some(401) || says(AUTH) {
        return FailureKind::Auth;
    }
    match status {
        Some(403) => FailureKind::Forbidden,
        Some(404) => FailureKind::NotFound,
        Some(429) => FailureKind::RateLimited,
        Some(529) => FailureKind::Overloaded,
        Some(500..) if says(OVERLOADED) => FailureKind::Overloaded,
        Some(500.. | 408) => FailureKind::Server,
        Some(_) => FailureKind::BadRequest,
        None if coded(OVERLOADED) => FailureKind::Overloaded,
        None if coded(RATE) => FailureKind::RateLimited,
        None if coded(FORBIDDEN) => FailureKind::Forbidden,
        None if coded(NOT_FOUND) => FailureKind::NotFound,
        None if coded(BAD_REQUEST) => FailureKind::BadRequest,
        None => FailureKind::Server,
    }
}

fn sentence(provider: &str, kind: FailureKind, status: Option<u16>, said: &Said, key: Option<&Secret>) -> String {
    let what = match kind {
        FailureKind::RateLimited => format!("{provider} is limiting how much may be asked"),
        FailureKind::Overloaded => format!("{provider} is overloaded"),
        FailureKind::Auth => format!("{provider} did not accept the key"),
        FailureKind::Forbidden => format!("{provider} does not allow this"),
        FailureKind::Quota => format!("The {provider} account has no credit left"),
        FailureKind::NotFound => format!("{provider} has no such model or address"),
        FailureKind::ContextOverflow => format!("The conversation is too long for {provider}"),
        FailureKind::BadRequest => format!("{provider} refused the request"),
        FailureKind::Server => format!("{provider} failed"),
        _ => format!("{provider} reported an error"),
    };
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let detail = if said.message.trim().is_empty() { said.code.trim() } else { said.message.trim() };
    let detail = scrub(&shorten(detail), key);
    let remedy = match kind {
        FailureKind::Auth => {
            format!(" Give another with `weft auth {provider}`; one in an environment variable goes before it.")
        }
        _ => String::new(),
    };
    if detail.is_empty() {
        return format!("{what}{status} and gave no reason.{remedy}");
    }
    let full_stop = if detail.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{what}{status}: {detail}{full_stop}{remedy}")
}

/// One line of bearable length.
fn shorten(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        push_word(&mut line, word);
        if line.len() > LONGEST_DETAIL {
            let short: String = line.chars().take(LONGEST_DETAIL).collect();
            return format!("{short}…");
        }
    }
    line
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
