//! The words of a text, as they are indexed and asked for.
//!
//! A word is a run of letters, digits and `_`. It is indexed in lower case and by its stem, so that
//! "indexing" finds "indexes"; an identifier is indexed whole and in its parts, so that both
//! `parseHttpRequest` and "http request" find it. Languages written without spaces are indexed by
//! pairs of characters. Common words are kept: BM25 gives them little weight, and a question made of
//! nothing else still finds something.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::stem::with_stem;
use crate::chunk::{Chunk, Domain, Kind};

/// Longer runs are encoded data: nobody asks for them, and they would fill the dictionary.
const LONGEST: usize = 80;

/// How often a name counts, and the heading over a paragraph that has no name of its own, or the first
/// sentence of a file.
const NAMED: usize = 2;
const HEADED: usize = 3;

/// Everything of a chunk that its words are taken from.
pub fn prepared(chunk: &Chunk) -> String {
    let Chunk { name, context, path, text, .. } = chunk;
    // The heading stands in the context already.
    let (called, times) = match (name.as_str(), context.rsplit(" > ").next()) {
        ("", Some(heading)) => (heading, HEADED - 1),
        (name, _) => (front_of(name, path).unwrap_or(name), NAMED),
    };
    let title = title(chunk).unwrap_or_default();
    let again = std::iter::repeat_n(called, times).chain(std::iter::repeat_n(title, HEADED - 1));
    let mut all = String::with_capacity(text.len() + context.len() + path.len() + 3 * (called.len() + title.len() + 1));
    for part in again.chain([context.as_str(), path, text]) {
        all.push_str(part);
        all.push('\n');
    }
    all
}

/// What a file of code says of itself in its first words, which is its heading.
fn title(chunk: &Chunk) -> Option<&str> {
    const MARKS: [&str; 9] = ["//!", "///", "//", "/**", "/*", "\"\"\"", "# ", "-- ", "<!--"];
    if chunk.kind != Kind::File || chunk.domain != Domain::Code || chunk.place.first_line() > 1 {
        return None;
    }
    let mut lines = chunk.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("#!"));
    let first = lines.next()?;
    let said = MARKS.iter().find_map(|mark| first.strip_prefix(mark))?.trim();
    let lower = said.to_lowercase();
    let is_notice = ["copyright", "licen", "spdx", "(c)"].iter().any(|word| lower.contains(word));
    let sentence = said.split_once(". ").map_or(said, |(sentence, _)| sentence);
    Some(sentence).filter(|_| !is_notice)
}

/// The folder's name, where a file stands for its folder and is called like all that do.
fn front_of<'p>(name: &str, path: &'p str) -> Option<&'p str> {
    let is_front = matches!(name, "mod.rs" | "lib.rs" | "__init__.py" | "index.ts" | "index.tsx" | "index.js");
    let mut folders = path.rsplit('/').skip(1).filter(|folder| *folder != "src");
    folders.next().filter(|_| is_front)
}

/// The words of a question, each with how often it is asked for.
pub fn query_words(query: &str) -> Vec<(String, u32)> {
    let mut words: Vec<(String, u32)> = Vec::new();
    each_word(query, |word| match words.iter_mut().find(|(known, _)| known == word) {
        Some((_, times)) => *times += 1,
        None => words.push((word.to_owned(), 1)),
    });
    words
}

/// Calls `take` with each word of a text, in order.
pub fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut lower = String::new();
    for run in runs(text) {
        let Some(run) = text.get(run) else { continue };
        if run.chars().any(is_unspaced) {
            pairs(run, &mut take);
        } else if run.len() <= LONGEST {
            word(run, &mut lower, &mut take);
        }
    }
}

/// The parts of an identifier: `parseHTTPRequest_2` is `parse`, `HTTP`, `Request`, `2`.
pub fn split_identifier(identifier: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut before = None;
    let mut characters = identifier.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if before.is_some_and(|before| is_border(before, character, next)) {
            parts.extend(identifier.get(begin..at));
            begin = at;
        }
        before = Some(character);
    }
    parts.extend(identifier.get(begin..));
    parts.iter().map(|part| part.trim_matches('_')).filter(|part| !part.is_empty()).collect()
}

fn is_border(before: char, here: char, next: Option<char>) -> bool {
    let class = |c: char| (c.is_alphabetic(), c.is_numeric(), c == '_');
    class(before) != class(here)
        || (before.is_lowercase() && here.is_uppercase())
        || (before.is_uppercase() && here.is_uppercase() && next.is_some_and(char::is_lowercase))
}

fn word(run: &str, lower: &mut String, take: &mut impl FnMut(&str)) {
    let run = run.trim_matches('_');
    if run.is_empty() {
        return;
    }
    fold(run, lower);
    with_stem(lower, &mut *take);
    let simple = run.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) || run.bytes().all(|b| b.is_ascii_digit());
    if simple {
        return;
    }
    let parts = split_identifier(run);
    if parts.len() < 2 {
        return;
    }
    for part in parts {
        if part.chars().nth(1).is_some() {
            fold(part, lower);
            with_stem(lower, &mut *take);
        }
    }
}

fn fold(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    } else {
        lower.extend(word.chars().flat_map(char::to_lowercase));
    }
}

fn pairs(run: &str, take: &mut impl FnMut(&str)) {
    let mut buffer = String::new();
    let mut before: Option<char> = None;
    let mut any = false;
    for character in run.chars().flat_map(char::to_lowercase) {
        if let Some(before) = before {
            buffer.clear();
            buffer.extend([before, character]);
            take(&buffer);
            any = true;
        }
        before = Some(character);
    }
    if !any {
        take(run);
    }
}

/// Chinese, Japanese, Thai and the like, which do not put spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2FA1F)
}

/// Runs of letters, digits and `_`.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut characters = text.char_indices();
    std::iter::from_fn(move || {
        let (begin, _) = characters.find(|(_, c)| belongs(*c))?;
        let end = characters.find(|(_, c)| !belongs(*c)).map_or(text.len(), |(at, _)| at);
        Some(begin..end)
    })
}

fn belongs(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || character == '_'
    } else {
        character.is_alphanumeric()
    }
}

/// [`each_word`] in the form that tantivy wants.
#[derive(Clone, Default)]
pub struct WordTokenizer;

pub struct Words {
    /// All words one after the other, and where each of them ends.
    buffer: String,
    ends: Vec<usize>,
    next: usize,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Words;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words {
        let (mut buffer, mut ends) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() / 6));
        each_word(text, |word| {
            buffer.push_str(word);
            ends.push(buffer.len());
        });
        Words { buffer, ends, next: 0, token: Token::default() }
    }
}

impl TokenStream for Words {
    fn advance(&mut self) -> bool {
        let begin = self.next.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let Some(word) = self.ends.get(self.next).and_then(|end| self.buffer.get(begin..*end)) else { return false };
        self.token.text.clear();
        self.token.text.push_str(word);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
