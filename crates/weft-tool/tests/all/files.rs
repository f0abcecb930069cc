//! Moving, deleting, patching and writing several files.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use weft_core::Mode;
use weft_core::event::{Access, Display, Outcome};
use weft_tool::{Registry, Verdict};

use crate::world::{World, names};

#[test]
fn the_extras_can_be_called_but_are_not_told_of() {
    let registry = Registry::builtin();
    let extras: Vec<&str> = registry.extras().map(|spec| spec.name).collect();
    let (git, files): (Vec<&str>, Vec<&str>) = extras.iter().partition(|name| name.starts_with("git_"));
    assert_eq!(git.len(), 21);
    assert_eq!(
        files,
        [
            "preview_edit",
            "apply_patch",
            "batch_write",
            "move",
            "delete",
            "structure_search",
            "structure_replace",
            "jobs",
            "project_tools",
            "check",
            "code"
        ]
    );
    for name in extras {
        assert!(registry.get(name).is_some());
        assert!(registry.specs().all(|spec| spec.name != name));
    }
}

#[tokio::test]
async fn a_file_is_moved_and_nothing_is_overwritten_unasked() {
    let world = World::new();
    world.file("a.txt", "one");
    world.file("b.txt", "two");
    world.ok("read", json!({"path": "a.txt"})).await;
    assert_eq!(world.ok("move", json!({"from": "a.txt", "to": "x/y/a.txt"})).await, "Moved `a.txt` to `x/y/a.txt`.");
    assert!(!world.workspace.join("a.txt").exists());
    // What was read before it was moved need not be read again.
    world.ok("write", json!({"path": "x/y/a.txt", "content": "1"})).await;
    let text = world.fails("move", json!({"from": "x/y/a.txt", "to": "b.txt"})).await;
    assert!(text.contains("`b.txt` exists"), "{text}");
    assert_eq!(world.content("b.txt"), "two");
    let text = world.ok("move", json!({"from": "x/y/a.txt", "to": "b.txt", "overwrite": true})).await;
    assert!(text.contains("What was there is kept at"), "{text}");
    assert_eq!(world.content("b.txt"), "1");
    assert_eq!(std::fs::read_to_string(world.root.join("trash/b.txt")).unwrap(), "two");
}

#[tokio::test]
async fn folders_and_links_are_moved_as_they_are() {
    let world = World::new();
    world.file("folder/in/a.txt", "one");
    std::os::unix::fs::symlink("folder/in/a.txt", world.workspace.join("link")).unwrap();
    world.ok("move", json!({"from": "link", "to": "other-link"})).await;
    assert!(world.workspace.join("other-link").is_symlink() && world.workspace.join("folder/in/a.txt").exists());
    world.ok("move", json!({"from": "folder", "to": "new/folder"})).await;
    assert_eq!(world.content("new/folder/in/a.txt"), "one");
    for (from, to, expected) in [
        ("new", "new/folder/deeper", "inside of it"),
        ("none", "x", "There is no file or folder `none`"),
        ("new/folder/in/a.txt", "new", "is a folder that exists"),
        (".", "x", "the workspace itself"),
    ] {
        let text = world.fails("move", json!({"from": from, "to": to})).await;
        assert!(text.contains(expected), "{from}: {text}");
    }
    assert!(matches!(world.plan("move", json!({"from": "a", "to": "b"})).access, Access::Run));
}

#[tokio::test]
async fn what_is_deleted_is_kept_in_the_trash() {
    let world = World::new();
    for content in ["one", "two"] {
        world.file("src/a.txt", content);
        let text = world.ok("delete", json!({"path": "src/a.txt"})).await;
        assert!(text.starts_with("Deleted `src/a.txt`. It is kept at `"), "{text}");
        assert!(!world.workspace.join("src/a.txt").exists());
    }
    let kept = |name: &str| std::fs::read_to_string(world.root.join("trash/src").join(name)).unwrap();
    assert_eq!((kept("a.txt"), kept("a.txt~2")), ("one".to_owned(), "two".to_owned()));
    // A folder of the name of a deleted file.
    world.file("src/a.txt/inner", "three");
    let text = world.ok("delete", json!({"path": "src/a.txt/inner"})).await;
    let place = text.split('`').nth(3).unwrap();
    assert_eq!(std::fs::read_to_string(place).unwrap(), "three");
}

#[tokio::test]
async fn a_folder_is_deleted_only_as_a_whole_and_on_purpose() {
    let world = World::new();
    world.file("folder/a/b.txt", "one");
    std::fs::set_permissions(world.workspace.join("folder/a/b.txt"), std::fs::Permissions::from_mode(0o754)).unwrap();
    std::os::unix::fs::symlink("/etc", world.workspace.join("folder/link")).unwrap();
    let text = world.fails("delete", json!({"path": "folder"})).await;
    assert!(text.contains("Set `recursive`"), "{text}");
    let text = world.ok("delete", json!({"path": "folder/", "recursive": true})).await;
    assert!(text.contains("with 3 entries"), "{text}");
    assert_eq!(names(&world.root.join("trash/folder")), ["a", "link"]);
    let kept = world.root.join("trash/folder/a/b.txt");
    assert_eq!(std::fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o754);
    assert!(std::path::Path::new("/etc").exists());
}

