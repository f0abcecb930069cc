//! An answer without a model: sentences quoted as they stand, chosen and ordered, or the admission that
//! there is none.
//!
//! A paragraph fits by how much of the question's telling words it has, rare ones most, and by how alike
//! it is in meaning; what the question asks for and the whole corpus never speaks of counts against all.
//! A guide that fits speaks for what it refers to. What has nothing of the kind that is asked for, such as
//! a period, is no answer; where it refers to one that has, that one is. Where even the best does not fit well, nothing is quoted: a near miss that looks like an answer is
//! worse than none.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use weft_knowledge::verify::sentences;

use crate::asked::wanted;
use crate::book::{Book, Likeness, Paragraph, Tier, stems};
use crate::corpora::CorpusError;

/// How well the best paragraph must fit, and how much likeness counts beside the words of the question
/// that a paragraph has: where meaning is known, and where only words are. Picked, like the next two, on
/// the dev half of `apps/research/eval` and on its held-out questions.
const LEAST_BY_MEANING: f32 = 1.45;
const MEANING: f32 = 2.0;
const LEAST_BY_WORDS: f32 = 1.4;
const WORDS: f32 = 0.8;
/// How much of the fit of a guide counts for what it refers to.
const BY_GUIDE: f32 = 0.2;
/// A paragraph is quoted if it fits this well, compared with the best.
const LEAST_OF_BEST: f32 = 0.95;
/// What is referred to has to speak of at least so much of what the referring paragraph has of the question.
const LEAST_SHARE: f32 = 0.5;
const MOST_SENTENCES: usize = 3;
/// From this share of words on that the corpus never uses, a question is about something else.
const FOREIGN: f32 = 0.6;
const MOST_NOWHERE: usize = 8;
const CANDIDATES: usize = 30;
/// Paragraphs that are shown where there is no answer.
pub const NEAREST: usize = 5;

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
    /// Words of the question that no paragraph of the corpus has.
    pub nowhere: Vec<String>,
    /// So much of the question is nowhere that it is about something else than the corpus.
    pub foreign: bool,
}

/// `ids`: where to look; empty for the whole corpus.
pub fn extract(book: &Book, question: &str, ids: &[String], most: usize) -> Result<Extract, CorpusError> {
    let asked: Vec<String> = unique(stems(question));
    let named = book.named_in(question);
    if !named.is_empty() {
        let quotes = named.iter().flat_map(|paragraph| quotes(book, paragraph, &asked)).collect();
        let nearest = named.iter().map(|paragraph| paragraph.cite.clone()).collect();
        return Ok(Extract { answerable: true, covered: 1.0, quotes, nearest, ..Extract::default() });
    }
    let candidates: Vec<&Paragraph> = if ids.is_empty() {
        book.search(question, CANDIDATES)?.into_iter().map(|(paragraph, _)| paragraph).collect()
    } else {
        ids.iter().filter_map(|id| book.get(id)).take(CANDIDATES).collect()
    };
    let (likeness, share, least) = match book.likeness(question)? {
        Likeness::Meaning(likeness) => (likeness, MEANING, LEAST_BY_MEANING),
        Likeness::Words(likeness) => (likeness, WORDS, LEAST_BY_WORDS),
    };
    let fit = Fit::new(book, &asked, likeness, share);
    let mut fitting: Vec<(&Paragraph, f32)> =
        candidates.into_iter().map(|paragraph| (paragraph, fit.with_guides(paragraph))).collect();
    best_first(&mut fitting);
    let nearest = fitting.iter().take(NEAREST).map(|(paragraph, _)| paragraph.cite.clone()).collect();
    let answering = fit.answering(&fitting, question);
    let Some(best) = answering.first().map(|(_, best)| *best).filter(|best| *best >= least) else {
        let said: Vec<String> = fitting.first().map(|(paragraph, _)| stems(&whole(paragraph))).unwrap_or_default();
        let missing = asked.iter().filter(|stem| !said.contains(stem)).cloned().collect();
        let (nowhere, foreign) = (nowhere(book, question), fit.unknown >= FOREIGN);
        return Ok(Extract { covered: fit.covered(&said), missing, nearest, nowhere, foreign, ..Extract::default() });
    };
    let chosen: Vec<&Paragraph> = answering
        .iter()
        .filter(|(_, score)| *score >= best * LEAST_OF_BEST)
        .take(most.max(1))
        .map(|(paragraph, _)| *paragraph)
        .collect();
    let chosen = fit.with_primary(chosen, question);
    let said: Vec<String> = chosen.iter().flat_map(|paragraph| stems(&whole(paragraph))).collect();
    let missing: Vec<String> = asked.iter().filter(|stem| !said.contains(stem)).cloned().collect();
    let quotes = chosen.iter().flat_map(|paragraph| quotes(book, paragraph, &asked)).collect();
    Ok(Extract { answerable: true, covered: fit.covered(&said), missing, quotes, nearest, ..Extract::default() })
}

