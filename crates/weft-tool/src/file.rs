//! Reading whole files, replacing them in one step, and remembering which ones a session has read.
//! All of it by handle: a path given here is free of links, and no link is followed.

use std::collections::HashMap;
use std::fs::{Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::handle::{self, OpenError, Spot};
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

/// Reads a file that is to be changed. The error is for the model.
pub(crate) fn read_whole(path: &Path, shown: &str) -> Result<Whole, String> {
    let (bytes, metadata) = read_bytes(path, shown)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        format!("`{shown}` is not valid UTF-8 text. Change it with a command, such as `sed` or `iconv`.")
    })?;
    Ok(Whole { text, metadata })
}

/// The same, or nothing where there is nothing.
pub(crate) fn read_if_any(path: &Path, shown: &str) -> Result<Option<Whole>, String> {
    match Spot::find(path).and_then(|spot| spot.kind()) {
        Ok(Some(_)) => read_whole(path, shown).map(Some),
        Ok(None) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(format!("`{shown}` is a folder, not a file.")),
        Err(error) => Err(explain(shown, &error)),
    }
}

fn read_bytes(path: &Path, shown: &str) -> Result<(Vec<u8>, Metadata), String> {
    let (file, metadata) = handle::open(path).map_err(|error| explain_open(shown, error))?;
    if metadata.len() > LARGEST_WHOLE {
        return Err(format!(
            "`{shown}` is too large for this ({}). Change it with a command.",
            text::size(metadata.len())
        ));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // It may grow while it is read.
    file.take(LARGEST_WHOLE + 1).read_to_end(&mut bytes).map_err(|error| explain(shown, &error))?;
    Ok((bytes, metadata))
}

/// A replacement takes the place of a file even where the file itself must not be written, so
/// that is looked at before. The error is for the model.
pub(crate) fn ensure_writable(path: &Path, metadata: &Metadata, shown: &str) -> Result<(), String> {
    let writable = Spot::find(path).is_ok_and(|spot| spot.is_writable());
    if metadata.permissions().readonly() || !writable {
        return Err(format!("`{shown}` is read-only. Ask the person before you change its permissions."));
    }
    Ok(())
}

/// Why a file could not be opened, for the model.
pub(crate) fn explain_open(shown: &str, error: OpenError) -> String {
    match error {
        OpenError::Folder => format!("`{shown}` is a folder, not a file."),
        OpenError::Special => format!("`{shown}` is not a regular file."),
        OpenError::Io(error) => explain(shown, &error),
    }
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
        io::ErrorKind::InvalidFilename => format!("The name `{}` is too long for a file.", text::one_line(shown)),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            format!("A part of the path `{shown}` became a link just now. Look at it again before you go on.")
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

impl From<OpenError> for ReplaceError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Folder | OpenError::Special => Self::Changed,
            OpenError::Io(error) => Self::Io(error),
        }
    }
}

/// Puts `new` in the place of the file, in one step and durably. `old` is what must be there until
/// the last moment; `None` stands for no file. Mode bits are kept.
pub(crate) fn replace(path: &Path, old: Option<&str>, new: &str) -> Result<Metadata, ReplaceError> {
    replace_at(&Spot::find(path)?, old, new, None)
}

/// The same at a place that is held open. A new file gets `permissions`, or the usual ones.
pub(crate) fn replace_at(
    place: &Spot,
    old: Option<&str>,
    new: &str,
    permissions: Option<Permissions>,
) -> Result<Metadata, ReplaceError> {
    let (temporary, mut file) = place.create_beside()?;
    let written = (|| {
        file.write_all(new.as_bytes())?;
        let kept = match (old, place.open()) {
            (Some(_), Ok((_, metadata))) => Some(metadata.permissions()),
            (Some(_), Err(_)) | (None, _) => permissions,
        };
        if let Some(kept) = kept {
            file.set_permissions(kept)?;
        }
        file.sync_all()?;
        let metadata = file.metadata()?;
        match old {
            Some(old) if !still_holds(place, old)? => return Err(ReplaceError::Changed),
            Some(_) => temporary.replace(place)?,
            None => match temporary.move_to(place) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(ReplaceError::Changed),
                Err(error) => return Err(error.into()),
            },
        }
        Ok(metadata)
    })();
    match written {
        Ok(_) => place.sync_folder(),
        Err(_) => {
            let _ = temporary.remove();
        }
    }
    written
}

/// Removes a file that must still hold `old`.
pub(crate) fn remove_at(place: &Spot, old: &str) -> Result<(), ReplaceError> {
    if !still_holds(place, old)? {
        return Err(ReplaceError::Changed);
    }
    place.remove()?;
    place.sync_folder();
    Ok(())
}

fn still_holds(place: &Spot, expected: &str) -> Result<bool, ReplaceError> {
    match place.open() {
        Ok((mut file, metadata)) => {
            let mut found = Vec::new();
            let same_size = metadata.len() == expected.len() as u64;
            if same_size {
                file.read_to_end(&mut found)?;
            }
            Ok(same_size && found == expected.as_bytes())
        }
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
