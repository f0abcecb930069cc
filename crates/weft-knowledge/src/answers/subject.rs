//! What a question is about, so that it is the same however it is put: the stems of its telling words,
//! each once, in the order of the alphabet.

use crate::text::{split_identifier, stemmed};

/// Words that are in every question, or say only what kind of answer is wanted.
const EMPTY: &[&str] = &[
    "the",
    "a",
    "an",
    "of",
    "in",
    "to",
    "is",
    "are",
    "and",
    "or",
    "for",
    "on",
    "with",
    "what",
    "where",
    "how",
    "does",
    "do",
    "that",
    "this",
    "it",
    "be",
    "by",
    "from",
    "which",
    "when",
    "there",
    "who",
    "we",
    "its",
    "as",
    "at",
    "into",
    "has",
    "our",
    "us",
    "i",
    "my",
    "strategy",
    "approach",
    "approaches",
    "pattern",
    "patterns",
    "convention",
    "conventions",
    "practice",
    "practices",
    "best",
    "use",
    "used",
    "usually",
    "way",
    "explain",
    "work",
    "works",
    "please",
    "show",
    "find",
    "me",
    "tell",
    "about",
    "can",
    "you",
    "should",
    "did",
    "was",
    "were",
    "why",
    "happens",
    "code",
    "here",
];

/// `How do we handle errors?` and `our error_handling approach` are both `error handl`.
pub(crate) fn of(text: &str) -> String {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let parts = words.flat_map(split_identifier).map(|part| part.trim_matches('_').to_lowercase());
    let mut stems: Vec<String> = parts
        .filter(|part| !part.is_empty() && !EMPTY.contains(&part.as_str()))
        .map(|part| stemmed(&part, str::to_owned))
        .collect();
    stems.sort();
    stems.dedup();
    stems.join(" ")
}
