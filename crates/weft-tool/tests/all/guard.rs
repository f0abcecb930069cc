use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_core::Mode;
use weft_core::ask::{AskKind, Grant};
use weft_core::event::{Access, Display, Outcome};
use weft_tool::{Context, Finished, GuardConfig, Need, Permit, Policy, Redaction, Registry, Tool, Verdict};

use crate::world::World;

/// What a verdict comes to, in a word.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Run { .. } => "run",
        Verdict::Refuse { outcome: Outcome::Denied, .. } => "denied",
        Verdict::Refuse { outcome: Outcome::Invalid, .. } => "invalid",
        Verdict::Refuse { .. } => "failed",
        Verdict::Ask { kind: AskKind::Approval { grant: Some(_), .. }, .. } => "ask",
        Verdict::Ask { kind: AskKind::Approval { grant: None, .. }, .. } => "ask every time",
        Verdict::Ask { kind: AskKind::Question { .. }, .. } => "question",
        Verdict::Ask { kind: AskKind::Form { .. }, .. } => "form",
    }
}

/// Every tool, in every place that matters, in each mode: safe, ask, auto, and ask with grants.
#[test]
fn modes_and_places_decide() {
    let mut world = World::new();
    for name in ["a.txt", ".env", ".git/config", ".weft/config.toml"] {
        world.file(name, "text");
    }
    std::fs::create_dir_all(world.root.join("ws-evil")).unwrap();
    std::fs::create_dir_all(world.outputs()).unwrap();
    std::fs::write(world.root.join("ws-evil/x"), "text").unwrap();
    std::fs::write(world.outputs().join("call.txt"), "text").unwrap();
    std::os::unix::fs::symlink("../ws-evil", world.workspace.join("link")).unwrap();
    let saved = world.outputs().join("call.txt").to_str().unwrap().to_owned();
    let outside = world.root.join("ws-evil/x").to_str().unwrap().to_owned();
    let edit = |path: &str| json!({"path": path, "edits": [{"old": "text", "new": "word"}]});
    let every = "ask every time";
    let cases = [
        ("read", json!({"path": "a.txt"}), ["run", "run", "run", "run"]),
        ("read", json!({"path": &outside}), ["ask", "ask", "run", "ask"]),
        ("read", json!({"path": "link/x"}), ["ask", "ask", "run", "ask"]),
        ("read", json!({"path": ".env"}), [every, every, every, every]),
        ("read", json!({"path": "~/.ssh/id_rsa"}), [every, every, every, every]),
        ("read", json!({"path": ".git/config"}), ["run", "run", "run", "run"]),
        ("read", json!({"path": &saved}), ["run", "run", "run", "run"]),
        ("list", json!({}), ["run", "run", "run", "run"]),
        ("list", json!({"path": ".."}), ["ask", "ask", "run", "ask"]),
        ("glob", json!({"pattern": "*"}), ["run", "run", "run", "run"]),
        ("glob", json!({"pattern": "*", "path": "../ws-evil"}), ["ask", "ask", "run", "ask"]),
        ("search", json!({"pattern": "x"}), ["run", "run", "run", "run"]),
        ("search", json!({"pattern": "x", "path": "link"}), ["ask", "ask", "run", "ask"]),
        ("search", json!({"pattern": "x", "path": ".env"}), [every, every, every, every]),
        ("todo", json!({"items": []}), ["run", "run", "run", "run"]),
        ("ask_user", json!({"question": "Which?"}), ["question"; 4]),
        ("write", json!({"path": "new.txt", "content": "x"}), ["denied", "ask", "run", "run"]),
        ("write", json!({"path": ".git/hooks/x", "content": "x"}), ["denied", every, every, every]),
        ("write", json!({"path": ".weft/new", "content": "x"}), ["denied", every, every, every]),
        ("write", json!({"path": ".env.local", "content": "x"}), ["denied", every, every, every]),
        ("write", json!({"path": "../x", "content": "x"}), ["denied"; 4]),
        ("write", json!({"path": "link/new", "content": "x"}), ["denied"; 4]),
        ("write", json!({"path": &outside, "content": "x"}), ["denied"; 4]),
        ("edit", edit("a.txt"), ["denied", "ask", "run", "run"]),
        ("edit", edit(".git/config"), ["denied", every, every, every]),
        ("edit", edit("link/x"), ["denied"; 4]),
        ("shell", json!({"command": "make"}), ["denied", "ask", "run", "run"]),
        ("shell", json!({"command": "make all"}), ["denied", "ask", "run", "ask"]),
        ("unknown", json!({}), ["invalid"; 4]),
        ("read", json!("{\"path\":"), ["invalid"; 4]),
        ("read", json!({}), ["invalid"; 4]),
        ("shell", json!({"command": "  "}), ["invalid"; 4]),
    ];
    world.allow("write **");
    world.allow("exactly make");
    let granted = std::mem::take(&mut world.rules);
    let none = world.rules.clone();
    for (tool, input, expected) in cases {
        let modes = [(Mode::Safe, &none), (Mode::Ask, &none), (Mode::Auto, &none), (Mode::Ask, &granted)];
        let words = modes.map(|(mode, rules)| {
            (world.mode, world.rules) = (mode, rules.clone());
            word(&world.prepare(tool, input.clone()))
        });
        assert_eq!(words, expected, "{tool} {input}");
    }
}

