//! Walking folders without being held up. The ignore files of a folder are read by whoever walks into
//! it, and anybody may have put them there: a link to a device, a pipe that nobody writes to, a file
//! without end. Every walk in the product goes through [`tame`].
//!
//! A folder with such a file is not walked into, and can be told of; at the beginning of a walk, or above
//! it, ignore files are then not heeded at all.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder};
use weft_sandbox::plain::small_text;

/// No person writes a longer ignore file.
const LONGEST: u64 = 512 * 1024;
/// A file that says where git's folder is says that in one line.
const LONGEST_LINE: u64 = 8 * 1024;
const MOST_TOLD: usize = 1_000;

/// Folders that were not walked into.
#[derive(Debug, Clone, Default)]
pub struct Avoided(Arc<Mutex<Vec<PathBuf>>>);

impl Avoided {
    pub fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, folder: &Path) {
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.len() < MOST_TOLD {
            folders.push(folder.to_owned());
        }
    }
}

/// Makes a walk that begins at `root` safe, and leaves out what is not `wanted`. To be called last,
/// since it has the last word on ignore files.
pub fn tame(
    builder: &mut WalkBuilder,
    root: &Path,
    wanted: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
) -> Avoided {
    let avoided = Avoided::default();
    if !root.ancestors().all(is_sound) {
        builder.ignore(false).git_ignore(false).git_exclude(false).parents(false);
    }
    let note = avoided.clone();
    builder.filter_entry(move |entry| {
        if !wanted(entry) {
            return false;
        }
        let sound = !entry.file_type().is_some_and(|kind| kind.is_dir()) || is_sound(entry.path());
        if !sound {
            note.add(entry.path());
        }
        sound
    });
    avoided
}

/// Whether what a walk would read of a folder can be read.
fn is_sound(folder: &Path) -> bool {
    let git = folder.join(".git");
    let exclude = match std::fs::metadata(&git) {
        Ok(found) if found.is_file() => common(&git).map(|common| common.join("info/exclude")),
        Ok(_) => Some(git.join("info/exclude")),
        Err(_) => Some(PathBuf::new()),
    };
    let plain = [folder.join(".gitignore"), folder.join(".ignore")];
    exclude.is_some_and(|exclude| is_readable(&exclude)) && plain.iter().all(|file| is_readable(file))
}

/// Nothing, or a file that comes to an end soon. What cannot even be looked at cannot be opened either.
fn is_readable(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.is_file() && found.len() <= LONGEST)
}

/// The folder that a `.git` file leads to, as a walk finds it. None if that cannot be read.
fn common(git: &Path) -> Option<PathBuf> {
    let line = first_line(git)?;
    let Some(own) = line.strip_prefix("gitdir: ").map(PathBuf::from) else { return Some(PathBuf::new()) };
    let file = own.join("commondir");
    if std::fs::metadata(&file).is_err() {
        return Some(PathBuf::new());
    }
    Some(own.join(first_line(&file)?))
}

fn first_line(path: &Path) -> Option<String> {
    let text = small_text(path, LONGEST_LINE)?;
    Some(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
#[path = "walking_tests.rs"]
mod tests;
