//! Secrets that are known by the name they are given: `password = …`, `"api_key": "…"`,
//! `--token …`, `<password>…</password>`.

use super::{Finding, Kind, Severity, shape, token};

/// What a name promises of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    Password,
    ApiKey,
    Token,
    Aws,
    /// `key` and `credential` name many harmless things.
    Key,
}

/// The words to look for. The longest that fits counts.
pub static KEYWORDS: &[(&str, Keyword)] = &[
    ("password", Keyword::Password),
    ("passwd", Keyword::Password),
    ("passphrase", Keyword::Password),
    ("passwort", Keyword::Password),
    ("pwd", Keyword::Password),
    ("secret", Keyword::Password),
    ("aws_secret", Keyword::Aws),
    ("aws_access_key_id", Keyword::Aws),
    ("api_key", Keyword::ApiKey),
    ("api-key", Keyword::ApiKey),
    ("apikey", Keyword::ApiKey),
    ("access_key", Keyword::ApiKey),
    ("access-key", Keyword::ApiKey),
    ("accesskey", Keyword::ApiKey),
    ("token", Keyword::Token),
    ("key", Keyword::Key),
    ("credential", Keyword::Key),
];

const LONGEST_NAME: usize = 48;
/// A value as long as this is no word that somebody typed.
const PLAIN: usize = 20;
pub const LONGEST_VALUE: usize = 4_096;

impl Keyword {
    const fn kind(self) -> Kind {
        let (name, words, severity) = match self {
            Self::Password => ("password_generic", "a password", Severity::High),
            Self::ApiKey => ("api_key_generic", "an API key", Severity::High),
            Self::Token => ("token_generic", "an access token", Severity::High),
            Self::Aws => ("aws_credentials", "an AWS key", Severity::Critical),
            Self::Key => ("high_entropy_assignment", "a key", Severity::Medium),
        };
        Kind { name, words, severity, certain: false }
    }

    const fn shortest(self) -> usize {
        match self {
            Self::Password => 8,
            Self::ApiKey | Self::Aws => 16,
            Self::Token => 20,
            Self::Key => 40,
        }
    }
}

/// How a value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Quoted,
    /// Alone on its line, as in `.env` files.
    Line,
    Bare,
}

/// The value that a name at `start..end` is given, if it is a secret.
pub fn at(text: &[u8], start: usize, end: usize, keyword: Keyword) -> Option<Finding> {
    let left = text.get(start.saturating_sub(LONGEST_NAME)..start)?;
    let from = start - left.iter().rev().take_while(|byte| shape::is_word(**byte)).count();
    let right = text.get(end..text.len().min(end + LONGEST_NAME))?;
    let to = end + right.iter().take_while(|byte| shape::is_word(**byte)).count();
    let name = text.get(from..to)?;
    if !names_a_secret(name, keyword) {
        return None;
    }
    let value_at = operator(text, from, to, keyword)?;
    let (from_value, to_value, style) = value(text, from, value_at)?;
    let value = text.get(from_value..to_value)?;
    if !is_secret(value, keyword, style, name) {
        return None;
    }
    // A key of a known form is called what it is.
    let known = token::any_at(text, from_value).map_or(keyword.kind(), |finding| finding.kind);
    Some(Finding { kind: known, start: from_value, end: to_value })
}

/// Words that make a name harmless: `password_hash`, `tokenCount`, `publicKey`, `next_page_token`.
const HARMLESS: [&str; 88] = [
    "public",
    "pub",
    "hash",
    "hashed",
    "name",
    "names",
    "path",
    "file",
    "filename",
    "url",
    "uri",
    "type",
    "kind",
    "length",
    "len",
    "size",
    "count",
    "max",
    "min",
    "limit",
    "policy",
    "ref",
    "label",
    "hint",
    "prompt",
    "placeholder",
    "field",
    "input",
    "header",
    "expires",
    "expiry",
    "expiration",
    "ttl",
    "timeout",
    "age",
    "regex",
    "pattern",
    "rule",
    "rules",
    "page",
    "next",
    "continuation",
    "cursor",
    "pad",
    "eos",
    "bos",
    "unk",
    "sep",
    "cls",
    "mask",
    "sort",
    "primary",
    "foreign",
    "partition",
    "cache",
    "idempotency",
    "map",
    "index",
    "lookup",
    "group",
    "env",
    "var",
    "variable",
    "error",
    "message",
    "title",
    "description",
    "text",
    "strength",
    "arn",
    "version",
    "algorithm",
    "issuer",
    "column",
    "alias",
    "scope",
    "icon",
    "color",
    "shortcut",
    "binding",
    "fingerprint",
    "checksum",
    "integrity",
    "stop",
    "special",
    "site",
    "etag",
    "resource",
];

