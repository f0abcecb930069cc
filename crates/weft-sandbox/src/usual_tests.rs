#![allow(clippy::unwrap_used)]

use std::fs;

use super::*;
use crate::repository::nested;

fn places(root: &Path) -> Places {
    Places {
        workspace: root.join("ws"),
        nested: vec![],
        temp: root.join("temp"),
        user_home: Some(root.join("home")),
        weft_home: vec![root.join("weft")],
        outputs: None,
        also_writable: vec![],
        also_unreadable: vec![],
        also_protected: vec![],
    }
}

fn usual(places: &Places) -> Policy {
    places.policy(Network::Off, Limits::default()).unwrap()
}

#[test]
fn secrets_are_hidden_and_the_workspace_is_writable() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("ws/.git")).unwrap();
    fs::write(root.join("ws/.git/HEAD"), "x").unwrap();
    let policy = usual(&places(&root));
    assert_eq!(policy.writable, [root.join("ws")]);
    for secret in ["home/.ssh", "home/.netrc", "weft"] {
        assert!(policy.unreadable.contains(&root.join(secret)), "{secret}");
    }
    for kept in [".git/hooks", ".git/config", ".git/remotes", ".git/branches", ".weft", ".bashrc"] {
        assert!(policy.protected.contains(&root.join("ws").join(kept)), "{kept}");
    }
    let reserved: Vec<&str> =
        policy.reserved.iter().map(|kept| kept.path.strip_prefix(root.join("ws")).unwrap().to_str().unwrap()).collect();
    let in_git = ["hooks", "modules", "worktrees", "remotes", "branches", "config", "config.worktree", "commondir"];
    let in_git: Vec<String> = in_git.iter().map(|name| format!(".git/{name}")).collect();
    assert_eq!(reserved[0], ".weft");
    assert_eq!(&reserved[1..], in_git);
}

/// A repository can say that its git folder is anywhere.
#[test]
fn a_git_file_opens_nothing_that_does_not_point_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("ws")).unwrap();
    fs::create_dir_all(root.join("repo/worktrees/w")).unwrap();
    fs::create_dir_all(root.join("repo/objects")).unwrap();
    let write = |name: &str, text: String| fs::write(root.join(name), text).unwrap();
    write("repo/HEAD", String::new());
    write("repo/worktrees/w/commondir", "../..\n".to_owned());
    write("repo/worktrees/w/gitdir", format!("{}\n", root.join("elsewhere/.git").display()));
    write("ws/.git", format!("gitdir: {}\n", root.join("repo/worktrees/w").display()));
    assert_eq!(usual(&places(&root)).writable, [root.join("ws")]);
    write("repo/worktrees/w/gitdir", format!("{}\n", root.join("ws/.git").display()));
    let policy = usual(&places(&root));
    assert_eq!(policy.writable, [root.join("ws"), root.join("repo"), root.join("repo/worktrees/w")]);
    assert!(policy.protected.contains(&root.join("repo/hooks")) && policy.protected.contains(&root.join("ws/.git")));
    // The common folder itself must be git's.
    fs::remove_file(root.join("repo/HEAD")).unwrap();
    assert_eq!(usual(&places(&root)).writable, [root.join("ws")]);
}

#[test]
fn hooks_are_kept_where_the_settings_say_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("ws/.git")).unwrap();
    fs::create_dir_all(root.join("ws/.husky/_")).unwrap();
    let kept = |setting: &str| {
        fs::write(root.join("ws/.git/config"), format!("[core]\n\tbare = false\n\t{setting}\n")).unwrap();
        usual(&places(&root)).protected.contains(&root.join("ws/.husky/_"))
    };
    assert!(kept("hooksPath = .husky/_") && kept("hookspath=\".husky/_\""));
    assert!(!kept("hooksPath = ../elsewhere") && !kept("hooksPath = ."));
    // What is not there yet is known all the same, so that it is noticed when a command makes it.
    fs::remove_dir_all(root.join("ws/.husky")).unwrap();
    assert!(kept("hooksPath = .husky/_"));
}

