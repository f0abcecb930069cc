//! Reading whole files, replacing them in one step, and remembering which ones a session has read.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Access, access};

use crate::text;

/// Larger files are changed with a command, not in memory.
pub(crate) const LARGEST_WHOLE: u64 = 20 * 1024 * 1024;

/// What a file looked like when the session last saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { inode: metadata.ino(), size: metadata.len(), modified: (metadata.mtime(), metadata.mtime_nsec()) }
    }
}

/// Which files a session has read, so that it does not overwrite what it has not seen. Shared by
/// the session's calls; not kept over a restart, after which a file is simply read again.
#[derive(Debug, Clone, Default)]
pub struct ReadMarks {
    marks: Arc<Mutex<HashMap<PathBuf, Stamp>>>,
}

/// What the session knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Unread,
    Changed,
    Current,
}

impl ReadMarks {
    pub(crate) fn set(&self, path: &Path, metadata: &Metadata) {
        self.lock().insert(path.to_owned(), Stamp::of(metadata));
    }

    pub(crate) fn known(&self, path: &Path, metadata: &Metadata) -> Known {
        match self.lock().get(path) {
            None => Known::Unread,
            Some(stamp) if *stamp == Stamp::of(metadata) => Known::Current,
            Some(_) => Known::Changed,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Stamp>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file's text with what is needed to put another in its place.
pub(crate) struct Whole {
    pub text: String,
    pub metadata: Metadata,
}

/// Opens a regular file. Opening a pipe would wait for its other end, and what is at a path can
/// change between looking and opening; so nothing is waited for, and it is looked at once more.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Reads a file that is to be changed. The error is for the model.
pub(crate) fn read_whole(path: &Path, shown: &str) -> Result<Whole, String> {
    let failed = |error: io::Error| explain(shown, &error);
    // Looked at before it is opened: opening a pipe would wait for its other end.
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(format!("`{shown}` is a folder, not a file."));
    }
    if !metadata.is_file() {
        return Err(format!("`{shown}` is not a regular file."));
    }
    if metadata.len() > LARGEST_WHOLE {
        return Err(format!(
            "`{shown}` is too large for this ({}). Change it with a command.",
            text::size(metadata.len())
        ));
    }
    let (mut file, metadata) = open_regular(path).map_err(failed)?;
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        format!("`{shown}` is not valid UTF-8 text. Change it with a command, such as `sed` or `iconv`.")
    })?;
    Ok(Whole { text, metadata })
}

/// A replacement takes the place of a file even where the file itself must not be written, so
/// that is looked at before. The error is for the model.
pub(crate) fn ensure_writable(path: &Path, metadata: &Metadata, shown: &str) -> Result<(), String> {
    if metadata.permissions().readonly() || access(path, Access::WRITE_OK).is_err() {
        return Err(format!("`{shown}` is read-only. Ask the person before you change its permissions."));
    }
    Ok(())
}

/// Why a file operation failed and what to do, for the model.
pub(crate) fn explain(shown: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("There is no file `{shown}`."),
        io::ErrorKind::PermissionDenied => {
            format!("No permission for `{shown}`. Ask the person to change its permissions, or work elsewhere.")
        }
        io::ErrorKind::StorageFull => {
            format!("The disk is full: `{shown}` was not written. Ask the person to free some space.")
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("`{shown}` is on a read-only file system and was not changed."),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            format!("A part of the path `{shown}` is a file, not a folder.")
        }
        _ => format!("`{shown}`: {error}."),
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplaceError {
    /// Somebody else changed the file in the meantime; it was left as it is.
    #[error("the file changed on disk in the meantime")]
    Changed,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Puts `new` in the place of the file, in one step and durably. `old` is what must be there until
/// the last moment; `None` stands for no file. Mode bits are kept.
pub(crate) fn replace(path: &Path, old: Option<&str>, new: &str) -> Result<Metadata, ReplaceError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let (temporary, mut file) = create_beside(path)?;
    let written = (|| {
        file.write_all(new.as_bytes())?;
        if let (Some(_), Ok(metadata)) = (old, fs::metadata(path)) {
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()?;
        let metadata = file.metadata()?;
        match old {
            Some(old) if !still_holds(path, old)? => return Err(ReplaceError::Changed),
            Some(_) => fs::rename(&temporary, path)?,
            // A link fails if something is there by now; a rename would overwrite it.
            None => match fs::hard_link(&temporary, path) {
                Ok(()) => fs::remove_file(&temporary)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(ReplaceError::Changed),
                Err(_) => fs::rename(&temporary, path)?,
            },
        }
        Ok(metadata)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    } else if let Ok(folder) = File::open(folder) {
        // Makes the rename itself durable; file systems that cannot do it do not need it.
        let _ = folder.sync_all();
    }
    written
}

fn still_holds(path: &Path, expected: &str) -> io::Result<bool> {
    match fs::read(path) {
        Ok(found) => Ok(found == expected.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A new file in the same folder, so that a rename does not cross file systems.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = text::head(&name, 100);
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(format!(".{name}.{}-{number}.weft", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
