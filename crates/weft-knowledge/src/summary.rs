//! What an agent puts down for those who come later: a decision, a failure, a pattern, what was done.
//!
//! It is kept in the session's log, as the call that it is, and becomes known with the session; so it goes
//! with the session too, and nothing is stored twice.

use serde_json::Value;

use crate::chunk::Kind;

pub(crate) const TOOL: &str = "store_summary";
const LONGEST: usize = 8_000;
const MOST: usize = 50;

pub(crate) struct Summary {
    pub kind: Kind,
    pub content: String,
    pub code_references: Vec<String>,
    pub tags: Vec<String>,
}

/// The kinds of summaries there are.
pub(crate) const KINDS: [Kind; 7] = [
    Kind::TaskCompletion,
    Kind::Decision,
    Kind::Failure,
    Kind::Pattern,
    Kind::Refactoring,
    Kind::BugFix,
    Kind::Feature,
];

impl Summary {
    pub fn read(input: &Value) -> Result<Self, &'static str> {
        let word = |name: &str| input.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let list = |name: &str| -> Vec<String> {
            let words = input.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).take(MOST).collect()
        };
        let kind = Kind::from_word(word("summary_type")).filter(|kind| KINDS.contains(kind));
        let content = word("content");
        if content.is_empty() || content.len() > LONGEST {
            return Err("Give `content` of at most 8,000 letters.");
        }
        Ok(Self {
            kind: kind.ok_or("This `summary_type` is not known.")?,
            content: content.to_owned(),
            code_references: list("code_references"),
            tags: list("tags"),
        })
    }

    /// What is searched and judged.
    pub fn text(&self) -> String {
        if self.tags.is_empty() {
            self.content.clone()
        } else {
            format!("{}\n\nTags: {}", self.content, self.tags.join(", "))
        }
    }
}

/// What a reference leads to: of a path or `Type::name` the last part, and what stands before it.
pub(crate) fn reference(text: &str) -> (String, String) {
    let text = text.trim().trim_start_matches("./");
    let path = text.rsplit_once(':').filter(|(_, line)| line.parse::<u32>().is_ok()).map_or(text, |(path, _)| path);
    if let Some((_, name)) = path.rsplit_once('/') {
        return (path.to_owned(), name.to_owned());
    }
    match path.rsplit_once("::").or_else(|| path.rsplit_once('.').filter(|(_, end)| end.len() > 4)) {
        Some((owner, name)) => (owner.to_owned(), name.to_owned()),
        None => (path.to_owned(), path.to_owned()),
    }
}
