#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn leftovers(dir: &Path) -> usize {
    fs::read_dir(dir)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "weft"))
        .count()
}

#[test]
fn replacing_keeps_the_mode_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.sh");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    replace(&path, Some("old"), "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(leftovers(dir.path()), 0);
}

#[test]
fn a_foreign_change_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(replace(&path, Some("old"), "new"), Err(ReplaceError::Changed)));
    assert!(matches!(replace(&path, None, "new"), Err(ReplaceError::Changed)));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    fs::remove_file(&path).unwrap();
    assert!(matches!(replace(&path, Some("old"), "new"), Err(ReplaceError::Changed)));
    assert!(!path.exists());
    assert_eq!(leftovers(dir.path()), 0);
}

#[test]
fn marks_tell_unread_changed_and_current_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "one").unwrap();
    let marks = ReadMarks::default();
    let look = || fs::metadata(&path).unwrap();
    assert_eq!(marks.known(&path, &look()), Known::Unread);
    marks.set(&path, &look());
    assert_eq!(marks.known(&path, &look()), Known::Current);
    fs::write(&path, "longer").unwrap();
    assert_eq!(marks.known(&path, &look()), Known::Changed);
}
