//! What was done is in the audit log, and what is done to the log is seen.
use serde_json::json;
use weft_script::{call, text};

use crate::world::World;

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// The key that every world keeps for its model.
const SAVED_KEY: &str = "test-key-000";

/// A world in which a file was written, a command run and another refused.
fn world() -> World {
    let world = World::new(vec![
        call("write", json!({"path": "a.txt", "content": "one\n"})),
        call("shell", json!({"command": "cat a.txt"})),
        call("shell", json!({"command": format!("echo {SAVED_KEY}")})),
        text("done"),
    ]);
    world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    world
}

fn log(world: &World) -> std::path::PathBuf {
    let folder = world.home.path().join("weft/audit");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.pop().unwrap()
}

#[test]
fn deeds_and_refusals_are_recorded_without_secrets() {
    let world = world();
    let all = world.weft(&["audit", "query", "--format", "json"]).expect(0).events();
    let events: Vec<&str> = all.iter().map(|entry| entry["event_type"].as_str().unwrap()).collect();
    for wanted in ["session.started", "model.answered", "tool.started", "tool.ended", "tool.refused", "turn.ended"] {
        assert!(events.contains(&wanted), "no {wanted} in {events:?}");
    }
    let written = world.weft(&["audit", "query", "--category", "file", "--target", "*.txt", "--format", "json"]);
    let written = written.expect(0).events();
    let told: Vec<&str> = written.iter().map(|entry| entry["event_type"].as_str().unwrap()).collect();
    assert_eq!(told, ["tool.started", "tool.ended", "files.changed"]);
    let denied = world.weft(&["audit", "query", "--outcome", "denied", "--severity", "security", "--format", "csv"]);
    denied.expect(0).says("tool.refused");
    world.weft(&["audit", "query", "--action", "shell"]).expect(0).says("cat a.txt");
    assert!(!std::fs::read_to_string(log(&world)).unwrap().contains(SAVED_KEY));
    world.weft(&["audit", "verify"]).expect(0).says("as it was written");
    let exported = world.weft(&["audit", "export", "--since", "1h"]).expect(0);
    assert_eq!(exported.events().len(), all.len());
}

#[test]
fn a_changed_line_is_found() {
    let world = world();
    let text = std::fs::read_to_string(log(&world)).unwrap();
    std::fs::write(log(&world), text.replacen("a.txt", "b.txt", 1)).unwrap();
    world.weft(&["audit", "verify"]).expect(1).says("hash mismatch").says("NOT as it was written");
    world.weft(&["audit", "purge", "--before", "0s", "--yes"]).expect(1).says("nothing was purged");
}

#[test]
fn a_purge_is_confirmed_and_leaves_a_log_that_verifies() {
    let world = world();
    world.weft(&["audit", "purge", "--before", "0s"]).expect(2).says("--yes");
    world.weft(&["audit", "purge", "--before", "0s", "--yes"]).expect(0).says("Removed");
    world.weft(&["audit", "verify"]).expect(0).says("1 entry, ");
    world.weft(&["audit", "purge", "--before", "90d", "--yes"]).expect(0).says("nothing that old");
    world.weft(&["audit", "query", "--since", "tomorrow"]).expect(2).says("is no time");
}

#[test]
fn changes_of_settings_and_keys_are_recorded() {
    let world = World::new(vec![]);
    world.weft(&["config", "set", "limits.rounds", "50"]).expect(0);
    world.weft_with_input(&["auth", "openai", "--key-stdin", "--no-check"], &token()).expect(0);
    world.weft(&["auth", "remove", "openai"]).expect(0);
    let entries = world.weft(&["audit", "query", "--format", "json"]).expect(0).events();
    let events: Vec<&str> = entries.iter().map(|entry| entry["event_type"].as_str().unwrap()).collect();
    assert_eq!(events, ["config.set", "credential.saved", "credential.removed"]);
    assert_eq!(entries[1]["target"], "openai");
}

