#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn a_stand_in_is_put_found_and_cleared() {
    let root = tempfile::tempdir().unwrap();
    for thing in [Reserved::folder(root.path().join("hooks")), Reserved::file(root.path().join("commondir"), ".\n")] {
        assert!(thing.is_free());
        thing.put().unwrap();
        assert!(thing.is_free() && thing.path.exists());
        thing.put().unwrap();
        thing.clear();
        assert!(!thing.path.exists());
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "nothing is left beside it");
}

/// What a person made is theirs, also if it is empty.
#[test]
fn what_a_person_made_is_not_free_and_not_cleared() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    fs::create_dir(path("hooks")).unwrap();
    fs::write(path("config.worktree"), "[core]\n").unwrap();
    std::os::unix::fs::symlink("nowhere", path("commondir")).unwrap();
    assert!(!Reserved::folder(path("hooks")).is_free());
    for name in ["config.worktree", "commondir"] {
        let thing = Reserved::file(path(name), ".\n");
        assert!(!thing.is_free());
        thing.put().unwrap();
        thing.clear();
        assert!(fs::symlink_metadata(path(name)).is_ok());
    }
    fs::remove_dir(path("hooks")).unwrap();
    let thing = Reserved::folder(path("hooks"));
    thing.put().unwrap();
    fs::write(path("hooks/mine"), "").unwrap();
    thing.clear();
    assert!(path("hooks/mine").exists());
}