/// What git runs for the person must be held though nobody can see just now what that is.
#[test]
fn chmod_does_not_take_a_repository_out_of_the_policy() {
    use crate::shut::tests::{as_somebody, mode};
    as_somebody(|root| {
        for folder in ["ws/.git", "ws/.husky", "ws/sub/.git", "ws/group/two/.git", "ws/deep/er/named/.git", "temp"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("ws/group/two/.git/HEAD"), "x").unwrap();
        fs::write(root.join("ws/.git/config"), "[core]\n\thooksPath = .husky\n").unwrap();
        fs::write(root.join("ws/sub/.git/config"), "[core]\n\thooksPath = .husky\n").unwrap();
        fs::write(root.join("ws/.gitmodules"), "[submodule \"n\"]\n\tpath = deep/er/named\n").unwrap();
        let ws = root.join("ws");
        let policy = || {
            let places = Places { nested: nested(&ws)?, ..places(root) };
            places.policy(Network::Off, Limits::default())?.resolved()
        };
        let held = |path: &str| policy().unwrap().protected.contains(&ws.join(path));
        assert!(held(".husky") && held("sub/.git/hooks") && held("group/two/.git/hooks"));
        for (shut, permissions) in [(".", 0o000), (".", 0o300), (".git", 0o000), (".git", 0o444), (".git/config", 0)] {
            let shut: PathBuf = ws.join(shut).components().collect();
            mode(&shut, permissions);
            let refused = policy().unwrap_err();
            mode(&shut, 0o700);
            assert_eq!(refused, PolicyError::Shut(shut), "{permissions:o}");
        }
        // Of other repositories the folder is held as a whole, and everything else goes on.
        let cases = [
            ("sub", 0o000, "sub"),
            ("sub", 0o600, "sub"),
            ("sub/.git", 0o000, "sub"),
            ("sub/.git/config", 0o000, "sub"),
            ("group", 0o000, "group"),
            ("group", 0o311, "group"),
            ("group/two", 0o000, "group/two"),
            ("deep/er", 0o000, "deep/er"),
        ];
        for (shut, permissions, expected) in cases {
            // As it is found at the beginning of a turn, and when it was known before.
            let known = nested(&ws).unwrap();
            mode(&ws.join(shut), permissions);
            let later = Places { nested: known, ..places(root) }.policy(Network::Off, Limits::default());
            let later = later.and_then(Policy::resolved);
            let anew = held(expected);
            mode(&ws.join(shut), 0o700);
            assert!(anew, "{shut} {permissions:o}");
            // A folder of folders in which nothing can be listed hides nothing that is known.
            let is_known = permissions == 0o311 || later.unwrap().protected.contains(&ws.join(expected));
            assert!(is_known, "{shut} {permissions:o}");
        }
        // Start-up files that are not there are noticed when they come, but not behind a folder that is shut.
        fs::create_dir(ws.join(".config")).unwrap();
        mode(&ws.join(".config"), 0o000);
        assert!(held(".config"));
    });
}

/// What a `.git` file names may hold anything: nobody waits for a pipe there, or reads a device to its end.
#[test]
fn pipes_and_devices_in_the_place_of_gits_files_hold_nobody_up() {
    let pipe = |path: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    type Trap<'a> = &'a dyn Fn(&Path);
    let traps: [(&str, Trap<'_>); 5] = [
        ("a pipe", &|own| pipe(&own.join("gitdir"))),
        ("a device", &|own| device(&own.join("gitdir"))),
        ("a file without end", &|own| fs::File::create(own.join("gitdir")).unwrap().set_len(1 << 40).unwrap()),
        ("a pipe in the second place", &|own| pipe(&own.join("commondir"))),
        ("a device in the second place", &|own| device(&own.join("commondir"))),
    ];
    for (name, trap) in traps {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (inner, own) = (root.join("ws/inner"), root.join("ws/own"));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(inner.join(".git"), "gitdir: ../own\n").unwrap();
        trap(&own);
        if !own.join("gitdir").exists() {
            fs::write(own.join("gitdir"), inner.join(".git").to_str().unwrap()).unwrap();
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut places = places(&root);
            places.nested = nested(&places.workspace).unwrap();
            sender.send(usual(&places)).unwrap();
        });
        let policy = receiver.recv_timeout(std::time::Duration::from_secs(20));
        let policy = policy.unwrap_or_else(|_| unreachable!("{name} held it up"));
        assert!(policy.protected.contains(&inner.join(".git")), "{name}");
        assert_eq!(policy.writable.len(), 1, "{name}");
    }
}
