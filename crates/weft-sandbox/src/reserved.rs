//! Names that must not be taken while a command runs. A mount can only hold what is there, so for that
//! time something harmless stands in for each: who comes across it, git above all, works on as if
//! there were nothing. It is put there and cleared away by Weft, and tells itself apart from what a
//! person made.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::named;
use crate::plain::small_text;

/// Says that a folder is a stand-in. It has no other meaning in a folder for one person.
const STICKY: u32 = 0o1000;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserved {
    #[serde(with = "named")]
    pub path: PathBuf,
    pub stand_in: StandIn,
}

/// What stands there meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandIn {
    /// An empty folder.
    Folder,
    /// A file with these words.
    File(String),
}

impl Reserved {
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), stand_in: StandIn::Folder }
    }

    pub fn file(path: impl Into<PathBuf>, text: &str) -> Self {
        Self { path: path.into(), stand_in: StandIn::File(text.to_owned()) }
    }

    /// Whether nothing is there, or only a stand-in, such as another command's.
    pub fn is_free(&self) -> bool {
        match fs::symlink_metadata(&self.path) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(_) => self.stands(),
        }
    }

    /// Whether what is there is a stand-in, and nobody's.
    pub fn stands(&self) -> bool {
        let Ok(found) = fs::symlink_metadata(&self.path) else { return false };
        match &self.stand_in {
            StandIn::Folder => found.is_dir() && found.permissions().mode() & STICKY != 0 && is_empty(&self.path),
            StandIn::File(text) => found.is_file() && found.len() == text.len() as u64 && says(&self.path, text),
        }
    }

    /// Puts the stand-in there, unless there is something.
    pub fn put(&self) -> io::Result<()> {
        let put = match &self.stand_in {
            StandIn::Folder => DirBuilder::new().mode(STICKY | 0o755).create(&self.path),
            StandIn::File(text) => put_file(&self.path, text),
        };
        match put.map_err(|error| error.kind()) {
            Ok(()) | Err(io::ErrorKind::AlreadyExists) => Ok(()),
            // Then a command, which is the same user, cannot make it either.
            Err(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => Ok(()),
            Err(kind) => Err(kind.into()),
        }
    }

    /// Takes the stand-in away, and nothing else.
    pub fn clear(&self) {
        match &self.stand_in {
            // One that is not empty is somebody's.
            StandIn::Folder => drop(fs::remove_dir(&self.path)),
            StandIn::File(_) if self.stands() => drop(fs::remove_file(&self.path)),
            StandIn::File(_) => {}
        }
    }
}

/// Puts all stand-ins there. They stay for as long as anybody holds what this returns, a lock that many
/// can share.
pub fn hold(lock: &Path, reserved: &[Reserved]) -> io::Result<File> {
    let lock = File::options().create(true).append(true).open(lock)?;
    flock(&lock, FlockOperation::LockShared)?;
    reserved.iter().try_for_each(Reserved::put)?;
    Ok(lock)
}

/// Takes them away, unless somebody holds them. Says whether nobody did.
pub fn clear_unless_held(lock: &Path, reserved: &[Reserved]) -> bool {
    let Ok(lock) = File::open(lock) else { return true };
    let is_free = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    if is_free {
        reserved.iter().for_each(Reserved::clear);
    }
    is_free
}

/// The same after a kill: what was killed holds them until the kernel has taken its world down, which
/// takes some milliseconds. Others may hold them for longer, and are not waited for.
pub fn clear_after_kill(lock: &Path, reserved: &[Reserved]) {
    const LOOKS: u32 = 50;
    const BETWEEN: Duration = Duration::from_millis(4);
    for _ in 0..LOOKS {
        if clear_unless_held(lock, reserved) {
            return;
        }
        std::thread::sleep(BETWEEN);
    }
}

/// It appears whole or not at all: git gives up over an empty one.
fn put_file(path: &Path, text: &str) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.lock", std::process::id()));
    let beside = path.with_file_name(name);
    let made = File::create_new(&beside).and_then(|mut file| file.write_all(text.as_bytes()));
    let put = made.and_then(|()| fs::hard_link(&beside, path));
    let _ = fs::remove_file(&beside);
    match put {
        // Some file systems have no second names.
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::PERM | Errno::OPNOTSUPP)) => {
            File::create_new(path)?.write_all(text.as_bytes())
        }
        put => put,
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn says(path: &Path, text: &str) -> bool {
    small_text(path, text.len() as u64).is_some_and(|found| found == text)
}

#[cfg(test)]
#[path = "reserved_tests.rs"]
mod tests;
