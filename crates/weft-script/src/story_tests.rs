#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;
use crate::Protocol;

fn seen(said: &str, round: usize) -> Seen {
    Seen {
        protocol: Protocol::Chat,
        path: String::new(),
        headers: Vec::new(),
        body: Value::Null,
        round,
        round_in_turn: round,
        turn: 1,
        last_user: said.to_owned(),
        last_results: Vec::new(),
        arrived_micros: 0,
        body_bytes: 0,
    }
}

#[test]
fn the_first_rule_that_fits_answers_round_by_round() {
    let story: Story = serde_json::from_value(json!({"rules": [
        {"when": "tools", "replies": [
            {"thinking": "Hm.", "calls": [{"name": "shell", "input": {"command": "ls"}}]},
            {"text": "ab", "times": 2, "slow_ms": 5}
        ]},
        {"when": "", "replies": [{"text": "Hello."}]}
    ]}))
    .unwrap();
    let first = story.reply(&seen("use tools", 0));
    assert_eq!(first.pieces.len(), 2);
    assert!(first.pieces.iter().any(Piece::is_call));
    for round in 1..4 {
        let later = story.reply(&seen("use tools", round));
        assert_eq!(later.pieces, [Piece::Text("abab".to_owned())]);
        assert_eq!(later.faults, [Fault::SlowChunks { ms: 5 }]);
    }
    assert_eq!(story.reply(&seen("anything", 0)).pieces, [Piece::Text("Hello.".to_owned())]);
}
