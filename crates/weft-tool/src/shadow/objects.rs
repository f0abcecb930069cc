//! Contents on disk, each once, by their names. All that one checkpoint adds is one file that is
//! written aside, synced and put in place, so that there is never half of a checkpoint.
//!
//! A pack is its contents one after the other, then a table of (name, place, length), then the
//! table's length and a mark.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use super::ShadowError;
use super::tree::Id;

const MARK: [u8; 8] = *b"weftpak1";
const ROW: usize = Id::LENGTH + 16;

pub(super) struct Objects {
    folder: PathBuf,
    packs: Vec<Pack>,
    /// The packs that have been read, by name.
    known: BTreeSet<String>,
    places: HashMap<Id, Place>,
    writing: Option<Writing>,
}

struct Pack {
    name: String,
    file: File,
}

#[derive(Clone, Copy)]
struct Place {
    pack: usize,
    offset: u64,
    length: u64,
}

/// A pack that is being written.
struct Writing {
    path: PathBuf,
    file: BufWriter<File>,
    offset: u64,
    rows: Vec<(Id, u64, u64)>,
    names: HashSet<Id>,
}

impl Objects {
    /// Opens what is there. Call it with the workspace's lock held.
    pub fn open(folder: PathBuf) -> Result<Self, ShadowError> {
        fs::create_dir_all(&folder).map_err(|error| ShadowError::disk(&folder, error))?;
        let mut objects =
            Self { folder, packs: Vec::new(), known: BTreeSet::new(), places: HashMap::new(), writing: None };
        objects.refresh()?;
        Ok(objects)
    }