#[test]
fn grants_do_not_reach_into_safe_mode() {
    let mut world = World::new();
    world.mode = Mode::Safe;
    world.allow("run make");
    let Verdict::Refuse { outcome, text, summary } = world.prepare("shell", json!({"command": "make"})) else {
        panic!()
    };
    assert_eq!((outcome, summary.as_str()), (Outcome::Denied, "Run `make`"));
    assert!(text.contains("`safe` mode") && text.contains("Shift+Tab"), "{text}");
}

#[test]
fn an_ask_shows_exactly_what_would_happen() {
    let mut world = World::new();
    world.mode = Mode::Ask;
    world.file("a.txt", "one\ntwo\n");
    let edits = json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]});
    let Verdict::Ask { kind: AskKind::Approval { tool, detail, grant, effect }, question } =
        world.prepare("edit", edits)
    else {
        panic!()
    };
    assert_eq!((tool.as_str(), question.as_str()), ("edit", "Edit `a.txt`?"));
    assert!(detail.contains("-two\n+2\n"), "{detail}");
    assert_eq!(grant, Some(Grant::Rules { rules: vec!["write a.txt".into()] }));
    assert_eq!(effect, "Changes 1 file in this project. You can take it back.");

    let command = "cargo test \\\n  --all";
    let Verdict::Ask { kind: AskKind::Approval { detail, grant, .. }, question } =
        world.prepare("shell", json!({ "cmd": command }))
    else {
        panic!()
    };
    assert_eq!((detail.as_str(), question.as_str()), (command, "Run `cargo test \\…`?"));
    assert_eq!(grant, Some(Grant::Rules { rules: vec!["run cargo test".into()] }));

    let read = world.prepare("read", json!({"path": "/etc/hosts"}));
    let Verdict::Ask { question, kind: AskKind::Approval { effect, .. } } = read else { panic!() };
    assert_eq!(question, "Read `/etc/hosts`? It is outside the workspace.");
    assert_eq!(effect, "Looks only: nothing is changed. What it reads goes to the model.");

    let question = json!({"question": "Which one?", "options": ["a", "b"], "several": true});
    let verdict = world.prepare("ask_user", question);
    let kind = AskKind::Question { options: vec!["a".into(), "b".into()], several: true };
    assert_eq!(verdict, Verdict::Ask { kind, question: "Which one?".into() });
}

