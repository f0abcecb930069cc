#![allow(clippy::unwrap_used)]

use super::*;

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
    places.policy(Network::Off, Limits::default())
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

#[test]
fn repositories_in_the_workspace_are_found_without_a_walk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for repository in ["one", "group/two", "a/deep/three", "a/deep/named", "node_modules/four"] {
        fs::create_dir_all(root.join(repository).join(".git")).unwrap();
    }
    std::os::unix::fs::symlink(root.join("one"), root.join("link")).unwrap();
    let named = "[submodule \"n\"]\n\tpath = a/deep/named\n\turl = x\n[submodule \"o\"]\n\tpath = ../out\n";
    fs::write(root.join(".gitmodules"), named).unwrap();
    let found: Vec<PathBuf> = ["a/deep/named", "group/two", "one"].iter().map(|name| root.join(name)).collect();
    assert_eq!(nested(&root), found);
    // A list that is no file, or far too long, is none.
    fs::remove_file(root.join(".gitmodules")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", root.join(".gitmodules")).unwrap();
    assert_eq!(nested(&root), found[1..]);
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
            places.nested = nested(&places.workspace);
            sender.send(usual(&places)).unwrap();
        });
        let policy = receiver.recv_timeout(std::time::Duration::from_secs(20));
        let policy = policy.unwrap_or_else(|_| unreachable!("{name} held it up"));
        assert!(policy.protected.contains(&inner.join(".git")), "{name}");
        assert_eq!(policy.writable.len(), 1, "{name}");
    }
}
