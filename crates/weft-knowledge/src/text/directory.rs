//! The folder of the index: written files are brought to disk together, before the commit that names
//! them, instead of one after the other as each is closed. What a commit promises is the same, and one
//! changed file costs a few waits for the disk instead of two dozen.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// The list of files that tantivy may remove. Losing a change of it loses no words, so it is not waited for:
/// after a power cut it may be empty, and is made anew from what is there.
const LIST: &str = ".managed.json";

/// Files that are waited for at the same time.
const MOST_THREADS: usize = 8;

#[derive(Clone, Debug)]
pub struct TextDirectory {
    mapped: MmapDirectory,
    folder: PathBuf,
    /// Closed, and not yet surely on disk.
    closed: Arc<Mutex<Vec<File>>>,
}

impl TextDirectory {
    pub fn open(folder: &Path) -> Result<Self, OpenDirectoryError> {
        let mapped = MmapDirectory::open(folder)?;
        mend_list(folder).map_err(|error| OpenDirectoryError::wrap_io_error(error, folder.to_owned()))?;
        Ok(Self { mapped, folder: folder.to_owned(), closed: Arc::default() })
    }
}

impl Directory for TextDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = OpenOptions::new().write(true).create_new(true).open(self.folder.join(path));
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Written { file, closed: Arc::clone(&self.closed) })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path != Path::new(LIST) {
            return self.mapped.atomic_write(path, data);
        }
        put(&self.folder, data)
    }

    /// Called before each commit names its files.
    fn sync_directory(&self) -> io::Result<()> {
        let closed = std::mem::take(&mut *lock(&self.closed));
        let share = closed.len().div_ceil(MOST_THREADS).max(1);
        std::thread::scope(|scope| {
            let sync = |files: &[File]| files.iter().try_for_each(File::sync_data);
            let waiting: Vec<_> = closed.chunks(share).map(|files| scope.spawn(move || sync(files))).collect();
            let ends = waiting.into_iter().map(|end| end.join().unwrap_or_else(|_| Err(io::Error::other("panicked"))));
            // Every thread is waited for, whatever became of the first.
            ends.collect::<Vec<_>>().into_iter().collect::<io::Result<()>>()
        })?;
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// Writes the list of files anew where it cannot be read. What is in it and belongs to no commit, tantivy
/// removes.
fn mend_list(folder: &Path) -> io::Result<()> {
    let list = folder.join(LIST);
    let is_sound = |bytes: &[u8]| serde_json::from_slice::<Vec<String>>(bytes).is_ok();
    match std::fs::read(&list) {
        Ok(bytes) if is_sound(&bytes) => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names: Vec<String> = names.collect::<io::Result<_>>()?;
    let names: Vec<&String> = names.iter().filter(|name| !name.starts_with('.')).collect();
    put(folder, &serde_json::to_vec(&names).map_err(io::Error::other)?)
}

/// Puts the list in its place, whole.
fn put(folder: &Path, data: &[u8]) -> io::Result<()> {
    let new = folder.join(format!("{LIST}.new"));
    std::fs::write(&new, data)?;
    std::fs::rename(&new, folder.join(LIST))
}

struct Written {
    file: File,
    closed: Arc<Mutex<Vec<File>>>,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let file = self.file.try_clone()?;
        lock(&self.closed).push(file);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
