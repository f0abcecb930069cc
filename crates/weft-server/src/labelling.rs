//! Labels that a session gets by what is said in it on the page or over our own API. The terminal and other
//! protocols give none. They are only added: what a person takes away comes back
//! when it is said again, and nothing that a person gave is taken.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weft_core::UserPart;

use crate::uploads;

/// A label for sessions in which something is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AutoLabel {
    /// What a message holds; `*` stands for anything in between, and capitals make no difference.
    #[schema(min_length = 1, max_length = 200)]
    pub pattern: String,
    #[schema(min_length = 1, max_length = 60)]
    pub label: String,
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

/// The labels for a message, each once. Files that go with it are not looked into.
pub fn of(content: &[UserPart], rules: &[AutoLabel]) -> Vec<String> {
    let said = content.iter().filter_map(|part| match part {
        UserPart::Text { text } if !uploads::is_file(text) => Some(text.to_lowercase()),
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

#[cfg(test)]
#[path = "labelling_tests.rs"]
mod tests;