    /// Takes in what other processes have added, and clears away what a crash left.
    pub fn refresh(&mut self) -> Result<(), ShadowError> {
        let failed = |error| ShadowError::disk(&self.folder, error);
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".pack") {
                there.insert(name);
            } else if self.writing.is_none() {
                let _ = fs::remove_file(self.folder.join(name));
            }
        }
        if self.known.iter().any(|name| !there.contains(name)) {
            // Somebody has cleaned up.
            self.packs.clear();
            self.places.clear();
            self.known.clear();
        }
        for name in there {
            if !self.known.contains(&name) {
                self.read_pack(name);
            }
        }
        Ok(())
    }

    /// A pack that cannot be read holds nothing; what is missing is said where it is needed.
    fn read_pack(&mut self, name: String) {
        let path = self.folder.join(&name);
        self.known.insert(name.clone());
        let Ok(file) = File::open(&path) else { return };
        let Some(rows) = read_table(&file) else { return };
        let pack = self.packs.len();
        for (id, offset, length) in rows {
            self.places.insert(id, Place { pack, offset, length });
        }
        self.packs.push(Pack { name, file });
    }

    pub fn has(&self, id: Id) -> bool {
        self.places.contains_key(&id) || self.writing.as_ref().is_some_and(|writing| writing.names.contains(&id))
    }

    /// Adds a content to the pack that is being written, unless it is there already.
    pub fn put(&mut self, id: Id, bytes: &[u8]) -> Result<(), ShadowError> {
        if self.has(id) {
            return Ok(());
        }
        if self.writing.is_none() {
            let path = self.folder.join(format!("{}.new", std::process::id()));
            let file = File::create(&path).map_err(|error| ShadowError::disk(&path, error))?;
            let file = BufWriter::with_capacity(256 * 1024, file);
            self.writing = Some(Writing { path, file, offset: 0, rows: Vec::new(), names: HashSet::new() });
        }
        let Some(writing) = &mut self.writing else { return Ok(()) };
        let length = bytes.len() as u64;
        if let Err(error) = writing.file.write_all(bytes) {
            let failure = ShadowError::disk(&writing.path, error);
            self.discard();
            return Err(failure);
        }
        writing.rows.push((id, writing.offset, length));
        writing.names.insert(id);
        writing.offset += length;
        Ok(())
    }

    /// How much has been added and not been put in place yet.
    pub fn added(&self) -> u64 {
        self.writing.as_ref().map_or(0, |writing| writing.offset)
    }

    /// Puts what has been added in place. Durable when it returns.
    pub fn commit(&mut self) -> Result<(), ShadowError> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        let temporary = writing.path.clone();
        let number = self.known.iter().next_back().and_then(|name| name.split('.').next()?.parse::<u64>().ok());
        let name = format!("{:010}.pack", number.unwrap_or(0) + 1);
        let path = self.folder.join(&name);
        if let Err(error) = writing.finish().and_then(|()| fs::rename(&temporary, &path)) {
            let _ = fs::remove_file(&temporary);
            return Err(ShadowError::disk(&path, error));
        }
        // Makes the new name durable; file systems that cannot do it do not need it.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        self.read_pack(name);
        Ok(())
    }

    /// Forgets what has been added since the last commit.
    pub fn discard(&mut self) {
        if let Some(writing) = self.writing.take() {
            let _ = fs::remove_file(&writing.path);
        }
    }

    /// A content. Only what is in place can be had.
    pub fn get(&mut self, id: Id) -> Result<Vec<u8>, ShadowError> {
        if self.writing.as_ref().is_some_and(|writing| writing.names.contains(&id)) {
            self.commit()?;
        }
        let place = *self.places.get(&id).ok_or(ShadowError::Gone)?;
        let pack = self.packs.get(place.pack).ok_or(ShadowError::Gone)?;
        let mut bytes = vec![0; usize::try_from(place.length).map_err(|_| ShadowError::Gone)?];
        pack.file.read_exact_at(&mut bytes, place.offset).map_err(|_| ShadowError::Gone)?;
        // A disk that has gone bad must not give somebody a wrong file back.
        if Id::of_file(&bytes) != id && Id::of_folder(&bytes) != id {
            return Err(ShadowError::Gone);
        }
        Ok(bytes)
    }

    /// Removes packs in which nothing is needed any more, and writes those anew in which most is not.
    pub fn keep_only(&mut self, needed: &HashSet<Id>) -> Result<(), ShadowError> {
        self.commit()?;
        let mut sizes = vec![(0u64, 0u64); self.packs.len()];
        for (id, place) in &self.places {
            if let Some((live, whole)) = sizes.get_mut(place.pack) {
                *whole += place.length;
                if needed.contains(id) {
                    *live += place.length;
                }
            }
        }
        let sparse: HashSet<usize> =
            sizes.iter().enumerate().filter(|(_, (live, whole))| live * 2 < *whole).map(|(pack, _)| pack).collect();
        if sparse.is_empty() {
            return Ok(());
        }
        let moving: Vec<Id> = self
            .places
            .iter()
            .filter(|(id, place)| sparse.contains(&place.pack) && needed.contains(*id))
            .map(|(id, _)| *id)
            .collect();
        for id in moving {
            let bytes = self.get(id)?;
            self.places.remove(&id);
            self.put(id, &bytes)?;
        }
        self.commit()?;
        for pack in sparse.iter().filter_map(|pack| self.packs.get(*pack)) {
            let path = self.folder.join(&pack.name);
            fs::remove_file(&path).map_err(|error| ShadowError::disk(&path, error))?;
        }
        self.packs.clear();
        self.places.clear();
        self.known.clear();
        self.refresh()
    }
}

impl Writing {
    fn finish(mut self) -> io::Result<()> {
        for (id, offset, length) in &self.rows {
            self.file.write_all(&id.0)?;
            self.file.write_all(&offset.to_le_bytes())?;
            self.file.write_all(&length.to_le_bytes())?;
        }
        self.file.write_all(&(self.rows.len() as u64).to_le_bytes())?;
        self.file.write_all(&MARK)?;
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}

fn read_table(file: &File) -> Option<Vec<(Id, u64, u64)>> {
    let length = file.metadata().ok()?.len();
    let mut end = [0; 16];
    file.read_exact_at(&mut end, length.checked_sub(16)?).ok()?;
    let (count, mark) = end.split_first_chunk::<8>()?;
    if mark != MARK {
        return None;
    }
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let size = count.checked_mul(ROW)?;
    let start = length.checked_sub(16)?.checked_sub(size as u64)?;
    let mut table = vec![0; size];
    file.read_exact_at(&mut table, start).ok()?;
    let row = |row: &[u8]| {
        let (id, rest) = row.split_first_chunk::<{ Id::LENGTH }>()?;
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let length = rest.first_chunk::<8>()?;
        Some((Id(*id), u64::from_le_bytes(*offset), u64::from_le_bytes(*length)))
    };
    table.chunks_exact(ROW).map(row).collect()
}
