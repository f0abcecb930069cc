#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn root() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    (dir, root)
}

#[test]
fn no_link_is_followed_anywhere_on_the_way() {
    let (_dir, root) = root();
    fs::create_dir(root.join("real")).unwrap();
    fs::write(root.join("real/file"), "x").unwrap();
    symlink("real", root.join("folder-link")).unwrap();
    symlink("real/file", root.join("file-link")).unwrap();
    assert!(open(&root.join("real/file")).is_ok());
    assert!(matches!(open(&root.join("folder-link/file")), Err(OpenError::Io(_))));
    assert!(matches!(open(&root.join("file-link")), Err(OpenError::Io(_))));
    assert!(Spot::make(&root.join("folder-link/new/file")).is_err());
    assert!(!root.join("real/new").exists());
    assert!(Spot::find(&root.join("real/../real/file")).is_err());
    assert!(Spot::find(Path::new("relative")).is_err());
}

#[test]
fn only_regular_files_are_opened() {
    let (_dir, root) = root();
    assert!(matches!(open(&root), Err(OpenError::Folder)));
    assert!(matches!(open(Path::new("/")), Err(OpenError::Folder)));
    assert!(matches!(open(Path::new("/dev/zero")), Err(OpenError::Special)));
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    assert!(matches!(open(&root.join("socket")), Err(OpenError::Special)));
    rustix::fs::mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert!(matches!(open(&root.join("pipe")), Err(OpenError::Special)));
}

#[test]
fn folders_are_made_and_named() {
    let (_dir, root) = root();
    fs::create_dir(root.join("a")).unwrap();
    let made = Spot::make(&root.join("a/b/c/file")).unwrap();
    assert_eq!(made.folders, [root.join("a/b"), root.join("a/b/c")]);
    drop(made.spot.create().unwrap());
    assert!(root.join("a/b/c/file").is_file());
    assert!(made.spot.create().is_err());
}

#[test]
fn a_move_overwrites_nothing() {
    let (_dir, root) = root();
    fs::write(root.join("one"), "1").unwrap();
    fs::write(root.join("two"), "2").unwrap();
    let (one, two) = (Spot::find(&root.join("one")).unwrap(), Spot::find(&root.join("two")).unwrap());
    assert_eq!(one.move_to(&two).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(root.join("two")).unwrap(), b"2");
    one.replace(&two).unwrap();
    assert_eq!(fs::read(root.join("two")).unwrap(), b"1");
}

#[test]
fn a_held_folder_stays_the_same_when_another_takes_its_name() {
    let (_dir, root) = root();
    for name in ["inside", "outside"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    let spot = Spot::find(&root.join("inside/file")).unwrap();
    fs::rename(root.join("inside"), root.join("parked")).unwrap();
    symlink("outside", root.join("inside")).unwrap();
    drop(spot.create().unwrap());
    assert!(root.join("parked/file").exists());
    assert!(!root.join("outside/file").exists());
}

/// A walk has seen a file there; what stands there by now may be something else.
#[test]
fn an_opener_takes_nothing_but_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |name: &str| root.join(name);
    std::fs::write(at("file"), "x").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&root, at("folder/back")).unwrap();
    let mut opener = Opener::default();
    assert_eq!(opener.open(&at("file")).unwrap().1.len(), 1);
    for name in ["folder", "link", "pipe", "folder/back/file"] {
        assert!(opener.open(&at(name)).is_err(), "{name}");
    }
}
