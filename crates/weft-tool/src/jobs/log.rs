//! What a job writes, in files beside the session's other outputs. The beginning is kept for good and
//! so is the end; of a job that writes on and on, what lies between is dropped piece by piece, so that
//! one job never takes more than 64 MB.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The beginning, which is kept.
const FIRST: u64 = 32 << 20;
/// One piece after it, and how many of the newest are kept.
const PIECE: u64 = 8 << 20;
const PIECES: usize = 4;

pub(crate) struct Log {
    folder: PathBuf,
    name: String,
    sizes: Sizes,
    parts: Vec<Part>,
    bytes: u64,
    /// Why nothing is kept any more.
    trouble: Option<String>,
}

#[derive(Clone, Copy)]
struct Sizes {
    first: u64,
    piece: u64,
}

struct Part {
    from: u64,
    length: u64,
    path: PathBuf,
    file: File,
}

/// Where a part of the output can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    path: PathBuf,
    from: u64,
    length: u64,
}

impl Log {
    pub fn new(folder: &Path, name: &str) -> io::Result<Self> {
        Self::sized(folder, name, Sizes { first: FIRST, piece: PIECE })
    }

    fn sized(folder: &Path, name: &str, sizes: Sizes) -> io::Result<Self> {
        let mut log = Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            sizes,
            parts: Vec::new(),
            bytes: 0,
            trouble: None,
        };
        log.begin_part()?;
        Ok(log)
    }

    /// The file that holds the beginning, and mostly everything.
    pub fn path(&self) -> &Path {
        self.parts.first().map_or(&self.folder, |part| &part.path)
    }

    /// How much was written, kept or not.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// The writes go to the page cache and are as short as a pipe's buffer, so they are done in place.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.trouble.is_none() {
            let taken = self.write(bytes).unwrap_or_else(|error| {
                self.trouble = Some(error.to_string());
                0
            });
            self.bytes += taken as u64;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        self.bytes += bytes.len() as u64;
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let limit = if self.parts.len() == 1 && self.parts.first().is_some_and(|part| part.from == 0) {
            self.sizes.first
        } else {
            self.sizes.piece
        };
        if self.parts.last().is_none_or(|part| part.length >= limit) {
            self.begin_part()?;
            return Ok(0);
        }
        let Some(part) = self.parts.last_mut() else { return Ok(0) };
        let room = usize::try_from(limit - part.length).unwrap_or(usize::MAX);
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        part.file.write_all(taken)?;
        part.length += taken.len() as u64;
        Ok(taken.len())
    }

    fn begin_part(&mut self) -> io::Result<()> {
        if self.parts.len() > PIECES {
            let dropped = self.parts.remove(1);
            // One that stays is in nobody's way.
            let _ = std::fs::remove_file(dropped.path);
        }
        let suffix = if self.bytes == 0 { String::new() } else { format!("-from-{}", self.bytes) };
        let path = self.folder.join(format!("{}{suffix}.txt", self.name));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        self.parts.push(Part { from: self.bytes, length: 0, path, file });
        Ok(())
    }

    /// Where everything from `from` on can be read, and how much of it is gone.
    pub fn since(&self, from: u64) -> (Vec<Place>, u64) {
        let mut places = Vec::new();
        let mut found = 0;
        for part in &self.parts {
            let skip = from.saturating_sub(part.from).min(part.length);
            if skip < part.length {
                places.push(Place { path: part.path.clone(), from: skip, length: part.length - skip });
                found += part.length - skip;
            }
        }
        (places, self.bytes.saturating_sub(from).saturating_sub(found))
    }
}

/// Hands out what lies at these places, piece by piece. Says how much could not be read: a part may
/// have been dropped meanwhile.
pub(crate) fn read(places: &[Place], mut take: impl FnMut(&[u8])) -> u64 {
    let mut buffer = vec![0; 64 * 1024];
    let mut missed = 0;
    for place in places {
        let mut left = place.length;
        // What is not read of one part is missed; those after it are there all the same.
        let _ = read_one(place, &mut buffer, |piece| {
            left = left.saturating_sub(piece.len() as u64);
            take(piece);
        });
        missed += left;
    }
    missed
}

fn read_one(place: &Place, buffer: &mut [u8], mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(&place.path)?;
    file.seek(SeekFrom::Start(place.from))?;
    let mut part = file.take(place.length);
    loop {
        let length = part.read(buffer)?;
        if length == 0 {
            return Ok(());
        }
        take(buffer.get(..length).unwrap_or_default());
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
