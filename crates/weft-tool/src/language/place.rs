//! Places in files: lines and columns as the protocol counts them, and files as addresses.

use std::path::{Path, PathBuf};

use url::Url;

/// A place as the protocol counts: lines from 0, and columns in units of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub line: u32,
    pub character: u32,
}

pub(super) fn address(path: &Path) -> String {
    Url::from_file_path(path).map(Url::into).unwrap_or_default()
}

pub(super) fn path(address: &str) -> Option<PathBuf> {
    Url::parse(address).ok().filter(|address| address.scheme() == "file")?.to_file_path().ok()
}

/// Where a name is in a text: on the line, counted from 1, or on the one nearest to it that has it.
pub(crate) fn find(text: &str, line: Option<usize>, symbol: &str) -> Option<Position> {
    let symbol = symbol.trim();
    // Of a path such as `Shape::area` the last part is meant.
    let from = symbol.rfind([':', '.', '#']).map_or(0, |at| at + 1);
    let last = symbol.get(from..).filter(|last| !last.is_empty()).unwrap_or(symbol);
    let whole = || nearest(text, line, symbol, symbol.len() - last.len());
    whole().or_else(|| nearest(text, line, last, 0))
}

fn nearest(text: &str, line: Option<usize>, symbol: &str, skip: usize) -> Option<Position> {
    let with_it = text.lines().enumerate().filter_map(|(index, content)| {
        let at = word_in(content, symbol)? + skip;
        let character = content.get(..at)?.encode_utf16().count();
        Some(Position { line: u32::try_from(index).ok()?, character: u32::try_from(character).ok()? })
    });
    let wanted = line.map_or(0, |line| line.saturating_sub(1));
    with_it.min_by_key(|found| (found.line as usize).abs_diff(wanted))
}

/// Where a word stands by itself in a line.
fn word_in(line: &str, word: &str) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut places = line.match_indices(word).map(|(at, _)| at);
    places.find(|at| {
        let before = line.get(..*at).and_then(|before| before.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
