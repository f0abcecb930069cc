#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

fn languages() -> Languages {
    Languages::new(built_in(), &Sandbox::off(), Patience::default())
}

#[test]
fn the_table_can_be_read_and_every_ending_has_one_server() {
    let servers = built_in();
    assert_eq!(servers.len(), 4);
    let mut endings: Vec<&String> = servers.iter().flat_map(|server| server.languages.keys()).collect();
    let all = endings.len();
    endings.sort();
    endings.dedup();
    assert_eq!(endings.len(), all);
    assert!(servers.iter().all(|server| !server.install.is_empty() && !server.roots.is_empty()));
}

#[test]
fn the_outermost_project_in_the_workspace_counts() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().canonicalize().unwrap();
    let workspace = outside.join("ws");
    std::fs::create_dir_all(workspace.join("back/crates/a/src")).unwrap();
    for file in ["Cargo.toml", "ws/back/Cargo.toml", "ws/back/crates/a/Cargo.toml"] {
        std::fs::write(outside.join(file), "").unwrap();
    }
    let rust = built_in().into_iter().find(|server| server.name == "rust-analyzer").unwrap();
    assert_eq!(rust.root(&workspace, &workspace.join("back/crates/a/src/lib.rs")), workspace.join("back"));
    assert_eq!(rust.root(&workspace, &workspace.join("other/lib.rs")), workspace);
}

#[test]
fn what_cannot_be_asked_is_said_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |given: &str| languages().subject(folder.path(), given).err().unwrap();
    assert!(refused("a.txt").starts_with("No language server is known for `a.txt`."));
    assert!(refused("/etc/a.rs").contains("outside the workspace"));
    assert!(refused("../a.rs").contains("outside the workspace"));
    let mut missing = LanguageServer::clone(&built_in()[0]);
    missing.program = "no-such-server".to_owned();
    let languages = Languages::new(vec![Arc::new(missing)], &Sandbox::off(), Patience::default());
    let text = languages.subject(folder.path(), "a.rs").err().unwrap();
    assert_eq!(
        text,
        "The language server for such files, rust-analyzer, is not installed (`rustup component add rust-analyzer`). \
         Use `search` instead."
    );
}

#[test]
fn a_place_is_not_started_over_and_over() {
    let place = Place::default();
    assert!((0..MOST_STARTS).all(|_| place.may_start_again()));
    assert!(!place.may_start_again());
}
