use serde_json::json;
use weft_core::{CallId, SessionId, Timestamp, ToolCall, ToolResult};

use super::*;

fn state(messages: Vec<Message>) -> State {
    let mut state = State::new(SessionId::from_random(1));
    state.seq = messages.len() as u64;
    state.updated_at = Timestamp(1);
    state.conversation.entries = messages
        .into_iter()
        .enumerate()
        .map(|(index, message)| Entry::new(index as u64 + 1, index as u64 + 1, message))
        .collect();
    state.context_tokens = state.conversation.tokens();
    state
}

fn call(id: &str) -> Message {
    let call = ToolCall { id: CallId::new(id), name: "read".into(), input: json!({"path": "a"}), signature: None };
    Message::Assistant(vec![Part::ToolCall(call)])
}

fn result(id: &str, text: &str) -> Message {
    let result =
        ToolResult { call: CallId::new(id), name: "read".into(), text: text.into(), images: vec![], is_error: false };
    Message::Tool(vec![result])
}

fn rounds(count: usize, size: usize) -> Vec<Message> {
    let mut messages = vec![Message::user("Build the thing, and keep it small.")];
    for index in 0..count {
        messages.push(call(&index.to_string()));
        messages.push(result(&index.to_string(), &"x".repeat(size)));
    }
    messages
}

#[test]
fn a_cut_keeps_the_end_and_never_parts_a_call_from_its_result() {
    for size in [10, 400, 4_000, 40_000] {
        for count in [1, 2, 7, 40] {
            let state = state(rounds(count, size));
            let cut = cut(&state, 10_000);
            assert!(!cut.old.is_empty(), "something goes");
            let kept = &state.conversation.entries[cut.old.len()..];
            assert!(!matches!(kept.first().map(|entry| &entry.message), Some(Message::Tool(_))), "{size} {count}");
            let tokens: u64 = kept.iter().map(|entry| entry.tokens).sum();
            assert!(tokens <= 2_000, "{tokens} tokens are kept of {size} {count}");
            assert!(kept.iter().all(|entry| entry.seq > cut.upto));
        }
    }
}

#[test]
fn an_extractive_summary_keeps_the_request_and_stays_short() {
    let state = state(rounds(200, 5_000));
    let compacted = extractive(&cut(&state, 10_000));
    assert!(compacted.summary.contains("Build the thing, and keep it small."));
    assert!(compacted.summary.len() < SUMMARY_CAP + 3_000, "{}", compacted.summary.len());
    assert_eq!(compacted.method, Method::Extractive);
}

#[test]
fn a_second_summary_keeps_the_first_one() {
    let mut messages = vec![Message::user(format!("{SUMMARY_MARK}\nThey want a bridge."))];
    messages.extend(rounds(30, 2_000));
    let compacted = extractive(&cut(&state(messages), 10_000));
    assert!(compacted.summary.contains("They want a bridge."), "{}", compacted.summary);
}

#[test]
fn thresholds_leave_room_for_the_answer() {
    let mut info = ModelInfo::unknown();
    for (window, output) in [(4_000, 500), (8_192, 8_192), (128_000, 8_192), (1_000_000, 64_000)] {
        info.window = window;
        info.max_output = output;
        let (limit, answer) = (compact_at(&info), max_output(&info));
        assert!(limit > 0 && limit + answer < window, "{window}: {limit} + {answer}");
    }
}

#[test]
fn a_transcript_keeps_the_newest() {
    let state = state(rounds(50, 1_000));
    let text = transcript(&state.conversation.entries, 5_000);
    assert!(text.len() < 5_100 && text.starts_with("[earlier messages left out]"));
}
