//! A text in Markdown, taken apart into what is said in it: blocks, lines, sentences. Every letter of
//! it is in exactly one place, so whoever goes through the sentences has seen all that could be shown.
//!
//! A citation that follows a full stop belongs to the sentence before it; brackets are not torn apart;
//! the rows of a table are one sentence each.

use weft_knowledge::verify::sentences;

use crate::cite::{Grammar, Statement};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Heading(Statement),
    /// What is shown as a quotation is none of the answer's own sentences.
    Quotation,
    Lines(Vec<Line>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What stands before the words: `- `, `1. `.
    pub mark: String,
    pub statements: Vec<Statement>,
    pub kind: LineKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Prose,
    /// A row of a table.
    Row,
    /// The head of a table and the rule under it. They are read by nobody, so what is shown of them must
    /// state nothing.
    Head,
}

pub fn blocks(text: &str, grammar: &Grammar) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for block in text.split("\n\n").map(str::trim_end).filter(|block| !block.trim().is_empty()) {
        let mut under: Vec<&str> = Vec::new();
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            // A line in bold letters within a paragraph is one of its lines.
            match heading(line).filter(|_| under.is_empty() || line.trim_start().starts_with('#')) {
                Some(heading) => {
                    blocks.extend(lines_of(&std::mem::take(&mut under), grammar));
                    blocks.push(Block::Heading(grammar.read(heading)));
                }
                None => under.push(line),
            }
        }
        blocks.extend(lines_of(&under, grammar));
    }
    blocks
}

fn lines_of(lines: &[&str], grammar: &Grammar) -> Option<Block> {
    if lines.is_empty() {
        return None;
    }
    if lines.iter().all(|line| line.trim_start().starts_with('>')) {
        return Some(Block::Quotation);
    }
    let lines = joined(lines);
    let is_row = |place: usize| lines.get(place).is_some_and(|line| line.trim_start().starts_with('|'));
    let mut read = Vec::with_capacity(lines.len());
    let mut in_table = false;
    for (place, text) in lines.iter().enumerate() {
        // Only the first rule of a table has a head over it.
        let rules = |place: usize| lines.get(place).is_some_and(|line| is_rule(line));
        let is_head = !in_table && is_row(place) && !rules(place) && rules(place + 1);
        let is_first_rule = is_row(place) && !in_table && rules(place);
        in_table = is_row(place) && (in_table || is_first_rule);
        read.push(line(text, is_head || is_first_rule, grammar));
    }
    Some(Block::Lines(read))
}

/// `|---|:--|`, with words on neither side.
fn is_rule(row: &str) -> bool {
    let row = row.trim();
    row.starts_with('|') && row.contains('-') && row.chars().all(|letter| "|-: ".contains(letter))
}

/// The statements of a text that say something, in order.
pub fn statements(text: &str, grammar: &Grammar) -> Vec<Statement> {
    let mut found = Vec::new();
    for block in blocks(text, grammar) {
        let Block::Lines(lines) = block else { continue };
        for line in lines.into_iter().filter(|line| line.kind != LineKind::Head) {
            found.extend(line.statements.into_iter().filter(Statement::has_words));
        }
    }
    found
}

/// A line that only goes on with the one before is part of it.
fn joined(lines: &[&str]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for line in lines {
        let words = line.trim_start();
        let begins = mark_of(words) > 0 || words.starts_with(['|', '>', '#']);
        match joined.last_mut() {
            Some(last) if !begins && !last.trim_start().starts_with('|') => push(last, words.trim_end(), ""),
            _ => joined.push(line.trim_end().to_owned()),
        }
    }
    joined
}

/// `## Words`, or a line in bold letters alone.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('#') {
        return Some(rest.trim_start_matches('#').trim());
    }
    let bold = line.strip_prefix("**")?.strip_suffix("**")?;
    (!bold.contains("**") && !bold.ends_with(['.', '!', '?'])).then_some(bold.trim_end_matches(':').trim())
}

