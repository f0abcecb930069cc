#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn change(root: &std::path::Path, name: &str, old: Option<&str>, new: Option<&str>) -> Change {
    let path = root.join(name);
    let permissions = fs::metadata(&path).ok().map(|metadata| metadata.permissions());
    Change { path, name: name.to_owned(), old: old.map(str::to_owned), new: new.map(str::to_owned), permissions }
}

#[test]
fn all_are_made_or_all_are_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["a", "b", "last"] {
        fs::write(root.join(name), name).unwrap();
    }
    fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o750)).unwrap();
    let steps = |last: &str| {
        Changes::new(vec![
            change(&root, "a", Some("a"), Some("new a")),
            change(&root, "b", Some("b"), None),
            change(&root, "deep/er/c", None, Some("c")),
            change(&root, "last", Some(last), Some("new last")),
        ])
        .unwrap()
    };
    let text = steps("somebody else's").make(&ReadMarks::default()).unwrap_err();
    assert!(text.contains("`last` changed on disk") && text.ends_with("Nothing was changed."), "{text}");
    let names = |folder: &std::path::Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((names(&root), root.join("deep").exists()), (3, false));
    for name in ["a", "b", "last"] {
        assert_eq!(fs::read_to_string(root.join(name)).unwrap(), name);
    }
    assert_eq!(fs::metadata(root.join("b")).unwrap().permissions().mode() & 0o777, 0o750);

    steps("last").make(&ReadMarks::default()).unwrap();
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "new a");
    assert_eq!(fs::read_to_string(root.join("deep/er/c")).unwrap(), "c");
    assert!(!root.join("b").exists());
}

#[test]
fn one_file_is_changed_once() {
    let root = std::path::Path::new("/nowhere");
    let twice = vec![change(root, "a", None, Some("1")), change(root, "a", None, Some("2"))];
    assert!(Changes::new(twice).unwrap_err().contains("`a` is changed twice"));
}
