//! Words of the index that are a typing error away from one that is not in it.

use std::collections::BTreeMap;

use tantivy::Searcher;
use tantivy::schema::Field;

use super::TextError;
use crate::distance::distance;

/// As many stand for one.
const MOST: usize = 3;
/// Shorter words are near to too many others.
const SHORTEST: usize = 5;
/// Letters in the beginning that nobody mistypes.
const SURE: usize = 2;

/// The nearest words, of equally near ones those that more chunks have. None for words with digits: a
/// number that is not there is not another one.
pub fn nearest_words(searcher: &Searcher, field: Field, word: &str) -> Result<Vec<String>, TextError> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < SHORTEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Ok(Vec::new());
    }
    let allowed = if letters.len() < 8 { 1 } else { 2 };
    let begin: String = letters.iter().take(SURE).collect();
    let mut found: BTreeMap<String, (usize, u32)> = BTreeMap::new();
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(field)?;
        let beyond = format!("{begin}\u{10FFFF}");
        let range = index.terms().range().ge(&begin).lt(beyond);
        let mut terms = range.into_stream().map_err(|error| TextError::Io(error.to_string()))?;
        while terms.advance() {
            let key = terms.key();
            if key.len().abs_diff(word.len()) > allowed {
                continue;
            }
            let Ok(known) = std::str::from_utf8(key) else { continue };
            let others: Vec<char> = known.chars().collect();
            let far = distance(&letters, &others, allowed);
            if far <= allowed {
                let chunks = terms.value().doc_freq;
                found.entry(known.to_owned()).and_modify(|(_, all)| *all += chunks).or_insert((far, chunks));
            }
        }
    }
    let nearest = found.values().map(|(far, _)| *far).min().unwrap_or_default();
    let mut near: Vec<(u32, String)> =
        found.into_iter().filter(|(_, (far, _))| *far == nearest).map(|(word, (_, chunks))| (chunks, word)).collect();
    near.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    Ok(near.into_iter().take(MOST).map(|(_, word)| word).collect())
}
