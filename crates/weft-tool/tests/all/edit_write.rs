use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use weft_core::event::{Display, Outcome};

use crate::world::{World, names};

#[tokio::test]
async fn write_creates_with_folders_and_shows_a_diff() {
    let world = World::new();
    let finished = world.run("write", json!({"path": "a/b/c.txt", "content": "one\ntwo\n"})).await;
    assert_eq!(finished.output.text, "Created `a/b/c.txt` +2.");
    assert_eq!(finished.output.settled, ["content"]);
    let Some(Display::Diff { path, diff, added, removed }) = finished.output.display else { panic!() };
    assert_eq!((path.as_str(), added, removed), ("a/b/c.txt", 2, 0));
    assert_eq!(diff, "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(world.content("a/b/c.txt"), "one\ntwo\n");
    assert_eq!(names(&world.workspace.join("a/b")), ["c.txt"]);
}

#[tokio::test]
async fn write_does_not_overwrite_what_was_not_seen() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let write = || json!({"path": "a.txt", "content": "two\n"});
    assert!(world.fails("write", write()).await.contains("was not read in this session"));
    world.ok("read", json!({"path": "a.txt"})).await;
    std::fs::write(&path, "foreign\n").unwrap();
    assert!(world.fails("write", write()).await.contains("changed on disk since it was read"));
    assert_eq!(world.content("a.txt"), "foreign\n");
    world.ok("read", json!({"path": "a.txt"})).await;
    assert_eq!(world.ok("write", write()).await, "Wrote `a.txt` +1 −1.");
    // What the session wrote itself it has seen.
    world.ok("write", json!({"path": "a.txt", "content": "three\n"})).await;
    assert_eq!(world.content("a.txt"), "three\n");
}

#[tokio::test]
async fn write_refuses_what_is_no_file_to_write() {
    let world = World::new();
    std::fs::create_dir(world.workspace.join("folder")).unwrap();
    let fixed = world.file("fixed.txt", "x");
    world.ok("read", json!({"path": "fixed.txt"})).await;
    std::fs::set_permissions(&fixed, std::fs::Permissions::from_mode(0o444)).unwrap();
    world.file("file", "x");
    world.file("bytes", b"\xff\xff");
    let cases = [
        ("folder", "is a folder"),
        ("new/", "is a folder"),
        ("fixed.txt", "is read-only"),
        ("file/below", "is a file, not a folder"),
        ("bytes", "not valid UTF-8"),
    ];
    for (path, expected) in cases {
        let text = world.fails("write", json!({"path": path, "content": "y"})).await;
        assert!(text.contains(expected), "{path}: {text}");
    }
    assert_eq!(world.content("fixed.txt"), "x");
}

#[tokio::test]
async fn write_goes_through_a_link_and_keeps_it() {
    let world = World::new();
    world.file("real.sh", "x");
    std::fs::set_permissions(world.workspace.join("real.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("real.sh", world.workspace.join("link.sh")).unwrap();
    world.ok("read", json!({"path": "link.sh"})).await;
    world.ok("write", json!({"path": "link.sh", "content": "y"})).await;
    assert_eq!(world.content("real.sh"), "y");
    assert!(world.workspace.join("link.sh").is_symlink());
    assert_eq!(std::fs::metadata(world.workspace.join("real.sh")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn edits_are_made_all_or_none() {
    let world = World::new();
    world.file("a.rs", "fn a() {}\nfn b() {}\n");
    let good = json!({"path": "a.rs", "edits": [{"old": "fn a", "new": "fn x"}, {"old": "fn x() {}\nfn b", "new": "fn y() {}\nfn z"}]});
    let finished = world.run("edit", good).await;
    assert_eq!(finished.output.text, "Edited `a.rs` +2 −2, 2 replacements.");
    assert_eq!(finished.output.settled, ["edits"]);
    assert_eq!(world.content("a.rs"), "fn y() {}\nfn z() {}\n");

    let half = json!({"path": "a.rs", "edits": [{"old": "fn y", "new": "fn q"}, {"old": "fn nothing", "new": "fn w"}]});
    let text = world.fails("edit", half).await;
    assert!(
        text.starts_with("Edit 2 of 2: `old` does not match anything in `a.rs` as the edits before left it."),
        "{text}"
    );
    assert_eq!(world.content("a.rs"), "fn y() {}\nfn z() {}\n");

    let text = world.fails("edit", json!({"path": "a.rs", "old_string": "fn", "new_string": "pub fn"})).await;
    assert!(text.contains("matches 2 times in `a.rs` (lines 1, 2)"), "{text}");
    world.ok("edit", json!({"path": "a.rs", "old_string": "fn", "new_string": "pub fn", "replace_all": true})).await;
    assert_eq!(world.content("a.rs"), "pub fn y() {}\npub fn z() {}\n");
}

#[tokio::test]
async fn an_edit_keeps_what_others_changed() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    world.ok("read", json!({"path": "a.txt"})).await;
    std::fs::write(&path, "one\ntwo\nforeign\n").unwrap();
    let text = world.ok("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "1"}]})).await;
    assert!(text.contains("Somebody else changed the file"), "{text}");
    assert_eq!(world.content("a.txt"), "1\ntwo\nforeign\n");
    let text = world.ok("edit", json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]})).await;
    assert!(!text.contains("Somebody else"), "{text}");
}

#[tokio::test]
async fn an_edit_says_what_is_wrong() {
    let world = World::new();
    world.file("bytes", b"one \xff\n");
    let fixed = world.file("fixed", "one\n");
    std::fs::set_permissions(&fixed, std::fs::Permissions::from_mode(0o444)).unwrap();
    world.file("a", "one\n");
    let edit = |path: &str, old: &str, new: &str| json!({"path": path, "edits": [{"old": old, "new": new}]});
    let cases = [
        (edit("none", "one", "1"), "There is no file `none`"),
        (edit("bytes", "one", "1"), "not valid UTF-8"),
        (edit("fixed", "one", "1"), "is read-only"),
        (edit("a", "", "1"), "`old` is empty"),
        (edit("a", "one", "one"), "are the same"),
        (json!({"path": "a", "edits": []}), "There are no edits"),
    ];
    for (input, expected) in cases {
        let text = world.fails("edit", input.clone()).await;
        assert!(text.contains(expected), "{input}: {text}");
    }
    let outside = world.run("edit", edit("../x", "a", "b")).await;
    assert_eq!(outside.outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_preview_shows_what_an_edit_would_do_and_does_not_do_it() {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n");
    let input = json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]});
    let text = world.ok("preview_edit", input.clone()).await;
    assert!(text.contains("-two\n+2\n"), "{text}");
    assert_eq!(world.content("a.txt"), "one\ntwo\n");
    let wrong = world.fails("preview_edit", json!({"path": "a.txt", "old": "three", "new": "3"})).await;
    assert!(wrong.contains("does not match"), "{wrong}");
    world.ok("edit", input).await;
    assert_eq!(world.content("a.txt"), "one\n2\n");
}
