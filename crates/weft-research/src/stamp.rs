//! How the documents of a corpus are at the moment, in a few letters: their names, sizes and times. Two
//! stamps differ if a document was added, removed or written.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::corpora::{Corpus, CorpusError};

const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 40;

pub fn of(corpus: &Corpus) -> Result<String, CorpusError> {
    let mut files: Vec<(String, u64, u128)> = Vec::new();
    for folder in &corpus.folders {
        if !folder.path.is_dir() {
            return Err(CorpusError::NoPath(folder.path.display().to_string()));
        }
        match folder.documents().as_slice() {
            [] => walk(&folder.path, 0, &mut files),
            documents => files.extend(documents.iter().filter_map(|path| entry(path, &path.symlink_metadata().ok()?))),
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    Ok(format!("{} {:016x}", files.len(), hasher.finish()))
}

/// Hidden folders are none of a corpus, and links lead nowhere.
fn walk(folder: &Path, depth: usize, files: &mut Vec<(String, u64, u128)>) {
    if depth > DEEPEST {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let Ok(about) = entry.metadata() else { continue };
        if hidden || files.len() >= MOST_FILES {
            continue;
        }
        if about.is_dir() {
            walk(&entry.path(), depth + 1, files);
        } else {
            files.extend(self::entry(&entry.path(), &about));
        }
    }
}

fn entry(path: &Path, about: &Metadata) -> Option<(String, u64, u128)> {
    let written = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    about.is_file().then(|| (path.display().to_string(), about.len(), written.map_or(0, |at| at.as_nanos())))
}
