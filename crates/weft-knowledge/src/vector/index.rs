//! The vector index: added to, taken from, committed, searched.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::best::Best;
use super::files::{Columns, Head, sweep};
use super::kernel::{Level, product};
use super::quantise::{Query, coarse_size, encode, fine_size};
use super::scan::Scan;
use super::{IdSet, VectorError};
use crate::ChunkId;

/// Added vectors are written to the files when this many wait, long before a commit if need be.
const MOST_WAITING: usize = 4096;
/// From this many vectors on, a search uses more than one thread.
const WORTH_THREADS: usize = 200_000;
const MOST_THREADS: usize = 4;
/// Of the best, so many are compared in sixteen bits.
const FINEST: usize = 40;
/// The files are written anew when this many are removed, and more than a quarter.
const WORTH_COMPACTING: usize = 1024;

/// The vectors of one workspace. One process writes at a time; any number may read.
pub struct VectorIndex {
    folder: PathBuf,
    head: Head,
    columns: Columns,
    waiting: Waiting,
    /// Positions that do not count any more; those behind `head.removed` are not committed.
    removed: IdSet,
    removed_order: Vec<u32>,
    level: Level,
}

/// Added vectors that are not in the files yet, in the same form.
#[derive(Default)]
struct Waiting {
    ids: Vec<u64>,
    coarse: Vec<u8>,
    fine: Vec<u8>,
    rest: Vec<u8>,
}

impl VectorIndex {
    /// Opens the vectors in a folder, which is made if it is not there. `model` is the name of what
    /// makes the vectors: those of different models cannot be compared.
    pub fn open(folder: &Path, dimension: usize, model: &str) -> Result<Self, VectorError> {
        std::fs::create_dir_all(folder)?;
        let mut last = None;
        // A writer that compacts removes the files of the head that was read a moment ago.
        for _ in 0..3 {
            let head = Head::read(folder)?.unwrap_or_else(|| Head::new(dimension, model));
            if head.dimension != dimension || head.model != model {
                return Err(VectorError::OtherModel {
                    found: head.model,
                    found_dimension: head.dimension,
                    wanted: model.to_owned(),
                });
            }
            match Columns::open(folder, &head) {
                Ok(columns) => return Self::with(folder, head, columns),
                Err(error) => last = Some(error),
            }
        }
        let is_damage = |error: &std::io::Error| {
            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
        };
        match last {
            Some(error) if !is_damage(&error) => Err(error.into()),
            last => {
                let what = last.map(|error| error.to_string()).unwrap_or_default();
                Err(VectorError::Damaged(format!("a file is missing or too short: {what}")))
            }
        }
    }

    fn with(folder: &Path, head: Head, columns: Columns) -> Result<Self, VectorError> {
        if !columns.removed.is_sound() {
            return Err(VectorError::Damaged("the list of removed vectors is not what was written".to_owned()));
        }
        let removed_order: Vec<u32> =
            columns.removed.bytes().as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let removed = removed_order.iter().map(|position| ChunkId(u64::from(*position))).collect();
        Ok(Self {
            folder: folder.to_owned(),
            head,
            columns,
            waiting: Waiting::default(),
            removed,
            removed_order,
            level: Level::detect(),
        })
    }

    /// How many vectors can be found.
    pub fn len(&self) -> usize {
        self.records() - self.removed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Who made the vectors in a folder, and of which dimension they are; nothing where there are none.
    pub fn made_by(folder: &Path) -> Option<(String, usize)> {
        Head::read(folder).ok().flatten().map(|head| (head.model, head.dimension))
    }

    /// Whether a chunk has a vector.
    pub fn contains(&self, id: ChunkId) -> bool {
        self.position(id).is_some()
    }

    /// Every chunk that has a vector.
    pub fn ids(&self) -> impl Iterator<Item = ChunkId> + '_ {
        let counts = |at: &usize| !self.removed.contains(ChunkId(*at as u64));
        (0..self.records()).filter(counts).filter_map(|at| self.id(at)).map(ChunkId)
    }

    /// The mark of the last commit; none if there was none.
    pub fn mark(&self) -> Option<u64> {
        self.head.mark
    }

