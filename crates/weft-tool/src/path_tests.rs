#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::os::unix::fs::symlink;

/// A workspace `ws` next to a sibling whose name begins the same.
fn world() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in ["ws/src", "ws/.git", "ws-evil", "elsewhere"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    symlink("../elsewhere", root.join("ws/out")).unwrap();
    symlink("src", root.join("ws/in")).unwrap();
    symlink("../elsewhere/none.txt", root.join("ws/dangling")).unwrap();
    symlink("loop-b", root.join("ws/loop-a")).unwrap();
    symlink("loop-a", root.join("ws/loop-b")).unwrap();
    symlink(".git", root.join("ws/innocent")).unwrap();
    let workspace = root.join("ws");
    (dir, workspace)
}

#[test]
fn paths_lead_where_the_file_system_says() {
    let (_dir, workspace) = world();
    let root = workspace.parent().unwrap();
    let cases = [
        ("src/a.rs", "ws/src/a.rs", true),
        ("./src/../src/new/deep/a.rs", "ws/src/new/deep/a.rs", true),
        (".", "ws", true),
        ("in/a.rs", "ws/src/a.rs", true),
        ("in/../b.rs", "ws/b.rs", true),
        ("..", "", false),
        ("../ws-evil/a", "ws-evil/a", false),
        ("out/a", "elsewhere/a", false),
        ("out/../ws/a", "ws/a", true),
        ("dangling", "elsewhere/none.txt", false),
        ("nothing/../../ws-evil/x", "ws-evil/x", false),
    ];
    for (given, expected, inside) in cases {
        let located = Located::new(&workspace, given).unwrap();
        assert_eq!((located.path, located.inside), (root.join(expected), inside), "{given}");
    }
    let absolute = workspace.join("src/a.rs");
    assert!(Located::new(&workspace, absolute.to_str().unwrap()).unwrap().inside);
    assert!(!Located::new(&workspace, "/etc/passwd").unwrap().inside);
}

#[test]
fn a_workspace_reached_through_a_symlink_is_the_same_workspace() {
    let (dir, workspace) = world();
    let alias = dir.path().join("alias");
    symlink(&workspace, &alias).unwrap();
    let located = Located::new(&alias, workspace.join("src/a.rs").to_str().unwrap()).unwrap();
    assert!(located.inside);
}

#[test]
fn protected_and_secret_places_are_known_by_their_real_names() {
    let (_dir, workspace) = world();
    let cases = [
        (".git/config", false, true),
        ("innocent/hooks/pre-commit", false, true),
        ("sub/.weft/config.toml", false, true),
        (".GIT/config", false, true),
        (".gitignore", false, false),
        (".env", true, false),
        ("deploy/.env.production", true, false),
        (".env.example", false, false),
        (".environment", false, false),
        ("/root/.ssh/config", true, true),
        ("~/.aws/credentials", true, false),
        ("a/credentials.enc", true, false),
        ("ssh/config", false, false),
        // The same that the sandbox hides and holds.
        (".npmrc", true, false),
        ("sub/.config/gh/hosts.yml", true, false),
        (".docker/config.json", true, false),
        (".docker/Dockerfile", false, false),
        ("certificates/server.pem", true, false),
        ("src/credentials.rs", false, false),
        (".vscode/tasks.json", false, true),
        ("sub/.idea/workspace.xml", false, true),
        (".Claude/settings.json", false, true),
        (".config/git/config", false, true),
        (".config/other", false, false),
        ("/etc/shadow", true, false),
        ("/etc/ssl/private/ours", true, false),
        ("etc/shadow", false, false),
    ];
    for (given, secret, protected) in cases {
        let located = Located::new(&workspace, given).unwrap();
        assert_eq!((located.secret, located.protected), (secret, protected), "{given}");
    }
}

#[test]
fn a_workspace_below_a_dot_folder_is_not_itself_protected() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = dir.path().join(".weft/local/tree");
    std::fs::create_dir_all(&workspace).unwrap();
    let located = Located::new(&workspace, "src/a.rs").unwrap();
    assert!(located.inside && !located.protected);
}

#[test]
fn impossible_paths_are_refused_in_words() {
    let (_dir, workspace) = world();
    for (given, expected) in [("", "empty"), ("  ", "empty"), ("a\0b", "NUL"), ("loop-a/x", "too many symlinks")] {
        let error = Located::new(&workspace, given).unwrap_err();
        assert!(error.contains(expected), "{given:?}: {error}");
    }
}

#[test]
fn writing_outside_names_both_places() {
    let (_dir, workspace) = world();
    let error = for_writing(&workspace, "out/x").unwrap_err();
    assert!(error.contains("elsewhere/x") && error.contains(workspace.to_str().unwrap()), "{error}");
}
