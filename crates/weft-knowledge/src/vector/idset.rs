//! A set of chunks, one bit each: the numbers of chunks are dense, since the tables give them out.

use std::ops::RangeInclusive;

use crate::ChunkId;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdSet {
    words: Vec<u64>,
    count: usize,
}

impl IdSet {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn contains(&self, id: ChunkId) -> bool {
        let (word, bit) = place(id);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub fn insert(&mut self, id: ChunkId) {
        let (word, bit) = place(id);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit == 0) {
            *word |= bit;
            self.count += 1;
        }
    }

    pub fn remove(&mut self, id: ChunkId) {
        let (word, bit) = place(id);
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) {
            *word &= !bit;
            self.count -= 1;
        }
    }

    /// Those between two numbers, both included, in their order.
    pub fn within(&self, range: RangeInclusive<u64>) -> impl Iterator<Item = u64> {
        let (first, last) = range.into_inner();
        let words = (first / 64..=last / 64).map(move |at| {
            let word = usize::try_from(at).ok().and_then(|at| self.words.get(at)).copied().unwrap_or(0);
            let word = if at == first / 64 { word & (u64::MAX << (first % 64)) } else { word };
            let word = if at == last / 64 { word & (u64::MAX >> (63 - last % 64)) } else { word };
            (at * 64, word)
        });
        words.flat_map(|(base, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (bit < 64).then(|| {
                    word &= word - 1;
                    base + u64::from(bit)
                })
            })
        })
    }

    pub fn merge(&mut self, mut other: Self) {
        if other.words.len() > self.words.len() {
            std::mem::swap(self, &mut other);
        }
        for (word, more) in self.words.iter_mut().zip(other.words) {
            *word |= more;
        }
        self.count = self.words.iter().map(|word| word.count_ones() as usize).sum();
    }
}

impl FromIterator<ChunkId> for IdSet {
    fn from_iter<I: IntoIterator<Item = ChunkId>>(ids: I) -> Self {
        let mut set = Self::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

fn place(ChunkId(id): ChunkId) -> (usize, u64) {
    ((id / 64) as usize, 1 << (id % 64))
}
