#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use serde_json::json;

use super::*;

#[test]
fn a_key_anywhere_in_the_arguments_is_found() {
    let known = Redaction::new(["hunter2hunter2".to_owned()]);
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let leak = find(&json!({"edits": [{"new": format!("token: {token}")}]}), &known).unwrap();
    assert_eq!(leak, Leak::Looks { words: "a GitHub token".to_owned(), near: "token: [***]".to_owned() });
    assert!(leak.refusal().contains("the arguments hold a GitHub token"), "{}", leak.refusal());
    assert_eq!(find(&json!({"command": "curl -u me:hunter2hunter2 x"}), &known), Some(Leak::Saved));
    // What is kept here is not made harmless by something else that looks like a secret.
    assert_eq!(find(&json!({"a": token, "b": "x hunter2hunter2"}), &known), Some(Leak::Saved));
    assert_eq!(find(&json!({ "a": format!("{token} hunter2hunter2") }), &known), Some(Leak::Saved));
    assert_eq!(find(&json!({"content": "password = \"g7Kq9vvX2\"", "n": 1}), &known), None);
    assert_eq!(find(&json!({"command": "echo $GITHUB_TOKEN"}), &known), None);
}
