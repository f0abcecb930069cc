//! Files by handle. A path that was found and judged is walked once more from the root, folder by
//! folder, and no link is followed on the way; everything after that happens relative to the folder
//! that was reached. Whatever is swapped in between, nothing else is opened, made or removed.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

/// A folder on the way needs to be passed through, not listed.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A pipe must not be waited for, a terminal must not become ours.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// As the system has it.
const LONGEST_PATH: usize = 4096;

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("it is a folder")]
    Folder,
    /// A pipe, a socket, a device.
    #[error("it is not a regular file")]
    Special,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for OpenError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// A name in a folder that is held open.
#[derive(Debug)]
pub(crate) struct Spot {
    folder: Arc<OwnedFd>,
    name: OsString,
}

/// A spot whose folders were made where they were missing.
pub(crate) struct Made {
    pub spot: Spot,
    /// The folders that were not there before, from the outside in.
    pub folders: Vec<PathBuf>,
}

impl Spot {
    /// `path` is absolute and free of links.
    pub fn find(path: &Path) -> io::Result<Self> {
        let (parents, name) = split(path)?;
        Ok(Self { folder: Arc::new(walk(parents, &mut None)?), name: name.to_owned() })
    }

    /// The same, and makes the folders that are missing.
    pub fn make(path: &Path) -> io::Result<Made> {
        let (parents, name) = split(path)?;
        let mut folders = Some(Vec::new());
        let folder = Arc::new(walk(parents, &mut folders)?);
        Ok(Made { spot: Self { folder, name: name.to_owned() }, folders: folders.unwrap_or_default() })
    }

    pub fn open(&self) -> Result<(File, Metadata), OpenError> {
        open_in(self.folder.as_fd(), &self.name)
    }

    /// What kind of thing is there; links are not followed.
    pub fn kind(&self) -> io::Result<Option<FileType>> {
        match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn is_writable(&self) -> bool {
        rustix::fs::accessat(&self.folder, &self.name, Access::WRITE_OK, AtFlags::empty()).is_ok()
    }

    /// A new file in the same folder, so that a rename does not cross file systems.
    pub fn create_beside(&self) -> io::Result<(Self, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = self.name.to_string_lossy();
        let name = crate::text::head(&name, 100);
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".{name}.{}-{number}.weft", std::process::id()));
            match rustix::fs::openat(&self.folder, &name, NEW, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok((Self { folder: Arc::clone(&self.folder), name }, file.into())),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A new file at this very place; fails if something is there.
    pub fn create(&self) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.folder, &self.name, NEW, Mode::from_raw_mode(0o666))?.into())
    }

    /// Takes the place of whatever file is at `target`.
    pub fn replace(&self, target: &Self) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.folder, &self.name, &target.folder, &target.name)?)
    }

    /// Moves to a place that must be free.
    pub fn move_to(&self, target: &Self) -> io::Result<()> {
        let moved =
            rustix::fs::renameat_with(&self.folder, &self.name, &target.folder, &target.name, RenameFlags::NOREPLACE);
        match moved {
            // Some file systems cannot do that. A link fails too if something is there by now.
            Err(Errno::INVAL | Errno::NOSYS) if self.kind()? != Some(FileType::Directory) => {
                rustix::fs::linkat(&self.folder, &self.name, &target.folder, &target.name, AtFlags::empty())?;
                self.remove()
            }
            other => Ok(other?),
        }
    }

    pub fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Removes a folder if it is empty.
    pub fn remove_folder(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)?)
    }

    pub fn make_folder(&self) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.folder, &self.name, Mode::from_raw_mode(0o777))?)
    }

    pub fn read_link(&self) -> io::Result<std::ffi::CString> {
        Ok(rustix::fs::readlinkat(&self.folder, &self.name, Vec::new())?)
    }

    pub fn make_link(&self, target: &std::ffi::CStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.folder, &self.name)?)
    }

    /// What is in the folder that is here.
    pub fn entries(&self) -> io::Result<Vec<Self>> {
        let listed = rustix::fs::openat(&self.folder, &self.name, LISTING, Mode::empty())?;
        let mut entries = Vec::new();
        let listed = Arc::new(listed);
        for entry in rustix::fs::Dir::read_from(&listed)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let name = std::os::unix::ffi::OsStrExt::from_bytes(name);
                entries.push(Self { folder: Arc::clone(&listed), name: OsStr::to_owned(name) });
            }
        }
        Ok(entries)
    }

    /// Something of this name in the folder that is here.
    pub fn inside(&self, name: &OsStr) -> io::Result<Self> {
        let folder = rustix::fs::openat(&self.folder, &self.name, FOLDER, Mode::empty())?;
        Ok(Self { folder: Arc::new(folder), name: name.to_owned() })
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Makes what was done in the folder durable; file systems that cannot do it do not need it.
    pub fn sync_folder(&self) {
        if let Ok(folder) = rustix::fs::openat(&self.folder, c".", LISTING, Mode::empty()) {
            let _ = rustix::fs::fsync(folder);
        }
    }
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata), OpenError> {
    match Spot::find(path) {
        Ok(spot) => spot.open(),
        Err(_) if path == Path::new("/") => Err(OpenError::Folder),
        Err(error) => Err(error.into()),
    }
}

