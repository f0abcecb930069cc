//! The git tools on real repositories: everyday work, permissions, and names that are odd.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use weft_core::Mode;
use weft_core::ask::AskKind;
use weft_core::event::{Access, Outcome};
use weft_tool::{Role, Verdict};

use super::world::World;

/// Git as a person uses it, apart from this machine's settings.
pub fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git").args(words).current_dir(folder).envs(identity()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub fn identity() -> [(&'static str, &'static str); 6] {
    [
        ("GIT_AUTHOR_NAME", "Ann"),
        ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ("GIT_COMMITTER_NAME", "Ann"),
        ("GIT_COMMITTER_EMAIL", "ann@example.org"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ]
}

/// A workspace with a repository and one commit.
pub fn world() -> World {
    let world = World::new();
    git(&world.workspace, &["init", "-q", "-b", "main"]);
    git(&world.workspace, &["config", "user.name", "Ann"]);
    git(&world.workspace, &["config", "user.email", "ann@example.org"]);
    world.file("a.txt", "one\n");
    git(&world.workspace, &["add", "."]);
    git(&world.workspace, &["commit", "-qm", "Begin with one"]);
    world
}

#[tokio::test]
async fn a_change_is_seen_staged_committed_and_found_again() {
    let world = world();
    assert_eq!(world.ok("git_status", json!({})).await, "On branch main\nnothing to commit, all is clean");
    world.file("a.txt", "one\ntwo\n");
    world.file("dir/new.txt", "new\n");
    let status = world.ok("git_status", json!({})).await;
    assert_eq!(status, "On branch main\nnot staged:\n  M a.txt\nuntracked:\n  dir/");
    assert!(world.ok("git_diff", json!({})).await.ends_with("@@ -1 +1,2 @@\n one\n+two"));
    assert_eq!(world.ok("git_diff", json!({"staged": true})).await, "No differences.");
    assert_eq!(world.ok("git_add", json!({"paths": ["a.txt", "dir"]})).await, "Staged.");
    assert!(world.ok("git_diff", json!({"staged": true, "stat": true})).await.contains("2 files changed"));
    let made = world.ok("git_commit", json!({"message": "Add a second line", "body": "Because one is few."})).await;
    assert!(made.contains("Add a second line"), "{made}");
    let log = world.ok("git_log", json!({})).await;
    assert!(log.lines().next().unwrap().ends_with("Ann: Add a second line (HEAD -> main)"), "{log}");
    assert_eq!(world.ok("git_log", json!({"grep": "Begin"})).await.lines().count(), 1);
    let shown = world.ok("git_show", json!({})).await;
    assert!(shown.contains("Because one is few.") && shown.contains("+++ b/dir/new.txt"), "{shown}");
    assert_eq!(world.ok("git_show", json!({"commit": "HEAD~1", "path": "a.txt"})).await, "one");
    assert!(world.ok("git_diff", json!({"from": "HEAD~1", "to": "HEAD", "paths": ["a.txt"]})).await.contains("+two"));
    assert!(world.ok("git_blame", json!({"path": "a.txt", "first": 2, "last": 2})).await.ends_with("2) two"));
    assert!(world.ok("git_branch", json!({})).await.starts_with("* main "));
}

#[tokio::test]
async fn changes_are_put_aside_and_thrown_away() {
    let world = world();
    world.file("a.txt", "changed\n");
    world.ok("git_stash", json!({"action": "push", "message": "later"})).await;
    assert_eq!(world.content("a.txt"), "one\n");
    assert!(world.ok("git_stash", json!({"action": "list"})).await.contains("later"));
    world.ok("git_stash", json!({"action": "pop"})).await;
    assert_eq!(world.content("a.txt"), "changed\n");
    world.ok("git_add", json!({"all": true})).await;
    world.ok("git_restore", json!({"paths": ["a.txt"], "staged": true})).await;
    assert!(world.ok("git_status", json!({})).await.contains("not staged:\n  M a.txt"));
    world.ok("git_restore", json!({"paths": ["a.txt"]})).await;
    assert_eq!(world.content("a.txt"), "one\n");
}