#[test]
fn tokens_for_the_server_are_recorded_by_name() {
    let world = World::new(vec![]);
    let token = world.weft(&["serve", "tokens", "add", "phone"]).expect(0).stdout.trim().to_owned();
    world.weft(&["serve", "tokens", "revoke", "phone"]).expect(0);
    let entries = world.weft(&["audit", "query", "--format", "json"]).expect(0).events();
    let told: Vec<_> = entries.iter().map(|entry| (&entry["event_type"], &entry["target"])).collect();
    assert_eq!(told, [(&json!("token.added"), &json!("phone")), (&json!("token.revoked"), &json!("phone"))]);
    assert!(!std::fs::read_to_string(log(&world)).unwrap().contains(&token));
}

/// Of a file that was written the log has the size and the hash, of a call all files it was about, and
/// of a turn all files that it changed, whoever changed them.
#[test]
fn files_are_recorded_one_by_one() {
    let files = json!([{"path": "a.txt", "content": "abc"}, {"path": "b.txt", "content": "b\n"}]);
    let world = World::new(vec![
        call("request_tools", json!({"names": ["batch_write", "delete"]})),
        call("batch_write", json!({"files": files})),
        call("shell", json!({"command": "echo c > c.txt; echo more >> b.txt"})),
        call("delete", json!({"path": "a.txt"})),
        text("done"),
    ]);
    std::fs::write(world.folder.path().join("d.txt"), "d\n").unwrap();
    world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    let entries = world.weft(&["audit", "query", "--category", "file", "--format", "json"]).expect(0).events();
    let ended = |tool: &str| {
        let is_it = |entry: &&serde_json::Value| entry["action"] == tool && entry["event_type"] == "tool.ended";
        entries.iter().find(is_it).unwrap_or_else(|| panic!("no {tool} in {entries:?}"))["details"].clone()
    };
    let both = ended("batch_write");
    assert_eq!(both["targets"], json!(["a.txt", "b.txt"]));
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(both["written"][0], json!({"path": "a.txt", "bytes": 3, "sha256": sha256}));
    assert_eq!(ended("delete")["written"], json!([{"path": "a.txt", "gone": true}]));
    let turn = entries.iter().find(|entry| entry["event_type"] == "files.changed").unwrap();
    assert_eq!(turn["details"]["files"], json!([["created", "b.txt"], ["created", "c.txt"]]), "{turn}");
    assert_eq!(turn["target"], "b.txt, c.txt");
    world.weft(&["audit", "verify"]).expect(0);
}

/// What was answered, allowed and put back can be read from the entry alone.
#[test]
fn answers_grants_and_undos_say_what_they_are_about() {
    let write = |name: &str| call("write", json!({"path": name, "content": "one\n"}));
    let world = World::new(vec![write("notes/a.txt"), write("notes/b.txt"), text("done")]);
    world.weft(&["run", "go"]).expect(3);
    let asks = world.weft(&["asks", "--json"]).expect(0).events();
    world.weft(&["answer", asks[0]["ask"]["id"].as_str().unwrap(), "session", "--resume"]).expect(0);
    world.weft(&["undo"]).expect(0);
    let entries = world.weft(&["audit", "query", "--format", "json"]).expect(0).events();
    let target = |event: &str| {
        let entry = entries.iter().find(|entry| entry["event_type"] == event);
        entry.unwrap_or_else(|| panic!("no {event} in {entries:?}"))["target"].as_str().unwrap_or_default().to_owned()
    };
    assert!(target("ask.answered").contains("notes/a.txt"), "{}", target("ask.answered"));
    assert_eq!(target("grant.given"), "write notes/**");
    assert_eq!(target("files.restored"), "notes/a.txt, notes/b.txt");
}

#[test]
fn a_killed_process_leaves_a_log_that_goes_on() {
    let world = World::new(vec![call("shell", json!({"command": "sleep 30"})), text("done")]);
    let mut child = world.command(&["run", "--mode", "auto", "go"]).spawn().unwrap();
    crate::world::wait_until("the command to be in the log", || {
        let found = world.weft(&["audit", "query", "--action", "tool.started", "--format", "json"]);
        found.stdout.contains("sleep 30").then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    world.weft(&["audit", "verify"]).expect(0);
    world.weft(&["resume"]).expect(0);
    world.weft(&["audit", "verify"]).expect(0);
    world.weft(&["audit", "query", "--action", "session.recovered"]).expect(0).says("recover");
}
