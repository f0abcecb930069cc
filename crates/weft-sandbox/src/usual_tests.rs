#![allow(clippy::unwrap_used)]

use super::*;

fn places(root: &Path) -> Places {
    Places {
        workspace: root.join("ws"),
        temp: root.join("temp"),
        user_home: Some(root.join("home")),
        weft_home: vec![root.join("weft")],
        outputs: None,
        also_writable: vec![],
        also_unreadable: vec![],
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
    assert_eq!(policy.reserved, [root.join("ws/.weft")]);
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
