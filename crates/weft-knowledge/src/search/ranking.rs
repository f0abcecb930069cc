//! Candidates, taken best first. What has to be looked up to judge one is looked up when its turn
//! comes: of hundreds of candidates a search shows ten.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use super::is_test;
use crate::chunk::{ChunkId, Kind};
use crate::error::KnowledgeError;
use crate::rank::{Parts, Ranked};
use crate::tables::{Brief, Tables};

/// Tests tell less about a thing than the thing itself, and a heading less than what stands under it.
const TEST_SHARE: f32 = 0.8;
const HEADING_SHARE: f32 = 0.7;

pub(super) struct Ranking {
    /// What the question names exactly.
    first: VecDeque<Ranked>,
    rest: BinaryHeap<Candidate>,
    wants_tests: bool,
}

struct Candidate {
    ranked: Ranked,
    /// What is known of it once it was judged: its score is final then.
    brief: Option<Brief>,
}

impl Ranking {
    pub fn new(ranked: Vec<Ranked>, exact: Vec<ChunkId>, wants_tests: bool) -> Self {
        let named: HashSet<ChunkId> = exact.iter().copied().collect();
        let parts: HashMap<ChunkId, Parts> =
            ranked.iter().filter(|ranked| named.contains(&ranked.id)).map(|ranked| (ranked.id, ranked.parts)).collect();
        let first = exact.into_iter().map(|id| {
            let mut parts = parts.get(&id).copied().unwrap_or_default();
            parts.name = 1.0;
            Ranked { id, score: 1.0, parts }
        });
        let rest = ranked.into_iter().filter(|ranked| !named.contains(&ranked.id));
        let rest = rest.map(|ranked| Candidate { ranked, brief: None });
        Self { first: first.collect(), rest: rest.collect(), wants_tests }
    }

    /// The best of what is left.
    pub fn next(&mut self, tables: &Tables) -> Result<Option<(Ranked, Brief)>, KnowledgeError> {
        while let Some(ranked) = self.first.pop_front() {
            if let Some(brief) = tables.brief(ranked.id)? {
                return Ok(Some((ranked, brief)));
            }
        }
        while let Some(Candidate { mut ranked, brief }) = self.rest.pop() {
            if let Some(brief) = brief {
                return Ok(Some((ranked, brief)));
            }
            let Some(brief) = tables.brief(ranked.id)? else { continue };
            let share = match brief.kind {
                Kind::Section => HEADING_SHARE,
                kind if !self.wants_tests && is_test(kind, &brief.path) => TEST_SHARE,
                _ => return Ok(Some((ranked, brief))),
            };
            // It counts less than it seemed, so others may come before it.
            ranked.score *= share;
            self.rest.push(Candidate { ranked, brief: Some(brief) });
        }
        Ok(None)
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ranked.score.total_cmp(&other.ranked.score).then(other.ranked.id.cmp(&self.ranked.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
