#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn what_was_written_is_measured_and_what_is_no_file_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    std::fs::write(workspace.join("a"), "abc").unwrap();
    std::fs::create_dir(workspace.join("folder")).unwrap();
    let write = |path: &str| Need::Write(path.to_owned());
    let needs = [write("a"), Need::Read("a".to_owned()), write("gone"), write("folder"), write("no/such/folder")];
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
    let content = |bytes, sha256| Some(Content { bytes, sha256: Some(sha256) });
    let found = Written::of(&needs, &workspace);
    let expected = [
        Written { path: "a".to_owned(), content: content(3, sha256) },
        Written { path: "gone".to_owned(), content: None },
        Written { path: "no/such/folder".to_owned(), content: None },
    ];
    assert_eq!(found, expected);
}
