//! When two requests are the same, and what to say when they are not.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Volatile;
use crate::model::Request;

/// A request as far as it matters for its answer. Whose session it is does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) model: String,
    /// A fingerprint: system prompts are long and the same throughout.
    pub(super) system: String,
    pub(super) tools: Vec<String>,
    pub(super) messages: Vec<Value>,
}

impl Asked {
    pub(super) fn new(request: &Request, volatile: &[Volatile]) -> Self {
        let canonical = |message| {
            let mut value = serde_json::to_value(message).unwrap_or(Value::Null);
            shrink_images(&mut value);
            replace_in(&mut value, &|text| hide(text, volatile));
            value
        };
        Self {
            model: request.model.to_string(),
            system: fingerprint(&hide(&request.system, volatile)),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            messages: request.messages.iter().map(|entry| canonical(&entry.message)).collect(),
        }
    }

    pub(super) fn fingerprint(&self) -> String {
        fingerprint(&serde_json::to_string(self).unwrap_or_default())
    }

    /// How many messages from the first on are the same.
    pub(super) fn common_messages(&self, other: &Self) -> usize {
        self.messages.iter().zip(&other.messages).take_while(|(one, another)| one == another).count()
    }

    /// How near another request is; the greater, the nearer.
    pub(super) fn nearness(&self, other: &Self) -> (usize, usize) {
        let same = [self.model == other.model, self.system == other.system, self.tools == other.tools];
        (self.common_messages(other), same.into_iter().filter(|same| *same).count())
    }

    /// The first thing in which `asked` differs from this recording, in words.
    pub(super) fn difference(&self, asked: &Self) -> Option<String> {
        if self.model != asked.model {
            return Some(format!("the model was `{}` and is now `{}`", self.model, asked.model));
        }
        if self.system != asked.system {
            return Some("the system prompt is not the same".to_owned());
        }
        if self.tools != asked.tools {
            return Some(format!(
                "the tools were [{}] and are now [{}]",
                self.tools.join(", "),
                asked.tools.join(", ")
            ));
        }
        let common = self.common_messages(asked);
        let number = common + 1;
        match (self.messages.get(common), asked.messages.get(common)) {
            (None, None) => None,
            (Some(_), None) => Some(format!("message {number} of the recording is missing")),
            (None, Some(new)) => Some(format!("message {number} was not there: {}", excerpt(&plain(new), 0))),
            (Some(recorded), Some(new)) => {
                let (place, was, is) = first_difference(recorded, new, String::new());
                Some(format!("message {number} differs{place}: it was {was} and is now {is}"))
            }
        }
    }
}

/// Puts placeholders for values, the longest value first so that a path goes before its parent.
pub(super) fn hide(text: &str, volatile: &[Volatile]) -> String {
    swap(text, volatile.iter().map(|volatile| (volatile.value.as_str(), volatile.placeholder.as_str())))
}

/// Puts values for placeholders.
pub(super) fn reveal(text: &str, volatile: &[Volatile]) -> String {
    swap(text, volatile.iter().map(|volatile| (volatile.placeholder.as_str(), volatile.value.as_str())))
}

fn swap<'a>(text: &str, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    pairs
        .filter(|(from, _)| !from.is_empty())
        .fold(text.to_owned(), |text, (from, to)| if text.contains(from) { text.replace(from, to) } else { text })
}

/// Applies `change` to every string in `value`.
pub(super) fn replace_in(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_in(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|item| replace_in(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Pictures are compared by fingerprint; their bytes would only swell the file.
fn shrink_images(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("media_type")
                && let Some(Value::String(data)) = fields.get_mut("data")
            {
                *data = fingerprint(data);
            }
            fields.values_mut().for_each(shrink_images);
        }
        Value::Array(items) => items.iter_mut().for_each(shrink_images),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// FNV-1a: the same on every machine and in every version.
fn fingerprint(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("fnv1a:{hash:016x}:{}", text.len())
}

/// Where two values first differ, and an excerpt of each from there.
fn first_difference(was: &Value, is: &Value, place: String) -> (String, String, String) {
    match (was, is) {
        (Value::Object(old), Value::Object(new)) if old.keys().eq(new.keys()) => {
            let differing =
                old.iter().find_map(|(name, old)| new.get(name).filter(|new| *new != old).map(|new| (name, old, new)));
            if let Some((name, old, new)) = differing {
                return first_difference(old, new, deeper(&place, name));
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let differing = old.iter().zip(new).enumerate().find(|(_, (old, new))| old != new);
            if let Some((index, (old, new))) = differing {
                return first_difference(old, new, deeper(&place, &index.to_string()));
            }
        }
        _ => {}
    }
    let (was, is) = (plain(was), plain(is));
    let same = was.chars().zip(is.chars()).take_while(|(one, another)| one == another).count();
    (place, excerpt(&was, same), excerpt(&is, same))
}

fn deeper(place: &str, step: &str) -> String {
    if place.is_empty() { format!(" at {step}") } else { format!("{place}.{step}") }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The text around its character number `at`.
fn excerpt(text: &str, at: usize) -> String {
    const BEFORE: usize = 20;
    const LENGTH: usize = 80;
    let from = at.saturating_sub(BEFORE);
    let shown: String = text.chars().skip(from).take(LENGTH).collect();
    let front = if from > 0 { "…" } else { "" };
    let back = if text.chars().count() > from + LENGTH { "…" } else { "" };
    format!("`{front}{shown}{back}`")
}
