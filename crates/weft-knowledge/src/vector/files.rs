//! The files of the vectors: a head that says what counts, and the columns.
//!
//! `head` is replaced in one step, after the columns are on disk; what stands in a column behind the
//! number of records that the head names does not count. Column files carry the number of their
//! generation: when too many records are removed, the rest is written anew beside them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::VectorError;
use super::mapped::Column;
use super::quantise::{coarse_size, fine_size};

const MAGIC: &[u8; 8] = b"weftvec\0";
const FORMAT: u32 = 1;
const HEAD: &str = "head";
const ID_SIZE: usize = 8;
const REMOVED_SIZE: usize = 4;

/// What the columns hold, in the order of their numbers in the head.
const NAMES: [&str; 5] = ["ids", "coarse", "fine", "rest", "removed"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub dimension: usize,
    pub generation: u64,
    pub count: usize,
    pub removed: usize,
    /// Whether ids stand in ascending order, so that one can be found by halving.
    pub ascending: bool,
    pub mark: Option<u64>,
    pub model: String,
    pub crcs: [u32; NAMES.len()],
}

impl Head {
    pub fn new(dimension: usize, model: &str) -> Self {
        Self {
            dimension,
            generation: 1,
            count: 0,
            removed: 0,
            ascending: true,
            mark: None,
            model: model.to_owned(),
            crcs: [0; NAMES.len()],
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(u32::from(self.ascending).to_le_bytes());
        let numbers = [self.dimension as u64, self.generation, self.count as u64, self.removed as u64];
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(u64::from(self.mark.is_some()).to_le_bytes());
        bytes.extend(self.mark.unwrap_or(0).to_le_bytes());
        bytes.extend(self.crcs.iter().flat_map(|crc| crc.to_le_bytes()));
        bytes.extend((self.model.len() as u32).to_le_bytes());
        bytes.extend(self.model.as_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, VectorError> {
        let damaged = || VectorError::Damaged("its head cannot be read".to_owned());
        let mut read = Reader(bytes);
        let magic: [u8; 8] = read.take().ok_or_else(damaged)?;
        let format = u32::from_le_bytes(read.take().ok_or_else(damaged)?);
        if &magic == MAGIC && format > FORMAT {
            return Err(VectorError::Newer { found: format, known: FORMAT });
        }
        if &magic == MAGIC && format != FORMAT {
            return Err(VectorError::OtherFormat);
        }
        let (body, crc) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
        if &magic != MAGIC || crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return Err(damaged());
        }
        let ascending = u32::from_le_bytes(read.take().ok_or_else(damaged)?) != 0;
        let mut number = || read.take().map(u64::from_le_bytes).ok_or_else(damaged);
        let (dimension, generation, count) = (number()? as usize, number()?, number()? as usize);
        let (removed, marked, mark) = (number()? as usize, number()? != 0, number()?);
        let mut crcs = [0; NAMES.len()];
        for crc in &mut crcs {
            *crc = u32::from_le_bytes(read.take().ok_or_else(damaged)?);
        }
        let length = u32::from_le_bytes(read.take().ok_or_else(damaged)?) as usize;
        let model = read.0.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or_else(damaged)?;
        let mark = marked.then_some(mark);
        Ok(Self { dimension, generation, count, removed, ascending, mark, model: model.to_owned(), crcs })
    }

    /// The head in a folder; none if nothing was ever committed there.
    pub fn read(folder: &Path) -> Result<Option<Self>, VectorError> {
        match fs::read(folder.join(HEAD)) {
            Ok(bytes) => Self::from_bytes(&bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces the head in one step and waits until that is on disk.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let new = folder.join("head.new");
        let mut file = File::create(&new)?;
        file.write_all(&self.to_bytes())?;
        file.sync_all()?;
        fs::rename(&new, folder.join(HEAD))?;
        File::open(folder)?.sync_all()
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }
}

/// The columns of one generation.
pub struct Columns {
    pub ids: Column,
    pub coarse: Column,
    pub fine: Column,
    pub rest: Column,
    pub removed: Column,
}

impl Columns {
    /// Opens what the head names. Files that are missing are made only where nothing counts yet.
    pub fn open(folder: &Path, head: &Head) -> io::Result<Self> {
        let create = head.count == 0;
        let [ids, coarse, fine, rest, removed] = NAMES.map(|name| path(folder, name, head.generation));
        let [ids_crc, coarse_crc, fine_crc, rest_crc, removed_crc] = head.crcs;
        let (dimension, count) = (head.dimension, head.count);
        Ok(Self {
            ids: Column::open(&ids, ID_SIZE, count, ids_crc, create)?,
            coarse: Column::open(&coarse, coarse_size(dimension), count, coarse_crc, create)?,
            fine: Column::open(&fine, fine_size(dimension), count, fine_crc, create)?,
            rest: Column::open(&rest, dimension, count, rest_crc, create)?,
            removed: Column::open(&removed, REMOVED_SIZE, head.removed, removed_crc, create)?,
        })
    }

    pub fn all(&self) -> [&Column; NAMES.len()] {
        [&self.ids, &self.coarse, &self.fine, &self.rest, &self.removed]
    }

    pub fn id(&self, at: usize) -> Option<u64> {
        self.ids.record(at).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

fn path(folder: &Path, name: &str, generation: u64) -> PathBuf {
    folder.join(format!("{name}-{generation}"))
}

/// Takes away the files of other generations. What cannot be removed is left for the next time.
pub fn sweep(folder: &Path, generation: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((kind, number)) = name.to_str().and_then(|name| name.split_once('-')) else { continue };
        if NAMES.contains(&kind) && number.parse() != Ok(generation) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
