//! Finding a project's tools and running them, with real formatters and linters.

use std::path::Path;

use serde_json::json;
use weft_core::Mode;
use weft_core::ask::AskKind;
use weft_core::event::{Access, Outcome, Plan};
use weft_tool::Verdict;

use crate::world::World;

/// A workspace whose node modules are those of `make tool-peers`.
fn with_node_modules() -> World {
    let world = World::new();
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools/node_modules");
    let modules = modules.canonicalize().expect("run `make tool-peers`, which installs them with npm");
    std::os::unix::fs::symlink(modules, world.workspace.join("node_modules")).unwrap();
    world
}

#[tokio::test]
async fn rustfmt_formats() {
    let world = World::new();
    world.file("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    world.file("src/lib.rs", "pub fn  a( )->u8{1}\n");
    let found = world.ok("project_tools", json!({"kind": "format"})).await;
    assert!(found.contains("`cargo fmt` (low: Cargo.toml, and it is usual for rust)"), "{found}");
    let text = world.ok("check", json!({"kind": "format"})).await;
    assert_eq!(text, "$ cargo fmt\n(no output)");
    assert_eq!(world.content("src/lib.rs"), "pub fn a() -> u8 {\n    1\n}\n");
    world.file("src/lib.rs", "pub fn  a( )->u8{1}\n");
    assert_eq!(
        world.ok("check", json!({"kind": "format", "paths": ["src/lib.rs"]})).await,
        "$ rustfmt src/lib.rs\n(no output)"
    );
    assert_eq!(world.content("src/lib.rs"), "pub fn a() -> u8 {\n    1\n}\n");
}

#[tokio::test]
async fn prettier_and_oxlint_are_found_and_run() {
    let world = with_node_modules();
    world.file("package.json", r#"{"devDependencies":{"prettier":"3","oxlint":"1"}}"#);
    world.file("a.js", "const  x = {a:1}\n");
    let text = world.ok("check", json!({"kind": "format", "paths": ["a.js"]})).await;
    assert!(text.starts_with("$ npx prettier --write a.js\n"), "{text}");
    assert_eq!(world.content("a.js"), "const x = { a: 1 };\n");
    world.file("b.js", "debugger;\n");
    let text = world.ok("check", json!({"kind": "lint", "paths": ["b.js"]})).await;
    assert!(text.starts_with("$ npx oxlint b.js\n") && text.contains("no-debugger"), "{text}");
}

#[tokio::test]
async fn a_check_is_judged_as_the_command_that_it_runs() {
    let mut world = World::new();
    world.file("Cargo.toml", "");
    let input = json!({"kind": "test"});
    assert!(matches!(world.prepare("check", input.clone()), Verdict::Run { summary } if summary == "Run `cargo test`"));
    assert_eq!(world.plan("check", input.clone()).access, Access::Run);
    world.mode = Mode::Ask;
    let Verdict::Ask { kind: AskKind::Approval { detail, .. }, .. } = world.prepare("check", input.clone()) else {
        panic!("nobody is asked")
    };
    assert_eq!(detail, "cargo test");
    world.allow("run cargo test");
    assert!(matches!(world.prepare("check", input.clone()), Verdict::Run { .. }));
    world.mode = Mode::Safe;
    assert!(matches!(world.prepare("check", input), Verdict::Refuse { .. }));
}

/// The model, or a job, changes the project's files while a person thinks about it.
#[tokio::test]
async fn another_line_than_was_approved_is_not_run() {
    let mut world = World::new();
    world.mode = Mode::Ask;
    world.file("package.json", r#"{"scripts":{"test":"true"}}"#);
    let input = json!({"kind": "test"});
    let Verdict::Ask { kind: AskKind::Approval { detail, .. }, .. } = world.prepare("check", input.clone()) else {
        panic!("nobody is asked")
    };
    world.approved = true;
    let check = crate::world::call("check", input);
    std::fs::remove_file(world.workspace.join("package.json")).unwrap();
    world.file("Makefile", "test:\n\ttouch owned\n");
    let another = world.guard.run_agreed(&check, world.context(), Some(&detail)).await;
    assert_eq!(another.outcome, Outcome::Denied, "{}", another.output.text);
    assert!(another.output.text.contains("another command than the one that was approved"), "{}", another.output.text);
    assert!(!world.workspace.join("owned").exists());
    let same = world.guard.run_agreed(&check, world.context(), Some("make test")).await;
    assert!(same.output.text.starts_with("$ make test\n"), "{}", same.output.text);
}

/// What is found when the model answers need not be what is found when it runs.
#[test]
fn a_check_is_always_planned_as_a_command() {
    let world = World::new();
    let plan = world.plan("check", json!({"kind": "test"}));
    assert_eq!(plan, Plan { access: Access::Run, idempotent: false });
}

#[tokio::test]
async fn what_cannot_be_run_is_said() {
    let world = World::new();
    let none = world.fails("check", json!({"kind": "test"})).await;
    assert!(none.starts_with("Nothing is known that does `test` here."), "{none}");
    world.file("package.json", r#"{"jest":{}}"#);
    let missing = world.ok("project_tools", json!({"kind": "test"})).await;
    assert!(
        missing.contains("`npx jest` (high: package.json#jest); for single files `npx jest {files}`; NOT INSTALLED"),
        "{missing}"
    );
}

/// Names of files that would be something else in a command line.
#[tokio::test]
async fn odd_names_stay_names() {
    let world = World::new();
    world.file("Cargo.toml", "");
    let names = ["a b.rs", "$(touch owned).rs", "'; touch owned; '.rs", "-x.rs"];
    for name in names {
        world.file(name, "fn  main(){}\n");
    }
    let text = world.ok("check", json!({"kind": "format", "paths": names})).await;
    assert!(text.contains("./-x.rs"), "{text}");
    for name in names {
        assert_eq!(world.content(name), "fn main() {}\n", "{name}: {text}");
    }
    assert!(!world.workspace.join("owned").exists());
}
