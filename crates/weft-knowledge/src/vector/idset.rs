//! A set of chunks, one bit each: the numbers of chunks are dense, since the tables give them out.

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
