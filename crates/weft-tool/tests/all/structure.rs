//! Searching and rewriting code by its structure.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn code_is_found_by_its_structure_in_every_language() {
    let world = World::new();
    for (name, code) in [
        ("a.rs", "fn f() { call(1,\n 2); }"),
        ("a.py", "call(1, 2)\n"),
        ("a.ts", "call(1, 2);"),
        ("a.tsx", "call(1, 2);"),
        ("a.js", "call(1, 2);"),
        ("a.go", "package a\nfunc f() { call(1, 2) }\n"),
        ("A.java", "class A { void f() { call(1, 2); } }"),
        ("a.c", "void f() { call(1, 2); }"),
        ("a.cpp", "void f() { call(1, 2); }"),
        ("a.txt", "call(1, 2)"),
        (".env.ts", "call(1, 2)"),
    ] {
        world.file(name, code);
    }
    let found = world.ok("structure_search", json!({"pattern": "call($A, $B)"})).await;
    for name in ["a.rs:1:", "a.py:1:", "a.ts:1:", "a.tsx:1:", "a.js:1:", "A.java:1:", "a.cpp:1:"] {
        assert!(found.contains(name), "{name} is not in\n{found}");
    }
    assert!(!found.contains("a.txt") && !found.contains(".env"), "{found}");
    let found = world.ok("structure_search", json!({"pattern": "call($$$)", "language": "python"})).await;
    assert_eq!(found, "a.py:1: call(1, 2)");
    world.file("a.json", "{\"a\": [1]}");
    world.file("a.yaml", "a: 1\n");
    world.file("a.sh", "rm -rf \"$x\"\n");
    for (language, pattern, name) in
        [("json", "[$A]", "a.json:1"), ("yaml", "a: $A", "a.yaml:1"), ("bash", "rm $$$", "a.sh:1")]
    {
        let found = world.ok("structure_search", json!({"pattern": pattern, "language": language})).await;
        assert!(found.contains(name), "{language}: {found}");
    }
}

#[tokio::test]
async fn code_is_rewritten_in_all_files() {
    let world = World::new();
    world.file("src/a.rs", "fn f() { let x = y.unwrap(); z(a.b().unwrap()); }\n");
    world.file("src/b.rs", "fn g() { \"y.unwrap()\"; }\n");
    // What would become of it is shown, and nothing is changed unless that is said.
    let shown = json!({"pattern": "$A.unwrap()", "rewrite": "$A?", "path": "src"});
    let text = world.ok("structure_replace", shown.clone()).await;
    assert!(text.contains("+fn f() { let x = y?; z(a.b()?); }") && text.contains("2 matches. Nothing was"), "{text}");
    assert!(world.content("src/a.rs").contains("y.unwrap()"));
    assert!(matches!(world.plan("structure_replace", shown).access, weft_core::event::Access::Read));
    let input = json!({"pattern": "$A.unwrap()", "rewrite": "$A?", "path": "src", "dry_run": false});
    assert!(matches!(world.plan("structure_replace", input.clone()).access, weft_core::event::Access::Run));
    let text = world.ok("structure_replace", input.clone()).await;
    assert_eq!(text, "Rewrote `src/a.rs` +1 −1:\nchanged `src/a.rs` +1 −1\n2 matches.");
    assert_eq!(world.content("src/a.rs"), "fn f() { let x = y?; z(a.b()?); }\n");
    assert_eq!(world.content("src/b.rs"), "fn g() { \"y.unwrap()\"; }\n");
    let text = world.fails("structure_replace", input).await;
    assert!(text.contains("Nothing in `src` matches"), "{text}");
}

#[tokio::test]
async fn bad_patterns_and_odd_files_do_no_harm() {
    let world = World::new();
    world.file("deep.json", "[".repeat(50_000));
    world.file("deep.rs", format!("fn f() {{ {}1{} }}", "(".repeat(10_000), ")".repeat(10_000)));
    world.file("bytes.rs", b"fn \xff() {}");
    for (pattern, language, expected) in [
        ("", None, "The pattern is empty"),
        ("fn (((", Some("rust"), "not valid"),
        ("f()", Some("cobol"), "is not known here"),
        ("f()", Some("css"), "is not known here"),
    ] {
        let text = world.fails("structure_search", json!({"pattern": pattern, "language": language})).await;
        assert!(text.contains(expected), "{pattern}: {text}");
    }
    world.ok("structure_search", json!({"pattern": "($A)", "path": "deep.rs"})).await;
    world.ok("structure_search", json!({"pattern": "[$A]", "path": "deep.json"})).await;
}