#[tokio::test]
async fn history_is_for_supervisors() {
    let mut world = world();
    let calls = [
        ("git_branch", json!({"name": "side"})),
        ("git_switch", json!({"branch": "other", "create": true})),
        ("git_worktree", json!({"action": "add", "path": "tree", "branch": "leaf"})),
        ("git_revert", json!({"commit": "HEAD"})),
        ("git_cherry_pick", json!({"commits": ["HEAD"]})),
        ("git_reset", json!({"commit": "HEAD"})),
        ("git_fetch", json!({})),
    ];
    for (tool, input) in &calls {
        assert!(world.refused(tool, input.clone()).await.contains("for a `supervisor`"), "{tool}");
    }
    world.role = Role::Supervisor;
    world.ok("git_branch", json!({"name": "side"})).await;
    world.ok("git_switch", json!({"branch": "other", "create": true})).await;
    world.file("a.txt", "other\n");
    world.ok("git_add", json!({"all": true})).await;
    world.ok("git_commit", json!({"message": "Change it elsewhere"})).await;
    world.ok("git_switch", json!({"branch": "side"})).await;
    world.file("a.txt", "side\n");
    world.ok("git_add", json!({"all": true})).await;
    world.ok("git_commit", json!({"message": "Change it here"})).await;
    // What leads to conflicts is taken back.
    let text = world.fails("git_cherry_pick", json!({"commits": ["other"]})).await;
    assert!(text.contains("conflict") && text.contains("nothing has changed"), "{text}");
    assert!(world.ok("git_status", json!({})).await.contains("all is clean"));
    world.ok("git_revert", json!({"commit": "HEAD"})).await;
    assert_eq!(world.content("a.txt"), "one\n");
    world.ok("git_reset", json!({"commit": "HEAD~2"})).await;
    world.ok("git_worktree", json!({"action": "add", "path": "tree", "branch": "leaf"})).await;
    assert!(world.ok("git_worktree", json!({"action": "list"})).await.contains("[leaf]"));
    assert_eq!(world.content("tree/a.txt"), "one\n");
    world.ok("git_worktree", json!({"action": "remove", "path": "tree"})).await;
}

#[tokio::test]
async fn observers_look_and_change_nothing() {
    let mut world = world();
    world.role = Role::Observer;
    world.file("a.txt", "two\n");
    for (tool, input) in [
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_log", json!({})),
        ("git_show", json!({})),
        ("git_blame", json!({"path": "a.txt"})),
        ("git_branch", json!({})),
        ("git_stash", json!({"action": "list"})),
    ] {
        world.mode = Mode::Safe;
        world.ok(tool, input.clone()).await;
        let plan = world.plan(tool, input);
        assert!(plan.idempotent && plan.access == Access::Read, "{tool}");
    }
    world.mode = Mode::Auto;
    for (tool, input) in [
        ("git_add", json!({"all": true})),
        ("git_commit", json!({"message": "Change the file"})),
        ("git_restore", json!({"paths": ["a.txt"]})),
        ("git_stash", json!({"action": "push"})),
        ("git_push", json!({"branch": "main"})),
    ] {
        world.refused(tool, input.clone()).await;
        assert!(!world.plan(tool, input).idempotent);
    }
    world.role = Role::Admin;
    world.mode = Mode::Safe;
    world.refused("git_add", json!({"all": true})).await;
    assert_eq!(world.content("a.txt"), "two\n");
}

#[tokio::test]
async fn push_merge_and_hard_reset_are_for_nobody_without_a_rule() {
    let mut world = world();
    let remote = world.root.join("remote.git");
    git(&world.root, &["init", "-q", "--bare", "remote.git"]);
    git(&remote, &["config", "http.receivepack", "true"]);
    let server = super::git_server::serve(super::git_server::Answer::Repository(remote.clone()));
    git(&world.workspace, &["remote", "add", "origin", &server]);
    git(&world.workspace, &["branch", "side"]);
    world.role = Role::Admin;
    world.approved = true;
    let calls = [
        ("git_push", json!({"branch": "main"}), "run git push"),
        ("git_merge", json!({"commit": "side"}), "run git merge"),
        ("git_reset", json!({"commit": "HEAD", "hard": true}), "run git reset --hard"),
    ];
    for (tool, input, _) in &calls {
        assert!(world.refused(tool, input.clone()).await.contains("for nobody"), "{tool}");
        assert!(matches!(world.prepare(tool, input.clone()), Verdict::Refuse { .. }));
    }
    // Not by a rule that only covers it by the way.
    world.allow("run git");
    world.allow("run git *");
    for (tool, input, _) in &calls {
        world.refused(tool, input.clone()).await;
    }
    for (tool, input, rule) in calls {
        world.allow(rule);
        world.ok(tool, input).await;
    }
    assert_eq!(git(&remote, &["rev-parse", "main"]), git(&world.workspace, &["rev-parse", "main"]));
    world.deny("run git push");
    world.refused("git_push", json!({"branch": "main"})).await;
}

#[tokio::test]
async fn a_person_is_told_in_plain_words() {
    let mut world = world();
    world.mode = Mode::Ask;
    let Verdict::Ask { kind: AskKind::Approval { detail, grant, .. }, question } =
        world.prepare("git_commit", json!({"message": "Say what was done", "body": "And why."}))
    else {
        panic!("nobody was asked")
    };
    assert_eq!(question, "Commit: Say what was done?");
    assert!(detail.starts_with("Makes a commit on the current branch out of what is staged."), "{detail}");
    assert!(detail.contains("Say what was done\n\nAnd why."), "{detail}");
    assert!(format!("{grant:?}").contains("run git commit"), "{grant:?}");
    world.allow("run git commit");
    assert!(matches!(world.prepare("git_commit", json!({"message": "Say what was done"})), Verdict::Run { .. }));
    world.deny("run git log");
    assert!(matches!(world.prepare("git_log", json!({})), Verdict::Refuse { .. }));
}

