#![allow(clippy::unwrap_used)]

use std::fs;

use super::*;

fn make(root: &Path, folders: &[&str]) {
    folders.iter().for_each(|folder| fs::create_dir_all(root.join(folder)).unwrap());
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        make(root, &[Path::new(name).parent().unwrap().to_str().unwrap()]);
        fs::write(root.join(name), text).unwrap();
    }
}

#[test]
fn what_git_heeds_around_a_workspace_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, &["ws/.bare/objects", "ws/.bare/refs", "ws/sub/.git", "home"]);
    write(
        &root,
        &[
            ("ws/.git", "gitdir: ./.bare\n"),
            ("ws/.bare/HEAD", "x"),
            ("ws/.bare/config", "[include]\n\tpath = ../shared.cfg\n"),
            ("ws/shared.cfg", "[core]\n\thooksPath = tools/hooks\n"),
            ("ws/sub/.git/config", "[core]\n\thooksPath = .husky\n[include]\n\tpath = ../../for-sub\n"),
            ("home/.gitconfig", "[core]\n\thooksPath = .githooks\n"),
        ],
    );
    let roots = [root.join("ws")];
    let nested = repository::nested(&roots[0]).unwrap();
    let told = Heeded::of(&roots, &nested, Some(&root.join("home"))).unwrap().into_places(&roots);
    let expected = [
        "home/.gitconfig",
        "ws/.bare",
        "ws/shared.cfg",
        "ws/tools/hooks",
        "ws/.githooks",
        "ws/sub/.git",
        "ws/sub/.husky",
        "ws/sub/.githooks",
        "ws/for-sub",
    ];
    for name in expected {
        assert!(told.contains(&root.join(name)), "{name}: {told:?}");
    }
    assert!(!told.contains(&root.join("ws")));
}

/// What starts with a shell may be kept in a repository, and be linked at home.
#[test]
fn what_home_has_links_to_is_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, &["ws", "home"]);
    write(&root, &[("ws/dot/bashrc", "x"), ("ws/dot/gitconfig", "")]);
    for name in ["bashrc", "gitconfig"] {
        std::os::unix::fs::symlink(format!("../ws/dot/{name}"), root.join(format!("home/.{name}"))).unwrap();
    }
    let roots = [root.join("ws")];
    let told = Heeded::of(&roots, &[], Some(&root.join("home"))).unwrap().into_places(&roots);
    for name in ["bashrc", "gitconfig"] {
        assert!(told.contains(&root.join("ws/dot").join(name)), "{name}: {told:?}");
    }
}

/// A bare repository may have its worktrees inside, and then not all of it is git's.
#[test]
fn a_worktree_inside_its_git_folder_can_be_worked_in() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make(&root, &["r.git/objects", "r.git/refs"]);
    write(
        &root,
        &[
            ("r.git/HEAD", "x"),
            ("r.git/worktrees/w/gitdir", &root.join("r.git/w/.git").display().to_string()),
            ("r.git/worktrees/w/commondir", "../..\n"),
            ("r.git/w/.git", "gitdir: ../worktrees/w\n"),
        ],
    );
    let roots = [root.join("r.git/w")];
    let told = Heeded::of(&roots, &[], None).unwrap().into_places(&roots);
    assert!(told.contains(&root.join("r.git/hooks")) && told.contains(&root.join("r.git/worktrees")), "{told:?}");
    assert!(told.iter().all(|place| !roots[0].join("file").starts_with(place)), "{told:?}");
}
