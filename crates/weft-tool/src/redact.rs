//! Takes secrets out of whatever leaves a tool, also when one is split over two chunks: those that
//! are known by their value, and those that look like one.

use std::sync::Arc;

use weft_core::secret::{self, MASK};

/// Shorter values would also hit ordinary words.
const SHORTEST: usize = 8;

/// Finds out what is to be taken out now: keys can be added while Weft runs.
pub type Secrets = Arc<dyn Fn() -> Redaction + Send + Sync>;

/// The secrets to take out. The default takes out none.
#[derive(Clone, Default)]
pub struct Redaction {
    /// Also what nobody has named but looks like a secret.
    by_looks: bool,
    /// Longest first, so that a secret that contains another goes whole.
    secrets: Arc<[String]>,
}

impl Redaction {
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { by_looks: true, secrets: secrets.into() }
    }

    /// These, and more.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.secrets.iter().cloned().chain(more))
    }

    /// As a source that never changes.
    pub fn fixed(self) -> Secrets {
        Arc::new(move || self.clone())
    }

    /// Whether there is a secret in this.
    pub(crate) fn covers(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret.as_str()))
    }

    pub fn scrub(&self, text: &mut String) {
        for secret in self.secrets.iter() {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), MASK);
            }
        }
        if self.by_looks {
            secret::redact(text);
        }
    }

    pub(crate) fn stream(&self) -> Stream {
        Stream { redaction: self.clone(), held: Vec::new(), by_looks: secret::Stream::default() }
    }

    fn scrub_bytes(&self, bytes: &mut Vec<u8>) {
        for secret in self.secrets.iter().map(String::as_bytes) {
            let mut from = 0;
            while let Some(at) = bytes.get(from..).and_then(|rest| find(rest, secret)) {
                let start = from + at;
                bytes.splice(start..start + secret.len(), MASK.bytes());
                from = start + MASK.len();
            }
        }
    }

    /// How many bytes at the end could be the beginning of a secret.
    fn unsure(&self, bytes: &[u8]) -> usize {
        let begins = |secret: &&[u8]| {
            let longest = (secret.len() - 1).min(bytes.len());
            (1..=longest).rev().find(|&length| secret.get(..length).is_some_and(|head| bytes.ends_with(head)))
        };
        self.secrets.iter().map(String::as_bytes).filter_map(|secret| begins(&secret)).max().unwrap_or(0)
    }
}

/// Scrubs a stream of bytes. What may be the beginning of a secret is held back.
pub(crate) struct Stream {
    redaction: Redaction,
    held: Vec<u8>,
    by_looks: secret::Stream,
}

impl Stream {
    /// Whether chunks may be passed on as they are.
    pub fn is_idle(&self) -> bool {
        self.redaction.secrets.is_empty() && !self.redaction.by_looks
    }

    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        self.redaction.scrub_bytes(&mut self.held);
        let keep = self.redaction.unsure(&self.held);
        let rest = self.held.split_off(self.held.len() - keep);
        let known_gone = std::mem::replace(&mut self.held, rest);
        if self.redaction.by_looks { self.by_looks.push(&known_gone) } else { known_gone }
    }

    pub fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.held);
        if !self.redaction.by_looks {
            return rest;
        }
        let mut last = self.by_looks.push(&rest);
        last.extend(self.by_looks.finish());
        last
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(rest) = bytes.get(from..) {
        let at = from + rest.iter().position(|&byte| byte == first)?;
        if bytes.get(at..).is_some_and(|tail| tail.starts_with(wanted)) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
