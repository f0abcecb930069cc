//! What the person's rules forbid to read or change, held for the programs that commands start.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use weft_script::{Behaviour, Reply, call, text};

use crate::sandbox::{is_complete, results};
use crate::serve::Served;
use crate::world::World;

fn shell(line: &str) -> Reply {
    call("shell", json!({"command": line}))
}

/// A world with rules, and a folder beside it. A sandbox has its own `/tmp`, so that lies elsewhere.
fn ruled(replies: Vec<Reply>, rules: impl FnOnce(&str) -> String) -> Option<(World, tempfile::TempDir)> {
    let world = World::new(replies);
    if !is_complete(&world) {
        return None;
    }
    let beside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    set(&world, &rules(beside.path().to_str().unwrap()));
    Some((world, beside))
}

fn set(world: &World, settings: &str) {
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), settings).unwrap();
}

fn put(path: PathBuf, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn go(world: &World) -> Vec<String> {
    results(&world.weft(&["run", "--mode", "auto", "--json", "go"]).expect(0))
}

/// Where the words of a command do not tell what it opens, the guard cannot say no to them.
fn scripts(count: usize) -> Vec<Reply> {
    (0..count).map(|number| shell(&format!("sh ./run{number}"))).chain([text("Done.")]).collect()
}

#[test]
fn an_exception_outside_the_workspace_opens_itself_and_no_more() {
    let look = "cat \"$(cat place)/private/open/a\" \"$(cat place)/private/b\" \"$(cat place)/private/sub/c\"; \
                ls \"$(cat place)/private/sub\"; echo end";
    let Some((world, beside)) = ruled(vec![shell("sh ./run"), text("Done.")], |place| {
        format!("[permissions]\ndeny = [\"read {place}/private/**\"]\nallow = [\"read {place}/private/open/**\"]\n")
    }) else {
        return;
    };
    for (file, content) in [("open/a", "WANTED\n"), ("b", "NEEDLE\n"), ("sub/c", "NEEDLE\n")] {
        put(beside.path().join("private").join(file), content);
    }
    put(world.folder.path().join("place"), beside.path().to_str().unwrap());
    put(world.folder.path().join("run"), look);
    let told = go(&world);
    assert!(told[0].contains("WANTED") && told[0].contains("end"), "{told:?}");
    assert!(!told[0].contains("NEEDLE"), "{told:?}");
}

#[test]
fn what_is_hidden_cannot_be_moved_to_where_it_is_seen() {
    let lines = [
        "mv outer moved && cat moved/inner/keys/k; echo 1",
        "mv outer/inner moved && cat moved/keys/k; echo 2",
        "mv outer/inner/keys moved && cat moved/k; echo 3",
        "mv outer/odd* moved; cat moved; echo 4",
        "ln outer/inner/one.pem other; cat other; echo 5",
        "python3 -c \"import os; os.rename('outer', 'moved')\"; cat moved/inner/one.pem; echo 6",
        // The next command's world is made anew.
        "grep -rs 'NEED[L]E' . ; echo 7",
    ];
    let Some((world, _beside)) = ruled(scripts(lines.len()), |_| {
        "[permissions]\ndeny = [\"read outer/inner/keys/**\", \"read **/*.pem\"]\n".to_owned()
    }) else {
        return;
    };
    let folder = world.folder.path();
    for (number, line) in lines.iter().enumerate() {
        put(folder.join(format!("run{number}")), line);
    }
    put(folder.join("outer/inner/keys/k"), "NEEDLE\n");
    put(folder.join("outer/inner/one.pem"), "NEEDLE\n");
    put(folder.join(Path::new(std::ffi::OsStr::from_bytes(b"outer/odd\xff\xfe.pem"))), "NEEDLE\n");
    let told = go(&world);
    assert_eq!(told.len(), lines.len(), "{told:?}");
    for (number, told) in told.iter().enumerate() {
        assert!(!told.contains("NEEDLE"), "{number}: {told}");
        assert!(told.contains(&(number + 1).to_string()), "{number}: {told}");
    }
    assert_eq!(world.file("outer/inner/keys/k"), "NEEDLE\n");
    assert_eq!(world.file("outer/inner/one.pem"), "NEEDLE\n");
}

#[test]
fn what_must_not_be_changed_is_held_in_every_writable_folder() {
    let tries = "cd \"$(cat place)/cache\"; echo new > kept/a; echo new > sub/x.lock; mv kept other; echo free > free; \
                 rm -r kept; echo end";
    let make = "mkdir -p later/on; echo made > later/on/file; echo end";
    let Some((world, beside)) = ruled(vec![shell("sh ./run"), shell("sh ./make"), text("Done.")], |place| {
        format!(
            "[permissions]\ndeny = [\"write {place}/cache/kept/**\", \"write {place}/**/*.lock\", \"write later/**\"]\n\
             [sandbox]\nwritable = [\"{place}/cache\"]\n"
        )
    }) else {
        return;
    };
    let cache = beside.path().join("cache");
    put(cache.join("kept/a"), "old\n");
    put(cache.join("sub/x.lock"), "old\n");
    put(world.folder.path().join("place"), beside.path().to_str().unwrap());
    put(world.folder.path().join("run"), tries);
    put(world.folder.path().join("make"), make);
    let told = go(&world);
    assert!(told[0].contains("end"), "{told:?}");
    let content = |name: &str| std::fs::read_to_string(cache.join(name)).unwrap();
    assert_eq!((content("kept/a").as_str(), content("sub/x.lock").as_str()), ("old\n", "old\n"), "{told:?}");
    assert_eq!(content("free"), "free\n");
    // What was not there could be made, and is put aside.
    assert!(told[1].contains("`later` was put aside") && told[1].contains("a rule forbids"), "{told:?}");
    assert!(!world.folder.path().join("later").exists());
}

#[test]
fn a_workspace_that_must_not_be_changed_is_not() {
    let line = "echo new > made; echo new > old; mkdir x; rm -f old; cat old; echo end";
    let Some((world, _beside)) =
        ruled(vec![shell(line), text("Done.")], |_| "[permissions]\ndeny = [\"write **\"]\n".to_owned())
    else {
        return;
    };
    // The words tell that it writes; a script does not.
    put(world.folder.path().join("old"), "OLD\n");
    let told = go(&world);
    assert!(told[0].contains("deny write"), "{told:?}");
    let by_hand = world.weft(&["sandbox", "run", "--", "sh", "-c", line]);
    assert!(by_hand.stdout.contains("OLD\nend"), "{by_hand:?}");
    assert_eq!(world.file("old"), "OLD\n");
    assert!(!world.folder.path().join("made").exists() && !world.folder.path().join("x").exists());
}

/// A rule that cannot be held for a command is no rule, so it is not run, and the reason is said.
#[test]
fn rules_about_too_much_are_said_and_nothing_is_run() {
    let Some((world, _beside)) =
        ruled(vec![shell("touch made"), text("Done.")], |_| "[permissions]\ndeny = [\"read **/*.pem\"]\n".to_owned())
    else {
        return;
    };
    for number in 0..=500 {
        put(world.folder.path().join(format!("many/{number}.pem")), "");
    }
    let told = go(&world);
    assert!(told[0].starts_with("The command was not run:") && told[0].contains("`deny read **/*.pem`"), "{told:?}");
    assert!(told[0].contains("Name whole folders"), "{told:?}");
    assert!(!world.folder.path().join("made").exists());
    let by_hand = world.weft(&["sandbox", "run", "--", "touch", "made"]);
    assert!(by_hand.code != Some(0) && by_hand.stderr.contains("**/*.pem"), "{by_hand:?}");
    // Nobody can work in what cannot be seen at all.
    set(&world, "[permissions]\ndeny = [\"read **\"]\n");
    let by_hand = world.weft(&["sandbox", "run", "--", "touch", "made"]);
    assert!(by_hand.code != Some(0) && by_hand.stderr.contains("is hidden from commands"), "{by_hand:?}");
    assert!(!world.folder.path().join("made").exists());
}

/// In `safe` mode a command only looks, and what a repository has git run while it looks changes nothing.
#[test]
fn in_safe_mode_nothing_is_changed_whatever_runs() {
    let Some((world, _beside)) = ruled(vec![shell("git status"), text("Done.")], |_| String::new()) else { return };
    let folder = world.folder.path();
    let git = |words: &[&str]| {
        let ran = std::process::Command::new("git").args(words).current_dir(folder).status().unwrap();
        assert!(ran.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    put(folder.join("a"), "old\n");
    put(folder.join("watch"), "#!/bin/sh\necho ran >&2\necho new > a\ntouch made\nexit 1\n");
    std::fs::set_permissions(folder.join("watch"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&["config", "core.fsmonitor", "./watch"]);
    let told = results(&world.weft(&["run", "--mode", "safe", "--json", "go"]).expect(0));
    assert!(told[0].contains("ran"), "it was tried: {told:?}");
    assert_eq!(world.file("a"), "old\n");
    assert!(!folder.join("made").exists());
}

/// A job keeps the world that it was started in, and that is said; what comes after it is held to the rules
/// as they are.
#[test]
fn rules_that_change_while_a_job_runs_hold_for_the_next_command() {
    let world = World::behaving(Behaviour::matching(|seen| {
        if seen.body["system"].to_string().contains("Title: give") {
            return text("A title");
        }
        let is_second = seen.body["messages"].to_string().contains("encore");
        match (is_second, seen.round_in_turn) {
            (false, 0) => call("shell", json!({"command": "sleep 60", "background": true})),
            (_, 1) | (true, 0) => shell("sh ./run"),
            _ => text("Done."),
        }
    }));
    if !is_complete(&world) {
        return;
    }
    put(world.folder.path().join("private/plan"), "NEEDLE\n");
    put(world.folder.path().join("run"), "cat private/plan; echo end");
    let served = Served::start(&world, "127.0.0.1:0");
    let texts = |events: &[Value]| {
        let finished = events.iter().filter(|event| event["type"] == "tool_finished");
        finished.map(|event| event["output"]["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let session = served.begin("go", "auto");
    let (events, _) = served.follow(&session, 0, "turn_ended");
    let told = texts(&events);
    assert!(told[1].contains("NEEDLE"), "without a rule: {told:?}");
    let (status, answer) = served.send("PATCH", "settings", &json!({ "permissions.deny": ["read private/**"] }));
    assert_eq!(status, 200, "{answer}");
    let body = json!({ "content": [{ "type": "text", "text": "encore" }] });
    assert_eq!(served.send("POST", &format!("sessions/{session}/turns"), &body).0, 202);
    let last = events.last().unwrap()["seq"].as_u64().unwrap();
    let told = texts(&served.follow(&session, last, "turn_ended").0);
    assert!(told[0].contains("end") && !told[0].contains("NEEDLE"), "{told:?}");
    assert!(told[0].contains("rules have changed") && !told[1].contains("rules have changed"), "{told:?}");
}

/// A source that reads a file for whoever calls it.
const READER: &str = r#"
const fs = require('fs');
const send = message => process.stdout.write(JSON.stringify({jsonrpc: '2.0', ...message}) + '\n');
const tool = {name: 'look', description: 'Looks.', inputSchema: {type: 'object'}};
let buffer = '';
process.stdin.on('data', data => {
  buffer += data;
  for (let end; (end = buffer.indexOf('\n')) >= 0; buffer = buffer.slice(end + 1)) hear(JSON.parse(buffer.slice(0, end)));
});
function look() { try { return fs.readFileSync('private/plan', 'utf8'); } catch (error) { return 'not seen: ' + error.code; } }
function hear({id, method, params}) {
  const info = {serverInfo: {name: 'it', version: '1'}, capabilities: {tools: {}}};
  if (method === 'initialize') send({id, result: {protocolVersion: params.protocolVersion, ...info}});
  else if (method === 'tools/list') send({id, result: {tools: [tool]}});
  else if (method === 'tools/call') send({id, result: {content: [{type: 'text', text: look()}]}});
  else if (id !== undefined && method) send({id, error: {code: -32601, message: 'no'}});
}
"#;

/// The world of a source is settled when it is started, so it is started anew.
#[test]
fn rules_that_change_while_a_source_runs_hold_for_its_next_call() {
    let world = World::behaving(Behaviour::matching(|seen| match seen.round_in_turn {
        _ if seen.body["system"].to_string().contains("Title: give") => text("A title"),
        0 => call("request_tools", json!({"source": "it"})),
        1 => call("mcp__it__look", json!({})),
        _ => text("Done."),
    }));
    if !is_complete(&world) {
        return;
    }
    put(world.folder.path().join("private/plan"), "NEEDLE\n");
    put(world.folder.path().join("server.js"), READER);
    let [node, ..] = crate::peers::everything();
    set(&world, &format!("[sources.it]\ncommand = \"{node}\"\nargs = [\"server.js\"]\nsandbox = true\n"));
    let served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("go", "auto");
    let said = |events: &[Value]| {
        let mut finished = events.iter().filter(|event| event["type"] == "tool_finished");
        finished.next_back().unwrap()["output"]["text"].as_str().unwrap().to_owned()
    };
    let (events, _) = served.follow(&session, 0, "turn_ended");
    assert!(said(&events).contains("NEEDLE"), "without a rule: {events:?}");
    let (status, answer) = served.send("PATCH", "settings", &json!({ "permissions.deny": ["read private/**"] }));
    assert_eq!(status, 200, "{answer}");
    let body = json!({ "content": [{ "type": "text", "text": "encore" }] });
    assert_eq!(served.send("POST", &format!("sessions/{session}/turns"), &body).0, 202);
    let last = events.last().unwrap()["seq"].as_u64().unwrap();
    let text = said(&served.follow(&session, last, "turn_ended").0);
    assert!(text.contains("not seen: ") && !text.contains("NEEDLE"), "{text}");
}
