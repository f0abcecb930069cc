//! The first look at all vectors: each is estimated, and the best by estimate are kept.
//!
//! What a filter does not allow is not estimated at all, so a filtered search costs less than one
//! without a filter.

use super::IdSet;
use super::best::Best;
use super::kernel::{Level, estimate};
use super::quantise::Query;
use crate::ChunkId;

/// Vectors that are estimated together; their estimates stay in the processor's nearest cache.
const BLOCK: usize = 512;

/// A run of records in their coarse form, and which of them count.
pub struct Scan<'a, Id> {
    pub level: Level,
    pub query: &'a Query,
    pub allow: Option<&'a IdSet>,
    /// Positions that do not count.
    pub removed: &'a IdSet,
    /// The chunk at a position.
    pub id: Id,
    /// Each chunk stands behind all with a lower number.
    pub ascending: bool,
    /// The bytes of one record.
    pub record: usize,
    pub wanted: usize,
}

impl<Id: Fn(usize) -> Option<u64>> Scan<'_, Id> {
    /// The best of the records in `bytes`, the first of which stands at the position `first`.
    pub fn best_of(&self, bytes: &[u8], first: usize) -> Best {
        let mut best = Best::new(self.wanted);
        let mut estimates = [0.0; BLOCK];
        let (mut allowed, mut gathered) = (Vec::with_capacity(BLOCK), Vec::new());
        for (block, bytes) in bytes.chunks(BLOCK * self.record).enumerate() {
            let from = first + block * BLOCK;
            let count = bytes.len() / self.record;
            let Some(allow) = self.allow else {
                estimate(self.level, self.query, bytes, &mut estimates);
                self.offer(&mut best, (from..).zip(estimates.iter().take(count).copied()));
                continue;
            };
            self.positions(allow, from, count, &mut allowed);
            if allowed.is_empty() {
                continue;
            }
            if allowed.len() * 2 > count {
                estimate(self.level, self.query, bytes, &mut estimates);
                let score = |at: &usize| Some((*at, *estimates.get(at - from)?));
                self.offer(&mut best, allowed.iter().filter_map(score));
                continue;
            }
            gathered.clear();
            for at in &allowed {
                let begin = (at - from) * self.record;
                gathered.extend_from_slice(bytes.get(begin..begin + self.record).unwrap_or_default());
            }
            estimate(self.level, self.query, &gathered, &mut estimates);
            self.offer(&mut best, allowed.iter().copied().zip(estimates));
        }
        best
    }

    fn offer(&self, best: &mut Best, scores: impl Iterator<Item = (usize, f32)>) {
        for (at, score) in scores {
            if score > best.least() && !self.removed.contains(ChunkId(at as u64)) {
                best.offer(score, at as u32);
            }
        }
    }

    /// Which of the positions from `from` on hold a chunk that is allowed.
    fn positions(&self, allow: &IdSet, from: usize, count: usize, into: &mut Vec<usize>) {
        into.clear();
        let (Some(first), Some(last)) = ((self.id)(from), (self.id)(from + count - 1)) else { return };
        // Numbers are given out one by one, so where nothing was removed a block has them in a row.
        let in_a_row = self.ascending && last.saturating_sub(first).saturating_add(1) == count as u64;
        if in_a_row {
            into.extend(allow.within(first..=last).filter_map(|id| Some(from + usize::try_from(id - first).ok()?)));
        } else {
            let is_allowed = |at: &usize| (self.id)(*at).is_some_and(|id| allow.contains(ChunkId(id)));
            into.extend((from..from + count).filter(is_allowed));
        }
    }
}
