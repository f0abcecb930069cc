//! What cannot be looked at. That it is not there must not be concluded from it: a folder that this user
//! has shut to themself is open again after one `chmod`, by a command too, since that is the same user.
//! What others have shut to this user stays shut to commands as well.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::Access;

/// More links on one way than the kernel follows.
const MOST_LINKS: usize = 40;

/// The folder that keeps this user from a path, if it is one that they can open again: on the way to it, or
/// what the path itself leads to.
pub fn by_itself(path: &Path) -> Option<PathBuf> {
    let mut ahead: Vec<OsString> = parts(path).collect();
    ahead.reverse();
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        let found = fs::symlink_metadata(&next).ok()?;
        if found.is_symlink() {
            let target = fs::read_link(&next).ok().filter(|_| links < MOST_LINKS)?;
            links += 1;
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            let before = ahead.len();
            ahead.extend(parts(&target));
            if let Some(added) = ahead.get_mut(before..) {
                added.reverse();
            }
        } else if !found.is_dir() {
            return None;
        } else if may(&next, Access::EXEC_OK) {
            at = next;
        } else {
            return is_own(&found).then_some(next);
        }
    }
    None
}

/// The same of a path at which something failed. `None`: nothing is there for this user, nor for a command.
pub fn because(path: &Path, error: &io::Error) -> Option<PathBuf> {
    (error.kind() == io::ErrorKind::PermissionDenied).then(|| by_itself(path)).flatten()
}

/// A folder of this user's own that they cannot look through, or a file of theirs that they cannot read.
pub fn is_shut(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let wanted = if found.is_dir() { Access::READ_OK | Access::EXEC_OK } else { Access::READ_OK };
    !found.is_symlink() && is_own(&found) && !may(path, wanted)
}

fn is_own(found: &fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Only a no is one: a folder of which that cannot be told is not taken for shut.
fn may(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access) != Err(rustix::io::Errno::ACCESS)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    })
}

#[cfg(test)]
#[path = "shut_tests.rs"]
pub(crate) mod tests;
