//! A text to tokens, exactly as the model's own tokenizer does it, and fast.
//!
//! Byte-pair encoding joins the two neighbours whose merge has the lowest rank until none is left.
//! Done over a whole text that is slow, so the text is first cut wherever no token could lie across
//! (between most words, and at most signs), and the tokens of pieces seen lately are kept.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::bpe_tables::{SPACE_MARK, Tables};

/// The tokens for single bytes begin here.
const FIRST_BYTE: u32 = 3;
/// Tokens that a text may spell out. Each begins a new stretch of text.
const SPECIAL: [(&str, u32); 3] = [("<unk>", 0), ("<s>", 1), ("</s>", 2)];
/// Pieces longer than this are not kept: they hardly come again.
const LONGEST_KEPT: usize = 32;
/// More pieces than this are forgotten together.
const MOST_KEPT: usize = 1 << 15;

pub struct Encoder<'a> {
    tables: Tables<'a>,
    seen: &'a mut Seen,
}

/// The pieces seen lately, for the next text.
#[derive(Default)]
pub struct Seen {
    /// A piece to its tokens, as a range of `kept`.
    known: HashMap<Box<[u8]>, (u32, u32), rustc_hash::FxBuildHasher>,
    kept: Vec<u32>,
    text: String,
    piece: Vec<u32>,
}

impl<'a> Encoder<'a> {
    pub fn new(tables: Tables<'a>, seen: &'a mut Seen) -> Self {
        Self { tables, seen }
    }

    /// Calls `take` with the tokens of a text, a few at a time and in order.
    pub fn encode(&mut self, text: &str, take: &mut impl FnMut(&[u32])) {
        let mut rest = text;
        while let Some((at, special, token)) = first_special(rest) {
            self.stretch(rest.get(..at).unwrap_or_default(), take);
            take(&[token]);
            rest = rest.get(at + special..).unwrap_or_default();
        }
        self.stretch(rest, take);
    }

    /// A text without special tokens. It gets a space before it, as every word has.
    fn stretch(&mut self, stretch: &str, take: &mut impl FnMut(&[u32])) {
        if stretch.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.seen.text);
        text.clear();
        text.push(' ');
        match stretch.contains(SPACE_MARK) {
            true => text.extend(stretch.chars().map(|c| if c == SPACE_MARK { ' ' } else { c })),
            false => text.push_str(stretch),
        }
        let mut begin = 0;
        while begin < text.len() {
            let end = begin + self.piece_length(text.get(begin..).unwrap_or_default());
            self.piece(text.get(begin..end).unwrap_or_default(), take);
            begin = end;
        }
        self.seen.text = text;
    }

    /// How many bytes there are before the first place where the text can be cut.
    #[inline]
    fn piece_length(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let mut at = 1;
        while let [left, right] = *bytes.get(at - 1..=at).unwrap_or_default() {
            if !left.is_ascii() || !right.is_ascii() {
                return self.wide_piece_length(text, at - 1);
            }
            if !self.tables.ascii_belong_together(left, right) {
                return at;
            }
            at += 1;
        }
        bytes.len()
    }

    /// The same from a place on where characters take more than one byte.
    fn wide_piece_length(&self, text: &str, from: usize) -> usize {
        // `from` may be within a character only if it is the first byte of one: all before is ASCII.
        let mut before = None;
        for (at, character) in text.get(from..).unwrap_or_default().char_indices() {
            if before.replace(character).is_some_and(|before| !self.tables.belong_together(before, character)) {
                return from + at;
            }
        }
        text.len()
    }

    fn piece(&mut self, piece: &str, take: &mut impl FnMut(&[u32])) {
        let seen = &mut *self.seen;
        if piece.len() > LONGEST_KEPT {
            join(&self.tables, piece, &mut seen.piece);
            return take(&seen.piece);
        }
        if let Some((begin, end)) = seen.known.get(piece.as_bytes()) {
            return take(seen.kept.get(*begin as usize..*end as usize).unwrap_or_default());
        }
        if seen.known.len() >= MOST_KEPT {
            seen.known.clear();
            seen.kept.clear();
        }
        join(&self.tables, piece, &mut seen.piece);
        take(&seen.piece);
        let begin = seen.kept.len() as u32;
        seen.kept.extend_from_slice(&seen.piece);
        seen.known.insert(piece.as_bytes().into(), (begin, seen.kept.len() as u32));
    }
}

