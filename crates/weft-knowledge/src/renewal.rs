//! Vectors that take long to make: all of them anew for another model, those of a model elsewhere, and many
//! at once of an encoder of this machine.
//!
//! A renewal makes its vectors beside those that serve and puts them in their place when they are
//! whole. What was made stays when it is stopped, killed or refused half-way: the next run goes on with
//! the rest, so that nothing is sent, or paid for, twice. Nobody is kept from writing meanwhile.
//!
//! A model elsewhere is asked only by whoever takes in files or renews, never in passing by somebody
//! who opens or searches, and an encoder in passing for a few texts only; what has no vector yet is found by
//! its words.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::chunk::{Chunk, ChunkId};
use crate::embed::{self, EmbedError, Embedder};
use crate::error::KnowledgeError;
use crate::indexing::{Progress, Run};
use crate::knowledge::{Knowledge, VECTORS, WriteLock, clear, embedded};
use crate::tables::OnTheWay;
use crate::vector::{IdSet, Meanings, VectorError};

/// How many pieces of text are made vectors at a time; what was made before is not lost.
const FAR_BATCH: usize = 128;
const SLOW_BATCH: usize = 32;
const NEAR_BATCH: usize = 2_048;
/// Where new vectors are made.
const RENEWED: &str = "renewed";
/// How long whoever writes just now is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Puts renewed vectors in their place, where a process was killed between the two moves of a swap.
pub(crate) fn finish_swap(folder: &Path) {
    if !folder.join(VECTORS).exists() {
        let _ = std::fs::rename(folder.join(RENEWED), folder.join(VECTORS));
    }
}

impl Knowledge {
    /// Whether the vectors were made by another model than the one that is wanted now.
    pub const fn wants_renewal(&self) -> bool {
        self.wanted.is_some()
    }

    /// Makes all vectors anew for the model that is wanted, telling how many pieces are done. The old
    /// ones serve until the new ones are whole. Says whether it came to its end.
    pub fn renew(&mut self, run: Run<'_>) -> Result<bool, KnowledgeError> {
        let Some(wanted) = self.wanted.clone() else { return Ok(true) };
        let _one_at_a_time = WriteLock::named(&self.folder, "renewing")?;
        let aside = self.folder.join(RENEWED);
        let opened = Meanings::open(&aside, wanted.dimension(), wanted.name());
        let mut vectors = match opened.and_then(|vectors| vectors.check().map(|()| vectors)) {
            Ok(vectors) => vectors,
            Err(_) => {
                clear(&aside)?;
                Meanings::open(&aside, wanted.dimension(), wanted.name()).map_err(failed)?
            }
        };
        if !self.fill(&mut vectors, &*wanted, 0, run.stop, &mut *run.tell)? {
            return Ok(false);
        }
        let Some(lock) = self.lock_soon(run.stop)? else { return Ok(false) };
        // What others have taken in meanwhile.
        self.catch_up(&lock)?;
        if self.wanted.is_none() {
            return Ok(true);
        }
        if !self.fill(&mut vectors, &*wanted, 0, run.stop, run.tell)? {
            return Ok(false);
        }
        let there: IdSet = self.tables.chunk_ids()?.into_iter().collect();
        let gone: Vec<ChunkId> = vectors.ids().filter(|id| !there.contains(*id)).collect();
        gone.into_iter().for_each(|id| vectors.remove(id));
        let now = self.tables.generation()?;
        vectors.commit(now).map_err(failed)?;
        drop(vectors);
        let (old, place) = (self.folder.join("vectors.old"), self.folder.join(VECTORS));
        clear(&old)?;
        let _ = std::fs::rename(&place, &old);
        std::fs::rename(&aside, &place).map_err(|error| KnowledgeError::io("moving", &aside, &error))?;
        self.reopen()?;
        self.tables.forget_gone(now)?;
        clear(&old)?;
        Ok(true)
    }

