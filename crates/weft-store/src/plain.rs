//! Files of Weft's own, opened without waiting. A pipe that somebody put in the place of one would hold up
//! whoever opens it until somebody opens its other end, which may be never.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// What is there is a pipe, a device, a socket, a folder or a link.
#[derive(Debug, thiserror::Error)]
#[error("it is no ordinary file")]
pub struct NotPlain;

impl NotPlain {
    /// Whether that is why something failed.
    pub fn is_why(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

/// Opens an ordinary file and nothing else. Links are not followed.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let strange = || std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    match opened {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(io::Error::other(NotPlain)),
        // A pipe that nobody reads, or a link.
        Err(_) if strange() => Err(io::Error::other(NotPlain)),
        Err(error) => Err(error),
    }
}

pub fn open_to_read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_to_read(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Waits for its turn; the turn ends when the file is dropped.
pub fn exclusive(path: &Path) -> io::Result<File> {
    let file = open(OpenOptions::new().create(true).truncate(false).write(true), path)?;
    file.lock()?;
    Ok(file)
}
