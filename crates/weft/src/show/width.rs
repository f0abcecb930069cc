//! How many columns text takes, and where it may be broken.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{Line, PLAIN, Span, Style};

/// How much deeper the rest of a long line of code stands.
const HANGING: usize = 2;

pub fn width_of(text: &str) -> usize {
    if is_plain(text) { text.len() } else { UnicodeWidthStr::width(text) }
}

/// Nothing but the letters, digits and signs that take one byte and one column each, and spaces.
pub fn is_plain(text: &str) -> bool {
    /// A bit for each byte of eight, its lowest and its highest.
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    // Eight bytes in one step: none beyond ASCII, none after `~`, none before the space.
    let plain = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        let beyond = word | word.wrapping_add(LOWEST);
        let control = !(word | HIGHEST).wrapping_sub(LOWEST * 0x20);
        (beyond | control) & HIGHEST == 0
    };
    words.iter().all(plain) && rest.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// What a person sees as one character: a letter with its accents, an emoji with its parts.
pub fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = cluster_end(rest);
        let (cluster, after) = rest.split_at_checked(end)?;
        rest = after;
        (!cluster.is_empty()).then_some(cluster)
    })
}

/// The length in bytes of the first cluster of `text`.
pub fn cluster_end(text: &str) -> usize {
    if let [b' '..=b'~', b' '..=b'~', ..] = text.as_bytes() {
        return 1;
    }
    const JOINER: char = '\u{200d}';
    let mut letters = text.char_indices().peekable();
    let Some((_, first)) = letters.next() else { return 0 };
    let mut joined = false;
    let mut flag = is_flag_half(first);
    while let Some(&(index, letter)) = letters.peek() {
        let extends = joined
            || letter == JOINER
            || is_skin_tone(letter)
            || (flag && is_flag_half(letter))
            || (UnicodeWidthChar::width(letter) == Some(0) && !letter.is_control());
        if !extends || first.is_control() {
            return index;
        }
        flag = false;
        joined = letter == JOINER;
        letters.next();
    }
    text.len()
}

const fn is_flag_half(letter: char) -> bool {
    matches!(letter, '\u{1f1e6}'..='\u{1f1ff}')
}

const fn is_skin_tone(letter: char) -> bool {
    matches!(letter, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Breaks spans into rows of at most `width` columns, at spaces where there are any.
pub fn wrap(spans: &[Span], width: usize) -> Vec<Line> {
    let width = width.max(2);
    let mut rows = Vec::new();
    let mut row: Vec<(&str, usize, Style)> = Vec::new();
    let mut row_width = 0;
    let mut last_space = None;
    let pieces = spans.iter().flat_map(|span| clusters(&span.text).map(move |cluster| (cluster, span.style)));
    for (cluster, style) in pieces {
        if cluster == "\n" {
            rows.push(join(&row));
            row.clear();
            row_width = 0;
            last_space = None;
            continue;
        }
        let wide = width_of(cluster);
        let is_space = cluster == " ";
        if row_width + wide > width && !row.is_empty() {
            if is_space {
                rows.push(join(&row));
                row.clear();
                row_width = 0;
                last_space = None;
                continue;
            }
            let rest = match last_space {
                Some(space) => row.split_off(space),
                None => Vec::new(),
            };
            rows.push(join(&row));
            row = rest.into_iter().skip_while(|(text, _, _)| *text == " ").collect();
            row_width = row.iter().map(|(_, wide, _)| wide).sum();
            last_space = None;
        }
        if is_space && !row.is_empty() {
            last_space = Some(row.len());
        }
        row.push((cluster, wide, style));
        row_width += wide;
    }
    rows.push(join(&row));
    rows
}

/// A line of code in rows of at most `width` columns. What does not fit goes on below, deeper than
/// the line itself, so that it cannot be taken for a line of its own.
pub fn wrap_code(line: &str, width: usize) -> Vec<Line> {
    if width_of(line) <= width {
        return vec![Line::new(line.to_owned(), PLAIN)];
    }
    let code = line.trim_start_matches(' ');
    // Deep code on a narrow screen keeps some room to be read in.
    let lead = (line.len() - code.len()).min(width / 2);
    let rows = wrap(&[Span::new(code.to_owned(), PLAIN)], width.saturating_sub(lead + HANGING));
    let deeper = |index: usize| if index == 0 { lead } else { lead + HANGING };
    rows.into_iter().enumerate().map(|(index, row)| row.indented(deeper(index))).collect()
}

fn join(row: &[(&str, usize, Style)]) -> Line {
    let mut spans: Vec<(String, Style)> = Vec::new();
    for (text, _, style) in row {
        match spans.last_mut() {
            Some((last, last_style)) if last_style == style => last.push_str(text),
            _ => spans.push(((*text).to_owned(), *style)),
        }
    }
    if let Some((last, _)) = spans.last_mut() {
        last.truncate(last.trim_end_matches(' ').len());
    }
    spans.retain(|(text, _)| !text.is_empty());
    Line { spans: spans.into_iter().map(|(text, style)| Span::new(text, style)).collect() }
}

#[cfg(test)]
#[path = "width_tests.rs"]
mod tests;
