//! The vectors of chunks as a search asks for them: a model may give a long text several, one for each part
//! that it reads, and a chunk is as near to a question as its nearest part.
//!
//! In the index each part has a number of its own, made of the chunk's and its place. Whether a model gives
//! parts, its name says, since that is recorded with the vectors.

use std::collections::HashSet;
use std::path::Path;

use super::{IdSet, VectorError, VectorIndex};
use crate::ChunkId;

/// How the name of a model ends whose vectors are of parts.
pub const OF_PARTS: &str = "-parts";
/// A chunk has at most so many parts, as a power of two.
const BITS: u32 = 4;
pub const MOST_PARTS: usize = 1 << BITS;
/// Of several parts of one chunk only the nearest counts, so more are asked for than chunks are wanted.
const USUAL_PARTS: usize = 3;

pub struct Meanings {
    index: VectorIndex,
    /// Bits of a number in the index that are the place of a part.
    bits: u32,
}

impl Meanings {
    /// Opens the vectors that a model made in a folder, which is made if it is not there.
    pub fn open(folder: &Path, dimension: usize, model: &str) -> Result<Self, VectorError> {
        let bits = if model.ends_with(OF_PARTS) { BITS } else { 0 };
        Ok(Self { index: VectorIndex::open(folder, dimension, model)?, bits })
    }

    /// Who made the vectors in a folder, and of which dimension they are; nothing where there are none.
    pub fn made_by(folder: &Path) -> Option<(String, usize)> {
        VectorIndex::made_by(folder)
    }

    /// How many chunks can be found.
    pub fn len(&self) -> usize {
        if self.bits == 0 { self.index.len() } else { self.ids().count() }
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub fn contains(&self, id: ChunkId) -> bool {
        self.index.contains(self.part(id, 0))
    }

    /// Every chunk that has a vector.
    pub fn ids(&self) -> impl Iterator<Item = ChunkId> + '_ {
        let first = move |part: &ChunkId| part.0 & ((1 << self.bits) - 1) == 0;
        self.index.ids().filter(first).map(move |part| self.chunk(part))
    }

    pub fn mark(&self) -> Option<u64> {
        self.index.mark()
    }

    pub fn refresh(&mut self) -> Result<(), VectorError> {
        self.index.refresh()
    }

    pub fn check(&self) -> Result<(), VectorError> {
        self.index.check()
    }

    /// Adds the vectors of a chunk's parts, in place of those it had.
    pub fn add(&mut self, id: ChunkId, parts: &[Vec<f32>]) -> Result<(), VectorError> {
        if self.bits > 0 && self.contains(id) {
            self.remove(id);
        }
        for (place, vector) in parts.iter().take(1 << self.bits).enumerate() {
            self.index.add(self.part(id, place as u64), vector)?;
        }
        Ok(())
    }

    pub fn remove(&mut self, id: ChunkId) {
        for place in 0..1 << self.bits {
            self.index.remove(self.part(id, place));
        }
    }

    pub fn commit(&mut self, mark: u64) -> Result<(), VectorError> {
        self.index.commit(mark)
    }

    /// The chunks that are nearest to the query, best first, with the cosine of their nearest part. With
    /// `allow` only those in it count, and as many are found as there are.
    pub fn search(&self, query: &[f32], allow: Option<&IdSet>, limit: usize) -> Vec<(ChunkId, f32)> {
        if self.bits == 0 {
            return self.index.search(query, allow, limit);
        }
        let places = 0..1_u64 << self.bits;
        let parts = |id: u64| places.clone().map(move |place| self.part(ChunkId(id), place));
        let allow: Option<IdSet> = allow.map(|allow| allow.within(0..=self.last()).flat_map(parts).collect());
        let mut wanted = limit.saturating_mul(USUAL_PARTS);
        loop {
            let found = self.index.search(query, allow.as_ref(), wanted);
            let is_all = found.len() < wanted;
            let mut seen = HashSet::new();
            let best = found.into_iter().map(|(part, score)| (self.chunk(part), score));
            let best: Vec<_> = best.filter(|(id, _)| seen.insert(*id)).take(limit).collect();
            if best.len() >= limit || is_all {
                return best;
            }
            wanted = wanted.saturating_mul(1 << self.bits);
        }
    }

    fn part(&self, id: ChunkId, place: u64) -> ChunkId {
        ChunkId(id.0 << self.bits | place)
    }

    fn chunk(&self, part: ChunkId) -> ChunkId {
        ChunkId(part.0 >> self.bits)
    }

    /// The highest number of a chunk.
    fn last(&self) -> u64 {
        self.index.ids().map(|part| self.chunk(part).0).max().unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "meanings_tests.rs"]
mod tests;
