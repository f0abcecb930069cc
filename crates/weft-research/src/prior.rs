//! The answer that a run follows up: its sections, by which the new one can refer to it.

use serde_json::Value;

/// Sections that are about the document, not the answer.
const NOT_THE_ANSWER: [&str; 8] = [
    "Original question",
    "Verification",
    "Citations",
    "Web sources",
    "Earlier research",
    "How it was researched",
    "Where the texts differ",
    "What is open",
];
const EXCERPT: usize = 500;

pub struct Section {
    pub id: String,
    pub heading: String,
    pub excerpt: String,
    /// All of it, without what it quotes.
    pub text: String,
}

/// Parts of the prior answer, `P1` and so on.
pub fn sections(prior: &Value) -> Vec<Section> {
    let document = prior.pointer("/output/document").and_then(Value::as_str).unwrap_or_default();
    let mut sections: Vec<Section> = Vec::new();
    for (place, part) in document.split("\n## ").enumerate() {
        let (heading, body) = part.split_once('\n').unwrap_or((part, ""));
        // What stands before the first heading is under the document's title.
        let heading = if place == 0 { "Answer" } else { heading.trim() };
        let is_remark = |line: &&str| line.starts_with('>') || line.starts_with('*') && line.ends_with('*');
        let prose: Vec<&str> = body.lines().filter(|line| !is_remark(line)).collect();
        let text = prose.join("\n").trim().to_owned();
        if text.is_empty() || !is_of_the_answer(heading) {
            continue;
        }
        let excerpt = at_word(&text, EXCERPT);
        sections.push(Section { id: format!("P{}", sections.len() + 1), heading: heading.to_owned(), excerpt, text });
    }
    sections
}

/// Whether a heading of a document stands over a part of the answer.
pub fn is_of_the_answer(heading: &str) -> bool {
    !NOT_THE_ANSWER.iter().any(|known| known.eq_ignore_ascii_case(heading))
}

/// Which answer in a row this one is; 1 for the first.
pub fn number(prior: &Value) -> u64 {
    prior.pointer("/output/followup_number").and_then(Value::as_u64).map_or(1, |number| number + 1)
}

pub fn at_word(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most).collect();
    let end = cut.rfind(char::is_whitespace).unwrap_or(cut.len());
    format!("{}…", cut.get(..end).unwrap_or(&cut).trim_end())
}
