//! Candidates, taken best first. What has to be looked up to judge one is looked up when its turn
//! comes: of hundreds of candidates a search shows ten.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use super::is_test;
use crate::chunk::{ChunkId, Domain, Kind};
use crate::error::KnowledgeError;
use crate::judgement;
use crate::rank::{Parts, Ranked};
use crate::tables::{Brief, Tables};

/// Tests tell less about a thing than the thing itself, and a heading less than what stands under it.
const TEST_SHARE: f32 = 0.8;
const HEADING_SHARE: f32 = 0.7;
/// Each further hit of one file counts so much less: who looks at three hits sees more than one place.
const FURTHER_SHARE: f32 = 0.9;

pub(super) struct Ranking {
    /// What the question names exactly.
    first: VecDeque<Ranked>,
    rest: BinaryHeap<Candidate>,
    wants_tests: bool,
    now: i64,
    /// How many hits each file has had.
    shown: HashMap<String, i32>,
}

struct Candidate {
    ranked: Ranked,
    /// What is known of it once it was judged, and how many hits its file had had by then: its score is
    /// final as long as that is so.
    judged: Option<(Brief, i32)>,
}

impl Ranking {
    pub fn new(ranked: Vec<Ranked>, exact: Vec<ChunkId>, wants_tests: bool, now: i64) -> Self {
        let named: HashSet<ChunkId> = exact.iter().copied().collect();
        let parts: HashMap<ChunkId, Parts> =
            ranked.iter().filter(|ranked| named.contains(&ranked.id)).map(|ranked| (ranked.id, ranked.parts)).collect();
        let first = exact.into_iter().map(|id| {
            let mut parts = parts.get(&id).copied().unwrap_or_default();
            parts.name = 1.0;
            Ranked { id, score: 1.0, parts, likeness: 1.0 }
        });
        let rest = ranked.into_iter().filter(|ranked| !named.contains(&ranked.id));
        let rest = rest.map(|ranked| Candidate { ranked, judged: None });
        Self { first: first.collect(), rest: rest.collect(), wants_tests, now, shown: HashMap::new() }
    }

    /// The best of what is left.
    pub fn next(&mut self, tables: &Tables) -> Result<Option<(Ranked, Brief)>, KnowledgeError> {
        while let Some(ranked) = self.first.pop_front() {
            if let Some(brief) = tables.brief(ranked.id)? {
                return Ok(Some((ranked, brief)));
            }
        }
        while let Some(Candidate { mut ranked, judged }) = self.rest.pop() {
            let (brief, before, mut share) = match judged {
                Some((brief, before)) => (brief, before, 1.0),
                None => {
                    let Some(brief) = tables.brief(ranked.id)? else { continue };
                    let share = self.share(&brief) * self.lasting(&brief, tables)?;
                    (brief, 0, share)
                }
            };
            let shown = self.shown.get(&brief.path).copied().unwrap_or_default();
            share *= FURTHER_SHARE.powi(shown - before);
            if share == 1.0 {
                return Ok(Some((ranked, brief)));
            }
            // It counts less than it seemed, so others may come before it.
            ranked.score *= share;
            self.rest.push(Candidate { ranked, judged: Some((brief, shown)) });
        }
        Ok(None)
    }

    /// One of them was taken as a hit.
    pub fn took(&mut self, brief: &Brief) {
        *self.shown.entry(brief.path.clone()).or_default() += 1;
    }

    fn lasting(&self, brief: &Brief, tables: &Tables) -> Result<f32, KnowledgeError> {
        let superseded = brief.domain != Domain::Code && tables.is_superseded(brief.id)?;
        Ok(judgement::lasting(brief.domain, brief.time, self.now, superseded))
    }

    fn share(&self, brief: &Brief) -> f32 {
        match brief.kind {
            Kind::Section => HEADING_SHARE,
            kind if !self.wants_tests && is_test(kind, &brief.path) => TEST_SHARE,
            _ => 1.0,
        }
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
