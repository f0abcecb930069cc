//! Small text files that anybody may have made, or may just be exchanging for something else: a pipe in
//! the place of one would hold up whoever opens it, and a device would never end.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The text of an ordinary file of at most `most` bytes; anything else is none. Links are followed.
pub fn small_text(path: &Path, most: u64) -> Option<String> {
    // Looked at before as well: opening some devices already does something.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = file.take(most + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= most).then_some(text)
}
