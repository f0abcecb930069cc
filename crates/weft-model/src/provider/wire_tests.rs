#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::too_many_lines)]

use serde_json::json;
use weft_core::message::Image;
use weft_core::{SessionId, ToolCall};

use super::*;
use crate::catalog::Catalog;
use crate::model::Effort;

fn tools() -> Arc<[ToolSpec]> {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false});
    Arc::from([ToolSpec { name: "read".to_owned(), description: "Reads a file.".to_owned(), schema }])
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        model: "some-model".into(),
        system: "Be brief.".into(),
        tools: tools(),
        messages: messages
            .into_iter()
            .enumerate()
            .map(|(seq, message)| Entry::new(seq as u64 + 1, 0, message))
            .collect(),
        max_output: 4096,
        effort: None,
        session: SessionId::from_random(1),
    }
}

fn write(protocol: Protocol, request: &Request, info: &ModelInfo) -> Value {
    let bytes = body(protocol, request, info, "http://x", &Heads::default(), None).whole();
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

fn plain(protocol: Protocol, request: &Request) -> Value {
    write(protocol, request, &ModelInfo::unknown())
}

fn call(id: &str, path: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId::new(id),
        name: "read".to_owned(),
        input: json!({"path": path}),
        signature: None,
    })
}

fn result(id: &str, text: &str) -> ToolResult {
    ToolResult {
        call: CallId::new(id),
        name: "read".to_owned(),
        text: text.to_owned(),
        images: Vec::new(),
        is_error: false,
    }
}

fn said(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

fn image() -> Image {
    Image { media_type: "image/png".to_owned(), data: "QUJD".into() }
}

/// A round with two calls, one of which fails and one of which returns a picture.
fn tool_round() -> Vec<Message> {
    vec![
        Message::User(vec![UserPart::text("Look"), UserPart::Image(image()), UserPart::text(" ")]),
        Message::Assistant(vec![said("I will."), call("a", "x"), call("b", "y")]),
        Message::Tool(vec![
            ToolResult { is_error: true, ..result("a", "no such file") },
            ToolResult { images: vec![image()], ..result("b", "a picture") },
        ]),
    ]
}

#[test]
fn anthropic_requests() {
    assert_eq!(
        plain(Protocol::Anthropic, &request(tool_round())),
        json!({
            "model": "some-model", "max_tokens": 4096, "stream": true,
            "tools": [{"name": "read", "description": "Reads a file.", "input_schema": tools()[0].schema}],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}, "cache_control": {"type": "ephemeral"}},
                ]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I will."},
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                    {"type": "tool_use", "id": "b", "name": "read", "input": {"path": "y"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "no such file", "is_error": true},
                    {"type": "tool_result", "tool_use_id": "b", "content": [
                        {"type": "text", "text": "a picture"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
                    ], "cache_control": {"type": "ephemeral"}},
                ]},
            ],
        })
    );
}

#[test]
fn responses_requests() {
    assert_eq!(
        plain(Protocol::Responses, &request(tool_round())),
        json!({
            "model": "some-model", "stream": true, "store": false, "max_output_tokens": 4096,
            "prompt_cache_key": SessionId::from_random(1).to_string(),
            "instructions": "Be brief.",
            "tools": [{"type": "function", "name": "read", "description": "Reads a file.", "parameters": tools()[0].schema, "strict": false}],
            "input": [
                {"role": "user", "content": [
                    {"type": "input_text", "text": "Look"},
                    {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
                ]},
                {"role": "assistant", "content": "I will."},
                {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"path\":\"x\"}"},
                {"type": "function_call", "call_id": "b", "name": "read", "arguments": "{\"path\":\"y\"}"},
                {"type": "function_call_output", "call_id": "a", "output": "no such file"},
                {"type": "function_call_output", "call_id": "b", "output": [
                    {"type": "input_text", "text": "a picture"},
                    {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
                ]},
            ],
        })
    );
}

#[test]
fn chat_requests() {
    assert_eq!(
        plain(Protocol::Chat, &request(tool_round())),
        json!({
            "model": "some-model", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 4096,
            "tools": [{"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": tools()[0].schema}}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                ]},
                {"role": "assistant", "content": "I will.", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"x\"}"}},
                    {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"y\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "no such file"},
                {"role": "tool", "tool_call_id": "b", "content": "a picture"},
                {"role": "user", "content": [
                    {"type": "text", "text": "Images from the tool read:"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                ]},
            ],
        })
    );
}

