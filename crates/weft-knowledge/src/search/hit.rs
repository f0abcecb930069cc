//! What is shown of a hit: where it is, what it says, why it ranked, how far it can be trusted and
//! how fresh it is.

use serde::Serialize;

use super::Question;
use crate::chunk::{Chunk, Domain, Kind, Language};
use crate::code::words::cut_at;
use crate::rank::{Parts, Ranked};

const SNIPPET_LINES: usize = 4;
const LONGEST_SNIPPET: usize = 400;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// One object of `weft search --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub path: String,
    pub line: u32,
    pub end_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph: Option<String>,
    pub kind: Kind,
    pub domain: Domain,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    pub name: String,
    pub context: String,
    /// Between zero and one.
    pub score: f32,
    /// What each search added to it.
    pub parts: Parts,
    pub snippet: String,
    /// From 0 to 100: code is what it says, a document may be wrong.
    pub trust: u8,
    pub freshness: Freshness,
}

/// How much a hit can have aged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Freshness {
    /// Between zero and one.
    pub value: f32,
    /// What a person should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
}

impl Hit {
    pub(super) fn new(chunk: Chunk, ranked: Ranked, question: &Question, freshness: Freshness, now: i64) -> Self {
        let snippet = snippet(&chunk.text, &question.telling_words());
        let trust = trust(&chunk, now);
        Self {
            line: chunk.place.first_line(),
            end_line: chunk.place.last_line(),
            paragraph: chunk.place.paragraph().map(str::to_owned),
            path: chunk.path,
            kind: chunk.kind,
            domain: chunk.domain,
            language: chunk.language,
            name: chunk.name,
            context: chunk.context,
            score: ranked.score,
            parts: ranked.parts,
            snippet,
            trust,
            freshness,
        }
    }
}

/// The ladder of trust: code is verified by being there, documents are somebody's word, and what was
/// said in a session counts less with time.
fn trust(chunk: &Chunk, now: i64) -> u8 {
    match chunk.domain {
        Domain::Code => 100,
        Domain::Documents => 70,
        Domain::History => match (now - chunk.time) / DAY {
            days if days < 7 => 80,
            days if days < 30 => 60,
            _ => 40,
        },
    }
}

pub(super) fn freshness(chunk: &Chunk, now: i64, changed: bool) -> Freshness {
    if changed {
        return Freshness { value: 0.5, warning: Some("changed since it was indexed") };
    }
    let days = ((now - chunk.time).max(0) / DAY) as f32;
    match chunk.domain {
        Domain::Code => Freshness { value: 1.0, warning: None },
        Domain::Documents => Freshness {
            value: (1.0 - 0.7 * days / 365.0).max(0.3),
            warning: (days > 180.0).then_some("not changed for half a year"),
        },
        Domain::History => Freshness {
            value: (1.0 - 0.8 * days / 180.0).max(0.2),
            warning: (days > 30.0).then_some("more than a month ago"),
        },
    }
}

/// The lines that say most of what was asked.
fn snippet(text: &str, words: &[String]) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let score = |line: &str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(word.as_str())).count()
    };
    let scores: Vec<usize> = lines.iter().map(|line| score(line)).collect();
    let best = (0..lines.len())
        .max_by_key(|start| {
            let window = scores.iter().skip(*start).take(SNIPPET_LINES);
            let first = scores.get(*start).copied().unwrap_or_default();
            (window.sum::<usize>(), first, usize::MAX - start)
        })
        .unwrap_or_default();
    let shown: Vec<&str> = lines.iter().skip(best).take(SNIPPET_LINES).map(|line| line.trim_end()).collect();
    let indent = shown.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    let shown: Vec<&str> = shown.iter().map(|line| line.get(indent..).unwrap_or(line)).collect();
    cut_at(&shown.join("\n"), LONGEST_SNIPPET).to_owned()
}

#[cfg(test)]
#[path = "hit_tests.rs"]
mod tests;