fn names_a_secret(name: &[u8], keyword: Keyword) -> bool {
    let lower = |word: &[u8]| String::from_utf8_lossy(word).to_ascii_lowercase();
    let parts = name.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let words: Vec<String> = parts.flat_map(shape::camel_words).map(lower).collect();
    let harmless =
        |word: &String| HARMLESS.contains(&word.as_str()) || word.starts_with("sha") || word.starts_with("md5");
    if words.iter().any(harmless) || words.last().is_some_and(|last| last == "id" && keyword != Keyword::Aws) {
        return false;
    }
    let named = |word: &String| match keyword {
        Keyword::Password => ["password", "passwd", "passphrase", "passwort", "pwd", "secret"]
            .iter()
            .any(|known| word.ends_with(known) || (word.starts_with(known) && word.ends_with("key"))),
        Keyword::Token => word.ends_with("token"),
        Keyword::ApiKey | Keyword::Aws => true,
        Keyword::Key => word == "key" || word == "credential" || word.ends_with("secretkey"),
    };
    words.iter().any(named)
}

/// Where the value begins: behind `=`, `:`, `:=`, `=>`, an opening tag, or a flag's space.
fn operator(text: &[u8], from: usize, to: usize, keyword: Keyword) -> Option<usize> {
    let byte = |at: usize| text.get(at).copied();
    let mut at = to;
    while byte(at) == Some(b'\\') {
        at += 1;
    }
    if let Some(b'"' | b'\'' | b'`') = byte(at) {
        at += 1;
    }
    if byte(at) == Some(b']') {
        at += 1;
    }
    let closed = at;
    at = skip_spaces(text, at);
    let is_flag = from >= 2 && text.get(from - 2..from) == Some(b"--") || text.get(from..)?.starts_with(b"--");
    match (byte(at)?, byte(at + 1)) {
        (b'=', Some(b'=' | b'~')) | (b':', Some(b':')) => None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => Some(at + 2),
        (b'=', _) => Some(at + 1),
        (b':', _) => Some(behind_type(text, at + 1)),
        (b'>', _) if at == to && byte(from.checked_sub(1)?) == Some(b'<') => Some(at + 1),
        _ if is_flag && closed == to && at > to => Some(at),
        // SQL: `WITH PASSWORD 'value'`.
        (b'\'', _) if keyword == Keyword::Password && at > closed && closed == to => Some(at),
        _ => None,
    }
}

/// Past a type between the name and its value: `api_key: &str = "…"`.
fn behind_type(text: &[u8], at: usize) -> usize {
    const LONGEST_TYPE: usize = 40;
    let rest = text.get(at..text.len().min(at + LONGEST_TYPE)).unwrap_or_default();
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b" &_<>[]?|':".contains(byte);
    match rest.iter().position(|byte| !is_type(byte)) {
        Some(stop) if rest.get(stop..stop + 2) == Some(b"= ") => at + stop + 1,
        _ => at,
    }
}

