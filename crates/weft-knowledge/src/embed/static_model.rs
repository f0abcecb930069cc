//! The static model: the vector of a text is the mean of the vectors of its tokens.

use std::path::Path;
use std::sync::Mutex;

use memmap2::Mmap;

use super::bpe::{Encoder, Seen};
use super::bpe_tables::Tables;
use super::install::{TABLES, WEIGHTS};
use super::{EmbedError, Embedder, normalise};
use crate::vector::map_whole;

pub(crate) const NAME: &str = "wordllama-l2-supercat-256";
const DIMENSION: usize = 256;
const TOKENS: usize = 32_000;
/// A batch with more text than this is divided among threads.
const WORTH_THREADS: usize = 64 * 1024;

pub struct StaticModel {
    tables: Mmap,
    weights: Mmap,
    /// Where the numbers begin in the weights file.
    begin: usize,
    threads: usize,
    /// Pieces of text seen lately, one set for each thread that is at work.
    seen: Mutex<Vec<Seen>>,
}

impl StaticModel {
    pub fn open(models: &Path) -> Result<Self, EmbedError> {
        let map = |name: &str| {
            let path = models.join(name);
            map_whole(&path).map_err(|error| EmbedError::io("opening", &path, &error))
        };
        let unusable =
            |detail: &str| EmbedError::Model { folder: models.display().to_string(), detail: detail.to_owned() };
        let (tables, weights) = (map(TABLES)?, map(WEIGHTS)?);
        if Tables::open(&tables).is_none() {
            return Err(unusable("its vocabulary cannot be read"));
        }
        let begin = weights.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes) as usize).saturating_add(8);
        if weights.len() != begin.saturating_add(TOKENS * DIMENSION * 2) {
            return Err(unusable("its weights have another size"));
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        Ok(Self { tables, weights, begin, threads, seen: Mutex::default() })
    }

    /// The vectors of some texts, one after the other on this thread.
    fn embed_here(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let Some(tables) = Tables::open(&self.tables) else { return vec![vec![0.0; DIMENSION]; texts.len()] };
        let rows = self.weights.get(self.begin..).unwrap_or_default().as_chunks::<{ DIMENSION * 2 }>().0;
        let mut seen = lock(&self.seen).pop().unwrap_or_default();
        let mut encoder = Encoder::new(tables, &mut seen);
        let vector = |text: &&str| {
            let mut sum = [0.0; DIMENSION];
            encoder.encode(text, &mut |tokens| {
                for row in tokens.iter().filter_map(|token| rows.get(*token as usize)) {
                    add(&mut sum, row);
                }
            });
            normalise(&mut sum);
            sum.to_vec()
        };
        let vectors = texts.iter().map(vector).collect();
        lock(&self.seen).push(seen);
        vectors
    }
}

impl Embedder for StaticModel {
    fn name(&self) -> &str {
        NAME
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        if self.threads < 2 || bytes < WORTH_THREADS {
            return Ok(self.embed_here(texts));
        }
        // Small shares, taken by whoever is free: texts differ in length.
        let shares: Vec<&[&str]> = texts.chunks(texts.len().div_ceil(self.threads * 8).max(1)).collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        let done = Mutex::new(vec![Vec::new(); shares.len()]);
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(share) = shares.get(at) else { break };
                        let vectors = self.embed_here(share);
                        if let Some(place) = lock(&done).get_mut(at) {
                            *place = vectors;
                        }
                    }
                });
            }
        });
        Ok(done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_iter().flatten().collect())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Adds a row of half-precision numbers.
#[inline]
fn add(sum: &mut [f32; DIMENSION], row: &[u8; DIMENSION * 2]) {
    for (sum, half) in sum.iter_mut().zip(row.as_chunks::<2>().0) {
        *sum += from_half(u16::from_le_bytes(*half));
    }
}

/// A half-precision number, without branches: its bits moved to where a longer one has them, and the
/// difference of the exponents made good by a product. Right for all that are finite.
#[inline]
fn from_half(half: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(half & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    f32::from_bits(magnitude.to_bits() | u32::from(half & 0x8000) << 16)
}

#[cfg(test)]
pub(super) fn half(half: u16) -> f32 {
    from_half(half)
}
