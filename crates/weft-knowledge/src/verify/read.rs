//! A text as sentences, and a sentence as words with their stems.

use std::collections::HashSet;

use super::force::{self, Act};
use super::lexicon;
use super::quantity::{self, Date, Quantity};
use crate::text::stemmed;

/// A sentence, taken apart.
pub(super) struct Statement<'a> {
    pub text: &'a str,
    pub words: Vec<Word<'a>>,
    /// The stems of the words that tell what it is about, each once.
    pub stems: Vec<String>,
    pub quantities: Vec<Quantity>,
    pub dates: Vec<Date>,
    pub acts: Vec<Act>,
}

#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    /// Where it stands in the sentence, in bytes.
    pub begin: usize,
    /// In small letters, without a genitive.
    pub lower: String,
    /// Of a telling word, the stem that stands for it and its like; empty otherwise.
    pub stem: String,
}

impl Word<'_> {
    pub fn is_telling(&self) -> bool {
        !self.stem.is_empty()
    }

    pub fn is_mark(&self) -> bool {
        !self.text.starts_with(char::is_alphanumeric)
    }

    pub fn is_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }
}

/// The sentences of a text, taken apart.
pub(super) fn statements(text: &str) -> Vec<Statement<'_>> {
    sentences(text).into_iter().map(statement).collect()
}

fn statement(text: &str) -> Statement<'_> {
    let mut words = words(text);
    // The paragraph's own number is no part of what it says.
    if quantity::is_reference(&words, 0)
        && let Some(number) = words.first_mut()
    {
        number.stem.clear();
    }
    let (mut quantities, dates) = quantity::find(&words);
    let bounds = force::bounds(&words, &mut quantities);
    let mut seen = HashSet::new();
    let telling = words
        .iter()
        .enumerate()
        .filter(|(index, word)| word.is_telling() && !quantities.iter().any(|quantity| quantity.words.contains(index)));
    let stems = telling.filter(|(_, word)| seen.insert(word.stem.as_str())).map(|(_, word)| word.stem.clone());
    let stems = stems.collect();
    let acts = force::acts(&words, &quantities, &bounds);
    Statement { text, stems, quantities, dates, acts, words }
}

/// How much of one list of stems is in the other, from zero to one.
pub(super) fn covered(stems: &[String], by: &[String]) -> f32 {
    if stems.is_empty() {
        return 0.0;
    }
    shared(stems, by) as f32 / stems.len() as f32
}

pub(super) fn shared(stems: &[String], by: &[String]) -> usize {
    stems.iter().filter(|stem| has(by, stem)).count()
}

pub(super) fn has(stems: &[String], stem: &str) -> bool {
    stems.iter().any(|other| same(other, stem))
}

/// Equal, or so nearly that it is another form of the word: `disclos` and `disclosur`.
pub(super) fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let common = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    common >= 5 && one.len() + other.len() - 2 * common <= 3 && !one.bytes().any(|byte| byte.is_ascii_digit())
}

/// Abbreviations after which a sentence goes on.
const ABBREVIATIONS: [&str; 24] = [
    "e.g", "i.e", "cf", "vs", "mr", "mrs", "ms", "dr", "prof", "no", "nos", "art", "para", "paras", "sec", "fig", "p",
    "pp", "inc", "ltd", "co", "approx", "st", "resp",
];

pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let end = at + letter.len_utf8();
        let rest = text.get(end..).unwrap_or_default();
        let ends = match letter {
            '.' | '!' | '?' => {
                let after = rest.trim_start_matches(['"', '”', '’', '»', ')', ']']);
                let follows = after.trim_start();
                let spaced = after.is_empty() || after.starts_with(char::is_whitespace);
                let opens = follows.is_empty()
                    || follows.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "\"“‘(«[•-".contains(c));
                spaced && opens && !(letter == '.' && is_abbreviated(text.get(begin..at).unwrap_or_default()))
            }
            '\n' => {
                let follows = rest.trim_start_matches([' ', '\t']);
                next == Some('\n') || follows.starts_with(['-', '*', '•']) || is_listed(follows)
            }
            _ => false,
        };
        if ends {
            let closing = rest.len() - rest.trim_start_matches(['"', '”', '’', '»', ')', ']']).len();
            let end = if letter == '\n' { end } else { end + closing };
            found.extend(text.get(begin..end));
            begin = end;
        }
    }
    found.extend(text.get(begin..));
    found.into_iter().map(str::trim).filter(|text| text.chars().any(char::is_alphanumeric)).collect()
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || "([".contains(c)).next().unwrap_or_default();
    let lower = word.to_lowercase();
    // An initial, or the number of a list: "J. Smith", "1. First".
    let short = word.len() == 1 && word.chars().all(char::is_uppercase);
    let numbered = before.trim().len() == word.len() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    ABBREVIATIONS.contains(&lower.as_str()) || short || numbered
}

/// `(a) …`, `2) …` at the beginning of a line.
fn is_listed(line: &str) -> bool {
    let Some((mark, _)) = line.split_once(')') else { return false };
    let mark = mark.trim_start_matches('(');
    !mark.is_empty() && mark.len() <= 4 && mark.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The words and marks of a sentence. A number keeps its dots and commas, a word its apostrophe.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((begin, letter)) = letters.next() {
        if letter.is_whitespace() {
            continue;
        }
        let mut end = begin + letter.len_utf8();
        if letter.is_alphanumeric() {
            while let Some((at, next)) = letters.peek().copied() {
                let after = text.get(at + next.len_utf8()..).and_then(|rest| rest.chars().next());
                let before = text.get(begin..at).and_then(|word| word.chars().next_back());
                if !(next.is_alphanumeric() || joins(text.get(begin..at).unwrap_or_default(), before, next, after)) {
                    break;
                }
                end = at + next.len_utf8();
                letters.next();
            }
        }
        found.extend(text.get(begin..end).map(|text| word(text, begin)));
    }
    found
}

/// Whether a mark stands within a word: `315.12`, `1,000`, `2024-12-31`, `don't`, `e.g`.
fn joins(word: &str, before: Option<char>, mark: char, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    match mark {
        '.' => before.is_alphanumeric() && after.is_alphanumeric() && (after.is_ascii_digit() || !after.is_uppercase()),
        ',' => before.is_ascii_digit() && after.is_ascii_digit(),
        '\'' | '’' => before.is_alphabetic() && after.is_alphabetic(),
        '-' => after.is_ascii_digit() && word.len() >= 4 && word.bytes().all(|b| b.is_ascii_digit() || b == b'-'),
        '_' => true,
        _ => false,
    }
}

fn word(text: &str, begin: usize) -> Word<'_> {
    let lower = text.to_lowercase().replace('’', "'");
    let lower = lower.strip_suffix("'s").map_or_else(|| lower.clone(), str::to_owned);
    let telling = lower.starts_with(char::is_alphanumeric) && !lexicon::is_common(&lower);
    let stem = if telling { stemmed(&lower, |stem| lexicon::canonical(stem).to_owned()) } else { String::new() };
    Word { text, begin, lower, stem }
}