fn first_special(text: &str) -> Option<(usize, usize, u32)> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'<', text.as_bytes().get(from..)?).map(|at| from + at) {
        let here = text.get(at..)?;
        if let Some((special, token)) = SPECIAL.iter().find(|(special, _)| here.starts_with(special)) {
            return Some((at, special.len(), *token));
        }
        from = at + 1;
    }
    None
}

/// Joins neighbours, lowest rank first and leftmost among equals, until none can be joined.
fn join(tables: &Tables<'_>, piece: &str, out: &mut Vec<u32>) {
    out.clear();
    let mut bytes = [0; 4];
    for character in piece.chars() {
        match tables.character(character) {
            Some(token) => out.push(token),
            None => {
                out.extend(character.encode_utf8(&mut bytes).bytes().map(|byte| FIRST_BYTE + u32::from(byte)));
            }
        }
    }
    if out.len() > 1 {
        Row::new(out).join(tables, out);
    }
}

/// A merge that was possible when it was found; the lowest rank comes first, then the leftmost.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Possible {
    rank: u32,
    at: usize,
    left: u32,
    right: u32,
    made: u32,
}

/// Tokens as a doubly linked list over their first places.
struct Row {
    tokens: Vec<Option<u32>>,
    next: Vec<usize>,
    before: Vec<usize>,
    possible: BinaryHeap<Reverse<Possible>>,
}

impl Row {
    fn new(tokens: &[u32]) -> Self {
        Self {
            tokens: tokens.iter().copied().map(Some).collect(),
            next: (1..=tokens.len()).collect(),
            before: (0..tokens.len()).map(|at| at.wrapping_sub(1)).collect(),
            possible: BinaryHeap::new(),
        }
    }

    fn join(mut self, tables: &Tables<'_>, out: &mut Vec<u32>) {
        for at in 0..self.tokens.len() {
            self.consider(tables, at);
        }
        while let Some(Reverse(Possible { at, left, right, made, .. })) = self.possible.pop() {
            let next = self.next.get(at).copied().unwrap_or(usize::MAX);
            if self.token(at) != Some(left) || self.token(next) != Some(right) {
                continue;
            }
            let after = self.next.get(next).copied().unwrap_or(usize::MAX);
            self.set(at, Some(made));
            self.set(next, None);
            if let Some(link) = self.next.get_mut(at) {
                *link = after;
            }
            if let Some(link) = self.before.get_mut(after) {
                *link = at;
            }
            self.consider(tables, at);
            if let Some(before) = self.before.get(at).copied() {
                self.consider(tables, before);
            }
        }
        out.clear();
        out.extend(self.tokens.into_iter().flatten());
    }

    fn token(&self, at: usize) -> Option<u32> {
        self.tokens.get(at).copied().flatten()
    }

    fn set(&mut self, at: usize, token: Option<u32>) {
        if let Some(place) = self.tokens.get_mut(at) {
            *place = token;
        }
    }

    /// Notes that the token at a place could be joined with the one after it.
    fn consider(&mut self, tables: &Tables<'_>, at: usize) {
        let next = self.next.get(at).copied().unwrap_or(usize::MAX);
        if let (Some(left), Some(right)) = (self.token(at), self.token(next))
            && let Some(merge) = tables.merge(left, right)
        {
            self.possible.push(Reverse(Possible { rank: merge.rank, at, left, right, made: merge.token }));
        }
    }
}
