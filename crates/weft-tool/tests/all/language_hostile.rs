//! Language servers that misbehave: they hang, die, name files that they should not, and are started
//! no oftener than they should be.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use weft_core::Mode;
use weft_core::ask::AskKind;
use weft_core::event::{Access, Outcome};
use weft_tool::discover::Discovery;
use weft_tool::language::{LanguageServer, Languages, Patience};
use weft_tool::{GuardConfig, Registry, Sandbox, Verdict};

use crate::world::World;

/// Reads messages, and answers the first. `$body` is what it was told, `$id` the number of it.
const PRELUDE: &str = r#"
echo $$ >> pids
say() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
hear() {
    IFS=' ' read -r _ length || exit 0
    read -r _
    body=$(head -c "${length%?}")
    id=${body#*\"id\":}
    id=${id%%,*}
}
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
hear
answer '{"capabilities":{}}'
"#;

fn world(script: &str, patience: Patience) -> World {
    let server = LanguageServer {
        name: "fake".to_owned(),
        program: "/bin/sh".to_owned(),
        args: vec!["server.sh".to_owned()],
        languages: [("fake".to_owned(), "fake".to_owned())].into(),
        roots: Vec::new(),
        install: "nowhere".to_owned(),
        section: String::new(),
        options: Value::Null,
        tells_when_ready: false,
        checks_when_saved: false,
    };
    let languages = Languages::new(vec![Arc::new(server)], &Sandbox::off(), patience);
    let registry = Registry::builtin_with(Arc::new(Sandbox::off()), Discovery::default(), languages);
    let world = World::with(registry, GuardConfig::default());
    world.file("server.sh", script);
    world.file("a.fake", "first\nname here\n");
    world
}

fn hasty() -> Patience {
    Patience {
        answer: Duration::from_millis(300),
        diagnostics: Duration::from_millis(300),
        quiet: Duration::from_millis(20),
        ..Patience::default()
    }
}

fn definition() -> Value {
    json!({"action": "definition", "path": "a.fake", "line": 2, "symbol": "name"})
}

fn starts(world: &World) -> usize {
    world.content("pids").lines().count()
}

async fn until(what: impl Fn() -> bool) {
    let waited = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waited).await.expect("it never happened");
}

