//! The wire of each protocol, byte for byte.

use serde_json::{Value, json};
use weft_script::{Behaviour, ChatShape, Protocol, Reply, Server, Stop, Usage, call, raw_call, text, thinking};

use crate::client::{Client, hello, path};

async fn body_of(protocol: Protocol, reply: Reply) -> String {
    let server = Server::start(Behaviour::Sequence(vec![reply])).unwrap();
    let response = Client::connect(&server).await.post(path(protocol), &hello(protocol)).await;
    assert_eq!(response.status, 200);
    response.body
}

/// Thinking, text with wide characters, a call and a call with broken arguments.
fn everything() -> Reply {
    thinking("I should look first.")
        .then(text("Grüße! I will look at the files 🙂 now."))
        .then(call("shell", json!({ "command": "ls -l" })))
        .then(raw_call("read", r#"{"path": "#))
        .usage(Usage { input: 1000, output: 50, cache_read: 600, cache_write: 100, reasoning: 10 })
}

#[tokio::test]
async fn each_protocol_streams_a_full_answer() {
    for protocol in Protocol::ALL {
        let body = body_of(protocol, everything()).await;
        insta::assert_snapshot!(format!("stream_{protocol:?}"), body.replace('\r', "␍"));
    }
}

#[tokio::test]
async fn each_protocol_answers_with_one_document_when_no_stream_is_wanted() {
    for protocol in Protocol::ALL {
        let server = Server::start(Behaviour::Sequence(vec![everything()])).unwrap();
        let mut request = hello(protocol);
        request["stream"] = json!(false);
        let path = path(protocol).replace(":streamGenerateContent?alt=sse", ":generateContent");
        let response = Client::connect(&server).await.post(&path, &request).await;
        let body: Value = serde_json::from_str(&response.body).unwrap();
        insta::assert_snapshot!(format!("document_{protocol:?}"), serde_json::to_string_pretty(&body).unwrap());
    }
}

#[tokio::test]
async fn a_gemini_stream_without_events_is_a_list() {
    let server = Server::start(Behaviour::Sequence(vec![text("hi")])).unwrap();
    let path = "/v1beta/models/scripted:streamGenerateContent";
    let response = Client::connect(&server).await.post(path, &hello(Protocol::Gemini)).await;
    let body: Value = serde_json::from_str(&response.body).unwrap();
    assert_eq!(body[0]["candidates"][0]["content"]["parts"][0]["text"], "hi");
}

#[tokio::test]
async fn stop_reasons_are_told_in_the_words_of_the_protocol() {
    let expected = [
        (Protocol::Anthropic, Stop::MaxTokens, r#""stop_reason":"max_tokens""#),
        (Protocol::Anthropic, Stop::Refusal, r#""stop_reason":"refusal""#),
        (Protocol::Anthropic, Stop::Pause, r#""stop_reason":"pause_turn""#),
        (Protocol::Responses, Stop::MaxTokens, r#""incomplete_details":{"reason":"max_output_tokens"}"#),
        (Protocol::Responses, Stop::Refusal, r#""incomplete_details":{"reason":"content_filter"}"#),
        (Protocol::Chat, Stop::MaxTokens, r#""finish_reason":"length""#),
        (Protocol::Chat, Stop::Refusal, r#""finish_reason":"content_filter""#),
        (Protocol::Gemini, Stop::MaxTokens, r#""finishReason":"MAX_TOKENS""#),
        (Protocol::Gemini, Stop::Refusal, r#""finishReason":"SAFETY""#),
    ];
    for (protocol, stop, words) in expected {
        let body = body_of(protocol, text("so far").stop(stop)).await;
        assert!(body.contains(words), "{protocol:?} {stop:?}: {body}");
    }
}

/// What a chat stream's tool call chunks and its end look like in each odd shape.
#[tokio::test]
async fn odd_chat_shapes() {
    use ChatShape::*;
    let shapes = [
        NoIndex,
        IdEveryChunk,
        EmptyId,
        NameEveryChunk,
        NameInPieces,
        WholeCall,
        ObjectArguments,
        SameIndexNewId,
        LegacyFunctionCall,
        StopWithCalls,
        NoDone,
        NoUsage,
        ReasoningContent,
    ];
    let mut shown = String::new();
    for shape in shapes {
        let reply = thinking("Hm.").then(call("read", json!({ "path": "a" }))).then(call("list", json!({})));
        let body = body_of(Protocol::Chat, reply.shape(shape)).await;
        shown.push_str(&format!("{shape:?}\n"));
        for line in body.lines().filter_map(|line| line.strip_prefix("data: ")) {
            shown.push_str(&format!("  {}\n", essence(line)));
        }
    }
    insta::assert_snapshot!("odd_chat_shapes", shown);
}

/// The part of a chunk that differs between shapes.
fn essence(chunk: &str) -> String {
    let Ok(chunk) = serde_json::from_str::<Value>(chunk) else {
        return chunk.to_owned();
    };
    match &chunk["choices"][0] {
        Value::Null => "usage".to_owned(),
        choice if choice["finish_reason"].is_string() => choice["finish_reason"].to_string(),
        choice => choice["delta"].to_string(),
    }
}

#[tokio::test]
async fn a_chat_server_may_answer_a_stream_request_with_plain_json() {
    let reply = text("hi").then(call("read", json!({ "path": "a" }))).shape(ChatShape::PlainJson);
    let body: Value = serde_json::from_str(&body_of(Protocol::Chat, reply).await).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "hi");
    assert_eq!(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], r#"{"path":"a"}"#);
}