#[test]
fn nobody_is_asked_about_what_cannot_work() {
    let mut world = World::new();
    world.mode = Mode::Ask;
    world.file("a.txt", "one\n");
    let cases = [
        ("edit", json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]}), "does not match"),
        ("write", json!({"path": "a.txt", "content": "x"}), "was not read"),
        ("list", json!({"path": "/nowhere/at/all"}), "There is no"),
    ];
    for (tool, input, expected) in cases {
        let Verdict::Refuse { outcome, text, .. } = world.prepare(tool, input) else { panic!("{tool}") };
        assert_eq!(outcome, Outcome::Failed);
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn run_checks_again() {
    let mut world = World::new();
    world.mode = Mode::Ask;
    let write = json!({"path": "a.txt", "content": "x"});
    assert_eq!(world.run("write", write.clone()).await.outcome, Outcome::Denied);
    assert!(!world.workspace.join("a.txt").exists());
    world.approved = true;
    assert_eq!(world.run("write", write.clone()).await.outcome, Outcome::Ok);
    world.mode = Mode::Safe;
    assert_eq!(world.run("write", write).await.outcome, Outcome::Denied);
    assert_eq!(world.run("write", json!({"path": "../a.txt", "content": "x"})).await.outcome, Outcome::Denied);
    assert_eq!(world.run("nothing", json!({})).await.outcome, Outcome::Invalid);
    world.cancel.cancel();
    assert_eq!(world.run("list", json!({})).await.outcome, Outcome::Interrupted);
}

#[test]
fn plans_name_the_real_file() {
    let world = World::new();
    std::os::unix::fs::symlink("real.txt", world.workspace.join("alias.txt")).unwrap();
    let real = world.workspace.join("real.txt").to_str().unwrap().to_owned();
    let access = |tool: &str, input: Value| {
        let plan = world.plan(tool, input);
        (plan.access, plan.idempotent)
    };
    for path in ["real.txt", "./x/../real.txt", "alias.txt", &real] {
        let expected = (Access::Write { path: real.clone() }, false);
        assert_eq!(access("write", json!({"path": path, "content": ""})), expected);
    }
    assert_eq!(access("shell", json!({"command": "ls"})), (Access::Run, false));
    assert_eq!(access("read", json!({"path": "a"})), (Access::Read, true));
    assert_eq!(access("todo", json!({"items": []})), (Access::Read, true));
    assert_eq!(access("unknown", json!({})), (Access::Read, false));
    assert_eq!(access("write", json!("not json")), (Access::Read, false));
}

#[test]
fn invalid_calls_are_explained() {
    let world = World::new();
    let cases = [
        (
            "raed",
            json!({}),
            "There is no tool `raed`. The tools are read, write, edit, list, glob, search, shell, ask_user, todo.",
        ),
        ("read", json!("{\"path\": \"a\""), "The arguments are not valid JSON: EOF while parsing"),
        ("read", json!({"path": "a", "lines": 3}), "Unknown field `lines`. The fields are `path`, `offset`, `limit`."),
        ("edit", json!({"path": "a", "edits": [{"old": "x"}]}), "The field `edits[0].new` is missing."),
        ("edit", json!({"path": "a"}), "The field `edits` is missing."),
        ("todo", json!({"items": [{"text": "x", "state": "maybe"}]}), "must be one of open, active, done"),
        ("ask_user", json!({"question": " "}), "The question is empty."),
        ("read", json!({"path": ""}), "The path is empty."),
    ];
    for (tool, input, expected) in cases {
        let Verdict::Refuse { outcome, text, .. } = world.prepare(tool, input) else { panic!("{tool}") };
        assert_eq!(outcome, Outcome::Invalid, "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn the_tools_cost_little_to_tell_of() {
    let size: usize = Registry::builtin()
        .specs()
        .map(|spec| {
            json!({"name": spec.name, "description": spec.description, "schema": spec.schema}).to_string().len()
        })
        .sum();
    assert!(size < 3_000, "{size} bytes");
}

/// Keys are taken from the environment or the vault; no model is to hand one over.
#[test]
fn no_tool_asks_for_a_key() {
    fn names(schema: &Value, found: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            found.extend(properties.keys().cloned());
        }
        schema.as_object().into_iter().flat_map(|fields| fields.values()).for_each(|inner| names(inner, found));
    }
    let web = weft_tool::web::WebSettings::default();
    let registry = Registry::builtin().with_web(&web, std::sync::Arc::new(|| None));
    for spec in registry.specs().chain(registry.extras()) {
        let mut found = Vec::new();
        names(spec.schema, &mut found);
        // Of a keyboard.
        found.retain(|name| (spec.name, name.as_str()) != ("jobs", "key"));
        let key = found.iter().find(|name| weft_tool::process::is_secret_variable(name));
        assert!(key.is_none(), "{} takes {key:?}", spec.name);
    }
}

/// A tool that misbehaves as told.
struct Rogue;

static ANYTHING: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({"type": "object"}));

impl Tool for Rogue {
    fn name(&self) -> &str {
        "rogue"
    }
    fn description(&self) -> &str {
        "Misbehaves."
    }
    fn schema(&self) -> &Value {
        &ANYTHING
    }
    fn accept(&self, input: &Value) -> Result<Value, String> {
        Ok(input.clone())
    }
    fn needs(&self, input: &Value) -> Vec<Need> {
        assert_ne!(input["do"], "panic early", "as told");
        Vec::new()
    }
    fn summary(&self, _input: &Value, _workspace: &Path) -> String {
        "Misbehave".into()
    }
    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(String::new())
    }
    fn run<'a>(&'a self, _permit: Permit, _context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            match input.get("do").and_then(Value::as_str) {
                Some("panic") => panic!("as told"),
                Some("hang") => std::future::pending().await,
                Some("flood") => Finished::ok("ä".repeat(100_000), "s".repeat(1_000)),
                _ => {
                    let mut finished = Finished::ok("a hunter2hunter2 b", "with hunter2hunter2");
                    let command = "echo hunter2hunter2".to_owned();
                    finished.output.display = Some(Display::Command { command, exit_code: None });
                    finished
                }
            }
        })
    }
}

