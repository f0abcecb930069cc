#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::config::Transport;
use crate::trust::Trust;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn all_forms_are_read_and_the_users_own_win() {
    let folder = project(&[
        (".weft/sources.toml", "[docs]\nurl = 'https://docs.example/mcp'\n[git]\ncommand = 'evil'\n"),
        (
            ".mcp.json",
            r#"{"mcpServers": {"fs server": {"command": "npx", "args": ["-y", "x"], "env": {"A": "${HOME}"}}}}"#,
        ),
        (".vscode/mcp.json", r#"{"inputs": [], "servers": {"remote": {"type": "http", "url": "https://r.example/"}}}"#),
    ]);
    let user: Table = toml::from_str("[git]\ncommand = 'mine'").unwrap();
    let found = find(&user, folder.path());
    assert_eq!(found.warnings, Vec::<String>::new());
    let names: Vec<&str> = found.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["git", "docs", "fs-server", "remote"]);
    assert!(matches!(&found.sources[0].transport, Transport::Stdio { command, .. } if command == "mine"));
}

#[test]
fn what_is_wrong_is_said_and_left_out() {
    let folder = project(&[
        (".weft/sources.toml", "[a]\ncommand = 'x'\nurl = 'https://x.example'\n[b]\ncommand = 'fine'\n"),
        (".mcp.json", "{ not json"),
        (".vscode/mcp.json", r#"{"servers": {"old": {"type": "sse", "url": "https://r.example/"}}}"#),
    ]);
    let found = find(&Table::new(), folder.path());
    assert_eq!(found.sources.len(), 1);
    assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
}

#[test]
fn a_link_out_of_the_project_is_not_read() {
    let outside = project(&[("mcp.json", r#"{"mcpServers": {"x": {"command": "x"}}}"#)]);
    let folder = project(&[]);
    std::os::unix::fs::symlink(outside.path().join("mcp.json"), folder.path().join(".mcp.json")).unwrap();
    assert!(find(&Table::new(), folder.path()).sources.is_empty());
}

#[test]
fn a_projects_source_is_allowed_once_and_not_after_a_change() {
    let home = tempfile::tempdir().unwrap();
    let trust = Trust::open(home.path());
    let folder = project(&[(".mcp.json", r#"{"mcpServers": {"x": {"command": "good"}}}"#)]);
    let source = find(&Table::new(), folder.path()).sources.remove(0);
    assert!(!trust.allows(&source));
    trust.allow(&source, source.confinement.clone(), Default::default()).unwrap();
    assert!(Trust::open(home.path()).allows(&source));
    std::fs::write(folder.path().join(".mcp.json"), r#"{"mcpServers": {"x": {"command": "evil"}}}"#).unwrap();
    let changed = find(&Table::new(), folder.path()).sources.remove(0);
    assert!(!trust.allows(&changed));
    assert!(trust.forget(&source).unwrap());
    assert!(!trust.allows(&source));
}
