//! Cuts the text of symbols into pieces to be searched: every line of a file is in one piece, that of
//! the innermost symbol around it; what is long is cut between lines.

use crate::parsed::Piece;

/// A piece is cut when it has this many bytes.
const LONGEST: usize = 2400;
/// Nothing longer stands in one line of text that a person wrote.
const LONGEST_LINE: usize = 4000;

/// A symbol's place in the text, with what documents it. Children lie within their parents and come
/// after them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub parent: Option<usize>,
    pub start: usize,
    pub end: usize,
}

pub(crate) fn cut(text: &str, spans: &[Span]) -> Vec<Piece> {
    let starts = line_starts(text);
    let mut pieces = Vec::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    for (index, span) in spans.iter().enumerate() {
        if let Some(list) = span.parent.and_then(|parent| children.get_mut(parent)) {
            list.push(index);
        }
    }
    for (node, span) in spans.iter().enumerate() {
        let mut inner: Vec<Span> =
            children.get(node).into_iter().flatten().filter_map(|child| spans.get(*child).copied()).collect();
        inner.sort_by_key(|child| child.start);
        let mut own: Vec<(usize, usize)> = Vec::new();
        let mut from = span.start;
        for child in inner {
            own.push((from, child.start.max(from)));
            from = from.max(child.end);
        }
        own.push((from, span.end.max(from)));
        own.retain(|(start, end)| text.get(*start..*end).is_some_and(says_something));
        let mut current: Option<Piece> = None;
        for (start, end) in own {
            for (at, line) in lines(text, start, end) {
                let number = line_number(&starts, at);
                match &mut current {
                    Some(piece) if piece.text.len() + line.len() <= LONGEST => {
                        piece.text.push('\n');
                        piece.text.push_str(line);
                        piece.last = number;
                    }
                    _ => {
                        pieces.extend(current.take());
                        current = Some(Piece { node, first: number, last: number, text: line.to_owned() });
                    }
                }
            }
        }
        pieces.extend(current);
    }
    pieces.retain(|piece| says_something(&piece.text));
    pieces
}

fn says_something(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_alphanumeric).nth(2).is_some() || !text.is_ascii()
}

/// The lines of a part of the text with where they begin; endless ones in several.
fn lines(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, &str)> {
    let part = text.get(start..end).unwrap_or_default();
    let mut at = start;
    part.split('\n').flat_map(move |line| {
        let begin = at;
        at += line.len() + 1;
        let line = line.trim_end();
        let mut cuts = Vec::new();
        let mut from = 0;
        while line.len() - from > LONGEST_LINE {
            let mut to = from + LONGEST;
            while !line.is_char_boundary(to) {
                to -= 1;
            }
            cuts.push((begin + from, line.get(from..to).unwrap_or_default()));
            from = to;
        }
        cuts.push((begin + from, line.get(from..).unwrap_or_default()));
        cuts
    })
}

pub(crate) fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect()
}

/// Counted from one.
pub(crate) fn line_number(starts: &[usize], at: usize) -> u32 {
    u32::try_from(starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
