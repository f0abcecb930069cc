#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn up_goes_back_and_down_returns_to_the_draft() {
    let mut history = History::default();
    history.add("one");
    history.add("two");
    history.add("two");
    assert_eq!(history.older("draft"), Some("two"));
    assert_eq!(history.older("two"), Some("one"));
    assert_eq!(history.older("one"), None);
    assert_eq!(history.newer(), Some("two"));
    assert_eq!(history.newer(), Some("draft"));
    assert_eq!(history.newer(), None);
}

#[test]
fn it_is_kept_in_a_private_file_and_does_not_grow_forever() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/history");
    let mut history = History::load(file.clone());
    for number in 0..1_200 {
        history.add(&format!("entry {number}\nsecond line"));
    }
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let mut again = History::load(file.clone());
    assert_eq!(again.older(""), Some("entry 1199\nsecond line"));
    assert_eq!(again.entries.len(), KEPT);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), KEPT);
}

#[test]
fn rubbish_in_the_file_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history");
    std::fs::write(&file, "\"good\"\nnot json\n").unwrap();
    assert_eq!(History::load(file).entries, ["good"]);
}