#[test]
fn gemini_requests() {
    assert_eq!(
        plain(Protocol::Gemini, &request(tool_round())),
        json!({
            "generationConfig": {"maxOutputTokens": 4096},
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{"name": "read", "description": "Reads a file.", "parameters": {
                "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
            }}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]},
                {"role": "model", "parts": [
                    {"text": "I will."},
                    {"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}},
                    {"functionCall": {"id": "b", "name": "read", "args": {"path": "y"}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "a", "name": "read", "response": {"error": "no such file"}}},
                    {"functionResponse": {"id": "b", "name": "read", "response": {"output": "a picture"}}},
                ]},
                {"role": "user", "parts": [
                    {"text": "Images from the tool read:"},
                    {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
                ]},
            ],
        })
    );
}

/// The list of messages, whatever the protocol calls it.
fn messages_of(body: &Value) -> &[Value] {
    ["messages", "input", "contents"].iter().find_map(|name| body.get(*name)).unwrap().as_array().unwrap()
}

#[test]
fn reasoning_goes_back_to_its_own_protocol_only() {
    let parts = vec![
        Part::Thinking { text: "claude".to_owned(), signature: Some("anthropic:SIG".to_owned()) },
        Part::Opaque { protocol: "anthropic".to_owned(), data: json!({"type": "redacted_thinking", "data": "R"}) },
        Part::Thinking { text: "gemini".to_owned(), signature: Some("gemini:GS".to_owned()) },
        Part::Thinking { text: "deepseek".to_owned(), signature: Some("openai_chat:reasoning_content".to_owned()) },
        Part::Thinking { text: "unsigned".to_owned(), signature: None },
        Part::Opaque {
            protocol: "openai_responses".to_owned(),
            data: json!({"type": "reasoning", "encrypted_content": "E"}),
        },
        Part::Opaque { protocol: "openai_chat".to_owned(), data: json!([{"type": "reasoning.text"}]) },
        call("a", "x"),
    ];
    let request = request(vec![Message::user("Go"), Message::Assistant(parts), Message::Tool(vec![result("a", "ok")])]);
    let second =
        |protocol| messages_of(&plain(protocol, &request))[if protocol == Protocol::Chat { 2 } else { 1 }].clone();

    assert_eq!(
        second(Protocol::Anthropic)["content"],
        json!([
            {"type": "thinking", "thinking": "claude", "signature": "SIG"},
            {"type": "redacted_thinking", "data": "R"},
            {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        ])
    );
    assert_eq!(second(Protocol::Responses), json!({"type": "reasoning", "encrypted_content": "E"}));
    assert_eq!(
        second(Protocol::Gemini)["parts"],
        json!([
            {"thought": true, "text": "gemini", "thoughtSignature": "GS"},
            {"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}},
        ])
    );
    let chat = second(Protocol::Chat);
    assert_eq!(
        (&chat["reasoning_content"], &chat["reasoning_details"]),
        (&json!("deepseek"), &json!([{"type": "reasoning.text"}]))
    );
    assert_eq!(chat["content"], Value::Null);
}

#[test]
fn reasoning_that_led_nowhere_is_left_out() {
    let opaque = Part::Opaque { protocol: "openai_responses".to_owned(), data: json!({"type": "reasoning"}) };
    let thought = Part::Thinking { text: "hm".to_owned(), signature: None };
    let request = request(vec![Message::user("a"), Message::Assistant(vec![thought, opaque]), Message::user("b")]);
    for protocol in Protocol::ALL {
        let body = plain(protocol, &request);
        let expected = if protocol == Protocol::Chat { 3 } else { 2 };
        assert_eq!(messages_of(&body).len(), expected, "{body}");
    }
}

#[test]
fn odd_conversations_become_valid_ones() {
    let orphan = Message::Tool(vec![result("gone", "x")]);
    let unanswered = Message::Assistant(vec![call("a", "x"), call("functions.read:0", "y")]);
    let request = request(vec![
        orphan,
        Message::user("one"),
        Message::user("two"),
        unanswered,
        Message::Tool(vec![result("a", "ok")]),
        Message::user("three"),
    ]);
    for protocol in Protocol::ALL {
        let body = plain(protocol, &request).to_string();
        assert!(!body.contains("gone"), "{protocol}: {body}");
        assert_eq!(body.matches("was not carried out").count(), 1, "{protocol}: {body}");
        let id_kept = body.matches("functions.read:0").count();
        let strict = matches!(protocol, Protocol::Anthropic | Protocol::Responses);
        assert_eq!(id_kept, if strict { 0 } else { 2 }, "{protocol}: {body}");
        assert_eq!(body.matches(&*plain_id(&CallId::new("functions.read:0"))).count(), if strict { 2 } else { 0 });
    }
}

#[test]
fn arguments_that_are_no_json_are_sent_as_an_object() {
    let broken = ToolCall { id: CallId::new("a"), name: "read".to_owned(), input: json!("{\"path"), signature: None };
    let request = request(vec![
        Message::user("x"),
        Message::Assistant(vec![Part::ToolCall(broken)]),
        Message::Tool(vec![result("a", "bad")]),
    ]);
    for protocol in Protocol::ALL {
        assert!(plain(protocol, &request).to_string().contains("invalid_json"));
    }
}

#[test]
fn thinking_is_asked_for_as_each_model_wants_it() {
    let catalog = Catalog::new();
    let check = |protocol, provider: &str, model: &str, effort, expected: Value| {
        let mut request = request(vec![Message::user("x")]);
        request.effort = effort;
        request.max_output = 16_000;
        let body = write(protocol, &request, &catalog.find(provider, model));
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(body.get(name).unwrap_or(&Value::Null), value, "{model} {effort:?} {name}");
        }
    };
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let (high, max) = (Some(Effort::High), Some(Effort::Max));
    check(
        Protocol::Anthropic,
        "anthropic",
        "claude-opus-4-6",
        max,
        json!({"thinking": adaptive, "output_config": {"effort": "max"}}),
    );
    check(
        Protocol::Anthropic,
        "anthropic",
        "claude-opus-5-5",
        None,
        json!({"thinking": adaptive, "output_config": null}),
    );
    check(
        Protocol::Anthropic,
        "anthropic",
        "claude-opus-4-5",
        max,
        json!({"thinking": {"type": "enabled", "budget_tokens": 14_976}, "output_config": {"effort": "high"}}),
    );
    check(
        Protocol::Anthropic,
        "anthropic",
        "claude-sonnet-4-5",
        None,
        json!({"thinking": null, "output_config": null}),
    );
    check(Protocol::Anthropic, "anthropic", "unknown", high, json!({"thinking": null, "output_config": null}));
    check(
        Protocol::Responses,
        "openai",
        "gpt-5",
        high,
        json!({"reasoning": {"summary": "auto", "effort": "high"}, "include": ["reasoning.encrypted_content"]}),
    );
    check(Protocol::Responses, "openai", "gpt-4.1", high, json!({"reasoning": null, "include": null}));
    check(Protocol::Chat, "ollama", "gpt-oss:20b", high, json!({"reasoning_effort": "high"}));
    check(Protocol::Chat, "ollama", "unknown", high, json!({"reasoning_effort": null}));
    check(
        Protocol::Gemini,
        "gemini",
        "gemini-3-pro",
        high,
        json!({"generationConfig": {"maxOutputTokens": 16_000, "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"}}}),
    );
    check(
        Protocol::Gemini,
        "gemini",
        "gemini-2.5-pro",
        high,
        json!({"generationConfig": {"maxOutputTokens": 16_000, "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 24_576}}}),
    );
}

#[test]
fn a_thinking_budget_waits_while_foreign_calls_are_answered() {
    let info = Catalog::new().find("anthropic", "claude-sonnet-4-5");
    let thinking = |parts| {
        let mut request =
            request(vec![Message::user("x"), Message::Assistant(parts), Message::Tool(vec![result("a", "ok")])]);
        request.effort = Some(Effort::Low);
        write(Protocol::Anthropic, &request, &info).get("thinking").is_some()
    };
    assert!(!thinking(vec![call("a", "x")]));
    let own = Part::Thinking { text: "t".to_owned(), signature: Some("anthropic:S".to_owned()) };
    assert!(thinking(vec![own, call("a", "x")]));
}

#[test]
fn gemini_three_gets_a_signature_for_foreign_calls() {
    let signature_at = |parts: Vec<Part>, model: &str| {
        let request =
            request(vec![Message::user("x"), Message::Assistant(parts), Message::Tool(vec![result("a", "ok")])]);
        let body = write(Protocol::Gemini, &request, &Catalog::new().find("gemini", model));
        body["contents"][1]["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["thoughtSignature"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let stand_in = Some("skip_thought_signature_validator".to_owned());
    assert_eq!(signature_at(vec![call("a", "x"), call("b", "y")], "gemini-3-pro"), [stand_in, None]);
    assert_eq!(signature_at(vec![call("a", "x")], "gemini-2.5-pro"), [None]);
    let mut own = call("a", "x");
    if let Part::ToolCall(call) = &mut own {
        call.signature = Some("gemini:REAL".to_owned());
    }
    assert_eq!(signature_at(vec![own], "gemini-3-pro"), [Some("REAL".to_owned())]);
}

#[test]
fn a_round_writes_only_what_is_new() {
    for protocol in Protocol::ALL {
        let slot = protocol.wire_slot();
        let mut request = request(tool_round());
        let heads = Heads::default();
        let info = ModelInfo::unknown();
        let first = body(protocol, &request, &info, "http://x", &heads, None).whole();
        for entry in &request.messages {
            entry.wire(slot, |_| panic!("{protocol}: an entry was not kept"));
        }
        let head = heads.get(protocol, &request);
        // What is kept is what is sent: a mark put in the new entry's slot arrives, and nothing else changes.
        let next = Entry::new(9, 0, Message::user("next"));
        next.wire(slot, |_| r#"{"kept":[{}]}"#.to_owned());
        request.messages.push(next);
        let second = String::from_utf8(body(protocol, &request, &info, "http://x", &heads, None).whole()).unwrap();
        assert!(second.contains(r#"{"kept":[{"#), "{protocol}");
        let pieces = body(protocol, &request, &info, "http://x", &heads, None).into_pieces();
        let shared = pieces.into_iter().any(|piece| piece.as_ptr() == head.as_ptr());
        assert!(shared, "{protocol}: the head was written again, or copied");
        assert!(second.len() < first.len() + 120, "{protocol}");
    }
}

#[test]
fn bodies_fit_the_buffer_made_for_them() {
    for protocol in Protocol::ALL {
        let body = body(protocol, &request(tool_round()), &ModelInfo::unknown(), "http://x", &Heads::default(), None);
        let bytes = body.into_pieces().next_back().unwrap().try_into_mut().unwrap();
        assert!(bytes.capacity() - bytes.len() < 200, "{protocol}: {} of {}", bytes.len(), bytes.capacity());
    }
}

#[test]
fn breakpoints_move_with_the_conversation() {
    let mut messages = tool_round();
    messages.extend([
        Message::Assistant(vec![call("c", "z")]),
        Message::Tool(vec![result("c", "ok")]),
        Message::user("more"),
    ]);
    let body = plain(Protocol::Anthropic, &request(messages));
    let marked: Vec<bool> = messages_of(&body)
        .iter()
        .map(|message| message["content"].as_array().unwrap().last().unwrap().get("cache_control").is_some())
        .collect();
    assert_eq!(marked, [false, false, true, false, false, true]);
}

#[test]
fn forgotten_reasoning_is_not_sent() {
    let own = Part::Thinking { text: "t".to_owned(), signature: Some("anthropic:S".to_owned()) };
    let messages = vec![
        Message::user("x"),
        Message::Assistant(vec![own.clone(), said("y")]),
        Message::user("z"),
        Message::Assistant(vec![own, said("w")]),
    ];
    let request = request(messages);
    let sent = |forget| {
        let bytes = body(Protocol::Anthropic, &request, &ModelInfo::unknown(), "http://x", &Heads::default(), forget);
        String::from_utf8(bytes.whole()).unwrap().matches("signature").count()
    };
    assert_eq!((sent(None), sent(Some(2)), sent(Some(4)), sent(None)), (2, 1, 0, 2));
}

#[test]
fn made_up_tool_names_go_back_in_plain_letters() {
    let odd = |name: &str| {
        let call = ToolCall { id: CallId::new("a"), name: name.to_owned(), input: json!({}), signature: None };
        let answer = ToolResult { name: name.to_owned(), ..result("a", "no such tool") };
        request(vec![Message::user("x"), Message::Assistant(vec![Part::ToolCall(call)]), Message::Tool(vec![answer])])
    };
    for protocol in Protocol::ALL {
        for (name, plain_name) in [("functions.read file", "functions_read_file"), ("", "unknown")] {
            let sent = plain(protocol, &odd(name)).to_string();
            assert!(sent.contains(&format!(r#""name":"{plain_name}""#)), "{protocol}: {sent}");
            assert!(name.is_empty() || !sent.contains(name), "{protocol}: {sent}");
        }
    }
}