/// Changes show what is in files, so they are held to the rules for reading.
#[tokio::test]
async fn what_may_not_be_read_is_neither_shown_nor_committed() {
    let mut world = world();
    world.file(".env", "TOKEN=old\n");
    world.file("private/plan.txt", "old plan\n");
    git(&world.workspace, &["add", "."]);
    git(&world.workspace, &["commit", "-qm", "Commit what should not be there"]);
    world.file(".env", "TOKEN=hunter2-and-more\n");
    world.file("private/plan.txt", "new plan\n");
    world.file("a.txt", "seen\n");
    world.deny("read private/**");
    for (tool, input) in [
        ("git_diff", json!({})),
        ("git_diff", json!({"from": "HEAD"})),
        ("git_show", json!({})),
        ("git_diff", json!({"paths": ["."]})),
    ] {
        let text = world.ok(tool, input).await;
        assert!(!text.contains("TOKEN") && !text.contains("plan\n+"), "{tool}: {text}");
        assert!(text.contains("[left out, since they may not be read: .env, private/plan.txt]"), "{tool}: {text}");
    }
    world.refused("git_blame", json!({"path": "private/plan.txt"})).await;
    world.refused("git_show", json!({"path": "private/plan.txt"})).await;
    assert!(matches!(world.prepare("git_show", json!({"path": ".env"})), Verdict::Ask { .. }));
    world.file(".env.local", "KEY=x\n");
    let text = world.ok("git_add", json!({"paths": ["."]})).await;
    assert!(text.contains("left out"), "{text}");
    assert_eq!(git(&world.workspace, &["diff", "--cached", "--name-only"]), "a.txt");
}

#[tokio::test]
async fn odd_names_stay_one_name_each() {
    let world = world();
    let names = ["-rf", "--output=x", "a b", "line\nbreak", "quote\"d", ":(exclude)a.txt", "*", "ü.txt", "tab\there"];
    for name in names {
        world.file(name, "x\n");
    }
    let status = world.ok("git_status", json!({})).await;
    assert_eq!(status.lines().count(), 2 + names.len(), "{status}");
    assert!(status.contains("\n  \"line\\nbreak\"\n"), "{status}");
    for name in names {
        world.ok("git_add", json!({"paths": [name]})).await;
    }
    assert_eq!(
        git(&world.workspace, &["diff", "--cached", "--name-only", "-z"]).split_terminator('\0').count(),
        names.len()
    );
    world.ok("git_commit", json!({"message": "Add odd names to the tree"})).await;
    world.file("-rf", "y\n");
    assert!(world.ok("git_diff", json!({"paths": ["-rf"]})).await.contains("+y"));
    world.ok("git_restore", json!({"paths": ["*"]})).await;
    assert_eq!(world.content("-rf"), "y\n", "a name with a star is one name");
    world.ok("git_restore", json!({"paths": ["-rf"]})).await;
    assert!(world.ok("git_blame", json!({"path": "-rf"})).await.contains("1) x"));
    for path in ["../x", "/etc/passwd", "~/x", "a/../../x", ""] {
        let finished = world.run("git_add", json!({"paths": [path]})).await;
        assert_eq!(finished.outcome, Outcome::Invalid, "{path}");
    }
}

#[tokio::test]
async fn a_workspace_within_a_repository_sees_only_itself() {
    let mut world = world();
    world.file("sub/inner.txt", "in\n");
    world.file("outer.txt", "out\n");
    world.workspace = world.workspace.join("sub");
    let status = world.ok("git_status", json!({})).await;
    assert_eq!(status, "On branch main\nuntracked:\n  ./");
    world.ok("git_add", json!({"paths": ["."]})).await;
    let staged = world.ok("git_diff", json!({"staged": true})).await;
    assert!(staged.contains("+in") && !staged.contains("outer"), "{staged}");
    world.ok("git_commit", json!({"message": "Commit the inner one"})).await;
    assert_eq!(world.ok("git_show", json!({"path": "inner.txt"})).await, "in");
}

#[tokio::test]
async fn where_there_is_no_repository_it_is_said() {
    let world = World::new();
    assert!(world.fails("git_status", json!({})).await.contains("no git repository"));
    git(&world.workspace, &["init", "-q", "-b", "main"]);
    world.file("a", "x");
    assert!(world.ok("git_status", json!({})).await.contains("untracked:\n  a"));
    assert!(world.fails("git_log", json!({})).await.contains("fatal"));
    assert!(
        world.fails("git_commit", json!({"message": "Nothing is staged"})).await.contains("nothing added to commit")
    );
}