/// It says that the definition is in all of these.
fn naming(world: &World, paths: &[&Path]) {
    let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}"#;
    let places: Vec<String> =
        paths.iter().map(|path| format!(r#"{{"uri":"file://{}","range":{range}}}"#, path.display())).collect();
    let answers =
        format!("while :; do hear; case \"$body\" in *definition*) answer '[{}]';; esac; done", places.join(","));
    world.file("server.sh", format!("{PRELUDE}{answers}\n"));
}

#[tokio::test]
async fn only_what_may_be_read_is_shown() {
    let mut world = world("", Patience::default());
    let secret = world.file(".env", "TOKEN=do-not-show\n");
    let denied = world.file("private/notes.txt", "do-not-show\n");
    let outside = world.root.join("outside.txt");
    std::fs::write(&outside, "do-not-show\n").unwrap();
    let link = world.workspace.join("link.txt");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let upwards = world.workspace.join("../outside.txt");
    let inside = world.workspace.join("a.fake");
    let paths =
        [&*secret, &*denied, &*outside, &*link, &*upwards, Path::new("/etc/passwd"), Path::new("/dev/zero"), &*inside];
    naming(&world, &paths);
    world.deny("read private/**");
    world.mode = Mode::Ask;
    world.approved = true;
    let text = world.ok("code", definition()).await;
    assert_eq!(text, "a.fake:1: first\n[6 more outside the workspace, or not to be read]");
}

#[tokio::test]
async fn a_server_is_started_as_a_command_is_and_asked_freely_then() {
    let mut world = world("", Patience::default());
    naming(&world, &[&world.workspace.join("a.fake")]);
    world.mode = Mode::Safe;
    assert!(matches!(world.prepare("code", definition()), Verdict::Refuse { .. }));
    world.mode = Mode::Ask;
    let Verdict::Ask { kind: AskKind::Approval { detail, .. }, .. } = world.prepare("code", definition()) else {
        panic!("nobody is asked")
    };
    assert_eq!(detail, "/bin/sh server.sh");
    assert_eq!(world.plan("code", definition()).access, Access::Run);
    assert_eq!(world.run("code", definition()).await.outcome, Outcome::Denied);
    assert!(!world.workspace.join("pids").exists());
    world.approved = true;
    world.ok("code", definition()).await;
    world.approved = false;
    assert!(matches!(world.prepare("code", definition()), Verdict::Run { .. }));
    assert_eq!(world.plan("code", definition()).access, Access::Read);
    world.ok("code", definition()).await;
    world.mode = Mode::Safe;
    world.ok("code", definition()).await;
    assert_eq!(starts(&world), 1);
}

#[tokio::test]
async fn one_that_hangs_is_started_anew_and_not_for_ever() {
    let world = world(&format!("{PRELUDE}while :; do hear; done\n"), hasty());
    for round in 1..=3 {
        for _ in 0..2 {
            let text = world.fails("code", definition()).await;
            assert_eq!(text, "fake did not help: it did not answer within 0 s.");
        }
        assert_eq!(starts(&world), round);
    }
    let text = world.fails("code", definition()).await;
    assert!(text.starts_with("fake was started 3 times within 10 minutes"), "{text}");
    assert_eq!(starts(&world), 3);
}

#[tokio::test]
async fn one_that_dies_says_why() {
    let world = world("echo out of luck >&2; exit 3", Patience::default());
    let text = world.fails("code", definition()).await;
    assert!(text.starts_with("fake could not be started: it has ended") && text.contains("Use `search`"), "{text}");
    world.file("server.sh", format!("{PRELUDE}hear; hear; hear; echo out of luck >&2; exit 3\n"));
    let text = world.fails("code", definition()).await;
    assert!(text.starts_with("fake did not help: it has ended"), "{text}");
}

#[tokio::test]
async fn rubbish_ends_the_conversation() {
    for rubbish in
        ["echo hello world", "printf 'Content-Length: 99999999999\\r\\n\\r\\n'", "yes", "head -c 100000 /dev/zero"]
    {
        let world = world(rubbish, Patience::default());
        let text = world.fails("code", definition()).await;
        assert!(text.starts_with("fake could not be started: it has ended: "), "{rubbish}: {text}");
    }
}

#[tokio::test]
async fn nothing_is_claimed_of_problems_that_it_does_not_tell_of() {
    let world = world(&format!("{PRELUDE}while :; do hear; done\n"), hasty());
    let text = world.ok("code", json!({"action": "diagnostics", "path": "a.fake"})).await;
    assert!(text.starts_with("No problems known yet in `a.fake`.\n[the server is still reading"), "{text}");
}

#[tokio::test]
async fn one_that_nobody_asks_is_stopped() {
    let script = format!(
        "{PRELUDE}while :; do hear; case \"$body\" in *shutdown*) touch asked-to-stop; answer null;; *definition*) answer '[]';; esac; done\n"
    );
    let world = world(&script, Patience { idle: Duration::from_millis(200), ..Patience::default() });
    assert_eq!(world.ok("code", definition()).await, "No definition was found.");
    until(|| world.workspace.join("asked-to-stop").exists()).await;
    until(|| world.plan("code", definition()).access == Access::Run).await;
    assert_eq!(world.ok("code", definition()).await, "No definition was found.");
    assert_eq!(starts(&world), 2);
}

#[tokio::test]
async fn it_ends_with_weft() {
    let mut world = world("", Patience::default());
    naming(&world, &[]);
    world.ok("code", definition()).await;
    let process = Path::new("/proc").join(world.content("pids").trim());
    assert!(process.exists());
    world.guard = weft_tool::Guard::new(Registry::builtin(), GuardConfig::default());
    until(|| !process.exists()).await;
}

#[tokio::test]
async fn a_call_can_be_stopped_while_it_waits() {
    let world = world(&format!("{PRELUDE}touch ready; while :; do hear; done\n"), Patience::default());
    let (finished, ()) = tokio::join!(world.run("code", definition()), async {
        until(|| world.workspace.join("ready").exists()).await;
        world.cancel.cancel();
    });
    assert_eq!(finished.outcome, Outcome::Interrupted, "{}", finished.output.text);
}

#[tokio::test]
async fn what_cannot_be_asked_is_said() {
    let world = world("", Patience::default());
    let fails = async |input: Value| world.run("code", input).await.output.text;
    let text = fails(json!({"action": "hover", "path": "a.fake"})).await;
    assert!(text.starts_with("Say which name is meant"), "{text}");
    let text = fails(json!({"action": "hover", "path": "a.fake", "symbol": "nam"})).await;
    assert!(text.starts_with("`nam` is not in `a.fake`"), "{text}");
    let text = fails(json!({"action": "hover", "path": "none.fake", "symbol": "x"})).await;
    assert!(text.contains("none.fake"), "{text}");
    let text = fails(json!({"action": "rename", "path": "a.fake"})).await;
    assert!(text.contains("must be one of diagnostics"), "{text}");
    assert!(!world.workspace.join("pids").exists());
}

#[tokio::test]
async fn a_change_neither_starts_a_server_nor_waits_for_a_silent_one() {
    let world = world("", Patience::default());
    naming(&world, &[&world.workspace.join("a.fake")]);
    let edit = |old: &str, new: &str| json!({"path": "a.fake", "edits": [{"old": old, "new": new}]});
    world.ok("edit", edit("first", "second")).await;
    assert!(!world.workspace.join("pids").exists(), "nobody has asked for a server");
    world.ok("code", definition()).await;
    // From now on it runs, and never says what is wrong with a file.
    let began = std::time::Instant::now();
    let text = world.ok("edit", edit("second", "third")).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(!text.contains("fake finds"), "{text}");
    assert!(world.content("a.fake").starts_with("third"));
}

#[tokio::test]
async fn of_a_changed_file_that_may_not_be_read_nothing_is_told() {
    let mut world = world("", hasty());
    let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}"#;
    let told = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{{"uri":"file://{}","diagnostics":[{{"range":{range},"severity":1,"message":"do-not-show"}}]}}}}"#,
        world.workspace.join("a.fake").display()
    );
    let answers = format!(
        "while :; do hear; case \"$body\" in *definition*) answer '[]';; *didChange\\\"*|*didOpen*) say '{told}';; esac; done"
    );
    world.file("server.sh", format!("{PRELUDE}{answers}\n"));
    world.ok("code", definition()).await;
    let edit = |old: &str, new: &str| json!({"path": "a.fake", "edits": [{"old": old, "new": new}]});
    let text = world.ok("edit", edit("first", "second")).await;
    assert!(text.contains("[fake finds errors in `a.fake`:]\na.fake:1: error: do-not-show"), "{text}");
    world.deny("read a.fake");
    let finished = world.run("edit", edit("second", "third")).await;
    assert!(!finished.output.text.contains("do-not-show"), "{}", finished.output.text);
}
