//! Which files there are. Ignored files are left out, links are not followed, and folders that
//! nobody wrote by hand are passed by.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::WalkBuilder;
use weft_tool::walking;

use crate::ingest::Found;

/// Not gone into even where nothing says that they are ignored.
const PASSED: [&str; 12] = [
    ".git",
    ".hg",
    ".svn",
    "node_modules",
    "vendor",
    "__pycache__",
    ".idea",
    ".vscode",
    "dist",
    "build",
    ".cache",
    "target",
];

/// What a walk came to.
pub(crate) struct Seen {
    /// In the order of their paths.
    pub files: Vec<Found>,
    /// What could not be looked into, in words.
    pub trouble: Vec<String>,
    /// And where that was, within the workspace: nobody knows what is there.
    pub unseen: Vec<PathBuf>,
}

/// The files under a folder.
pub(crate) fn files(root: &Path, within: &Path) -> Seen {
    let (builder, avoided) = walk(within);
    let mut seen = Seen { files: Vec::new(), trouble: Vec::new(), unseen: Vec::new() };
    let inside = |path: &Path| path.strip_prefix(root).unwrap_or(Path::new("")).to_owned();
    for entry in builder.build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                if entry.path().to_str().is_none() {
                    seen.trouble.push(format!("{}: its name is no UTF-8", entry.path().display()));
                }
                // A file that is gone by now was never there.
                seen.files.extend(look(root, entry.path()));
            }
            Ok(_) => {}
            Err(error) => {
                seen.unseen.push(path_of(&error).map(inside).unwrap_or_default());
                seen.trouble.push(error.to_string());
            }
        }
    }
    for folder in avoided.take() {
        seen.trouble.push(format!("{}: an ignore file in it is too long or no file", folder.display()));
        seen.unseen.push(inside(&folder));
    }
    seen.files.sort_by(|one, other| one.path.cmp(&other.path));
    seen
}

/// The folders that a walk goes into.
pub(crate) fn folders(root: &Path) -> Vec<PathBuf> {
    let (builder, _) = walk(root);
    let folders = builder.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
    folders.map(ignore::DirEntry::into_path).collect()
}

fn walk(within: &Path) -> (WalkBuilder, walking::Avoided) {
    let mut builder = WalkBuilder::new(within);
    builder.hidden(false).require_git(false).follow_links(false);
    let wanted = |entry: &ignore::DirEntry| entry.depth() == 0 || !is_passed(entry.file_name().to_str());
    let avoided = walking::tame(&mut builder, within, wanted);
    (builder, avoided)
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}

/// Whether a name is passed by wherever it stands.
pub(crate) fn is_passed(name: Option<&str>) -> bool {
    name.is_some_and(|name| PASSED.contains(&name))
}

/// A file as it is now; nothing for what is no file, or has a name that is no text.
pub(crate) fn look(root: &Path, path: &Path) -> Option<Found> {
    let relative = path.strip_prefix(root).ok()?.to_str()?.to_owned();
    let metadata = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Some(Found { path: relative, size: metadata.len(), modified })
}

/// Of paths that changed, those that a walk would find, and those that are gone. Only the folders of
/// the changed files are looked into.
pub(crate) fn wanted(root: &Path, paths: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut wanted = Vec::new();
    for path in paths {
        if path.symlink_metadata().is_err() {
            wanted.push(path);
        } else if let Some(folder) = path.parent() {
            folders.entry(folder.to_owned()).or_default().push(path);
        }
    }
    for (folder, changed) in folders {
        let passed = folder
            .strip_prefix(root)
            .is_ok_and(|inside| inside.components().any(|part| is_passed(part.as_os_str().to_str())));
        if passed {
            continue;
        }
        // Ignore files of the folders above count too: the walk reads them.
        let mut builder = WalkBuilder::new(&folder);
        builder.hidden(false).require_git(false).follow_links(false).max_depth(Some(1));
        walking::tame(&mut builder, &folder, |_| true);
        let seen: HashSet<PathBuf> = builder.build().flatten().map(ignore::DirEntry::into_path).collect();
        wanted.extend(changed.into_iter().filter(|path| seen.contains(path) && !is_ignored_above(root, &folder)));
    }
    wanted
}

/// Whether a folder on the way is itself ignored; a walk that begins inside it would not see that.
fn is_ignored_above(root: &Path, folder: &Path) -> bool {
    let mut inner = folder;
    while let Some(outer) = inner.parent().filter(|outer| outer.starts_with(root)) {
        let mut builder = WalkBuilder::new(outer);
        builder.hidden(false).require_git(false).follow_links(false).max_depth(Some(1));
        walking::tame(&mut builder, outer, |_| true);
        if !builder.build().flatten().any(|entry| entry.path() == inner) {
            return true;
        }
        inner = outer;
    }
    false
}
