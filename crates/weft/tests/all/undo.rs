use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use weft_script::{Reply, call, text};

use crate::world::{World, exists, types, wait_until};

fn shell(command: &str) -> Reply {
    call("shell", json!({ "command": command }))
}

#[test]
fn a_turn_that_made_only_a_folder_is_told_of_as_that() {
    let world = World::new(vec![shell("mkdir empty"), text("Done.")]);
    let ran = world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    ran.says("Only folders changed. `weft undo` takes it back.");
}

#[test]
fn a_turn_is_shown_taken_back_and_done_again() {
    let world = World::new(vec![
        call("write", json!({"path": "new.txt", "content": "hello\n"})),
        shell("sed -i s/one/two/ old.txt && chmod +x old.txt && mkdir -p a/b && printf '\\000\\377' > a/b/bin"),
        text("Done."),
        text("I see."),
        text("Well."),
    ]);
    let old = world.folder.path().join("old.txt");
    std::fs::write(&old, "one\n").unwrap();
    let mode = || std::fs::metadata(&old).unwrap().permissions().mode() & 0o777;
    let before = mode();
    let ran = world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0);
    let events = ran.events();
    assert_eq!(types(&events)[events.len() - 3..], ["round_answered", "files_changed", "turn_ended"]);
    let changed = &events[events.len() - 2];
    let paths: Vec<&str> =
        changed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a/b/bin", "new.txt", "old.txt"]);
    let diff = world.weft(&["diff"]).expect(0);
    diff.says("-one +two").says("+hello").says("Binary file: nothing before, 2 B after");
    diff.says("old mode 100644 new mode 100755");

    let undone = world.weft(&["undo", "-n", "3"]).expect(0);
    undone.says("Took back turn 1: 3 files changed").says(&format!("Session {}", world.session()));
    undone.says("new.txt deleted −1").says("old.txt changed +1 −1").says("a/b/bin deleted");
    undone.says("That is all: the session had only 1 turn that has changed files.");
    assert_eq!((world.file("old.txt").as_str(), mode()), ("one\n", before));
    assert!(!world.folder.path().join("new.txt").exists());
    assert!(!world.folder.path().join("a").exists());
    world.weft(&["undo"]).expect(0).says("Nothing to undo: no turn has changed files that could be taken back.");
    world.weft(&["diff"]).expect(0).says("Nothing to show: no turn has changed files.");

    world.weft(&["run", "--continue", "what now?"]).expect(0);
    let asked = world.server.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("The person took back the changes of the last turn"), "{asked}");

    world.weft(&["redo"]).expect(0).says("Did again turn 1");
    assert_eq!((world.file("old.txt").as_str(), world.file("new.txt").as_str()), ("two\n", "hello\n"));
    assert_eq!(std::fs::read(world.folder.path().join("a/b/bin")).unwrap(), [0, 255]);
    assert_ne!(mode(), before);
    world.weft(&["redo"]).expect(0).says("Nothing to redo: nothing was taken back.");
    world.weft(&["redo", "--session", &world.session()]).expect(1).says("Nothing was taken back");
    world
        .weft(&["sessions", "show", &world.session()])
        .expect(0)
        .says("3 files changed")
        .says("Took back turn 1")
        .says("new.txt created +1");
}

#[test]
fn what_the_person_did_since_is_left_alone() {
    let world = World::new(vec![shell("echo a > a; echo b > b"), text("Done.")]);
    world.weft(&["run", "--mode", "auto", "go"]).expect(0).says("2 files changed +2");
    std::fs::write(world.folder.path().join("a"), "mine").unwrap();
    world.weft(&["undo"]).expect(1).says("`a` was left as it is: it was changed since");
    assert_eq!((world.file("a").as_str(), world.folder.path().join("b").exists()), ("mine", false));
    world.weft(&["redo"]).expect(0);
    world.weft(&["undo", "--force"]).expect(0);
    assert!(!world.folder.path().join("a").exists());
    world.weft(&["redo"]).expect(0);
    assert_eq!(world.file("a"), "mine", "even what was forced is brought back");
}

#[test]
fn several_turns_and_a_new_turn_after_an_undo() {
    let world = World::new(vec![
        shell("echo 1 > a"),
        text("One."),
        shell("echo 2 > a; echo 2 > b"),
        text("Two."),
        shell("echo 3 > a"),
        text("Three."),
    ]);
    world.weft(&["run", "--mode", "auto", "one"]).expect(0);
    world.weft(&["run", "--mode", "auto", "--continue", "two"]).expect(0);
    let diff = world.weft(&["diff", "--all"]).expect(0).stdout;
    assert!(diff.contains("+2") && !diff.contains("-1"), "{diff}");
    world.weft(&["diff", "--turn", "1"]).expect(0).says("+1");
    world.weft(&["undo", "--turns", "2"]).expect(0).says("Took back turns 1 to 2");
    assert!(!world.folder.path().join("a").exists() && !world.folder.path().join("b").exists());
    world.weft(&["run", "--mode", "auto", "--continue", "three"]).expect(0);
    world.weft(&["redo"]).expect(0).says("Nothing to redo");
    world.weft(&["undo"]).expect(0);
    assert!(!world.folder.path().join("a").exists());
}

#[test]
fn a_turn_that_was_killed_and_resumed_is_taken_back_whole() {
    let world = World::new(vec![shell("echo changed > a; echo x > marks; sleep 30"), text("Recovered.")]);
    std::fs::write(world.folder.path().join("a"), "original\n").unwrap();
    let mut child = world.command(&["run", "--mode", "auto", "go"]).spawn().unwrap();
    wait_until("the tool", || exists(&world.folder.path().join("marks")));
    child.kill().unwrap();
    child.wait().unwrap();
    world.weft(&["undo", "--session", &world.session()]).expect(1).says("weft resume");
    world.weft(&["resume"]).expect(0).says("2 files changed");
    world.weft(&["undo"]).expect(0);
    assert_eq!(world.file("a"), "original\n");
    assert!(!world.folder.path().join("marks").exists());
}

#[test]
fn in_a_repository_the_users_own_history_is_not_touched() {
    let world = World::new(vec![shell("echo 2 > tracked; echo 2 > ignored; echo 2 > untracked"), text("Done.")]);
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        let output = command.current_dir(world.folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    for (name, text) in [("tracked", "1\n"), ("ignored", "1\n"), (".gitignore", "ignored\n")] {
        std::fs::write(world.folder.path().join(name), text).unwrap();
    }
    git(&["add", "tracked", ".gitignore"]);
    git(&["commit", "-qm", "first"]);
    let objects = || git(&["count-objects", "-v"]);
    let before = (objects(), git(&["status", "--porcelain"]), git(&["rev-parse", "HEAD"]));
    world.weft(&["run", "--mode", "auto", "go"]).expect(0).says("2 files changed");
    world.weft(&["undo"]).expect(0);
    assert_eq!((objects(), git(&["status", "--porcelain"]), git(&["rev-parse", "HEAD"])), before);
    assert_eq!(world.file("ignored"), "2\n");
}

#[test]
fn it_can_be_switched_off() {
    let world = World::new(vec![shell("echo 1 > a"), text("Done.")]);
    world.weft(&["config", "set", "undo.enabled", "false"]).expect(0);
    world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    world.weft(&["undo", "--session", &world.session()]).expect(1).says("undo.enabled");
}
