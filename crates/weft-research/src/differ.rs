//! Where a text and a guide to it answer a question differently: another period or amount for the same
//! thing, or somebody else who has to do it.
//!
//! Whether two sentences are about the same thing is hard to tell from them alone, and easy where both
//! answer one question. So only what is asked for is compared, and only across tiers: within one text,
//! different rules are for different cases. What is found is shown to the person and decides nothing.

use std::collections::HashSet;

use serde_json::{Value, json};
use weft_knowledge::verify::sentences;

use crate::asked::{Wanted, is_unit, wanted};
use crate::book::{Book, Paragraph, Tier, stems};

/// How much of what one paragraph has of the question the other must have.
const LEAST_SHARE: f32 = 0.4;
/// Words of the question that both sentences must have.
const LEAST_SHARED: usize = 2;
const DUTIES: [&str; 4] = ["shall", "must", "should", "may"];
/// Words that begin a clause within a sentence.
const CLAUSES: [&str; 12] =
    ["who", "whoever", "whose", "which", "what", "that", "where", "when", "whether", "if", "before", "after"];
/// "The head of the internal audit department" has seven.
const LONGEST_SUBJECT: usize = 8;
/// "shall not also be told" says it with its fourth word.
const VERB_WITHIN: usize = 4;

/// Pairs of sentences, in the shape of the checks of `weft_knowledge::verify`.
pub fn differences(book: &Book, question: &str, cited: &[&Paragraph], near: &[&Paragraph]) -> Vec<Value> {
    let Some(asked) = Asked::of(book, question) else { return Vec::new() };
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    let mut found = Vec::new();
    for one in cited {
        for other in near.iter().filter(|other| other.tier != one.tier && other.id != one.id) {
            let pair = if one.id < other.id { (one.id.as_str(), other.id.as_str()) } else { (&*other.id, &*one.id) };
            if !asked.is_of_both(one, other) || speaks_of_others(book, one, other) {
                continue;
            }
            let told = asked.best(&one.text).zip(asked.best(&other.text));
            let Some((mine, theirs)) = told.filter(|(mine, theirs)| asked.differ(mine, theirs)) else { continue };
            if seen.insert(pair) {
                let side = |paragraph: &Paragraph, text: &str| json!({ "source": paragraph.id, "text": text });
                found.push(json!({
                    "axis": "contradiction",
                    "item": format!("{} / {}", one.cite, other.cite),
                    "verdict": "fails",
                    "why": format!("{} and {} answer the question differently.", one.cite, other.cite),
                    "evidence": [side(one, mine), side(other, theirs)],
                }));
            }
        }
    }
    found
}

/// A guide that says which paragraphs it explains is about those, and gives no other period for a third.
fn speaks_of_others(book: &Book, one: &Paragraph, other: &Paragraph) -> bool {
    let (guide, text) = if one.tier == Tier::Guide { (one, other) } else { (other, one) };
    let mut explains = book.refers_to(guide).filter(|target| target.tier == Tier::Primary).peekable();
    explains.peek().is_some() && !explains.any(|target| target.id == text.id)
}

/// What a question asks for, where two answers can be compared.
struct Asked<'a> {
    book: &'a Book,
    stems: Vec<String>,
    kind: Kind,
}

enum Kind {
    /// A period or an amount.
    Quantity(Wanted),
    Who,
}

impl<'a> Asked<'a> {
    fn of(book: &'a Book, question: &str) -> Option<Self> {
        let who = question.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("who"));
        let kind = match wanted(question) {
            Some(wanted @ (Wanted::Time | Wanted::Money)) => Kind::Quantity(wanted),
            Some(Wanted::Number) => return None,
            None if who => Kind::Who,
            None => return None,
        };
        Some(Self { book, stems: stems(question), kind })
    }

    fn weight(&self, text: &str) -> f32 {
        let said = stems(text);
        let shared = self.stems.iter().filter(|stem| said.contains(stem));
        shared.map(|stem| self.book.weight(stem)).sum()
    }

    /// The sentence that answers most of the question, of those that have what is asked for.
    fn best<'t>(&self, text: &'t str) -> Option<&'t str> {
        let answers = |sentence: &&str| match self.kind {
            Kind::Quantity(wanted) => !wanted.quantities(sentence).is_empty(),
            Kind::Who => duty(sentence).is_some_and(|duty| self.stems.contains(&duty.does)),
        };
        let sentences = sentences(text).into_iter().filter(answers);
        sentences.max_by(|one, other| self.weight(one).total_cmp(&self.weight(other)))
    }

    /// Whether both paragraphs speak of what was asked, about as much.
    fn is_of_both(&self, one: &Paragraph, other: &Paragraph) -> bool {
        let (one, other) = (self.weight(&one.text), self.weight(&other.text));
        one.min(other) >= LEAST_SHARE * one.max(other)
    }

    fn differ(&self, one: &str, other: &str) -> bool {
        let (mine, theirs) = (stems(one), stems(other));
        // "days" is asked for, and every period has some.
        let both = |stem: &&String| mine.contains(stem) && theirs.contains(stem) && !is_unit(stem);
        if self.stems.iter().filter(both).count() < LEAST_SHARED {
            return false;
        }
        match self.kind {
            Kind::Quantity(wanted) => {
                let (mine, theirs) = (wanted.quantities(one), wanted.quantities(other));
                let comparable = mine.iter().any(|(_, unit)| theirs.iter().any(|(_, known)| known == unit));
                comparable && !mine.iter().any(|quantity| theirs.contains(quantity))
            }
            Kind::Who => duty(one).zip(duty(other)).is_some_and(|(one, other)| {
                one.does == other.does && !one.who.is_subset(&other.who) && !other.who.is_subset(&one.who)
            }),
        }
    }
}

/// Who has to do what, of a sentence that says so plainly.
struct Duty {
    who: HashSet<String>,
    does: String,
}

/// Only of a sentence whose main clause says it: a longer beginning, or one with a clause of its own ("the
/// agreement says who may see it"), names somebody else, and what comes later is done by somebody else.
fn duty(sentence: &str) -> Option<Duty> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let at = words.iter().position(|word| DUTIES.contains(&word.to_lowercase().as_str()))?;
    let subject = words.get(..at)?;
    let has_clause = |word: &&str| word.ends_with([',', ';', ':']) || CLAUSES.contains(&word.to_lowercase().as_str());
    if subject.len() > LONGEST_SUBJECT || subject.iter().any(has_clause) {
        return None;
    }
    let who: HashSet<String> = stems(&subject.join(" ")).into_iter().collect();
    let does = words.iter().skip(at + 1).take(VERB_WITHIN).find_map(|word| stems(word).pop())?;
    (!who.is_empty()).then_some(Duty { who, does })
}

#[cfg(test)]
#[path = "differ_tests.rs"]
mod tests;
