use serde_json::json;

use super::*;

/// Both readings of a body agree on turn, round and round in the turn.
fn check(protocol: Protocol, body: &Value, expected: (usize, usize, usize)) {
    let exact = Conversation::read(protocol, body).counts();
    assert_eq!((exact.turn, exact.round, exact.round_in_turn), expected, "exact: {body}");
    assert_eq!(scan(protocol, body.to_string().as_bytes()), exact, "scan: {body}");
    let spaced = serde_json::to_vec_pretty(body).unwrap();
    assert_eq!(scan(protocol, &spaced), exact, "scan with spaces: {body}");
}

#[test]
fn anthropic() {
    let call = json!({ "role": "assistant", "content": [
        { "type": "text", "text": "a \"role\":\"user\" b" },
        { "type": "tool_use", "id": "1", "name": "x", "input": {} },
    ] });
    let results = json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "1", "content": "{\"type\":\"tool_result\",\"role\":\"assistant\"}" },
        { "type": "text", "text": "a reminder" },
    ] });
    let user = json!({ "role": "user", "content": "hello" });
    let parts_first = json!({ "content": [{ "type": "tool_result", "content": "x" }], "role": "user" });
    let tools = json!([{ "name": "x", "input_schema": { "properties": { "role": { "type": "string" } } } }]);
    let body = |messages: &[&Value]| json!({ "system": "s", "messages": messages, "tools": tools });
    check(Protocol::Anthropic, &body(&[]), (0, 0, 0));
    check(Protocol::Anthropic, &body(&[&user]), (1, 0, 0));
    check(Protocol::Anthropic, &body(&[&user, &call, &results]), (1, 1, 1));
    check(Protocol::Anthropic, &body(&[&user, &call, &parts_first, &call, &parts_first]), (1, 2, 2));
    check(Protocol::Anthropic, &body(&[&user, &call, &results, &call, &user, &call, &results]), (2, 3, 1));
    check(Protocol::Anthropic, &body(&[&user, &user, &call, &call]), (2, 1, 1));
}

#[test]
fn chat() {
    let system = json!({ "role": "system", "content": "s" });
    let user = json!({ "role": "user", "content": [{ "type": "text", "text": "hello" }] });
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [{ "type": "function" }] });
    let result = json!({ "role": "tool", "tool_call_id": "1", "content": "r" });
    let body = |messages: &[&Value]| json!({ "messages": messages });
    check(Protocol::Chat, &body(&[&system, &user]), (1, 0, 0));
    check(Protocol::Chat, &body(&[&system, &user, &call, &result, &result]), (1, 1, 1));
    check(Protocol::Chat, &body(&[&user, &call, &result, &call, &result, &call, &user]), (2, 3, 0));
}

#[test]
fn responses() {
    let user = json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hi" }] });
    let bare_user = json!({ "role": "user", "content": "hi" });
    let developer = json!({ "type": "message", "role": "developer", "content": "s" });
    let reasoning = json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "x" }] });
    let call = json!({ "type": "function_call", "call_id": "1", "name": "x", "arguments": "{}" });
    let result = json!({ "type": "function_call_output", "call_id": "1", "output": "r" });
    let answer = json!({ "type": "message", "role": "assistant", "content": [] });
    let body = |input: &[&Value]| json!({ "input": input, "reasoning": { "effort": "low" } });
    check(Protocol::Responses, &body(&[&developer, &user]), (1, 0, 0));
    check(Protocol::Responses, &body(&[&user, &reasoning, &answer, &call, &call, &result, &result]), (1, 1, 1));
    check(Protocol::Responses, &body(&[&bare_user, &call, &result, &call, &result]), (1, 2, 2));
    check(Protocol::Responses, &body(&[&user, &call, &result, &answer, &user]), (2, 2, 0));
}

#[test]
fn gemini() {
    let user = json!({ "role": "user", "parts": [{ "text": "hi" }] });
    let call = json!({ "role": "model", "parts": [{ "functionCall": { "name": "x", "args": {} } }] });
    let result =
        json!({ "role": "user", "parts": [{ "functionResponse": { "name": "x", "response": { "output": "r" } } }] });
    let result_first = json!({ "parts": [{ "functionResponse": { "name": "x", "response": {} } }], "role": "user" });
    let call_first = json!({ "parts": [{ "functionCall": { "name": "x", "args": {} } }], "role": "model" });
    let body = |contents: &[&Value]| json!({ "contents": contents });
    check(Protocol::Gemini, &body(&[&user, &call, &result]), (1, 1, 1));
    check(Protocol::Gemini, &body(&[&user, &call_first, &result_first, &call_first, &result_first]), (1, 2, 2));
    check(Protocol::Gemini, &body(&[&user, &call, &result, &call, &user]), (2, 2, 0));
}

#[test]
fn the_last_words_are_found() {
    let body = json!({ "contents": [
        { "role": "user", "parts": [{ "text": "first" }, { "text": "second" }] },
        { "role": "model", "parts": [] },
        { "role": "user", "parts": [{ "functionResponse": { "response": { "output": "old" } } }] },
        { "role": "model", "parts": [] },
        { "role": "user", "parts": [
            { "functionResponse": { "response": { "output": "a" } } },
            { "functionResponse": { "response": { "output": "b" } } },
        ] },
    ] });
    let conversation = Conversation::read(Protocol::Gemini, &body);
    assert_eq!(conversation.last_user, "first\nsecond");
    assert_eq!(conversation.last_results, [r#"{"output":"a"}"#, r#"{"output":"b"}"#]);
}

#[test]
fn a_stream_is_wanted_only_by_a_true_value() {
    assert!(scan_stream(br#"{"stream": true}"#));
    assert!(scan_stream(br#"{"properties":{"stream":{"type":"string"}},"stream":true}"#));
    assert!(!scan_stream(br#"{"stream":false,"text":"\"stream\":true"}"#));
    assert!(!scan_stream(b"{}"));
}
