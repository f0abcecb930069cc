#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// What is done where the trash is on another file system than the workspace.
#[test]
fn a_folder_is_copied_whole_and_removed_whole() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("from/deep/er")).unwrap();
    fs::write(root.join("from/deep/er/file"), "x").unwrap();
    fs::set_permissions(root.join("from/deep/er/file"), fs::Permissions::from_mode(0o741)).unwrap();
    symlink("/nowhere", root.join("from/link")).unwrap();
    let (from, to) = (Spot::find(&root.join("from")).unwrap(), Spot::find(&root.join("to")).unwrap());
    copy_whole(&from, &to).unwrap();
    remove(&from, 0).unwrap();
    assert!(!root.join("from").exists());
    assert_eq!(fs::read_to_string(root.join("to/deep/er/file")).unwrap(), "x");
    assert_eq!(fs::metadata(root.join("to/deep/er/file")).unwrap().permissions().mode() & 0o777, 0o741);
    assert_eq!(fs::read_link(root.join("to/link")).unwrap(), Path::new("/nowhere"));
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir(root.join("from")).unwrap();
    fs::write(root.join("from/file"), "x").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("from/socket")).unwrap();
    let (from, to) = (Spot::find(&root.join("from")).unwrap(), Spot::find(&root.join("to")).unwrap());
    assert!(copy_whole(&from, &to).is_err());
    assert!(!root.join("to").exists());
    assert!(root.join("from/file").exists());
}