    /// Sees what another process has committed. What this one has not committed is forgotten.
    pub fn refresh(&mut self) -> Result<(), VectorError> {
        if Head::read(&self.folder)?.is_some_and(|head| head != self.head) {
            *self = Self::open(&self.folder, self.head.dimension, &self.head.model)?;
        }
        Ok(())
    }

    /// Reads everything and says whether it is what was written.
    pub fn check(&self) -> Result<(), VectorError> {
        let sound = self.columns.all().iter().all(|column| column.is_sound());
        if sound { Ok(()) } else { Err(VectorError::Damaged("a file is not what was written".to_owned())) }
    }

    /// Adds a vector, in place of the one the chunk had. It is found from now on, and durable with the
    /// next commit.
    pub fn add(&mut self, id: ChunkId, vector: &[f32]) -> Result<(), VectorError> {
        if vector.len() != self.head.dimension {
            return Err(VectorError::WrongDimension { found: vector.len(), wanted: self.head.dimension });
        }
        let newest = self.last_id().is_none_or(|last| id.0 > last);
        if !(self.head.ascending && newest) {
            self.remove(id);
            self.head.ascending &= newest;
        }
        self.waiting.ids.push(id.0);
        encode(vector, &mut self.waiting.coarse, &mut self.waiting.fine, &mut self.waiting.rest);
        if self.waiting.ids.len() >= MOST_WAITING { self.flush() } else { Ok(()) }
    }

    /// Takes a chunk's vector away, if it has one: no search finds it from now on.
    pub fn remove(&mut self, id: ChunkId) {
        if let Some(position) = self.position(id) {
            self.removed.insert(ChunkId(position as u64));
            self.removed_order.push(position as u32);
        }
    }

    /// Makes everything so far durable under a mark. After an error the index must be opened again.
    pub fn commit(&mut self, mark: u64) -> Result<(), VectorError> {
        if self.removed.len() > WORTH_COMPACTING && self.removed.len() * 4 > self.records() {
            return self.compact(mark);
        }
        self.flush()?;
        self.finish(mark)
    }

    fn finish(&mut self, mark: u64) -> Result<(), VectorError> {
        let unwritten = self.removed_order.get(self.head.removed..).unwrap_or_default();
        let bytes: Vec<u8> = unwritten.iter().flat_map(|position| position.to_le_bytes()).collect();
        self.columns.removed.append(&bytes)?;
        let mut head = self.head.clone();
        head.removed = self.removed_order.len();
        head.mark = Some(mark);
        head.crcs = self.columns.all().map(|column| column.crc());
        for column in self.columns.all() {
            column.sync()?;
        }
        head.write(&self.folder)?;
        self.head = head;
        Ok(())
    }

