//! Goes through the workspace: which files there are, and what is in those that were touched since
//! the last time. What `.gitignore` names is left out, and so is `.git` itself, at every depth: a
//! repository inside the workspace is a folder like any other. Links are never followed.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{WalkBuilder, WalkState};
use rustix::fs::OFlags;
use weft_sandbox::Reserved;

use super::index::{Moment, Seen, Stat};
use super::objects::Objects;
use super::tree::{Id, Node};
use super::{Limits, ShadowError};
use crate::walking;

/// From so many files on, two hands are quicker than one.
const MANY: usize = 4_000;
/// Where an undo prepares what it puts in place. Never part of a checkpoint.
pub(super) const STAGING: &str = ".weft-undo-";

pub(super) struct Found {
    pub path: Box<[u8]>,
    pub metadata: Metadata,
    /// A folder that may not be looked into.
    pub closed: bool,
}

/// Everything in the workspace that is not ignored. `None` when there is too much of it.
pub(super) fn walk(workspace: &Path, aside: &Path, limits: &Limits, expected: usize) -> Option<Vec<Found>> {
    let in_git = workspace.ancestors().any(|folder| folder.join(".git").exists());
    let aside = aside.to_owned();
    let mut builder = WalkBuilder::new(workspace);
    builder
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        // Rules above the workspace count only where they belong to its repository.
        .parents(in_git)
        .require_git(in_git)
        .same_file_system(true);
    let avoided = walking::tame(&mut builder, workspace, move |entry| {
        let name = entry.file_name().as_bytes();
        let stands_in = || Reserved::folder(entry.path()).stands();
        name != b".git"
            && !name.starts_with(STAGING.as_bytes())
            && entry.path() != aside
            // What only stands in for `.weft` while commands run is nobody's, and gone a moment later.
            && !(name == b".weft" && stands_in())
    });
    let found = Mutex::new(Vec::with_capacity(expected));
    let closed = Mutex::new(Vec::new());
    let count = AtomicUsize::new(0);
    let take = |entry: Result<ignore::DirEntry, ignore::Error>| {
        match entry {
            Ok(entry) => {
                let Ok(path) = entry.path().strip_prefix(workspace) else { return true };
                if path.as_os_str().is_empty() {
                    return true;
                }
                let Ok(metadata) = entry.metadata() else { return true };
                let kind = metadata.file_type();
                if kind.is_file() || kind.is_dir() || kind.is_symlink() {
                    let path = path.as_os_str().as_bytes().into();
                    lock(&found).push(Found { path, metadata, closed: false });
                }
            }
            Err(error) => lock(&closed).extend(path_of(&error)),
        }
        count.fetch_add(1, Ordering::Relaxed) < limits.most_files
    };
    if expected < MANY {
        builder.build().all(take);
    } else {
        builder
            .threads(2)
            .build_parallel()
            .run(|| Box::new(|entry| if take(entry) { WalkState::Continue } else { WalkState::Quit }));
    }
    if count.load(Ordering::Relaxed) > limits.most_files {
        return None;
    }
    let closed = closed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for folder in avoided.take() {
        let Ok(path) = folder.strip_prefix(workspace) else { continue };
        let Ok(metadata) = folder.symlink_metadata() else { continue };
        found.push(Found { path: path.as_os_str().as_bytes().into(), metadata, closed: true });
    }
    for path in closed {
        let Ok(path) = path.strip_prefix(workspace) else { continue };
        if let Some(folder) = found.iter_mut().find(|found| *found.path == *path.as_os_str().as_bytes()) {
            folder.closed = true;
        }
    }
    Some(found)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn path_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// What is at a path, with its content kept. `None` when it is gone, or nothing that can be kept.
pub(super) fn look(
    path: &Path,
    metadata: &Metadata,
    limits: &Limits,
    objects: &mut Objects,
) -> Result<Option<Node>, ShadowError> {
    let kind = metadata.file_type();
    let mode = metadata.mode() & 0o7777;
    if kind.is_dir() {
        return Ok(Some(Node::Folder { mode, tree: Id::NONE }));
    }
    if kind.is_symlink() {
        let Ok(target) = fs::read_link(path) else { return Ok(None) };
        let target = target.into_os_string().into_vec();
        let id = Id::of_file(&target);
        objects.put(id, &target)?;
        return Ok(Some(Node::Link { target: id }));
    }
    if !kind.is_file() {
        return Ok(None);
    }
    if metadata.len() > limits.largest_file || objects.added() > limits.most_added {
        return Ok(Some(opaque(metadata)));
    }
    match read(path, limits.largest_file) {
        Ok(Some(bytes)) => {
            let id = Id::of_file(&bytes);
            objects.put(id, &bytes)?;
            Ok(Some(Node::File { mode, size: bytes.len() as u64, id }))
        }
        Ok(None) => Ok(Some(opaque(metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(_) => Ok(Some(opaque(metadata))),
    }
}

pub(super) fn opaque(metadata: &Metadata) -> Node {
    let stamp = metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec());
    Node::Opaque { size: metadata.len(), stamp: stamp.cast_unsigned() }
}

/// A whole file; nothing if it has grown too large meanwhile. Whatever took its place since it was
/// looked at, opening it neither waits nor leads elsewhere.
fn read(path: &Path, largest: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(largest + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= largest).then_some(bytes))
}

/// What is at a path of the workspace now, reached without following any link.
pub(super) fn at(
    workspace: &Path,
    path: &[u8],
    limits: &Limits,
    objects: &mut Objects,
) -> Result<Option<Seen>, ShadowError> {
    let now = Moment::now();
    let Some((whole, metadata)) = find(workspace, path) else { return Ok(None) };
    let node = look(&whole, &metadata, limits, objects)?;
    Ok(node.map(|node| Seen::new(Stat::of(&metadata), node, now)))
}

/// A path of the workspace and what is there, if every folder on the way is a real one.
pub(super) fn find(workspace: &Path, path: &[u8]) -> Option<(PathBuf, Metadata)> {
    let relative = Path::new(OsStr::from_bytes(path));
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let mut whole = workspace.to_owned();
    let mut metadata = None;
    for part in relative.components() {
        if metadata.as_ref().is_some_and(|folder: &Metadata| !folder.is_dir()) {
            return None;
        }
        whole.push(part);
        metadata = Some(fs::symlink_metadata(&whole).ok()?);
    }
    metadata.map(|metadata| (whole, metadata))
}
