//! Language servers: real ones from the registries, and ones that misbehave.

use std::path::Path;

use serde_json::json;
use weft_core::event::Outcome;

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
async fn pyright_knows_python() {
    let world = with_node_modules();
    world.file("pyrightconfig.json", "{}");
    world.file("shapes/__init__.py", "");
    world.file(
        "shapes/square.py",
        "def area(side: int) -> int:\n    \"\"\"Side by side.\"\"\"\n    return side * side\n",
    );
    world.file("main.py", "from shapes.square import area\n\nprint('😀', area(2))\ntext: str = area(3)\n");
    let code = |input| world.ok("code", input);
    let found = code(json!({"action": "diagnostics", "path": "main.py"})).await;
    assert!(found.starts_with("main.py:4: error: Type \"int\" is not assignable to declared type \"str\""), "{found}");
    assert!(found.contains("[Pyright reportAssignmentType]") && found.lines().count() == 1, "{found}");
    let found = code(json!({"action": "definition", "path": "main.py", "line": 3, "symbol": "area"})).await;
    assert_eq!(found, "shapes/square.py:1: def area(side: int) -> int:");
    let found = code(json!({"action": "references", "path": "shapes/square.py", "symbol": "area"})).await;
    let expected = "main.py:1: from shapes.square import area\nmain.py:3: print('😀', area(2))\n\
         main.py:4: text: str = area(3)\nshapes/square.py:1: def area(side: int) -> int:";
    assert_eq!(found, expected);
    let found = code(json!({"action": "hover", "path": "main.py", "line": 3, "symbol": "area"})).await;
    assert!(found.contains("(side: int) -> int") && found.contains("Side by side."), "{found}");
    let found = code(json!({"action": "symbols", "path": "shapes/square.py"})).await;
    assert!(found.starts_with("shapes/square.py:1: function area"), "{found}");
    let found = code(json!({"action": "symbols", "path": "main.py", "query": "area"})).await;
    assert!(found.contains("shapes/square.py:1: function area"), "{found}");
    // What is on disk counts.
    world.file("main.py", "from shapes.square import area\n\ntext: int = area(3)\n");
    let found = code(json!({"action": "diagnostics", "path": "main.py"})).await;
    assert_eq!(found, "No problems in `main.py`.");
    // A change is answered with the errors that it makes, and with no word if it makes none.
    let edit = |old: &str, new: &str| json!({"path": "main.py", "edits": [{"old": old, "new": new}]});
    let changed = world.ok("edit", edit("text: int", "text: str")).await;
    assert!(changed.contains("\n[pyright finds errors in `main.py`:]\nmain.py:3: error: Type \"int\""), "{changed}");
    let changed = world.ok("edit", edit("text: str", "text: int")).await;
    assert!(!changed.contains("pyright"), "{changed}");
    let wrong = json!({"path": "new.py", "content": "from shapes.square import nothing\n"});
    assert!(world.ok("write", wrong).await.contains("[pyright finds errors in `new.py`:]\nnew.py:1: error: "));
    world.file("shapes/square.py", "def area(side: int) -> str:\n    return str(side * side)\n");
    code(json!({"action": "symbols", "path": "shapes/square.py"})).await;
    let found = code(json!({"action": "diagnostics", "path": "main.py"})).await;
    assert!(found.starts_with("main.py:3: error: "), "{found}");
}