#[tokio::test]
async fn protected_files_are_not_deleted_with_their_folder() {
    let mut world = World::new();
    world.file("sub/.git/config", "x");
    world.file("sub/a.txt", "x");
    let text = world.fails("delete", json!({"path": "sub", "recursive": true})).await;
    assert!(text.contains("was not approved"), "{text}");
    assert_eq!(names(&world.workspace.join("sub")), [".git", "a.txt"]);
    world.mode = Mode::Ask;
    let Verdict::Ask { kind, .. } = world.prepare("delete", json!({"path": "sub", "recursive": true})) else {
        panic!()
    };
    assert!(format!("{kind:?}").contains("protected files"), "{kind:?}");
}

#[tokio::test]
async fn several_files_are_written_or_none() {
    let world = World::new();
    world.file("old.txt", "old");
    let both = || json!({"files": [{"path": "new/a.txt", "content": "a\n"}, {"path": "old.txt", "content": "b\n"}]});
    let text = world.fails("batch_write", both()).await;
    assert!(text.contains("was not read in this session") && text.ends_with("Nothing was changed."), "{text}");
    assert_eq!(names(&world.workspace), ["old.txt"]);
    world.ok("read", json!({"path": "old.txt"})).await;
    let finished = world.run("batch_write", both()).await;
    assert_eq!(finished.output.summary, "Wrote 2 files +2 −1");
    assert_eq!(finished.output.settled, ["files"]);
    assert!(matches!(finished.output.display, Some(Display::Diff { added: 2, removed: 1, .. })));
    assert_eq!((world.content("new/a.txt"), world.content("old.txt")), ("a\n".into(), "b\n".into()));
}

#[tokio::test]
async fn a_batch_that_fails_on_disk_is_taken_back() {
    let world = World::new();
    world.file("file", "x");
    let input = json!({"files": [{"path": "new/a.txt", "content": "a"}, {"path": "file/below", "content": "b"}]});
    let text = world.fails("batch_write", input).await;
    assert!(text.contains("is a file, not a folder"), "{text}");
    assert_eq!(names(&world.workspace), ["file"]);
}

#[tokio::test]
async fn a_patch_changes_all_its_files_or_none() {
    let world = World::new();
    world.file("a.rs", "fn a() {}\nfn b() {}\n");
    world.file("gone.txt", "gone\n");
    world.file("run.sh", "echo\n");
    std::fs::set_permissions(world.workspace.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let patch = |line: &str| {
        format!(
            "--- /dev/null\n+++ b/src/new.rs\n@@ -0,0 +1 @@\n+new\n\
             diff --git a/run.sh b/bin/run\nrename from run.sh\nrename to bin/run\n\
             --- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
             --- a/a.rs\n+++ b/a.rs\n@@ -7,2 +7,2 @@\n fn a() {{}}\n-{line}\n+fn c() {{}}\n"
        )
    };
    let before = names(&world.workspace);
    let text = world.fails("apply_patch", json!({"patch": patch("fn x() {}")})).await;
    assert!(
        text.contains("this line is not in the file: `fn x() {}`") && text.ends_with("Nothing was changed."),
        "{text}"
    );
    assert_eq!(names(&world.workspace), before);
    let finished = world.run("apply_patch", json!({"patch": patch("fn b() {}")})).await;
    assert_eq!(finished.outcome, Outcome::Ok, "{}", finished.output.text);
    assert!(finished.output.text.contains("deleted `gone.txt` −1\nchanged `a.rs` +1 −1"), "{}", finished.output.text);
    assert_eq!(names(&world.workspace), ["a.rs", "bin", "src"]);
    assert_eq!(world.content("a.rs"), "fn a() {}\nfn c() {}\n");
    let mode = |name: &str| std::fs::metadata(world.workspace.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("bin/run"), 0o755);
    // And taken back whole.
    world.ok("apply_patch", json!({"patch": patch("fn b() {}"), "reverse": true})).await;
    assert_eq!(names(&world.workspace), ["a.rs", "bin", "gone.txt", "run.sh", "src"]);
    assert_eq!((world.content("a.rs"), world.content("gone.txt")), ("fn a() {}\nfn b() {}\n".into(), "gone\n".into()));
    assert_eq!(mode("run.sh"), 0o755);
    assert!(names(&world.workspace.join("src")).is_empty());
}

#[tokio::test]
async fn a_patch_is_shown_before_it_is_applied() {
    let mut world = World::new();
    world.mode = Mode::Ask;
    world.file("a", "one\n");
    let patch = json!({"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n"});
    let Verdict::Ask { kind, question } = world.prepare("apply_patch", patch.clone()) else { panic!() };
    assert_eq!(question, "Patch `a`?");
    assert!(format!("{kind:?}").contains("-one\\n+two"), "{kind:?}");
    assert_eq!(world.run("apply_patch", patch).await.outcome, Outcome::Denied);
    let Verdict::Refuse { outcome, .. } = world.prepare("apply_patch", json!({"patch": "words"})) else { panic!() };
    assert_eq!(outcome, Outcome::Invalid);
}
