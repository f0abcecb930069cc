//! Connections, recording, keys, and how replies are chosen.

use serde_json::{Value, json};
use weft_script::{Behaviour, Fault, Piece, Protocol, Server, Settings, call, text};

use crate::client::{Client, End, hello, path};

#[tokio::test]
async fn one_connection_serves_many_requests_in_sequence() {
    let server = Server::start(Behaviour::SequenceOnce(vec![text("one"), text("two")])).unwrap();
    let mut client = Client::connect(&server).await;
    for expected in ["one", "two"] {
        let response = client.post("/v1/messages", &hello(Protocol::Anthropic)).await;
        assert!(response.body.contains(expected));
    }
    let too_many = client.post("/v1/messages", &hello(Protocol::Anthropic)).await;
    assert_eq!(too_many.status, 500);
    assert!(too_many.body.contains("The script has 2 replies and this is request 3."), "{}", too_many.body);
    assert_eq!(server.stats().connections, 1);
}

#[tokio::test]
async fn ids_differ_from_answer_to_answer() {
    let server = Server::start(Behaviour::Sequence(vec![call("shell", json!({}))])).unwrap();
    let mut client = Client::connect(&server).await;
    for id in ["toolu_00000001_0", "toolu_00000002_0"] {
        assert!(client.post("/v1/messages", &hello(Protocol::Anthropic)).await.body.contains(id));
    }
}

#[tokio::test]
async fn chunked_and_pipelined_requests_are_read() {
    let server = Server::start(Behaviour::matching(|seen| text(format!("heard {}", seen.last_user)))).unwrap();
    let mut client = Client::connect(&server).await;
    let chunked = r#"{"stream":true,"messages":[{"role":"user","content":"chunks"}]}"#;
    let (head, tail) = chunked.split_at(20);
    let request = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{head}\r\n{:x}\r\n{tail}\r\n0\r\n\r\n",
        head.len(),
        tail.len(),
    );
    client.send(&format!("{request}{request}")).await;
    for _ in 0..2 {
        assert!(client.response().await.body.contains("heard chunks"));
    }
}

#[tokio::test]
async fn a_request_that_is_not_http_is_told_so() {
    let server = Server::start(Behaviour::Sequence(vec![text("hi")])).unwrap();
    let mut client = Client::connect(&server).await;
    client.send("what is this\r\n\r\n").await;
    let response = client.response().await;
    assert_eq!(response.status, 400);
}

#[tokio::test]
async fn requests_are_recorded_with_what_matters() {
    let server = Server::start(Behaviour::Sequence(vec![text("ok")])).unwrap();
    let body = json!({ "stream": true, "messages": [
        { "role": "user", "content": "list" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "list", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "a.txt" }] },
    ] });
    let mut client = Client::connect(&server).await;
    client.post("/v1/messages?beta=true", &body).await;
    server.wait_for_requests(1).await.unwrap();
    let seen = &server.requests()[0];
    assert_eq!(seen.protocol, Protocol::Anthropic);
    assert_eq!(seen.path, "/v1/messages?beta=true");
    assert_eq!(seen.header("Host"), Some("x"));
    assert_eq!(seen.body, body);
    assert_eq!((seen.turn, seen.round, seen.round_in_turn), (1, 1, 1));
    assert_eq!((seen.last_user.as_str(), seen.last_results.as_slice()), ("list", ["a.txt".to_owned()].as_slice()));
    assert_eq!(server.bytes_received(), body.to_string().len() as u64);
    assert!(server.stats().wire_bytes > server.stats().body_bytes);
}

/// Follows the calls as an agent would and says how the conversation went.
async fn converse(server: &Server, user_messages: &[&str]) -> Vec<String> {
    let mut client = Client::connect(server).await;
    let mut messages: Vec<Value> = Vec::new();
    let mut said = Vec::new();
    for user in user_messages {
        messages.push(json!({ "role": "user", "content": user }));
        loop {
            let response = client.post("/v1/chat/completions", &json!({ "messages": messages })).await;
            let body: Value = serde_json::from_str(&response.body).unwrap();
            let message = body["choices"][0]["message"].clone();
            messages.push(message.clone());
            let Some(call) = message["tool_calls"].get(0) else {
                said.push(message["content"].as_str().unwrap().to_owned());
                break;
            };
            said.push(call["function"]["arguments"].as_str().unwrap().to_owned());
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "ok" }));
        }
    }
    said
}

