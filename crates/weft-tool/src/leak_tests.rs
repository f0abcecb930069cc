#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use serde_json::json;

use super::*;

#[test]
fn a_key_anywhere_in_the_arguments_is_found() {
    let known = Redaction::new(["hunter2hunter2".to_owned()]);
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = refusal(&json!({"edits": [{"new": format!("token: {token}")}]}), &known).unwrap();
    assert!(text.contains("a GitHub token") && !text.contains(&token), "{text}");
    assert!(refusal(&json!({"command": "curl -u me:hunter2hunter2 x"}), &known).unwrap().contains("a saved key"));
    assert_eq!(refusal(&json!({"content": "password = \"g7Kq9vvX2\"", "n": 1}), &known), None);
    assert_eq!(refusal(&json!({"command": "echo $GITHUB_TOKEN"}), &known), None);
}