#[tokio::test]
async fn whatever_a_tool_does_the_guard_holds() {
    let config = GuardConfig {
        secrets: Redaction::new(["hunter2hunter2".into(), "b".into()]).fixed(),
        ..GuardConfig::default()
    };
    let world = World::with(Registry::builtin().with(Arc::new(Rogue)), config);

    let panicked = world.run("rogue", json!({"do": "panic"})).await;
    assert_eq!(panicked.outcome, Outcome::Failed);
    assert!(panicked.output.text.contains("stopped unexpectedly"), "{}", panicked.output.text);

    assert_eq!(word(&world.prepare("rogue", json!({"do": "panic early"}))), "failed");
    assert_eq!(world.plan("rogue", json!({"do": "panic early"})).access, Access::Read);
    assert_eq!(world.run("rogue", json!({"do": "panic early"})).await.outcome, Outcome::Failed);

    let flooded = world.run("rogue", json!({"do": "flood"})).await.output;
    assert!(flooded.text.len() <= 32 * 1024 && flooded.text.contains("left out here"), "{}", flooded.text.len());
    assert!(flooded.summary.len() <= 300);

    let leaked = world.run("rogue", json!({})).await.output;
    assert_eq!((leaked.text.as_str(), leaked.summary.as_str()), ("a [REDACTED] b", "with [REDACTED]"));
    assert_eq!(leaked.display, Some(Display::Command { command: "echo [REDACTED]".into(), exit_code: None }));

    world.file("keys.txt", "key: hunter2hunter2\n");
    assert_eq!(world.ok("read", json!({"path": "keys.txt"})).await, "1\tkey: [REDACTED]");
}

#[tokio::test]
async fn what_looks_like_a_secret_goes_if_a_person_says_so_and_a_saved_key_never() {
    let config = GuardConfig { secrets: Redaction::new(["hunter2hunter2".into()]).fixed(), ..GuardConfig::default() };
    let mut world = World::with(Registry::builtin(), config);
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let write = |content: &str| json!({"path": "a.txt", "content": content});
    for mode in [Mode::Ask, Mode::Auto] {
        world.mode = mode;
        let Verdict::Ask { kind, question } = world.prepare("write", write(&format!("key: {token}\n"))) else {
            panic!()
        };
        assert!(
            question.starts_with("Write `a.txt`? It holds what looks like a GitHub token (`key: [***]"),
            "{question}"
        );
        let AskKind::Approval { detail, grant, .. } = kind else { panic!() };
        // Neither is it shown, nor can it be allowed for longer.
        assert!(detail.contains("[REDACTED]") && !detail.contains(&token) && grant.is_none(), "{detail} {grant:?}");
    }
    world.refused("write", write(&token)).await;
    world.approved = true;
    world.ok("write", write(&format!("key: {token}\n"))).await;
    assert_eq!(world.content("a.txt"), format!("key: {token}\n"));
    assert!(world.refused("write", write("key: hunter2hunter2")).await.contains("hold a saved key"));
    assert!(world.refused("ask_user", json!({"question": format!("Is {token} right?")})).await.contains("GitHub"));
    // What is forbidden stays so.
    world.mode = Mode::Safe;
    assert!(world.refused("write", write(&token)).await.contains("`safe` mode"));
    world.mode = Mode::Auto;
    world.deny("write a.txt");
    assert!(world.refused("write", write(&token)).await.contains("deny write a.txt"));
}

/// A read that hangs in the kernel hears nothing of a stop.
#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_heed_a_stop_is_given_up() {
    let world = World::with(Registry::builtin().with(Arc::new(Rogue)), GuardConfig::default());
    let started = tokio::time::Instant::now();
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        world.cancel.cancel();
    };
    let (finished, ()) = tokio::join!(world.run("rogue", json!({"do": "hang"})), stop);
    assert_eq!(finished.outcome, Outcome::Interrupted);
    assert!(started.elapsed() < std::time::Duration::from_secs(6), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_task_list_is_shown_whole() {
    let world = World::new();
    let items = json!({"todos": [
        {"content": "look", "status": "completed", "id": "1"},
        {"text": "change", "state": "active"},
        {"text": "test", "state": "open"}]});
    let finished = world.run("todo", items).await;
    assert_eq!(finished.output.text, "3 tasks: 1 done, 1 active, 1 open.");
    let Some(Display::Todo { items }) = finished.output.display else { panic!() };
    assert_eq!(items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["look", "change", "test"]);
}
