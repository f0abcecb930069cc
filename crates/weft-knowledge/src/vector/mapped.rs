//! A column file: mapped for reading, appended to for writing.

#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use memmap2::Mmap;

/// A file of records of one size, of which the first so many count.
pub struct Column {
    file: File,
    map: Option<Mmap>,
    size: usize,
    /// Bytes that count, whatever the file's length is.
    length: usize,
    crc: u32,
}

impl Column {
    pub fn open(path: &Path, size: usize, records: usize, crc: u32, create: bool) -> io::Result<Self> {
        let file = match OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path) {
            // Somebody who may only read can still search.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path)?,
            other => other?,
        };
        let mut column = Self { file, map: None, size, length: records * size, crc };
        if column.file.metadata()?.len() < column.length as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        column.map()?;
        Ok(column)
    }

    fn map(&mut self) -> io::Result<()> {
        self.map = None;
        if self.length > 0 {
            // SAFETY: the bytes that count are never written again nor cut off: files only grow behind
            // them, and a new generation has new files. Nobody else has business in this folder.
            let map = unsafe { memmap2::MmapOptions::new().len(self.length).map(&self.file)? };
            self.map = Some(map);
        }
        Ok(())
    }

    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    pub fn record(&self, at: usize) -> &[u8] {
        self.bytes().get(at * self.size..(at + 1) * self.size).unwrap_or_default()
    }

    /// Reads a record without mapping its page, for what is read seldom and by the piece.
    pub fn read(&self, at: usize, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, (at * self.size) as u64)
    }

    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// Writes records behind those that count; they count from now on.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.length as u64)?;
        self.length += bytes.len();
        let mut hasher = crc32fast::Hasher::new_with_initial(self.crc);
        hasher.update(bytes);
        self.crc = hasher.finalize();
        self.map()
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Whether every byte is what was written.
    pub fn is_sound(&self) -> bool {
        crc32fast::hash(self.bytes()) == self.crc
    }
}

/// Maps a file that is never written again once it is there.
pub fn map_whole(path: &Path) -> io::Result<Mmap> {
    // SAFETY: a model's file is put in place by one rename and never changed afterwards.
    unsafe { Mmap::map(&File::open(path)?) }
}