    /// Brings the vectors of a slow model up to the tables. Others are by then.
    pub(crate) fn catch_up_slow(&mut self, _lock: &WriteLock, run: Run<'_>) -> Result<(), KnowledgeError> {
        let (now, from) = (self.tables.generation()?, self.vectors.mark().unwrap_or(0));
        if !self.embedder.is_slow() || from == now {
            return Ok(());
        }
        for id in self.tables.chunks_gone(from, now)? {
            self.vectors.remove(id);
        }
        let embedder = self.embedder.clone();
        // Taken out for as long as both are needed.
        let empty = Meanings::open(&self.folder.join(VECTORS), embedder.dimension(), embedder.name());
        let mut vectors = std::mem::replace(&mut self.vectors, empty.map_err(failed)?);
        let filled = self.fill(&mut vectors, &*embedder, from, run.stop, run.tell);
        self.vectors = vectors;
        if filled? {
            self.vectors.commit(now).map_err(failed)?;
            self.tables.forget_gone(now)?;
        }
        Ok(())
    }

    /// What a rebuild does with vectors of a slow model: those that are sound stay.
    pub(crate) fn mend_vectors(&mut self, run: Run<'_>) -> Result<(), KnowledgeError> {
        if self.wanted.is_some() {
            return self.renew(run).map(drop);
        }
        let lock = self.lock()?;
        if self.vectors.check().is_err() {
            clear(&self.folder.join(VECTORS))?;
            self.reopen()?;
        }
        self.catch_up_slow(&lock, run)
    }

    /// Makes the vectors that are missing, batch by batch, each kept as it comes. Says whether it came to
    /// its end.
    fn fill(
        &self,
        vectors: &mut Meanings,
        embedder: &dyn Embedder,
        from: u64,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<bool, KnowledgeError> {
        let now = self.tables.generation()?;
        let of = usize::try_from(self.tables.counts()?.chunks).unwrap_or(usize::MAX);
        let size = match (embedder.is_far(), embedder.is_slow()) {
            (true, _) => FAR_BATCH,
            (false, true) => SLOW_BATCH,
            (false, false) => NEAR_BATCH,
        };
        let mut on = OnTheWay::from(from);
        loop {
            let mut batch = self.tables.chunks_made(&mut on, now, size)?;
            if batch.is_empty() {
                return Ok(true);
            }
            batch.retain(|chunk| !vectors.contains(chunk.id));
            if batch.is_empty() {
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let made = match embedder.is_far() {
                false => embedded(embedder, &batch)?,
                true => match sent(embedder, &batch, stop) {
                    Ok(made) => made.into_iter().map(|vector| vec![vector]).collect(),
                    Err(EmbedError::Stopped) => return Ok(false),
                    Err(error) => return Err(KnowledgeError::Model(error.to_string())),
                },
            };
            for (chunk, parts) in batch.iter().zip(made) {
                vectors.add(chunk.id, &parts).map_err(failed)?;
            }
            // The mark stays: it says up to where nothing is missing.
            vectors.commit(vectors.mark().unwrap_or(0)).map_err(failed)?;
            tell(Progress { files: vectors.len().min(of), of, bytes: 0, finishing: true });
        }
    }

    /// The right to write, as soon as whoever has it gives it back.
    fn lock_soon(&mut self, stop: &AtomicBool) -> Result<Option<WriteLock>, KnowledgeError> {
        let begun = Instant::now();
        loop {
            match self.lock() {
                Err(KnowledgeError::Busy) if begun.elapsed() < PATIENCE => {}
                other => return other.map(Some),
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn sent(embedder: &dyn Embedder, batch: &[Chunk], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
    let passages: Vec<String> = batch.iter().map(embed::passage).collect();
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    embedder.embed_unless(&texts, stop)
}

fn failed(error: VectorError) -> KnowledgeError {
    KnowledgeError::Vector(error.to_string())
}
