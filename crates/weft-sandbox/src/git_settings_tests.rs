#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::process::Command;

use super::*;

const SPELLINGS: &[&str] = &[
    "[core]\n\thooksPath = .husky\n",
    "[CORE] hookspath=x ; said\n",
    "[core]hooksPath = \"a b\" # said\n\tother = 1",
    "[core]\r\n  HooksPath  =  a\r\n[include]\r\npath=b\r\n",
    "[core]\n\thooksPath = a\\\nb\n",
    "[core]\n\thooksPath = \"a#b;c\" d\n",
    "[core]\n\thooksPath = a\\\\b\\\"c\\td\n",
    "\u{feff}[include]\n\tpath = ../x\n\tpath = ../y\n",
    "[includeIf \"gitdir:~/x[1]/\"]\n\tpath = one\n[includeif \"onbranch:a\\\"]b\"]\n\tpath = two\n",
    "# [core]\n; hooksPath = no\n[core] # [include]\n\tbare\n\thooksPath = yes\n",
    "[submodule \"a\"]\n\tpath = a/b c/d\n\turl = x\n[submodule.b]\n\tpath = e\n",
    "[core]\n\tworktree = ../../..\n\n\n[core]\n\thooksPath = \n",
    "[core]\n\thooksPath=\u{fc}ber/\u{4e2d}\n\ta1-b = c\n",
];

/// What git itself reads in a file.
fn as_git_reads(text: &[u8]) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    fs::write(&file, text).unwrap();
    let mut git = Command::new("git");
    git.args(["config", "--no-includes", "-z", "--list", "-f"]).arg(&file).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let entries = entries.filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'\n')?;
        let name = String::from_utf8_lossy(&entry[..at]).into_owned();
        let (section, key) = (name.split('.').next().unwrap(), name.rsplit('.').next().unwrap());
        Some(Entry { name: format!("{section}.{key}"), value: entry[at + 1..].to_vec() })
    });
    entries.collect()
}

#[test]
fn settings_are_read_as_git_reads_them() {
    for text in SPELLINGS {
        assert_eq!(entries(text.as_bytes()), as_git_reads(text.as_bytes()), "{text:?}");
    }
    // Names are bytes.
    assert_eq!(entries(b"[include]\npath=\xff\xfe\n"), as_git_reads(b"[include]\npath=\xff\xfe\n"));
}

/// After a mistake git reads nothing at all; what stands behind it is taken to count all the same.
#[test]
fn mistakes_hide_nothing() {
    for text in [
        "!\n[include]\npath = x\n",
        "[a\n[include]\npath = x\n",
        "[include]\n\u{0}\n=\npath = x",
        "[include]path\npath=x",
    ] {
        let found = entries(text.as_bytes());
        assert!(found.iter().any(|entry| entry.name == "include.path" && entry.value == b"x"), "{text:?}: {found:?}");
    }
}

#[test]
fn whatever_is_included_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    };
    write("ws/.git/config", "[include]\npath = ../team.cfg\npath = ~/mine\n[includeIf \"onbranch:x\"]\npath=no/such\n");
    // A circle, one that is linked, and one that is no file.
    write("ws/team.cfg", "[include]\npath = .git/config\npath = linked\npath = /dev/zero\n[core]\nhooksPath = one\n");
    write("ws/else/where", "[core]\nhooksPath = two\n[include]\npath = beside-the-link\n");
    write("home/mine", "[core]\nhooksPath = ~/hooks\n");
    std::os::unix::fs::symlink("else/where", root.join("ws/linked")).unwrap();
    let home = root.join("home");
    let settings = Settings::of([root.join("ws/.git/config")], Some(&home)).unwrap();
    let mut files: Vec<&Path> = settings.files.iter().map(|file| file.strip_prefix(&root).unwrap_or(file)).collect();
    files.sort();
    let expected = [
        "/dev/zero",
        "home/mine",
        "ws/.git/config",
        "ws/.git/no/such",
        "ws/beside-the-link",
        "ws/else/where",
        "ws/linked",
        "ws/team.cfg",
    ];
    assert_eq!(files, expected.map(Path::new));
    let mut hooks: Vec<PathBuf> = settings.hooks_in(&root.join("ws")).collect();
    hooks.sort();
    assert_eq!(hooks, ["home/hooks", "ws/one", "ws/two"].map(|name| root.join(name)));
    // What cannot be looked through is not taken for nothing.
    write("ws/team.cfg", &"#".repeat(2 << 20));
    let refused = Settings::of([root.join("ws/.git/config")], Some(&home)).unwrap_err();
    assert_eq!(refused, PolicyError::TooManySettings(root.join("ws/team.cfg")));
    let many: String = (0..300).map(|number| format!("[include]\npath = f{number}\n")).collect();
    write("ws/team.cfg", &many);
    assert!(Settings::of([root.join("ws/.git/config")], None).is_err());
}
