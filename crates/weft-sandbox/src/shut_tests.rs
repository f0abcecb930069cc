#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::os::unix::fs::{PermissionsExt as _, chown};

use rustix::process::{Uid, getuid};

use super::*;

const SOMEBODY: u32 = 12_345;

/// Does something as a user who is not root, who sees everything, with a folder of their own.
pub(crate) fn as_somebody(work: impl FnOnce(&Path) + Send) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let is_root = getuid().is_root();
    if is_root {
        chown(&root, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    }
    let done = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            if is_root {
                // On Linux a thread has a user of its own.
                let user = Uid::from_raw(SOMEBODY);
                rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            }
            work(&root);
        });
        running.join()
    });
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_folder_that_is_shut_is_named_by_whatever_way_it_is_reached() {
    as_somebody(|root| {
        fs::create_dir_all(root.join("a/shut/in")).unwrap();
        fs::write(root.join("a/shut/in/file"), "").unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("../a/shut/in", root.join("a/link")).unwrap();
        std::os::unix::fs::symlink("round", root.join("round")).unwrap();
        let shut = root.join("a/shut");
        for permissions in [0o000, 0o444, 0o600] {
            mode(&shut, permissions);
            for way in ["a/shut/in/file", "a/shut", "a/shut/none", "a/link/file", "a/../a/link"] {
                assert_eq!(by_itself(&root.join(way)), Some(shut.clone()), "{permissions:o} {way}");
            }
            assert!(is_shut(&shut));
        }
        for way in ["a/file", "a/file/x", "none", "a", "round", "round/x"] {
            assert_eq!(by_itself(&root.join(way)), None, "{way}");
        }
        mode(&shut, 0o311);
        assert!(is_shut(&shut) && by_itself(&shut.join("in/file")).is_none());
        mode(&shut, 0o700);
        mode(&root.join("a/file"), 0o200);
        assert!(is_shut(&root.join("a/file")) && !is_shut(&shut) && !is_shut(&root.join("none")));
    });
}

/// No command can open it either, so nobody has to be kept from what is in it.
#[test]
fn what_others_have_shut_is_not_there_for_anybody() {
    if !getuid().is_root() {
        eprintln!("SKIPPED: it takes root to try this");
        return;
    }
    let other = tempfile::tempdir().unwrap();
    fs::create_dir(other.path().join("in")).unwrap();
    mode(other.path(), 0o700);
    as_somebody(|_| {
        let path = other.path().join("in/file");
        let error = fs::symlink_metadata(&path).unwrap_err();
        assert_eq!((error.kind(), because(&path, &error)), (io::ErrorKind::PermissionDenied, None));
        assert!(!is_shut(other.path()));
    });
}
