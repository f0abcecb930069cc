//! The stem of a word, with the stems found lately at hand: a corpus uses the same words again and
//! again, and finding a stem costs more than looking it up.

use std::cell::RefCell;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// More different words than this are forgotten together; it keeps a thread under 4 MB.
const KEPT: usize = 32_768;
/// Longer "words" are numbers, hashes and encoded data; they have no stem.
const LONGEST: usize = 24;

pub struct Stems {
    stemmer: Stemmer,
    known: HashMap<Box<str>, Box<str>>,
}

thread_local! {
    static STEMS: RefCell<Stems> =
        RefCell::new(Stems { stemmer: Stemmer::create(Algorithm::English), known: HashMap::new() });
}

/// Calls `take` with the stem of a word, which must be in lower case.
pub fn with_stem<T>(word: &str, take: impl FnOnce(&str) -> T) -> T {
    if word.len() < 3 || word.len() > LONGEST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return take(word);
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.known.get(word) {
            return take(stem);
        }
        if stems.known.len() >= KEPT {
            stems.known.clear();
        }
        let stem: Box<str> = stems.stemmer.stem(word).into();
        let result = take(&stem);
        stems.known.insert(word.into(), stem);
        result
    })
}
