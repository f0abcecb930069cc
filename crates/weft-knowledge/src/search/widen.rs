//! A question that finds little, widened by the corpus itself: words that tell most of what its best hits are
//! about find what speaks of the same in other words.
//!
//! Only where little was found. On SciFact, where words always find enough, such words added to every question
//! changed nothing for the better (.727 and .745 without them, .722 to .728 and .741 to .748 with 5 to 20 of
//! the words of 3 to 10 hits, in a replica of this ranking), and they take time.

use std::collections::HashMap;

use super::Question;
use crate::chunk::ChunkId;
use crate::error::KnowledgeError;
use crate::filter::Filter;
use crate::knowledge::Knowledge;
use crate::rank::{Candidates, Weights, fuse};
use crate::text::{prepared, query_words};

/// Little is less than this many, and less than one in a hundred.
const LITTLE: usize = 10;
const ONE_IN: u64 = 100;
/// So many hits are believed, and so many of their words taken.
const BELIEVED: usize = 3;
const MOST_WORDS: usize = 10;
/// What the best of these words counts beside one that was asked for.
const SHARE: f32 = 0.2;

impl Knowledge {
    /// What the words of a question find together with those of its best hits; nothing where it found enough
    /// by itself, or is a name that somebody means exactly so.
    pub(super) fn widened(
        &self,
        question: &Question,
        filter: &Filter,
        found: &Candidates,
        weights: &Weights,
        depth: usize,
    ) -> Result<Option<Vec<(ChunkId, f32)>>, KnowledgeError> {
        let few = found.text.len();
        // Where no word is found at all, there is nothing to go by.
        let is_little = (1..LITTLE).contains(&few) && few as u64 * ONE_IN < self.text.len();
        if question.is_name || !is_little {
            return Ok(None);
        }
        let failed = |error: crate::text::TextError| KnowledgeError::Text(error.to_string());
        let mut counts: HashMap<String, f32> = HashMap::new();
        for hit in fuse(found, weights).iter().take(BELIEVED) {
            let Some(chunk) = self.tables.chunk(hit.id)? else { continue };
            for (word, times) in query_words(&prepared(&chunk)) {
                // What is said twice tells more, what is said twenty times not ten times as much.
                *counts.entry(word).or_default() += hit.score * (times as f32).sqrt();
            }
        }
        let asked = self.text.asked(&question.words).map_err(failed)?.words;
        counts.retain(|word, _| !asked.iter().any(|(known, _)| known == word));
        let mut telling = self.text.weighed(counts).map_err(failed)?;
        telling.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        telling.truncate(MOST_WORDS);
        let Some(best) = telling.first().map(|(_, weight)| *weight).filter(|best| *best > 0.0) else {
            return Ok(None);
        };
        let added = telling.into_iter().map(|(word, weight)| (word, SHARE * weight / best));
        let words: Vec<(String, f32)> = asked.into_iter().chain(added).collect();
        self.text.search_words(&words, filter, depth).map(Some).map_err(failed)
    }
}
