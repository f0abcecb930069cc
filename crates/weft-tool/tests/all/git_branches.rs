//! Git tools that bring in what is elsewhere: other branches, other commits, a remote. What they
//! would do to files is held to the rules for files.

use serde_json::{Value, json};
use weft_core::event::Outcome;
use weft_tool::{Role, Verdict};

use super::git::{git, world};
use super::git_server::{Answer, serve};
use super::world::World;

/// A branch `side` that changes a file, and may change another.
fn with_side_branch(also: &[(&str, &str)]) -> World {
    let mut world = world();
    world.role = Role::Supervisor;
    git(&world.workspace, &["switch", "-qc", "side"]);
    world.file("a.txt", "side\n");
    for (name, content) in also {
        world.file(name, content);
    }
    git(&world.workspace, &["add", "--all", "--force"]);
    git(&world.workspace, &["commit", "-qm", "Change it on the side"]);
    git(&world.workspace, &["switch", "-q", "main"]);
    world
}

fn calls() -> [(&'static str, Value); 5] {
    [
        ("git_switch", json!({"branch": "side"})),
        ("git_merge", json!({"commit": "side"})),
        ("git_cherry_pick", json!({"commits": ["side"]})),
        ("git_reset", json!({"commit": "side", "hard": true})),
        ("git_revert", json!({"commit": "side"})),
    ]
}

/// Merging and throwing away are for nobody without a rule.
fn with_rules(mut world: World) -> World {
    world.allow("run git merge");
    world.allow("run git reset --hard");
    world
}

#[tokio::test]
async fn what_a_branch_brings_is_held_to_the_rules_for_files() {
    for (tool, input) in calls() {
        let mut world = with_rules(with_side_branch(&[]));
        world.deny("write a.txt");
        let before = git(&world.workspace, &["rev-parse", "HEAD"]);
        let text = world.refused(tool, input).await;
        assert!(text.contains("`deny write a.txt`"), "{tool}: {text}");
        assert_eq!(git(&world.workspace, &["rev-parse", "HEAD"]), before, "{tool}");
        assert_eq!(world.content("a.txt"), "one\n", "{tool}");
    }
}

#[tokio::test]
async fn what_a_branch_brings_cannot_be_what_programs_start_with() {
    for protected in [".weft/config.toml", ".envrc"] {
        for (tool, input) in calls() {
            let mut world = with_rules(with_side_branch(&[(protected, "mode = \"auto\"\n")]));
            // A yes to the call is no yes to this file, which it does not name.
            world.approved = true;
            let text = world.refused(tool, input).await;
            assert!(text.contains(protected), "{tool}: {text}");
            assert!(!world.workspace.join(protected).exists(), "{tool}");
        }
    }
}

#[tokio::test]
async fn a_tag_of_the_same_name_does_not_hide_what_a_branch_brings() {
    let mut world = with_side_branch(&[]);
    git(&world.workspace, &["tag", "side", "main"]);
    world.deny("write a.txt");
    world.refused("git_switch", json!({"branch": "side"})).await;
    assert_eq!(world.content("a.txt"), "one\n");
}

#[tokio::test]
async fn branches_are_switched_and_merged_where_nothing_speaks_against_it() {
    let world = with_rules(with_side_branch(&[]));
    world.ok("git_switch", json!({"branch": "side"})).await;
    assert_eq!(world.content("a.txt"), "side\n");
    world.ok("git_switch", json!({"branch": "main"})).await;
    world.ok("git_merge", json!({"commit": "side"})).await;
    assert_eq!(world.content("a.txt"), "side\n");
    let text = world.fails("git_switch", json!({"branch": "nowhere"})).await;
    assert!(text.contains("There is no branch `nowhere`"), "{text}");
    let text = world.fails("git_revert", json!({"commit": "nothing"})).await;
    assert!(text.contains("Does what you named exist?"), "{text}");
}

#[tokio::test]
async fn files_and_tags_are_listed() {
    let world = world();
    world.file("dir/b.txt", "two\n");
    git(&world.workspace, &["add", "."]);
    git(&world.workspace, &["commit", "-qm", "Add another file"]);
    git(&world.workspace, &["tag", "v1.0"]);
    git(&world.workspace, &["tag", "other"]);
    world.file("a.txt", "changed\n");
    world.file("untracked.txt", "");
    assert_eq!(world.ok("git_ls_files", json!({})).await, "a.txt\ndir/b.txt");
    assert_eq!(world.ok("git_ls_files", json!({"paths": ["dir"]})).await, "dir/b.txt");
    assert_eq!(world.ok("git_ls_files", json!({"modified": true})).await, "a.txt");
    let tags = world.ok("git_tags", json!({"pattern": "v*"})).await;
    assert!(tags.starts_with("v1.0 ") && tags.lines().count() == 1, "{tags}");
    assert_eq!(world.ok("git_tags", json!({})).await.lines().count(), 2);
    for pattern in ["--exec=x", "../heads/*", "$(x)"] {
        let finished = world.run("git_tags", json!({"pattern": pattern})).await;
        let is_nothing = finished.outcome == Outcome::Ok && finished.output.text == "No tags.";
        assert!(is_nothing || finished.outcome == Outcome::Invalid, "{pattern}: {}", finished.output.text);
    }
}

/// A remote whose `main` is one commit ahead of the workspace's.
fn with_remote() -> World {
    let mut world = world();
    world.role = Role::Supervisor;
    let remote = world.root.join("remote.git");
    git(&world.root, &["clone", "-q", "--bare", "ws", "remote.git"]);
    let elsewhere = world.root.join("elsewhere");
    git(&world.root, &["clone", "-q", "remote.git", "elsewhere"]);
    std::fs::write(elsewhere.join("a.txt"), "theirs\n").unwrap();
    git(&elsewhere, &["commit", "-qam", "Change it there"]);
    git(&elsewhere, &["push", "-q", "origin", "main"]);
    let url = serve(Answer::Repository(remote));
    git(&world.workspace, &["remote", "add", "origin", &url]);
    world
}

#[tokio::test]
async fn a_branch_is_pulled_where_nothing_has_to_be_merged() {
    let mut world = with_remote();
    world.role = Role::Worker;
    assert!(world.refused("git_pull", json!({"branch": "main"})).await.contains("for a `supervisor`"));
    world.role = Role::Supervisor;
    world.mode = weft_core::Mode::Ask;
    assert!(matches!(world.prepare("git_pull", json!({"branch": "main"})), Verdict::Ask { .. }));
    world.mode = weft_core::Mode::Auto;
    world.ok("git_pull", json!({"branch": "main"})).await;
    assert_eq!(world.content("a.txt"), "theirs\n");
    assert!(world.ok("git_log", json!({})).await.contains("Change it there"));
}

#[tokio::test]
async fn a_pull_changes_nothing_that_must_be_merged_or_may_not_be_written() {
    let mut world = with_remote();
    world.file("b.txt", "mine\n");
    git(&world.workspace, &["add", "."]);
    git(&world.workspace, &["commit", "-qm", "Go another way"]);
    let text = world.fails("git_pull", json!({"branch": "main"})).await;
    assert!(text.starts_with("It was fetched, but no file was changed"), "{text}");
    assert_eq!(world.content("a.txt"), "one\n");
    git(&world.workspace, &["reset", "-q", "--hard", "HEAD~1"]);
    world.deny("write a.txt");
    world.refused("git_pull", json!({"branch": "main"})).await;
    assert_eq!(world.content("a.txt"), "one\n");
    for input in [json!({"branch": "--upload-pack=evil"}), json!({"branch": "main", "remote": "ext::sh -c evil"})] {
        assert_eq!(world.run("git_pull", input).await.outcome, Outcome::Invalid);
    }
}