    /// Writes what waits behind what counts. It counts for this process, and for all with the head.
    fn flush(&mut self) -> Result<(), VectorError> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.ids.is_empty() {
            return Ok(());
        }
        let ids: Vec<u8> = waiting.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        self.columns.ids.append(&ids)?;
        self.columns.coarse.append(&waiting.coarse)?;
        self.columns.fine.append(&waiting.fine)?;
        self.columns.rest.append(&waiting.rest)?;
        self.head.count += waiting.ids.len();
        Ok(())
    }

    /// Writes what is not removed into files of the next generation.
    fn compact(&mut self, mark: u64) -> Result<(), VectorError> {
        self.flush()?;
        let mut head = Head::new(self.head.dimension, &self.head.model);
        head.generation = self.head.generation + 1;
        head.ascending = self.head.ascending;
        sweep(&self.folder, self.head.generation);
        let columns = Columns::open(&self.folder, &head)?;
        let mut new = Self::with(&self.folder, head, columns)?;
        let mut rest = vec![0; self.head.dimension];
        for at in (0..self.head.count).filter(|at| !self.removed.contains(ChunkId(*at as u64))) {
            let Some(id) = self.columns.id(at) else { continue };
            self.columns.rest.read(at, &mut rest)?;
            new.waiting.ids.push(id);
            new.waiting.coarse.extend_from_slice(self.columns.coarse.record(at));
            new.waiting.fine.extend_from_slice(self.columns.fine.record(at));
            new.waiting.rest.extend_from_slice(&rest);
            if new.waiting.ids.len() >= MOST_WAITING {
                new.flush()?;
            }
        }
        new.flush()?;
        new.finish(mark)?;
        sweep(&self.folder, new.head.generation);
        *self = new;
        Ok(())
    }

    /// The chunks whose vectors are nearest to the query, best first, with the cosine between them.
    /// With `allow` only those in it count.
    pub fn search(&self, query: &[f32], allow: Option<&IdSet>, limit: usize) -> Vec<(ChunkId, f32)> {
        if query.len() != self.head.dimension || limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let query = Query::new(query);
        let possible = allow.map_or(self.records(), |allow| allow.len().min(self.records()));
        let candidates = (limit * 4).max(500 + possible / 200);
        let coarse = self.estimated(&query, allow, candidates);
        let mut better = Best::new(limit + FINEST / 2);
        for (_, position) in coarse.into_kept() {
            let fine = self.fine(position as usize);
            better.offer(product(self.level, &query, fine), position);
        }
        let mut best = better.into_sorted();
        let mut rest = vec![0; self.head.dimension];
        for (score, position) in best.iter_mut().take(FINEST) {
            if self.rest(*position as usize, &mut rest).is_some() {
                *score = query.product(self.fine(*position as usize), &rest);
            }
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let found = best.into_iter().take(limit);
        found.filter_map(|(score, position)| Some((ChunkId(self.id(position as usize)?), score))).collect()
    }

    /// The best by estimate, of all vectors.
    fn estimated(&self, query: &Query, allow: Option<&IdSet>, wanted: usize) -> Best {
        let (record, written) = (coarse_size(self.head.dimension), self.head.count);
        let scan = Scan {
            level: self.level,
            query,
            allow,
            removed: &self.removed,
            id: |at| self.id(at),
            ascending: self.head.ascending,
            record,
            wanted,
        };
        let bytes = self.columns.coarse.bytes();
        let threads = threads(allow.map_or(written, |allow| allow.len().min(written)));
        let share = written.div_ceil(threads).max(1);
        let mut best = std::thread::scope(|scope| {
            let mut parts = bytes.chunks(share * record).enumerate();
            let own = parts.next();
            let scan = &scan;
            let others: Vec<_> =
                parts.map(|(part, bytes)| scope.spawn(move || scan.best_of(bytes, part * share))).collect();
            let mut best = own.map_or_else(|| Best::new(wanted), |(_, bytes)| scan.best_of(bytes, 0));
            for other in others {
                match other.join() {
                    Ok(other) => best.merge(other),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            best
        });
        best.merge(scan.best_of(&self.waiting.coarse, written));
        best
    }

    fn records(&self) -> usize {
        self.head.count + self.waiting.ids.len()
    }

    fn id(&self, at: usize) -> Option<u64> {
        match at.checked_sub(self.head.count) {
            None => self.columns.id(at),
            Some(at) => self.waiting.ids.get(at).copied(),
        }
    }

    fn last_id(&self) -> Option<u64> {
        self.id(self.records().checked_sub(1)?)
    }

    fn fine(&self, at: usize) -> &[u8] {
        match at.checked_sub(self.head.count) {
            None => self.columns.fine.record(at),
            Some(at) => part(&self.waiting.fine, at, fine_size(self.head.dimension)),
        }
    }

    fn rest(&self, at: usize, into: &mut [u8]) -> Option<()> {
        match at.checked_sub(self.head.count) {
            None => self.columns.rest.read(at, into).ok(),
            Some(at) => {
                let rest = self.waiting.rest.chunks_exact(into.len()).nth(at)?;
                into.copy_from_slice(rest);
                Some(())
            }
        }
    }

    /// Where a chunk's vector stands, if it has one that counts.
    fn position(&self, id: ChunkId) -> Option<usize> {
        let counts = |at: &usize| !self.removed.contains(ChunkId(*at as u64));
        if !self.head.ascending {
            return (0..self.records()).filter(|at| self.id(*at) == Some(id.0)).find(counts);
        }
        let (mut low, mut high) = (0, self.records());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.id(middle)? < id.0 { low = middle + 1 } else { high = middle }
        }
        Some(low).filter(|at| self.id(*at) == Some(id.0)).filter(counts)
    }
}

fn threads(vectors: usize) -> usize {
    if vectors < WORTH_THREADS {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

fn part(bytes: &[u8], at: usize, size: usize) -> &[u8] {
    bytes.get(at * size..(at + 1) * size).unwrap_or_default()
}
