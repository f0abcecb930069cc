//! A key that cannot be printed by accident.

use std::fmt;

/// A provider's key. It is shown nowhere: not by `Debug`, not in messages, not in events.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

/// Shorter keys are placeholders for local servers; hiding them would mangle ordinary words.
const WORTH_HIDING: usize = 8;

impl Secret {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into().trim().into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the one header that carries it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Takes everything that is or looks like a key out of a provider's text.
pub(super) fn scrub(text: &str, key: Option<&Secret>) -> String {
    let mut clean = text.to_owned();
    if let Some(key) = key.filter(|key| key.0.len() >= WORTH_HIDING) {
        clean = clean.replace(key.expose(), "[key]");
    }
    if !KEY_STARTS.iter().any(|start| clean.contains(start)) {
        return clean;
    }
    clean.split_inclusive(|letter: char| !is_key_letter(letter)).map(hide_key).collect()
}

/// How the well-known providers' keys begin. They quote parts of a wrong key back at us.
const KEY_STARTS: [&str; 3] = ["sk-", "AIza", "gsk_"];

fn is_key_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '*' | '.')
}

fn hide_key(word: &str) -> String {
    let key = word.trim_end_matches(|letter: char| !is_key_letter(letter) || letter == '.');
    if key.len() >= WORTH_HIDING && KEY_STARTS.iter().any(|start| key.starts_with(start)) {
        word.replacen(key, "[key]", 1)
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
