//! Where a path leads, also where nothing is yet, and over which links. A link is as good as what it leads to:
//! who can replace it decides what is found behind it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// More links on one way than the kernel follows.
const MOST_LINKS: usize = 40;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trail {
    /// By what they are called where they are.
    pub links: Vec<PathBuf>,
    /// Free of links.
    pub end: PathBuf,
}

/// Follows an absolute path.
pub(crate) fn trail(path: &Path) -> Trail {
    let mut trail = Trail { links: Vec::new(), end: PathBuf::from("/") };
    let mut ahead: Vec<OsString> = parts(path).collect();
    ahead.reverse();
    while let Some(part) = ahead.pop() {
        if part == ".." {
            trail.end.pop();
            continue;
        }
        let next = trail.end.join(&part);
        let target = fs::read_link(&next).ok().filter(|_| trail.links.len() < MOST_LINKS);
        let Some(target) = target else {
            trail.end = next;
            continue;
        };
        trail.links.push(next);
        if target.is_absolute() {
            trail.end = PathBuf::from("/");
        }
        let mut more: Vec<OsString> = parts(&target).collect();
        more.reverse();
        ahead.append(&mut more);
    }
    trail
}

/// Follows many paths that lie in few folders, and so follows each folder once.
#[derive(Default)]
pub(crate) struct Trails {
    folders: HashMap<PathBuf, Trail>,
}

impl Trails {
    pub fn of(&mut self, path: &Path) -> Trail {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return trail(path) };
        let folder = self.folders.entry(folder.to_owned()).or_insert_with(|| trail(folder));
        let place = folder.end.join(name);
        let is_link = fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink());
        let last = if is_link { trail(&place) } else { Trail { links: Vec::new(), end: place } };
        Trail { links: folder.links.iter().cloned().chain(last.links).collect(), end: last.end }
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    })
}