/// Opens many files one after the other that a walk has found to be regular ones, and walks only where
/// the folder is another one.
#[derive(Default)]
pub(crate) struct Opener {
    last: Option<(PathBuf, OwnedFd)>,
}

impl Opener {
    pub fn open(&mut self, path: &Path) -> Result<(File, Metadata), OpenError> {
        let (parents, name) = split(path)?;
        if let Some((_, folder)) = self.last.as_ref().filter(|(known, _)| known.as_os_str() == parents.as_os_str()) {
            return open_looked_at(folder.as_fd(), name);
        }
        let folder = walk(parents, &mut None)?;
        let opened = open_looked_at(folder.as_fd(), name);
        self.last = Some((parents.to_owned(), folder));
        opened
    }
}

fn is_regular(kind: FileType) -> Result<(), OpenError> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(OpenError::Folder),
        FileType::Symlink => Err(OpenError::from(Errno::LOOP)),
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            Err(OpenError::Special)
        }
    }
}

fn open_in(folder: BorrowedFd<'_>, name: &OsStr) -> Result<(File, Metadata), OpenError> {
    // Looked at before as well: opening some devices already does something.
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    is_regular(FileType::from_raw_mode(stat.st_mode))?;
    open_looked_at(folder, name)
}

/// The same for what somebody has just seen to be a regular file.
fn open_looked_at(folder: BorrowedFd<'_>, name: &OsStr) -> Result<(File, Metadata), OpenError> {
    let file = File::from(rustix::fs::openat(folder, name, FILE, Mode::empty())?);
    let metadata = file.metadata()?;
    is_regular(FileType::from_raw_mode(metadata.mode()))?;
    Ok((file, metadata))
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    // By handle one can go deeper than any path can say, and then nobody else gets there.
    if path.as_os_str().len() >= LONGEST_PATH {
        return Err(Errno::NAMETOOLONG.into());
    }
    match (path.parent(), path.file_name()) {
        (Some(parents), Some(name)) if path.is_absolute() => Ok((parents, name)),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

/// Opens a folder. With a list to put them in, folders that are missing are made.
fn walk(path: &Path, made: &mut Option<Vec<PathBuf>>) -> io::Result<OwnedFd> {
    let mut folder = rustix::fs::openat(CWD, c"/", FOLDER, Mode::empty())?;
    let mut reached = PathBuf::from("/");
    for component in path.components() {
        let name = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            // Found paths have none.
            Component::ParentDir | Component::Prefix(_) => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        };
        reached.push(name);
        folder = match (rustix::fs::openat(&folder, name, FOLDER, Mode::empty()), made.as_mut()) {
            (Err(Errno::NOENT), Some(made)) => {
                match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => made.push(reached.clone()),
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(&folder, name, FOLDER, Mode::empty())?
            }
            (opened, _) => opened?,
        };
    }
    Ok(folder)
}

#[cfg(test)]
#[path = "handle_tests.rs"]
mod tests;
