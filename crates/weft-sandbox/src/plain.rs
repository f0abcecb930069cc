//! Small files that anybody may have made, or may just be exchanging for something else: a pipe in the
//! place of one would hold up whoever opens it, and a device would never end.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// It is not there, or is no ordinary file.
    Nothing,
    /// It must not be read.
    Shut,
    TooLong,
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::PermissionDenied { Self::Shut } else { Self::Nothing }
    }
}

/// What an ordinary file of at most `most` bytes holds. Links are followed.
pub fn small_file(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    // Looked at before as well: opening some devices already does something.
    if !fs::metadata(path)?.is_file() {
        return Err(Unread::Nothing);
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Unread::Nothing);
    }
    let mut bytes = Vec::new();
    let read = file.take(most + 1).read_to_end(&mut bytes)?;
    if read as u64 <= most { Ok(bytes) } else { Err(Unread::TooLong) }
}

/// The same as text; anything else is none.
pub fn small_text(path: &Path, most: u64) -> Option<String> {
    small_file(path, most).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}
