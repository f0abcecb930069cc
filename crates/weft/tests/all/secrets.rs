//! Secrets stay out of prompts, arguments, outputs and the history.
use serde_json::json;
use weft_script::{call, text};

use crate::world::{World, types};

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