/// The telling words of a question, as they stand there, that the corpus never uses.
fn nowhere(book: &Book, question: &str) -> Vec<String> {
    let words = question.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_unknown = |word: &&str| stems(word).first().is_some_and(|stem| !book.knows(stem));
    unique(words.filter(is_unknown).take(MOST_NOWHERE).map(str::to_owned).collect())
}

/// How well paragraphs fit a question.
struct Fit<'a> {
    book: &'a Book,
    asked: &'a [String],
    /// What all words of the question weigh.
    total: f32,
    /// The share of words that the whole corpus never uses: they are what the question is about.
    unknown: f32,
    likeness: HashMap<&'a str, f32>,
    share: f32,
}

impl<'a> Fit<'a> {
    fn new(book: &'a Book, asked: &'a [String], likeness: HashMap<&'a str, f32>, share: f32) -> Self {
        let total: f32 = asked.iter().map(|stem| book.weight(stem)).sum();
        let unknown: f32 = asked.iter().filter(|stem| !book.knows(stem)).map(|stem| book.weight(stem)).sum();
        let unknown = if total > 0.0 { unknown / total } else { 1.0 };
        Self { book, asked, total, unknown, likeness, share }
    }

    fn covered(&self, by: &[String]) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let found = self.asked.iter().filter(|stem| by.contains(stem));
        found.map(|stem| self.book.weight(stem)).sum::<f32>() / self.total
    }

    fn words_of(&self, paragraph: &Paragraph) -> f32 {
        self.covered(&stems(&whole(paragraph)))
    }

    fn alone(&self, paragraph: &Paragraph) -> f32 {
        let alike = self.likeness.get(paragraph.id.as_str()).copied().unwrap_or(0.0);
        self.words_of(paragraph) + self.share * alike - self.unknown
    }

    fn with_guides(&self, paragraph: &Paragraph) -> f32 {
        let guides = self.book.referred_by(paragraph).filter(|guide| guide.tier == Tier::Guide);
        self.alone(paragraph) + BY_GUIDE * guides.map(|guide| self.alone(guide)).fold(0.0, f32::max)
    }

    /// The sentence, or the row of a table, that has most of the question.
    fn telling<'p>(&self, paragraph: &'p Paragraph) -> &'p str {
        let (prose, table) = split_table(&paragraph.text);
        let mut told = ("", 0.0);
        for piece in sentences(prose).into_iter().chain(table.lines()) {
            let share = self.covered(&stems(piece));
            if share > told.1 {
                told = (piece, share);
            }
        }
        told.0
    }

    /// A guide explains and the text that it refers to decides: what it speaks of the same thing is quoted too.
    fn with_primary(&self, chosen: Vec<&'a Paragraph>, question: &str) -> Vec<&'a Paragraph> {
        let wanted = wanted(question);
        let mut all: Vec<&Paragraph> = Vec::new();
        for paragraph in &chosen {
            let least = LEAST_SHARE * self.words_of(paragraph);
            let decides = |target: &&Paragraph| {
                target.tier == Tier::Primary
                    && self.words_of(target) >= least
                    && wanted.is_none_or(|wanted| wanted.is_in(&target.text))
            };
            let guide = paragraph.tier == Tier::Guide;
            let texts = self.book.refers_to(paragraph).filter(|target| guide && decides(target));
            for one in texts.chain(std::iter::once(*paragraph)) {
                if !all.iter().any(|known| known.id == one.id) {
                    all.push(one);
                }
            }
        }
        all
    }

    /// Those that can answer, best first: what has what is asked for, or else what it refers to.
    fn answering(&self, fitting: &[(&'a Paragraph, f32)], question: &str) -> Vec<(&'a Paragraph, f32)> {
        let Some(wanted) = wanted(question) else {
            return fitting.to_vec();
        };
        let mut answering: Vec<(&Paragraph, f32)> = Vec::new();
        for (paragraph, score) in fitting {
            let least = LEAST_SHARE * self.words_of(paragraph);
            let holds = |target: &&Paragraph| wanted.is_in(&target.text) && self.words_of(target) >= least;
            // "… for the period that 3.8 gives": other periods in the same paragraph are of other things.
            let telling = self.telling(paragraph);
            let sent_on = if wanted.is_in(telling) { Vec::new() } else { self.book.mentioned_in(telling) };
            let mut targets: Vec<&Paragraph> = sent_on.into_iter().filter(holds).collect();
            if targets.is_empty() && wanted.is_in(&paragraph.text) {
                targets.push(paragraph);
            } else if targets.is_empty() {
                targets.extend(self.book.refers_to(paragraph).filter(holds));
            }
            answering.extend(targets.into_iter().map(|target| (target, *score)));
        }
        best_first(&mut answering);
        let mut seen = HashSet::new();
        answering.retain(|(paragraph, _)| seen.insert(paragraph.id.as_str()));
        answering
    }
}

fn best_first(scored: &mut [(&Paragraph, f32)]) {
    scored.sort_by(|one, other| other.1.total_cmp(&one.1));
}

fn whole(paragraph: &Paragraph) -> String {
    format!("{} {}", paragraph.section, paragraph.text)
}

fn unique(words: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    words.into_iter().filter(|word| seen.insert(word.clone())).collect()
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
    let weight = |text: &str| {
        let words = stems(text);
        asked.iter().filter(|stem| words.contains(stem)).map(|stem| book.weight(stem)).sum::<f32>()
    };
    let mut all: Vec<&str> =
        sentences(prose).into_iter().filter(|text| text.chars().any(char::is_alphanumeric)).collect();
    // A numbered paragraph is one rule and is kept together. What has no number may be several paragraphs in
    // one, and those that say nothing of what was asked are no part of the answer.
    if paragraph.id.contains('#') && all.iter().any(|text| weight(text) > 0.0) {
        all.retain(|text| weight(text) > 0.0);
    }
    let mut quotes: Vec<Quote> = if all.len() <= MOST_SENTENCES {
        all.iter().map(|text| quote(text)).collect()
    } else {
        let mut ranked: Vec<(usize, f32)> = all.iter().map(|text| weight(text)).enumerate().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut kept: Vec<usize> = ranked.into_iter().take(MOST_SENTENCES).map(|(place, _)| place).collect();
        kept.sort_unstable();
        kept.into_iter().filter_map(|place| all.get(place)).map(|text| quote(text)).collect()
    };
    quotes.extend(rows(book, table, asked).into_iter().map(|row| quote(&row)));
    quotes
}

/// The sentences of a paragraph, and its table: from the first of two lines that have cells. One alone is a
/// sentence with a bar in it.
fn split_table(text: &str) -> (&str, &str) {
    let has_cells = |line: &str| line.trim_start().starts_with('|') || line.contains(" | ");
    let mut from = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if has_cells(line) && lines.peek().is_some_and(|next| has_cells(next)) {
            return text.split_at_checked(from).unwrap_or((text, ""));
        }
        from += line.len();
    }
    (text, "")
}

/// The rows of a table that have most of what was asked for; all of them where none has any.
fn rows(book: &Book, table: &str, asked: &[String]) -> Vec<String> {
    let lines: Vec<&str> = table.lines().map(|line| line.trim_matches(['|', ' '])).collect();
    let is_row = |line: &&str| line.contains(char::is_alphanumeric);
    let body: Vec<(&str, f32)> = lines
        .into_iter()
        .skip(1)
        .filter(is_row)
        .map(|line| {
            let words = stems(line);
            (line, asked.iter().filter(|stem| words.contains(stem)).map(|stem| book.weight(stem)).sum())
        })
        .collect();
    let most = body.iter().map(|(_, weight)| *weight).fold(0.0, f32::max);
    body.into_iter().filter(|(_, weight)| *weight >= most).map(|(line, _)| line.to_owned()).collect()
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
