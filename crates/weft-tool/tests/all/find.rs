use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::world::World;

fn tree() -> World {
    let world = World::new();
    for (name, content) in [
        (".gitignore", "target/\n*.log\n"),
        (".git/HEAD", "needle\n"),
        (".github/ci.yml", "needle: ci\n"),
        (".env", "needle=secret\n"),
        ("README.md", "A needle in the readme.\nOther line.\n"),
        ("src/main.rs", "fn main() {\n    needle(1);\n}\n"),
        ("src/deep/lib.rs", "// nothing\n"),
        ("target/out.rs", "needle\n"),
        ("debug.log", "needle\n"),
    ] {
        world.file(name, content);
    }
    world.file("data.bin", b"needle\0needle\n");
    world
}

#[tokio::test]
async fn a_folder_is_listed_folders_first() {
    let world = tree();
    let text = world.ok("list", json!({})).await;
    let expected = ".github/\n  ci.yml  11 B\nsrc/\n  deep/\n  main.rs  29 B\n.env  14 B\n.gitignore  14 B\nREADME.md  36 B\ndata.bin  14 B";
    assert_eq!(text, expected);
    assert_eq!(world.ok("list", json!({"path": "src"})).await, "deep/\n  lib.rs  11 B\nmain.rs  29 B");
    std::fs::create_dir(world.workspace.join("bare")).unwrap();
    assert_eq!(world.ok("list", json!({"path": "bare"})).await, "(empty folder)");
    assert!(world.fails("list", json!({"path": "README.md"})).await.contains("Use `read`"));
    assert!(world.fails("list", json!({"path": "gone"})).await.contains("There is no `gone`"));
}

/// Anybody may have put an ignore file there: one without end must not hold anything up.
#[tokio::test]
async fn ignore_files_without_end_hold_nothing_up() {
    let world = tree();
    std::fs::create_dir(world.workspace.join("trap")).unwrap();
    world.file("trap/found.rs", "needle\n");
    std::os::unix::fs::symlink("/dev/zero", world.workspace.join("trap/.ignore")).unwrap();
    let text = world.ok("search", json!({"pattern": "needle"})).await;
    assert!(text.contains("src/main.rs") && text.contains("[left out: `trap`"), "{text}");
    let text = world.ok("glob", json!({"pattern": "**/*.rs"})).await;
    assert!(text.contains("src/main.rs") && text.contains("[left out: `trap`"), "{text}");
    // Named, it is looked into, as if there were none.
    assert!(world.ok("search", json!({"pattern": "needle", "path": "trap"})).await.contains("found.rs"));
    assert!(world.ok("list", json!({"path": "trap"})).await.contains("found.rs"));
    std::os::unix::fs::symlink("/dev/zero", world.workspace.join(".ignore")).unwrap();
    assert!(world.ok("search", json!({"pattern": "needle"})).await.contains("src/main.rs"));
}

#[tokio::test]
async fn a_crowded_folder_is_cut() {
    let world = World::new();
    for number in 0..350 {
        world.file(&format!("f{number:03}"), "");
    }
    let text = world.ok("list", json!({})).await;
    assert!(text.ends_with("f299  0 B\n[50 more: list a folder in it, or use glob]"), "{text}");
}

#[tokio::test]
async fn files_are_found_newest_first() {
    let world = World::new();
    for (age, name) in [(30, "old.rs"), (10, "src/new.rs"), (20, "src/a/mid.rs"), (5, "src/x.txt")] {
        let path = world.file(name, "");
        let then = SystemTime::now() - Duration::from_secs(age);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }
    let absolute = format!("{}/src/*.rs", world.workspace.display());
    let cases = [
        (json!({"pattern": "*.rs"}), "src/new.rs\nsrc/a/mid.rs\nold.rs"),
        (json!({"pattern": "src/*.rs"}), "src/new.rs"),
        (json!({"pattern": "./src/**/*.rs"}), "src/new.rs\nsrc/a/mid.rs"),
        (json!({"pattern": "**/*.{txt,md}"}), "src/x.txt"),
        (json!({"pattern": "*.rs", "path": "src/a"}), "src/a/mid.rs"),
        (json!({ "pattern": absolute }), "src/new.rs"),
        (json!({"pattern": "*.py"}), "No file matches `*.py` in `.`. Ignored files were not looked at."),
    ];
    for (input, expected) in cases {
        assert_eq!(world.ok("glob", input.clone()).await, expected, "{input}");
    }
    assert!(world.fails("glob", json!({"pattern": "a[b"})).await.contains("is not valid"));
    assert!(world.fails("glob", json!({"pattern": "/etc/*"})).await.contains("must be relative"));
}

