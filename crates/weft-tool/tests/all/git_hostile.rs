//! Repositories that are built to attack whoever looks at them. Each attack is first shown to work
//! on plain git, so that a test that passes means something.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;
use weft_tool::Role;

use super::git::{git, identity, world};
use super::git_server::{Answer, serve};
use super::world::World;

struct Attack {
    name: &'static str,
    /// Makes the repository hostile; `SCRIPT` leaves a mark when it runs.
    make: fn(&World, &str),
    /// What would set it off for somebody who uses plain git.
    trigger: &'static [&'static str],
}

fn config(world: &World, key: &str, value: &str) {
    git(&world.workspace, &["config", key, value]);
}

fn hook(world: &World, folder: &str, name: &str, script: &str) {
    let path = world.file(&format!("{folder}/{name}"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn attributes(world: &World, text: &str) {
    world.file(".gitattributes", text);
}

const ATTACKS: [Attack; 22] = [
    Attack { name: "a monitor of files", make: |w, s| config(w, "core.fsmonitor", s), trigger: &["status"] },
    Attack { name: "an outside diff", make: |w, s| config(w, "diff.external", s), trigger: &["diff"] },
    Attack {
        name: "a diff driver",
        make: |w, s| {
            attributes(w, "*.txt diff=evil\n");
            config(w, "diff.evil.command", s);
        },
        trigger: &["diff"],
    },
    Attack {
        name: "a text converter",
        make: |w, s| {
            attributes(w, "*.txt diff=evil\n");
            config(w, "diff.evil.textconv", s);
        },
        trigger: &["diff"],
    },
    Attack {
        name: "a text converter, by blame",
        make: |w, s| {
            attributes(w, "*.txt diff=evil\n");
            config(w, "diff.evil.textconv", s);
        },
        trigger: &["blame", "a.txt"],
    },
    Attack {
        name: "a clean filter",
        make: |w, s| {
            attributes(w, "*.txt filter=evil\n");
            config(w, "filter.evil.clean", s);
            config(w, "filter.evil.required", "true");
        },
        trigger: &["diff"],
    },
    Attack {
        name: "a clean filter with an odd name",
        make: |w, s| {
            attributes(w, "*.txt filter=e=v.il\n");
            config(w, "filter.e=v.il.clean", s);
        },
        trigger: &["add", "a.txt"],
    },
    Attack {
        name: "a smudge filter",
        make: |w, s| {
            attributes(w, "*.txt filter=evil\n");
            config(w, "filter.evil.smudge", s);
        },
        trigger: &["restore", "a.txt"],
    },
    Attack {
        name: "a filter process",
        make: |w, s| {
            attributes(w, "*.txt filter=evil\n");
            config(w, "filter.evil.process", s);
        },
        trigger: &["diff"],
    },
    Attack {
        name: "a hook in .git",
        make: |w, s| hook(w, ".git/hooks", "pre-commit", s),
        trigger: &["commit", "-aqm", "Set it off"],
    },
    Attack {
        name: "a hook on every change of the index",
        make: |w, s| hook(w, ".git/hooks", "post-index-change", s),
        trigger: &["add", "a.txt"],
    },
    Attack {
        name: "a hook on every change of a branch",
        make: |w, s| hook(w, ".git/hooks", "reference-transaction", s),
        trigger: &["commit", "-aqm", "Set it off"],
    },
    Attack {
        name: "hooks in the working tree",
        make: |w, s| {
            hook(w, "hooks", "prepare-commit-msg", s);
            config(w, "core.hooksPath", "hooks");
        },
        trigger: &["commit", "-aqm", "Set it off"],
    },
    Attack {
        name: "a signing program",
        make: |w, s| {
            config(w, "commit.gpgSign", "true");
            config(w, "gpg.program", s);
        },
        trigger: &["commit", "-aqm", "Set it off"],
    },
    Attack {
        name: "a program that checks signatures",
        make: |w, s| {
            config(w, "log.showSignature", "true");
            config(w, "gpg.program", s);
            let tree = git(&w.workspace, &["rev-parse", "HEAD^{tree}"]);
            let person = "Ann <ann@example.org> 0 +0000";
            let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
            let commit = format!("tree {tree}\nauthor {person}\ncommitter {person}\n{signature}\n\nSigned\n");
            let file = w.file(".git/forged", commit);
            let id = git(&w.workspace, &["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
            git(&w.workspace, &["update-ref", "refs/heads/main", &id]);
        },
        trigger: &["log"],
    },
    Attack {
        name: "settings in another file",
        make: |w, s| {
            w.file("settings", format!("[core]\n\tfsmonitor = \"{s}\"\n[diff]\n\texternal = \"{s}\"\n"));
            config(w, "include.path", "../settings");
        },
        trigger: &["status"],
    },
    Attack {
        name: "settings of a worktree",
        make: |w, s| {
            config(w, "extensions.worktreeConfig", "true");
            w.file(".git/config.worktree", format!("[core]\n\tfsmonitor = \"{s}\"\n"));
        },
        trigger: &["status"],
    },
    Attack {
        name: "a submodule with a monitor",
        make: |w, s| {
            let inner = w.workspace.join("inner");
            fs::create_dir(&inner).unwrap();
            git(&inner, &["init", "-q"]);
            fs::write(inner.join("x"), "x").unwrap();
            git(&inner, &["add", "x"]);
            git(&inner, &["commit", "-qm", "x"]);
            w.file(".gitmodules", "[submodule \"inner\"]\n\tpath = inner\n\turl = ./inner\n");
            git(&w.workspace, &["-c", "advice.addEmbeddedRepo=false", "add", "inner", ".gitmodules"]);
            git(&w.workspace, &["commit", "-qm", "Add a submodule"]);
            git(&inner, &["config", "core.fsmonitor", s]);
        },
        trigger: &["status"],
    },
    Attack {
        name: "a missing object behind a program",
        make: |w, s| {
            config(w, "extensions.partialClone", "origin");
            config(w, "remote.origin.promisor", "true");
            config(w, "remote.origin.url", &format!("ext::{s} %S"));
            config(w, "protocol.ext.allow", "always");
            let blob = git(&w.workspace, &["rev-parse", "HEAD:a.txt"]);
            let (folder, name) = blob.split_at(2);
            fs::remove_file(w.workspace.join(format!(".git/objects/{folder}/{name}"))).unwrap();
        },
        trigger: &["show", "HEAD:a.txt"],
    },
    Attack {
        name: "a missing object behind ssh",
        make: |w, s| {
            config(w, "extensions.partialClone", "origin");
            config(w, "remote.origin.promisor", "true");
            config(w, "remote.origin.url", "ssh://nobody.example/x");
            config(w, "core.sshCommand", s);
            let blob = git(&w.workspace, &["rev-parse", "HEAD:a.txt"]);
            let (folder, name) = blob.split_at(2);
            fs::remove_file(w.workspace.join(format!(".git/objects/{folder}/{name}"))).unwrap();
        },
        trigger: &["show", "HEAD:a.txt"],
    },
    Attack {
        name: "a merge driver",
        make: |w, s| {
            attributes(w, "*.txt merge=evil\n");
            config(w, "merge.evil.driver", s);
            w.file("a.txt", "stashed\n");
            git(&w.workspace, &["stash", "-q"]);
            w.file("a.txt", "committed\n");
            attributes(w, "*.txt merge=evil\n");
            git(&w.workspace, &["add", "."]);
            git(&w.workspace, &["commit", "-qm", "Conflict with the stash"]);
        },
        trigger: &["stash", "apply", "-q"],
    },
    Attack { name: "an editor", make: |w, s| config(w, "core.editor", s), trigger: &["commit", "-aq"] },
];

fn set_off(workspace: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(words).current_dir(workspace).envs(identity()).env_remove("GIT_EDITOR").env("TERM", "xterm");
    command.env_remove("VISUAL").env_remove("EDITOR").output().unwrap();
}

#[tokio::test]
async fn looking_and_committing_start_no_programs_of_the_repository() {
    for Attack { name, make, trigger } in ATTACKS {
        // Once for plain git, to see that the attack is one.
        let victim = world();
        let mark = victim.root.join("mark");
        let script = victim.root.join("evil");
        fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        make(&victim, script.to_str().unwrap());
        victim.file("a.txt", "changed\n");
        set_off(&victim.workspace, trigger);
        assert!(mark.exists(), "{name}: this is no attack");

        let world = world();
        let mark = world.root.join("mark");
        let script = world.root.join("evil");
        fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        make(&world, script.to_str().unwrap());
        if name != "a merge driver" {
            world.file("a.txt", "changed\n");
        }
        fs::remove_file(&mark).unwrap_or_default();
        for (tool, input) in [
            ("git_status", json!({})),
            ("git_diff", json!({})),
            ("git_diff", json!({"from": "HEAD"})),
            ("git_log", json!({})),
            ("git_show", json!({})),
            ("git_show", json!({"path": "a.txt"})),
            ("git_blame", json!({"path": "a.txt"})),
            ("git_branch", json!({"all": true})),
            ("git_stash", json!({"action": "pop"})),
            ("git_restore", json!({"paths": ["a.txt"]})),
            ("git_add", json!({"paths": ["."]})),
            ("git_commit", json!({"message": "Commit whatever is there"})),
            ("git_stash", json!({"action": "push"})),
            ("git_stash", json!({"action": "pop"})),
        ] {
            let finished = world.run(tool, input.clone()).await;
            assert!(!mark.exists(), "{name}: {tool} {input} set it off: {}", finished.output.text);
        }
    }
}

/// The tools are not only safe: the person's own settings still count, and work goes on.
#[tokio::test]
async fn a_hostile_repository_can_still_be_worked_in() {
    let world = world();
    config(&world, "core.fsmonitor", "false");
    attributes(&world, "*.txt filter=evil\n");
    config(&world, "filter.evil.clean", "exit 1");
    config(&world, "filter.evil.required", "true");
    world.file("a.txt", "two\n");
    world.ok("git_add", json!({"paths": ["a.txt"]})).await;
    world.ok("git_commit", json!({"message": "Commit without the filter"})).await;
    assert_eq!(git(&world.workspace, &["cat-file", "blob", "HEAD:a.txt"]), "two");
}

#[tokio::test]
async fn a_remote_is_no_program() {
    type Make = fn(&World, &str);
    let attacks: [(&str, Make); 6] = [
        ("a program as address", |w, s| {
            config(w, "remote.origin.url", &format!("ext::{s} %S"));
            config(w, "protocol.ext.allow", "always");
        }),
        ("an address that is rewritten", |w, s| {
            config(w, "remote.origin.url", "https://good.example/x");
            config(w, &format!("url.ext::{s} .insteadOf"), "https://good.example/");
            config(w, "protocol.ext.allow", "always");
        }),
        ("another upload-pack", |w, s| {
            config(w, "remote.origin.url", w.workspace.to_str().unwrap());
            config(w, "remote.origin.uploadpack", s);
        }),
        ("another ssh", |w, s| {
            config(w, "remote.origin.url", "ssh://127.0.0.1:1/x");
            config(w, "core.sshCommand", s);
        }),
        ("a helper by name", |w, s| {
            config(w, "remote.origin.url", s);
            config(w, "remote.origin.vcs", "ext");
        }),
        ("a helper for passwords", |w, s| {
            config(w, "remote.origin.url", &serve(Answer::WhoAreYou));
            config(w, "credential.helper", &format!("!{s}"));
            config(w, "core.askPass", s);
        }),
    ];
    for (name, make) in attacks {
        // Once for plain git, to see that the attack is one.
        let victim = self::world();
        let mark = victim.root.join("mark");
        let script = victim.root.join("evil");
        fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        make(&victim, script.to_str().unwrap());
        set_off(&victim.workspace, &["fetch", "origin"]);
        // Git looks for the helper by the name in an address that has none; this one is none of ours.
        assert!(mark.exists() || name == "a helper by name", "{name}: this is no attack");

        let mut world = world();
        world.role = Role::Supervisor;
        let mark = world.root.join("mark");
        let script = world.root.join("evil");
        fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        make(&world, script.to_str().unwrap());
        let _ = world.run("git_fetch", json!({})).await;
        assert!(!mark.exists(), "{name}");
    }
    let mut world = world();
    world.role = Role::Supervisor;
    config(&world, "remote.origin.url", "https://bad.example/x.git");
    world.deny("reach bad.example");
    assert!(world.refused("git_fetch", json!({})).await.contains("deny reach bad.example"));
    // Pushes that go elsewhere do not hide it.
    config(&world, "remote.origin.pushurl", "https://good.example/x.git");
    assert!(world.refused("git_fetch", json!({})).await.contains("deny reach bad.example"));
    // Nor does somebody in between.
    config(&world, "http.proxy", "http://127.0.0.1:1");
    assert!(world.fails("git_fetch", json!({})).await.contains("`http.proxy`"));
}

/// A folder on this machine has hooks, and any command can write a remote down in the older ways.
#[tokio::test]
async fn a_push_runs_no_hooks_on_this_machine() {
    let mut world = world();
    world.role = Role::Admin;
    world.allow("run git push");
    let mark = world.root.join("mark");
    git(&world.workspace, &["init", "-q", "--bare", "evil.git"]);
    hook(&world, "evil.git/hooks", "post-receive", &format!("touch '{}'", mark.display()));
    world.file(".git/remotes/evil", "URL: ./evil.git\n");
    world.file(".git/branches/older", "./evil.git\n");
    for remote in ["evil", "older"] {
        let text = world.fails("git_push", json!({"branch": "main", "remote": remote})).await;
        assert!(text.contains(&format!("name no remote `{remote}`")), "{text}");
    }
    git(&world.workspace, &["remote", "add", "folder", "./evil.git"]);
    let text = world.fails("git_push", json!({"branch": "main", "remote": "folder"})).await;
    assert!(text.contains("'file' not allowed"), "{text}");
    assert!(!mark.exists());
    set_off(&world.workspace, &["push", "evil", "main"]);
    assert!(mark.exists(), "this is no attack");
}

/// Any command can make a stash, of files that it may not write itself.
#[tokio::test]
async fn a_stash_puts_nothing_where_it_must_not_be_written() {
    for name in [".envrc", ".weft/config.toml"] {
        let mut world = world();
        world.approved = true;
        let file = world.file(name, "echo owned\n");
        git(&world.workspace, &["stash", "push", "-q", "--include-untracked"]);
        assert!(!file.exists());
        let text = world.refused("git_stash", json!({"action": "pop"})).await;
        assert!(text.contains(name), "{text}");
        assert!(!file.exists());
    }
}

#[tokio::test]
async fn a_repository_does_not_lead_to_another() {
    let other = world();
    let other_git = other.workspace.join(".git");
    let head = git(&other.workspace, &["rev-parse", "HEAD"]);

    // `.git` as a file that points to somebody else's repository.
    let thief = World::new();
    thief.file(".git", format!("gitdir: {}\n", other_git.display()));
    for (tool, input) in
        [("git_log", json!({})), ("git_show", json!({})), ("git_commit", json!({"message": "Into the other one"}))]
    {
        assert!(thief.fails(tool, input).await.contains("does not lead back"), "{tool}");
    }
    // `.git` as a link to it.
    let thief = World::new();
    symlink(&other_git, thief.workspace.join(".git")).unwrap();
    assert!(thief.fails("git_log", json!({})).await.contains("is a link"));
    // What `.git` leads to has a pipe where git would say the way back: nobody waits for it.
    let thief = World::new();
    thief.file("own/HEAD", "ref: refs/heads/main\n");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = thief.workspace.join("own/gitdir");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    thief.file(".git", "gitdir: own\n");
    assert!(thief.fails("git_log", json!({})).await.contains("does not lead back"));
    // Its own repository, with the working tree of somebody else.
    let thief = world();
    config(&thief, "core.worktree", other.workspace.to_str().unwrap());
    other.file("a.txt", "precious\n");
    thief.ok("git_restore", json!({"paths": ["a.txt"]})).await;
    assert_eq!(other.content("a.txt"), "precious\n");
    // An index that lies elsewhere.
    let thief = world();
    let index = thief.workspace.join(".git/index");
    let elsewhere = other.root.join("victim");
    fs::rename(&index, &elsewhere).unwrap();
    symlink(&elsewhere, &index).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    thief.file("b.txt", "b");
    assert!(thief.fails("git_add", json!({"paths": ["b.txt"]})).await.contains("is a link"));
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
    // A folder that is itself made to look like a repository.
    let thief = world();
    let bare = thief.workspace.join("bare");
    git(&thief.workspace, &["init", "-q", "--bare", "bare"]);
    let mark = thief.root.join("mark");
    git(&bare, &["config", "core.fsmonitor", &format!("touch {}", mark.display())]);
    git(&bare, &["config", "core.bare", "false"]);
    git(&bare, &["config", "core.worktree", "."]);
    let mut inside = thief;
    inside.workspace = bare;
    let _ = inside.run("git_status", json!({})).await;
    let _ = inside.run("git_diff", json!({})).await;
    assert!(!mark.exists());
    assert_eq!(git(&other.workspace, &["rev-parse", "HEAD"]), head);
}

/// Worktrees lead elsewhere, and back: they are what agents work in.
#[tokio::test]
async fn a_worktree_is_worked_in() {
    let main = world();
    let tree = main.root.join("tree");
    git(&main.workspace, &["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    let mut side = main;
    side.workspace = tree;
    side.file("a.txt", "side\n");
    side.ok("git_add", json!({"all": true})).await;
    side.ok("git_commit", json!({"message": "Work in a worktree"})).await;
    assert!(side.ok("git_status", json!({})).await.starts_with("On branch side\nnothing"));
    assert_eq!(git(&side.root.join("ws"), &["log", "-1", "--format=%s", "side"]), "Work in a worktree");
}
