#![allow(clippy::unwrap_used)]

use std::fs;

use super::*;

/// What the sandbox still holds is still asked for.
#[test]
fn what_a_sandbox_has_found_stays_known() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (ws, state) = (root.join("ws"), root.join("state"));
    fs::create_dir_all(ws.join("a/deep/own/.git")).unwrap();
    fs::write(ws.join("a/deep/own/.git/config"), "[core]\n\thooksPath = .husky\n").unwrap();
    let list = ws.join(".gitmodules");
    fs::write(&list, "[submodule \"own\"]\n\tpath = a/deep/own\n").unwrap();
    also_by(&state);
    assert_eq!(nested(&ws, &state).unwrap(), [ws.join("a/deep/own")]);
    fs::remove_file(list).unwrap();
    assert!(look(&ws).unwrap().contains(&ws.join("a/deep/own/.husky")));
}