#[tokio::test]
async fn typescript_language_server_knows_typescript() {
    let world = with_node_modules();
    world.file("tsconfig.json", r#"{"compilerOptions": {"strict": true, "types": []}, "include": ["src"]}"#);
    world.file(
        "src/square.ts",
        "/** Side by side. */\nexport function area(side: number): number {\n  return side * side;\n}\n",
    );
    world.file("src/main.ts", "import { area } from './square';\nexport const text: string = area(2);\n");
    let code = |input| world.ok("code", input);
    let found = code(json!({"action": "diagnostics", "path": "src/main.ts"})).await;
    assert_eq!(found, "src/main.ts:2: error: Type 'number' is not assignable to type 'string'. [typescript 2322]");
    let found = code(json!({"action": "definition", "path": "src/main.ts", "line": 2, "symbol": "area"})).await;
    assert_eq!(found, "src/square.ts:2: export function area(side: number): number {");
    let found = code(json!({"action": "references", "path": "src/main.ts", "symbol": "area"})).await;
    assert_eq!(found.lines().count(), 3, "{found}");
    let found = code(json!({"action": "hover", "path": "src/main.ts", "line": 2, "symbol": "area"})).await;
    assert!(found.contains("area(side: number): number") && found.contains("Side by side."), "{found}");
    let found = code(json!({"action": "symbols", "path": "src/main.ts", "query": "area"})).await;
    assert!(found.contains("src/square.ts:2: function area"), "{found}");
    world.file("src/main.ts", "import { area } from './square';\nexport const text: number = area(2);\n");
    let found = code(json!({"action": "diagnostics", "path": "src/main.ts"})).await;
    assert_eq!(found, "No problems in `src/main.ts`.");
}

#[tokio::test]
async fn rust_analyzer_knows_rust() {
    let world = World::new();
    world.file("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    world.file("src/lib.rs", "pub mod square;\n\npub fn text() -> String {\n    square::area(2)\n}\n");
    world.file("src/square.rs", "/// Side by side.\npub fn area(side: u32) -> u32 {\n    side * side\n}\n");
    let input = json!({"action": "definition", "path": "src/lib.rs", "line": 4, "symbol": "square::area"});
    let finished = world.run("code", input).await;
    if finished.output.text.contains("is not installed") {
        eprintln!("SKIPPED: rust-analyzer is not installed (`make language-peers`)");
        return;
    }
    assert_eq!(finished.output.text, "src/square.rs:2: pub fn area(side: u32) -> u32 {");
    let code = |input| world.ok("code", input);
    let found = code(json!({"action": "diagnostics", "path": "src/lib.rs"})).await;
    assert!(found.contains("src/lib.rs:4: error: ") && found.contains("E0308"), "{found}");
    let found = code(json!({"action": "references", "path": "src/square.rs", "symbol": "area"})).await;
    assert_eq!(found, "src/lib.rs:4: square::area(2)\nsrc/square.rs:2: pub fn area(side: u32) -> u32 {");
    let found = code(json!({"action": "hover", "path": "src/lib.rs", "symbol": "square::area"})).await;
    assert!(found.contains("pub fn area(side: u32) -> u32") && found.contains("Side by side."), "{found}");
    let found = code(json!({"action": "symbols", "path": "src/lib.rs"})).await;
    assert_eq!(found, "src/lib.rs:1: module square\nsrc/lib.rs:3: function text");
    world.file("src/lib.rs", "pub mod square;\n\npub fn text() -> u32 {\n    square::area(2)\n}\n");
    // What `cargo check` said before stands until it has run again, which takes its time.
    let good = async {
        while code(json!({"action": "diagnostics", "path": "src/lib.rs"})).await != "No problems in `src/lib.rs`." {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), good).await.expect("it is mended");
}

#[tokio::test]
async fn gopls_knows_go() {
    let world = World::new();
    world.file("go.mod", "module demo\n\ngo 1.21\n");
    world.file(
        "main.go",
        "package main\n\nfunc area(side int) int { return side * side }\n\nfunc main() { area(\"2\") }\n",
    );
    let finished = world.run("code", json!({"action": "diagnostics", "path": "main.go"})).await;
    if finished.outcome == Outcome::Failed && finished.output.text.contains("is not installed") {
        eprintln!("SKIPPED: gopls is not installed (`make language-peers`)");
        return;
    }
    assert!(finished.output.text.starts_with("main.go:5: error: "), "{}", finished.output.text);
    let code = |input| world.ok("code", input);
    let found = code(json!({"action": "definition", "path": "main.go", "line": 5, "symbol": "area"})).await;
    assert_eq!(found, "main.go:3: func area(side int) int { return side * side }");
    let found = code(json!({"action": "references", "path": "main.go", "symbol": "area"})).await;
    assert_eq!(
        found,
        "main.go:3: func area(side int) int { return side * side }\nmain.go:5: func main() { area(\"2\") }"
    );
    let found = code(json!({"action": "hover", "path": "main.go", "line": 5, "symbol": "area"})).await;
    assert!(found.contains("func area(side int) int"), "{found}");
    let found = code(json!({"action": "symbols", "path": "main.go"})).await;
    assert_eq!(found, "main.go:3: function area\nmain.go:5: function main");
    let found = code(json!({"action": "symbols", "path": "main.go", "query": "area"})).await;
    assert!(found.contains("main.go:3: function area"), "{found}");
    world
        .file("main.go", "package main\n\nfunc area(side int) int { return side * side }\n\nfunc main() { area(2) }\n");
    let found = code(json!({"action": "diagnostics", "path": "main.go"})).await;
    assert_eq!(found, "No problems in `main.go`.");
}