#[tokio::test]
async fn contents_are_searched() {
    let world = tree();
    let cases = [
        (
            json!({"pattern": "needle"}),
            ".github/ci.yml:1: needle: ci\nREADME.md:1: A needle in the readme.\nsrc/main.rs:2:     needle(1);\n\
             [1 file was left out because keys are kept in files like that]",
        ),
        (
            json!({"pattern": r"needle\(\d\)"}),
            "src/main.rs:2:     needle(1);\n[1 file was left out because keys are kept in files like that]",
        ),
        (json!({"pattern": "needle", "glob": "*.md"}), "README.md:1: A needle in the readme."),
        (json!({"pattern": "needle", "path": "src"}), "src/main.rs:2:     needle(1);"),
        (json!({"pattern": "needle", "path": "README.md"}), "README.md:1: A needle in the readme."),
        (
            json!({"pattern": "needle", "path": "src", "context": 1}),
            "src/main.rs-1- fn main() {\nsrc/main.rs:2:     needle(1);\nsrc/main.rs-3- }",
        ),
        (
            json!({"pattern": "needle(", "path": "src"}),
            "[not a valid regex, so searched for literally]\nsrc/main.rs:2:     needle(1);",
        ),
        (
            json!({"pattern": "haystack", "path": "src"}),
            "Nothing matches `haystack` in `src` (2 files searched, without ignored ones).",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(world.ok("search", input.clone()).await, expected, "{input}");
    }
    assert!(world.fails("search", json!({"pattern": ""})).await.contains("empty"));
    assert!(world.fails("search", json!({"pattern": "x", "path": "gone"})).await.contains("There is no `gone`"));
}

#[tokio::test]
async fn searching_stays_bounded() {
    let world = World::new();
    world.file("many.txt", "needle\n".repeat(500));
    world.file("wide.js", format!("{}ä needle ö{}\n", "x".repeat(50_000), "y".repeat(50_000)));
    world.file("broken.txt", b"\xff\xfe needle \xff\n");
    let text = world.ok("search", json!({"pattern": "needle"})).await;
    assert_eq!(text.matches("needle").count(), 100);
    assert!(text.ends_with("[there may be more: narrow the pattern, the path or the glob]"), "{text}");
    let wide = world.ok("search", json!({"pattern": "needle", "path": "wide.js"})).await;
    assert!(wide.len() < 400 && wide.contains("xä needle öy") && wide.contains("…x") && wide.ends_with('…'), "{wide}");
    let broken = world.ok("search", json!({"pattern": "needle", "glob": "broken*"})).await;
    assert!(broken.contains("needle"), "{broken}");
}

/// Links that lead out of the workspace are not followed.
#[tokio::test]
async fn walks_stay_inside() {
    let world = World::new();
    std::fs::create_dir(world.root.join("elsewhere")).unwrap();
    std::fs::write(world.root.join("elsewhere/x.txt"), "needle\n").unwrap();
    std::os::unix::fs::symlink("../elsewhere", world.workspace.join("link")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/x.txt", world.workspace.join("x.txt")).unwrap();
    assert!(world.ok("search", json!({"pattern": "needle"})).await.starts_with("Nothing matches"));
    assert!(world.ok("glob", json!({"pattern": "*.txt"})).await.starts_with("No file matches"));
}

#[tokio::test]
async fn files_are_found_by_some_letters_of_their_names() {
    let world = World::new();
    for name in ["src/gate_keeper.rs", "src/guard.rs", "docs/gate.md", "zzz.txt"] {
        world.file(name, "x");
    }
    let found = world.ok("glob", json!({"pattern": "gatekep", "fuzzy": true})).await;
    assert_eq!(found, "src/gate_keeper.rs");
    let found = world.ok("glob", json!({"pattern": "gate", "fuzzy": true})).await;
    assert_eq!(found.lines().collect::<Vec<_>>(), ["docs/gate.md", "src/gate_keeper.rs"]);
    let found = world.ok("glob", json!({"pattern": "qqq", "fuzzy": true})).await;
    assert!(found.contains("No file is named much like `qqq`"), "{found}");
}
