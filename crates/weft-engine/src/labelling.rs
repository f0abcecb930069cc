//! Labels that a session gets by what is said in it, wherever that is said: terminal, page, scripts, other
//! protocols. They are only added: what a person takes away comes back when it is said again, and nothing that a
//! person gave is taken.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use weft_core::{SessionId, UserPart};
use weft_store::MarkChange;

use crate::engine::Engine;
use crate::paths::Home;

/// A label for sessions in which something is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoLabel {
    /// What a message holds; `*` stands for anything in between, and capitals make no difference.
    pub pattern: String,
    pub label: String,
}

/// The file that they are kept in, with views and statuses; whoever serves the page writes it.
pub fn file(home: &Home) -> PathBuf {
    home.config.join("views.json")
}

/// Of that file, what counts here.
#[derive(Default, Deserialize)]
struct Rules {
    #[serde(default)]
    auto_labels: Vec<AutoLabel>,
}

impl AutoLabel {
    /// Whether it says anything: an empty pattern would fit every message.
    pub fn is_one(&self) -> bool {
        self.pattern.chars().any(|letter| letter != '*' && !letter.is_whitespace())
    }

    fn fits(&self, said: &str) -> bool {
        let pattern = self.pattern.trim().to_lowercase();
        let mut rest = said;
        pattern.split('*').all(|piece| {
            let after = rest.split_once(piece).map(|(_, after)| after);
            rest = after.unwrap_or_default();
            after.is_some()
        })
    }
}

/// How a text begins that is a file which goes with what was said.
pub const FILE_BEGINS: &str = "\n<file name=\"";

/// The labels for a message, each once. Files that go with it are not looked into.
fn of(content: &[UserPart], rules: &[AutoLabel]) -> Vec<String> {
    let said = content.iter().filter_map(|part| match part {
        UserPart::Text { text } if !text.starts_with(FILE_BEGINS) => Some(text.to_lowercase()),
        UserPart::Text { .. } | UserPart::Image(_) => None,
    });
    let said: Vec<String> = said.collect();
    let mut labels: Vec<String> = Vec::new();
    for rule in rules {
        if rule.is_one() && !labels.contains(&rule.label) && said.iter().any(|text| rule.fits(text)) {
            labels.push(rule.label.clone());
        }
    }
    labels
}

impl Engine {
    /// The labels for what is about to be said. A file that cannot be understood has none; the page says so.
    pub(crate) fn labels_for(&self, content: &[UserPart]) -> Vec<String> {
        let Ok(bytes) = std::fs::read(file(&self.shared.home)) else { return Vec::new() };
        let rules: Rules = serde_json::from_slice(&bytes).unwrap_or_default();
        of(content, &rules.auto_labels)
    }

    /// Without them it was said all the same.
    pub(crate) async fn label(&self, session: SessionId, add_labels: Vec<String>) {
        if !add_labels.is_empty() {
            let change = MarkChange { add_labels, ..MarkChange::default() };
            let _ = self.shared.store.mark(session, change).await;
        }
    }
}

#[cfg(test)]
#[path = "labelling_tests.rs"]
mod tests;