fn line(text: &str, is_head: bool, grammar: &Grammar) -> Line {
    let words = text.trim_start();
    if words.starts_with('|') {
        let kind = if is_head { LineKind::Head } else { LineKind::Row };
        return Line { mark: String::new(), statements: vec![grammar.read(words)], kind };
    }
    let begin = text.len() - words.len() + mark_of(words);
    let (mark, words) = text.split_at_checked(begin).unwrap_or(("", text));
    Line { mark: mark.to_owned(), statements: split(words, grammar), kind: LineKind::Prose }
}

/// How much of a line is the mark of a list.
fn mark_of(line: &str) -> usize {
    let spaced = |at: usize| {
        let rest = line.get(at..).unwrap_or_default();
        let space = rest.len() - rest.trim_start_matches(' ').len();
        (space > 0).then_some(at + space)
    };
    let first = line.chars().next().unwrap_or(' ');
    if "-*+•".contains(first) {
        return spaced(first.len_utf8()).unwrap_or(0);
    }
    let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let dotted = line.get(digits..).is_some_and(|rest| rest.starts_with(['.', ')']));
    if (1..=3).contains(&digits) && dotted { spaced(digits + 1).unwrap_or(0) } else { 0 }
}

/// The sentences of a line, each with the citations that follow it.
pub fn split(line: &str, grammar: &Grammar) -> Vec<Statement> {
    let mut pieces: Vec<String> = Vec::new();
    let mut from = 0;
    for sentence in sentences(line) {
        let Some(at) = line.get(from..).and_then(|rest| rest.find(sentence)).map(|at| from + at) else { continue };
        // Marks between two sentences stay with the one before.
        let between = line.get(from..at).unwrap_or_default().trim();
        from = at + sentence.len();
        match pieces.last_mut() {
            Some(last) if is_open(last) => push(last, between, sentence),
            Some(last) => {
                push(last, between, "");
                let (leading, rest) = leading_citations(sentence, grammar);
                push(last, leading, "");
                if !rest.is_empty() {
                    pieces.push(rest.to_owned());
                }
            }
            None => pieces.push(format!("{between}{sentence}")),
        }
    }
    let rest = line.get(from..).unwrap_or_default().trim();
    match pieces.last_mut() {
        Some(last) => push(last, rest, ""),
        None if !rest.is_empty() => pieces.push(rest.to_owned()),
        None => {}
    }
    pieces.iter().map(|piece| grammar.read(piece)).collect()
}

fn push(to: &mut String, first: &str, second: &str) {
    for more in [first, second].into_iter().filter(|more| !more.is_empty()) {
        to.push(' ');
        to.push_str(more);
    }
}

/// Whether a bracket or a quotation is still open, so that a full stop in it ended nothing.
fn is_open(text: &str) -> bool {
    let count = |mark: char| text.chars().filter(|letter| *letter == mark).count();
    [('(', ')'), ('[', ']'), ('\u{201c}', '\u{201d}')].into_iter().any(|(open, close)| count(open) > count(close))
}

/// The citations that a piece begins with, and what follows them.
fn leading_citations<'a>(piece: &'a str, grammar: &Grammar) -> (&'a str, &'a str) {
    let mut end = 0;
    while let Some(rest) = piece.get(end..) {
        let begin = rest.len() - rest.trim_start_matches([' ', '.', ',', ';']).len();
        let Some(bracket) = rest.get(begin..).filter(|rest| rest.starts_with(['(', '['])) else { break };
        let Some(length) = bracket.find([')', ']']) else { break };
        let Some(bracket) = bracket.get(..=length) else { break };
        let read = grammar.read(bracket);
        if read.has_words() || read.cites.is_empty() && read.labels.is_empty() {
            break;
        }
        end += begin + bracket.len();
    }
    let (leading, rest) = piece.split_at_checked(end).unwrap_or(("", piece));
    if end > 0 && !rest.chars().any(char::is_alphanumeric) {
        return (piece, "");
    }
    (leading, rest.trim())
}

#[cfg(test)]
#[path = "statements_tests.rs"]
mod tests;
