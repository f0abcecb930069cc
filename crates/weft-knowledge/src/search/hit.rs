//! What is shown of a hit: where it is, what it says, why it ranked, how far it can be trusted and
//! how fresh it is.

use serde::Serialize;

use super::Question;
use crate::chunk::{Chunk, ChunkId, Domain, Kind, Language};
use crate::code::words::cut_at;
use crate::rank::{Parts, Ranked};

const SNIPPET_LINES: usize = 4;
const LONGEST_SNIPPET: usize = 400;

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
    /// When its file was last changed, or when it happened, in milliseconds since 1970.
    pub time: i64,
    /// Between zero and one.
    pub score: f32,
    /// What each search added to it.
    pub parts: Parts,
    /// How like the question it is by itself, between zero and one; the score is beside the best hit's.
    pub likeness: f32,
    pub snippet: String,
    /// From 0 to 100: code is what it says, a document may be wrong.
    pub trust: u8,
    pub freshness: Freshness,
    /// Borne out by the code, as code itself is.
    pub verified: bool,
    /// What took its place: where that stands, or what the document says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    #[serde(skip)]
    pub(crate) id: ChunkId,
    /// Of what its file or session held when this was read of it.
    #[serde(skip)]
    pub(crate) hash: Option<Vec<u8>>,
}

/// What is known of a chunk beside its text.
pub(super) struct Judged {
    pub trust: u8,
    pub freshness: Freshness,
    pub verified: bool,
    pub superseded_by: Option<String>,
    pub hash: Option<Vec<u8>>,
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
    /// What was read: the file or session, and the hash of what it held then.
    pub(crate) fn read(&self) -> (String, Vec<u8>) {
        (self.path.clone(), self.hash.clone().unwrap_or_default())
    }

    pub(super) fn new(chunk: Chunk, ranked: Ranked, question: &Question, judged: Judged) -> Self {
        let snippet = snippet(&chunk.text, &question.telling_words());
        let Judged { trust, freshness, verified, superseded_by, hash } = judged;
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
            time: chunk.time,
            score: ranked.score,
            parts: ranked.parts,
            likeness: ranked.likeness,
            snippet,
            trust,
            freshness,
            verified,
            superseded_by,
            id: chunk.id,
            hash,
        }
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
