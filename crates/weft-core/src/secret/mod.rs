//! Finds secrets in text by their looks: keys with a known form, private keys, passwords in
//! addresses and in assignments.
//!
//! One pass of an automaton finds the places where a secret could be; small checks decide. What is
//! found is hidden and the name it was given stays: `api_key = [REDACTED]`. Hashes, UUIDs, code and
//! the placeholders of examples are left alone. A finding never holds the secret itself, only where
//! it stands.
//!
//! Where to go next: `token` has the table of known forms, `assign` reads assignments, `command`
//! options and cookies, `shape` judges values, [`Stream`] hides secrets in text that comes in pieces.

mod assign;
mod command;
mod place;
mod shape;
mod stream;
mod token;

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind, StartKind};

pub use stream::Stream;

/// What stands in the place of a secret.
pub const MASK: &str = "[REDACTED]";
/// What stood behind a hidden value may now stand behind a name. Each round hides more, and nothing
/// is ever nested deeper than this.
const ROUNDS: usize = 4;
/// How much is shown around a secret to say where it is.
const AROUND: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// A sort of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// For logs and programs.
    pub name: &'static str,
    /// For people: "a GitHub token".
    pub words: &'static str,
    pub severity: Severity,
    /// Nothing else looks like this. The others are good guesses.
    pub certain: bool,
}

/// Where a secret stands: the value alone, without the name it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// What an occurrence of an anchor can be the beginning of.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    Token(&'static token::Token),
    Keyword(assign::Keyword),
    Jwt,
    Pem,
    Address,
    Header(place::Scheme),
    Flag(command::Flag),
    Signed,
    Cookie,
}

struct Detector {
    automaton: Option<AhoCorasick>,
    anchors: Vec<Anchor>,
}

static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    let mut patterns = Vec::new();
    let mut anchors = Vec::new();
    let mut add = |pattern: &'static str, anchor| {
        patterns.push(pattern);
        anchors.push(anchor);
    };
    token::TOKENS.iter().for_each(|token| add(token.prefix, Anchor::Token(token)));
    assign::KEYWORDS.iter().for_each(|(word, keyword)| add(word, Anchor::Keyword(*keyword)));
    add("eyJ", Anchor::Jwt);
    add(place::PEM_BEGIN, Anchor::Pem);
    add("://", Anchor::Address);
    add("bearer ", Anchor::Header(place::Scheme::Bearer));
    add("basic ", Anchor::Header(place::Scheme::Basic));
    command::FLAGS.iter().for_each(|(word, flag)| add(word, Anchor::Flag(*flag)));
    add("sig=", Anchor::Signed);
    add("cookie", Anchor::Cookie);
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .start_kind(StartKind::Unanchored)
        .kind(Some(AhoCorasickKind::DFA))
        .build(patterns)
        .ok();
    Detector { automaton, anchors }
});

impl Detector {
    /// The anchors in a text, with where they begin and end.
    fn anchors<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (Anchor, usize, usize)> + 'a {
        let hits = self.automaton.iter().flat_map(move |automaton| automaton.find_iter(text));
        hits.filter_map(|hit| Some((*self.anchors.get(hit.pattern().as_usize())?, hit.start(), hit.end())))
    }
}

/// Every secret in a text, in order, none over another.
pub fn scan(text: &[u8]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut cookies: Vec<Finding> = Vec::new();
    let mut past = 0;
    for (anchor, start, end) in DETECTOR.anchors(text) {
        if start < past {
            continue;
        }
        let found = match anchor {
            Anchor::Token(token) => token.at(text, start),
            Anchor::Keyword(keyword) => assign::at(text, start, end, keyword),
            Anchor::Jwt => token::jwt(text, start),
            Anchor::Pem => place::pem(text, start, end),
            Anchor::Address => place::address(text, start, end),
            Anchor::Header(scheme) => place::header(text, start, end, scheme),
            Anchor::Flag(flag) => command::flag(text, start, end, flag),
            Anchor::Signed => command::signed(text, start, end),
            Anchor::Cookie => {
                cookies.extend(command::cookies(text, end));
                None
            }
        };
        if let Some(finding) = found
            && finding.start >= past
        {
            past = finding.end;
            findings.push(finding);
        }
    }
    // One header has many, and what stands between them may be found for itself.
    let apart = |cookie: &Finding| findings.iter().all(|other| cookie.end <= other.start || other.end <= cookie.start);
    cookies.retain(apart);
    cookies.dedup_by_key(|cookie| cookie.start);
    if !cookies.is_empty() {
        findings.append(&mut cookies);
        findings.sort_by_key(|finding| finding.start);
        findings.dedup_by(|later, earlier| later.start < earlier.end);
    }
    findings
}

/// Hides every secret, and says how many there were.
pub fn redact(text: &mut String) -> usize {
    let findings = scan(text.as_bytes());
    if findings.is_empty() {
        return 0;
    }
    let mut bytes = std::mem::take(text).into_bytes();
    let count = hide(&mut bytes, &findings) + redact_bytes(&mut bytes);
    // Values begin and end at letters of their own, so this is still text.
    *text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    count
}

/// The same for bytes that may not be text.
pub fn redact_bytes(bytes: &mut Vec<u8>) -> usize {
    let mut count = 0;
    for _ in 0..ROUNDS {
        let findings = scan(bytes);
        if findings.is_empty() {
            break;
        }
        count += hide(bytes, &findings);
    }
    count
}

fn hide(bytes: &mut Vec<u8>, findings: &[Finding]) -> usize {
    let mut hidden = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for finding in findings {
        hidden.extend_from_slice(bytes.get(from..finding.start).unwrap_or_default());
        hidden.extend_from_slice(MASK.as_bytes());
        from = finding.end;
    }
    hidden.extend_from_slice(bytes.get(from..).unwrap_or_default());
    *bytes = hidden;
    findings.len()
}

/// What was found, in words: "a GitHub token and 2 passwords".
pub fn words(findings: &[Finding]) -> String {
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for finding in findings {
        match kinds.iter_mut().find(|(kind, _)| *kind == finding.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((finding.kind, 1)),
        }
    }
    let parts: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| {
            let name = kind.words.trim_start_matches("an ").trim_start_matches("a ");
            if *count == 1 { kind.words.to_owned() } else { format!("{count} times {name}") }
        })
        .collect();
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A finding's surroundings with the value hidden, to show somebody where it is.
pub fn excerpt(text: &str, finding: &Finding) -> String {
    let mut from = finding.start.saturating_sub(AROUND);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let mut to = (finding.end + AROUND).min(text.len());
    while !text.is_char_boundary(to) {
        to += 1;
    }
    let mut before = text.get(from..finding.start).unwrap_or_default().to_owned();
    let mut after = text.get(finding.end..to).unwrap_or_default().to_owned();
    // A neighbour may be a secret too, and cut in the middle it would not be known as one.
    if scan(text.as_bytes()).len() > 1 {
        before = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_owned();
        redact(&mut before);
        after.clear();
    }
    let (head, tail) = (if from > 0 { "..." } else { "" }, if to < text.len() { "..." } else { "" });
    format!("{head}{before}[***]{after}{tail}").replace(['\n', '\r'], " ")
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