#[tokio::test]
async fn rounds_follow_the_conversation_with_and_without_recording() {
    for record in [true, false] {
        let mut settings = Settings::new(Behaviour::Rounds {
            rounds: 2,
            call: Box::new(|place| Piece::Call { name: "shell".into(), input: json!([place.turn, place.round]) }),
            final_text: "Done.".into(),
        });
        settings.record = record;
        let server = Server::start_with(settings).unwrap();
        let said = converse(&server, &["go", "again"]).await;
        assert_eq!(said, ["[1,0]", "[1,1]", "Done.", "[2,0]", "[2,1]", "Done."], "record: {record}");
        assert_eq!(server.requests().len(), if record { 6 } else { 0 });
        assert_eq!(server.stats().requests, 6);
    }
}

#[tokio::test]
async fn recording_or_not_the_bytes_are_the_same() {
    for protocol in Protocol::ALL {
        let mut bodies = Vec::new();
        for record in [true, false] {
            let mut settings = Settings::new(Behaviour::rounds(
                1,
                |round| Piece::Call { name: "shell".into(), input: json!({ "command": format!("echo {round}") }) },
                "Done.",
            ));
            settings.record = record;
            let server = Server::start_with(settings).unwrap();
            let mut client = Client::connect(&server).await;
            client.post(path(protocol), &hello(protocol)).await;
            bodies.push(client.post(path(protocol), &hello(protocol)).await.body);
        }
        assert!(bodies[0].contains("shell"));
        assert_eq!(bodies[0], bodies[1]);
    }
}

#[tokio::test]
async fn only_the_right_key_is_let_in() {
    let mut settings = Settings::new(Behaviour::Sequence(vec![text("welcome")]));
    settings.key = Some("right".into());
    let server = Server::start_with(settings).unwrap();
    let mut client = Client::connect(&server).await;
    for header in ["x-api-key: wrong", "authorization: Bearer wrong", "accept: */*"] {
        client.send(&format!("GET /v1/models HTTP/1.1\r\n{header}\r\n\r\n")).await;
        assert_eq!(client.response().await.status, 401, "{header}");
    }
    for header in ["x-api-key: right", "authorization: Bearer right", "x-goog-api-key: right"] {
        for target in ["GET /v1/models", "GET /v1beta/models", "GET /api/tags"] {
            client.send(&format!("{target} HTTP/1.1\r\n{header}\r\n\r\n")).await;
            assert_eq!(client.response().await.status, 200, "{target} {header}");
        }
    }
    assert_eq!(client.post("/v1/messages", &hello(Protocol::Anthropic)).await.status, 401);
    let response = client.post(&format!("{}&key=right", path(Protocol::Gemini)), &hello(Protocol::Gemini)).await;
    assert!(response.body.contains("welcome"));
    assert_eq!(server.stats().requests, 1);
}

#[test]
fn a_server_on_its_own_thread_needs_no_runtime_and_stops_when_dropped() {
    let server = Server::start_thread(Settings::new(Behaviour::Sequence(vec![text("hi")]))).unwrap();
    let address = server.addr();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let response = runtime
        .block_on(async { Client::connect(&server).await.post("/v1/messages", &json!({ "messages": [] })).await });
    assert_eq!(response.status, 200);
    server.wait_for_requests_blocking(1).unwrap();
    drop(server);
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[tokio::test]
async fn dropping_the_server_ends_its_connections() {
    let server = Server::start(Behaviour::Sequence(vec![text("hi").fault(Fault::Silent { after: 9 })])).unwrap();
    let mut client = Client::connect(&server).await;
    let request = hello(Protocol::Anthropic);
    let (response, ()) = tokio::join!(client.post("/v1/messages", &request), async move {
        server.wait_for_requests(1).await.unwrap();
        drop(server);
    });
    assert_ne!(response.end, End::Complete);
}
