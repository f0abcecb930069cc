//! Secrets stay out of prompts, arguments, outputs and the history.
use serde_json::json;
use weft_script::{call, text};

use crate::world::{World, finish, types};

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

#[test]
fn a_prompt_with_a_secret_is_not_sent_unless_allowed() {
    let world = World::new(vec![text("fine")]);
    let prompt = format!("deploy with {} now", token());
    let refused = world.weft(&["run", &prompt]).expect(2);
    refused.says("it holds a GitHub token (`github_pat`)").says("--allow-secret");
    assert!(!refused.stderr.contains("a1B2c3"), "{refused:?}");
    assert_eq!(world.server.requests().len(), 0);
    world.weft(&["run", "--allow-secret", &prompt]).expect(0).says("fine");
    assert_eq!(world.server.requests().len(), 1);
}

#[test]
fn a_call_with_a_secret_is_refused_and_a_file_with_one_is_read_without() {
    let world = World::new(vec![
        call("shell", json!({"command": format!("echo {} > leaked", token())})),
        call("read", json!({"path": "settings.ini"})),
        text("done"),
    ]);
    std::fs::write(world.folder.path().join("settings.ini"), format!("api_key = {}\nport = 80\n", token())).unwrap();
    let ran = world.weft(&["run", "--json", "--mode", "auto", "go"]).expect(0);
    assert!(types(&ran.events()).contains(&"tool_finished"));
    assert!(ran.stdout.contains("the arguments hold a GitHub token"), "{}", ran.stdout);
    assert!(ran.stdout.contains("api_key = [REDACTED]"), "{}", ran.stdout);
    assert!(!world.folder.path().join("leaked").exists());
    assert_eq!(world.server.requests().len(), 3);
}

/// What commands find in their environment, told without any value: redaction would hide a secret
/// that was there, and with it that it was there.
#[test]
fn no_command_inherits_a_secret() {
    let look = "for name in GITHUB_TOKEN DB_PASSWORD AWS_REGION ANTHROPIC_API_KEY COLOUR PLAIN; do \
                if [ -n \"${!name}\" ]; then echo $name=here; fi; done";
    let world = World::new(vec![
        call("shell", json!({ "command": look })),
        call("shell", json!({"command": look, "background": true})),
        call("jobs", json!({"action": "wait", "job": 1, "seconds": 5})),
        text("done"),
    ]);
    let mut command = world.command(&["run", "--json", "--mode", "auto", "go"]);
    command.envs([("GITHUB_TOKEN", "1"), ("DB_PASSWORD", "2"), ("AWS_REGION", "3"), ("PLAIN", "4")]);
    // A key that is known is kept back under any name.
    let (_, key) = world.environment().into_iter().find(|(name, _)| name == "ANTHROPIC_API_KEY").unwrap();
    let ran = finish(command.env("COLOUR", key).spawn().unwrap()).expect(0);
    let events = ran.events();
    let outputs = events.iter().filter(|event| event["type"] == "tool_finished");
    let said: String = outputs.map(|event| format!("{}\n", event["output"]["text"].as_str().unwrap())).collect();
    let found: Vec<&str> = said.lines().filter(|line| line.ends_with("=here")).collect();
    assert_eq!(found, ["PLAIN=here"; 2], "{said}");
}