fn skip_spaces(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

fn value(text: &[u8], name_at: usize, at: usize) -> Option<(usize, usize, Style)> {
    let spaced = matches!(text.get(at), Some(b' ' | b'\t'));
    let mut at = skip_spaces(text, at);
    // `r"…"`, `b'…'`, `f"…"`
    if let (Some(b'r' | b'b' | b'f' | b'u'), Some(b'"' | b'\'')) = (text.get(at), text.get(at + 1)) {
        at += 1;
    }
    let slashes = text.get(at..)?.iter().take_while(|byte| **byte == b'\\').count();
    let opening = at + slashes;
    let end = text.len().min(opening + LONGEST_VALUE);
    if let Some(quote @ (b'"' | b'\'' | b'`')) = text.get(opening).copied() {
        let inner = text.get(opening + 1..end)?;
        let length = quoted_length(inner, quote, slashes)?;
        return Some((opening + 1, opening + 1 + length, Style::Quoted));
    }
    let rest = text.get(at..end)?;
    let line = !spaced && text.get(at - 1) == Some(&b'=') && begins_line(text, name_at);
    let stop =
        |byte: &u8| byte.is_ascii_whitespace() || (!line && b",;)}]&|".contains(byte)) || b"\"'`<>".contains(byte);
    let length = rest.iter().position(stop).unwrap_or(rest.len());
    Some((at, at + length, if line { Style::Line } else { Style::Bare }))
}

/// Up to the closing quote on the same line. In escaped text the quotes are escaped too.
fn quoted_length(inner: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        match *inner.get(at)? {
            b'\n' => return None,
            b'\\' if slashes == 0 => at += 2,
            b'\\' => return Some(at),
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

/// Whether a name stands at the beginning of its line, but for `export`.
fn begins_line(text: &[u8], name_at: usize) -> bool {
    let before = text.get(name_at.saturating_sub(40)..name_at).unwrap_or_default();
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    matches!(line, b"" | b"export" | b"set" | b"-e" | b"ENV" | b"ARG") || line.iter().all(u8::is_ascii_digit)
}

fn is_secret(value: &[u8], keyword: Keyword, style: Style, name: &[u8]) -> bool {
    if value.len() < keyword.shortest() || value.iter().any(u8::is_ascii_whitespace) || value == name {
        return false;
    }
    let (digit, upper, lower) = (
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_lowercase),
    );
    let refers = matches!(value.first(), Some(b'$' | b'%' | b'&' | b'{' | b'['))
        || (style != Style::Quoted && matches!(value.first(), Some(b'!' | b'*' | b'@' | b'#')));
    let is_path = value.starts_with(b"./") || value.starts_with(b"../") || value.starts_with(b"~/");
    let is_code = style != Style::Quoted && value.iter().any(|byte| b"([{".contains(byte))
        || value.windows(2).any(|two| two == b"::" || two == b"->")
        || value.windows(3).any(|three| three == b"://");
    if refers || is_path || is_code || shape::is_uuid(value) {
        return false;
    }
    if keyword == Keyword::Password && style == Style::Quoted && is_pass_phrase(value, name) {
        return true;
    }
    // Behind such a name a long value is a secret, be it as regular as it may.
    let is_plain = value.len() >= PLAIN && matches!(keyword, Keyword::ApiKey | Keyword::Token | Keyword::Aws);
    let is_placeholder = if is_plain { shape::is_stand_in(value) } else { shape::is_placeholder(value) };
    let unmarked = value.iter().all(u8::is_ascii_alphanumeric);
    let is_certain = keyword == Keyword::Aws && is_plain && unmarked && digit;
    if is_placeholder || (!is_certain && shape::is_words(value)) {
        return false;
    }
    if !(upper || lower) || shape::is_number(value) {
        return false;
    }
    let is_token = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.:~".contains(byte));
    match keyword {
        Keyword::Password => {
            let symbol = value.iter().any(|byte| !byte.is_ascii_alphanumeric() && !b"_-./:".contains(byte));
            let slashed = value.first() == Some(&b'/') && value.len() < 40;
            (digit || symbol) && !slashed && shape::entropy(value) > 2.3
        }
        Keyword::ApiKey | Keyword::Aws => is_token && digit && shape::entropy(value) > 3.0,
        Keyword::Token => is_token && digit && shape::entropy(value) > 3.2,
        Keyword::Key => is_token && digit && upper && lower && !shape::is_hex(value) && shape::entropy(value) > 4.2,
    }
}

/// `correct-horse-battery`: words that only a password would put together, given to a name that ends
/// in it. Single words are translations, and other marks than `-` make names and messages.
fn is_pass_phrase(value: &[u8], name: &[u8]) -> bool {
    const SHORTEST_WORD: usize = 3;
    let parts: Vec<&[u8]> = value.split(|byte| *byte == b'-').collect();
    let is_part = |part: &&[u8]| {
        part.len() >= SHORTEST_WORD && part.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let lower = String::from_utf8_lossy(value);
    let speaks_of_itself = ["pass", "pwd", "secret", "token", "key", "login", "user", "input", "field", "form", "auth"];
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let is_name = ["password", "passwd", "passphrase", "passwort", "pwd"].iter().any(|end| name.ends_with(end));
    is_name
        && parts.len() >= 3
        && parts.iter().all(is_part)
        && !speaks_of_itself.iter().any(|word| lower.contains(word))
        && !shape::is_placeholder(value)
}
