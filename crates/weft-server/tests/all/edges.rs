//! The protocols of others.

use serde_json::{Value, json};
use weft_script::{Fault, call, failure, text};

use crate::world::World;

/// The `data:` lines of a stream that ends.
fn data_lines(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

fn chunks(text: &str) -> Vec<Value> {
    let lines = data_lines(text);
    assert_eq!(lines.last().map(String::as_str), Some("[DONE]"), "{text}");
    lines[..lines.len() - 1].iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn with_tools() -> World {
    let world = World::new(|seen| match (seen.last_user.contains("list"), seen.round_in_turn) {
        (true, 0) => text("Let me look.").then(call("shell", json!({ "command": "echo found-it" }))),
        (true, _) => text("There it is.").fault(Fault::SlowChunks { ms: 2 }),
        (false, _) => text(format!("You said {}.", seen.last_user)),
    })
    .await;
    let agent = world.folder.path().join(".weft/agents/helper");
    std::fs::create_dir_all(&agent).unwrap();
    std::fs::write(agent.join("AGENT.md"), "---\nname: helper\ndescription: Helps\n---\nHelp.\n").unwrap();
    world
}

#[tokio::test]
async fn an_agent_is_a_model_for_openai_clients() {
    let world = with_tools().await;
    let models = world.get("/v1/models").await.json();
    let ids: Vec<&str> = models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["weft", "helper", "planner", "reviewer"]);
    assert_eq!(world.get("/v1/models/helper").await.json()["id"], "helper");
    assert_eq!(world.get("/v1/models/nobody").await.status, 404);

    let first = json!({ "role": "user", "content": "hello" });
    let got = world.post("/v1/chat/completions", json!({ "model": "helper", "messages": [first] })).await.expect(200);
    let said = got["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert_eq!(said, "You said hello.");
    assert_eq!(got["choices"][0]["finish_reason"], "stop");
    assert!(got["usage"]["total_tokens"].as_u64().unwrap() > 0);

    // The conversation goes on in the same session, and only what is new is said in it.
    let messages = json!([first, { "role": "assistant", "content": said }, { "role": "user", "content": "again" }]);
    let request =
        json!({ "model": "helper", "messages": messages, "stream": true, "stream_options": { "include_usage": true } });
    let streamed = world.post("/v1/chat/completions", request).await;
    assert_eq!(streamed.status, 200);
    let chunks = chunks(&streamed.text);
    let words: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(words, "You said again.");
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let finishes: Vec<&Value> =
        chunks.iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).filter(|word| !word.is_null()).collect();
    assert_eq!(finishes, ["stop"]);
    assert!(chunks.last().unwrap()["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    let list = world.get("sessions").await.json();
    assert_eq!(list["counts"]["total"], 1, "{list}");
    assert_eq!(
        (list["sessions"][0]["turns"].as_u64(), list["sessions"][0]["agent"].as_str()),
        (Some(2), Some("helper"))
    );

    // One that is not known is told from the beginning.
    let messages = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "x" },
        { "role": "assistant", "content": "elsewhere" }, { "role": "user", "content": "and now" }]);
    let got = world.post("/v1/chat/completions", json!({ "model": "weft", "messages": messages })).await.expect(200);
    let said = got["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains("elsewhere") && said.contains("and now"), "{said}");
}

#[tokio::test]
async fn openai_clients_hear_words_and_errors_in_their_own_way() {
    let world = with_tools().await;
    let ask = |content: Value| json!({ "model": "weft", "messages": [{ "role": "user", "content": content }] });
    let got = world.post("/v1/chat/completions", ask(json!("list it"))).await.expect(200);
    assert_eq!(got["choices"][0]["message"]["content"], "Let me look.\n\nThere it is.");
    for (body, status) in [
        (json!({ "model": "nobody", "messages": [{ "role": "user", "content": "x" }] }), 404),
        (json!({ "model": "weft", "messages": [] }), 400),
        (json!({ "model": "weft", "messages": [{ "role": "assistant", "content": "x" }] }), 400),
        (ask(json!([{ "type": "image_url", "image_url": { "url": "http://127.0.0.1/secret" } }])), 400),
        (ask(json!([{ "type": "input_audio" }])), 400),
    ] {
        let refused = world.post("/v1/chat/completions", body.clone()).await;
        assert_eq!(refused.status, status, "{body}: {refused:?}");
        assert!(refused.json()["error"]["message"].is_string());
    }
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_and_not_an_answer() {
    let world = World::new(|_| failure(401, "authentication_error", "bad key")).await;
    let body = json!({ "model": "weft", "messages": [{ "role": "user", "content": "x" }] });
    let got = world.post("/v1/chat/completions", body.clone()).await;
    assert_eq!(got.status, 502, "{got:?}");
    let mut streaming = body;
    streaming["stream"] = json!(true);
    let got = world.post("/v1/chat/completions", streaming).await;
    let chunks = chunks(&got.text);
    assert!(chunks.last().unwrap()["error"]["message"].is_string(), "{chunks:?}");
}

#[tokio::test]
async fn who_goes_away_stops_the_turn() {
    let world = World::new(|_| text("word ".repeat(400)).fault(Fault::SlowChunks { ms: 40 })).await;
    let body = json!({ "model": "weft", "stream": true, "messages": [{ "role": "user", "content": "talk" }] });
    let request = world.request("POST", "/v1/chat/completions").bearer_auth(&world.token);
    let mut answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    answer.chunk().await.unwrap().unwrap();
    drop(answer);
    let session = world.until("sessions", |list| list["sessions"][0]["id"].as_str().map(str::to_owned)).await;
    let state = world.at_rest(&session).await;
    assert_eq!(state["last_end"]["reason"], "interrupted");
}

fn asking() -> impl Fn(&weft_script::Seen) -> weft_script::Reply + Send + Sync + 'static {
    |seen| match (seen.last_user.contains("write"), seen.round_in_turn) {
        (true, 0) => text("I write it.").then(call("write", json!({ "path": "note.txt", "content": "hi\n" }))),
        (true, _) => text("Written."),
        (false, _) => text("Nothing to do."),
    }
}

async fn open_ask(world: &World) -> (String, String) {
    let row = world.until("asks", |list| list["asks"].get(0).cloned()).await;
    (row["session"].as_str().unwrap().to_owned(), row["ask"]["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_openai_stream_says_what_waits_and_goes_on_when_it_is_answered() {
    let world = World::new(asking()).await;
    let body = json!({ "model": "weft", "stream": true, "messages": [{ "role": "user", "content": "write it" }] });
    let request = world.request("POST", "/v1/chat/completions").bearer_auth(&world.token);
    let mut answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    let mut got = String::new();
    while !got.contains("\"weft\":{") {
        got.push_str(&String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap()));
    }
    let (session, ask) = open_ask(&world).await;
    let yes = json!({ "answer": { "type": "approve", "scope": "once" } });
    world.post(&format!("sessions/{session}/asks/{ask}"), yes).await.expect(200);
    got.push_str(&answer.text().await.unwrap());
    let chunks = chunks(&got);
    let words: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert!(words.starts_with("I write it.\n\nWeft waits for an answer: "), "{words}");
    assert!(words.contains(&format!("`weft answer {ask} yes`")) && words.ends_with("\n\nWritten."), "{words}");
    let waits = chunks.iter().find(|chunk| chunk["weft"].is_object()).unwrap();
    assert_eq!(waits["weft"]["session"], session.as_str());
    assert_eq!(waits["weft"]["waiting"]["ask"], ask.as_str());
}

#[tokio::test]
async fn an_ask_outlives_the_openai_client_that_led_to_it() {
    let world = World::new(asking()).await;
    let said = json!({ "role": "user", "content": "write it" });
    let body = json!({ "model": "weft", "messages": [said] });
    // A whole answer cannot wait for a person; it says so and ends.
    let got = world.post("/v1/chat/completions", body).await.expect(200);
    let words = got["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert!(words.contains("Weft waits for an answer"), "{words}");
    let (session, ask) = open_ask(&world).await;
    assert_eq!(got["weft"]["waiting"]["ask"], ask.as_str());
    // Whoever goes on in the conversation meanwhile is told the same, in the same session.
    let more = json!([said, { "role": "assistant", "content": words }, { "role": "user", "content": "go on" }]);
    let got = world.post("/v1/chat/completions", json!({ "model": "weft", "messages": more })).await.expect(200);
    assert_eq!(got["weft"]["waiting"]["ask"], ask.as_str(), "{got}");
    assert_eq!(got["weft"]["session"], session.as_str());
    // A stream whose reader goes away leaves it open too.
    let stream = json!({ "model": "weft", "stream": true, "messages": [{ "role": "user", "content": "write two" }] });
    let request = world.request("POST", "/v1/chat/completions").bearer_auth(&world.token);
    let mut answer = request.header("content-type", "application/json").body(stream.to_string()).send().await.unwrap();
    let mut got = String::new();
    while !got.contains("\"weft\":{") {
        got.push_str(&String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap()));
    }
    drop(answer);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(world.get("asks").await.json()["asks"].as_array().unwrap().len(), 2);
    let yes = json!({ "answer": { "type": "approve", "scope": "once" } });
    world.post(&format!("sessions/{session}/asks/{ask}"), yes).await.expect(200);
    world.at_rest(&session).await;
    assert_eq!(std::fs::read_to_string(world.folder.path().join("note.txt")).unwrap(), "hi\n");
}

#[tokio::test]
async fn the_ai_sdk_sees_text_and_tools_as_parts() {
    let world = with_tools().await;
    let said = |text: &str| json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": text }] });
    let body = json!({ "id": "chat-1", "trigger": "submit-message", "messages": [said("list it")] });
    let got = world.post("/api/v1/ai-sdk/chat", body).await;
    assert_eq!(got.status, 200, "{}", got.text);
    assert_eq!(got.headers["x-vercel-ai-ui-message-stream"], "v1");
    let parts = chunks(&got.text);
    let kinds: Vec<&str> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
    let mut order = kinds.clone();
    order.dedup();
    assert_eq!(
        order,
        [
            "start",
            "start-step",
            "text-start",
            "text-delta",
            "text-end",
            "tool-input-available",
            "tool-output-available",
            "finish-step",
            "start-step",
            "text-start",
            "text-delta",
            "text-end",
            "finish-step",
            "finish"
        ]
    );
    let output = parts.iter().find(|part| part["type"] == "tool-output-available").unwrap();
    assert!(output["output"].as_str().unwrap().contains("found-it"), "{output}");
    let again = json!({ "id": "chat-1", "messages": [said("list it"), said("more")] });
    let got = world.post("/api/v1/ai-sdk/chat", again).await;
    let words: String = chunks(&got.text).iter().filter_map(|part| part["delta"].as_str().map(str::to_owned)).collect();
    assert_eq!(words, "You said more.");
    assert_eq!(world.get("sessions").await.json()["counts"]["total"], 1);
    assert_eq!(world.post("/api/v1/ai-sdk/chat", json!({ "id": "c", "messages": [] })).await.status, 400);
}

#[tokio::test]
async fn mcp_is_spoken_at_its_own_address() {
    let world = with_tools().await;
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let request = |body: &Value| {
        let request = world.request("POST", "/mcp").header("accept", "application/json, text/event-stream");
        request.header("content-type", "application/json").body(body.to_string())
    };
    assert_eq!(world.send(request(&hello)).await.status, 401);
    let got = world.send(request(&hello).bearer_auth(&world.token)).await;
    assert_eq!(got.status, 200, "{}", got.text);
    assert!(got.text.contains("\"serverInfo\""), "{}", got.text);
    let session = got.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    world.send(request(&ready).bearer_auth(&world.token).header("mcp-session-id", &session)).await;
    let tools = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let got = world.send(request(&tools).bearer_auth(&world.token).header("mcp-session-id", &session)).await;
    assert!(got.text.contains("run_agent"), "{}", got.text);
}

#[tokio::test]
async fn the_ai_sdk_takes_back_and_says_anew_without_saying_it_twice() {
    let world = with_tools().await;
    let said = |id: &str, text: &str| json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": text }] });
    let answered = json!({ "id": "a1", "role": "assistant", "parts": [] });
    let chat = |body: Value| async { chunks(&world.post("/api/v1/ai-sdk/chat", body).await.text) };
    let heard = |name: &str| {
        let session = world.engine.store().known_as(name).unwrap().unwrap();
        let log = world.log(&session.to_string());
        let inputs = log.iter().filter(|event| event["type"] == "input_received");
        inputs.map(|event| event["content"][0]["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    chat(json!({ "id": "c", "trigger": "submit-message", "messages": [said("1", "one")] })).await;
    let two = json!([said("1", "one"), answered, said("2", "two")]);
    chat(json!({ "id": "c", "trigger": "submit-message", "messages": two })).await;
    assert_eq!(heard("ai-sdk:c"), ["one", "two"]);
    chat(json!({ "id": "c", "trigger": "regenerate-message", "messages": two })).await;
    assert_eq!(heard("ai-sdk:c"), ["one", "two"], "another answer, not the same question again");
    let other = json!([said("1", "one"), answered, said("2", "three")]);
    chat(json!({ "id": "c", "trigger": "submit-message", "messageId": "2", "messages": other })).await;
    assert_eq!(heard("ai-sdk:c"), ["one", "three"]);
    chat(json!({ "id": "c", "trigger": "regenerate-message", "messages": [said("1", "one")] })).await;
    assert_eq!(heard("ai-sdk:c"), ["one"]);
    chat(
        json!({ "id": "c", "trigger": "submit-message", "messages": [said("1", "one"), answered, said("3", "four")] }),
    )
    .await;
    assert_eq!(heard("ai-sdk:c"), ["one", "four"]);
    // The same words twice: it goes back to those that the chat means.
    let twice = json!([said("1", "on"), answered, said("2", "on")]);
    chat(json!({ "id": "d", "trigger": "submit-message", "messages": [said("1", "on")] })).await;
    chat(json!({ "id": "d", "trigger": "submit-message", "messages": twice })).await;
    assert_eq!(heard("ai-sdk:d"), ["on", "on"]);
    chat(json!({ "id": "d", "trigger": "regenerate-message", "messages": [said("1", "on")] })).await;
    assert_eq!(heard("ai-sdk:d"), ["on"]);
}

#[tokio::test]
async fn pictures_that_are_none_are_refused_wherever_they_come_in() {
    let world = World::saying("seen").await;
    // The first bytes of a PNG, of a WAV and of nothing known.
    let (png, wav, other) = ("iVBORw0KGgo=", "UklGRiQAAABXQVZFZm10IA==", "aGVsbG8=");
    let large = format!("iVBORw0KGgo{}", "A".repeat(7 << 20));
    for (kind, data, status) in [
        ("image/png", png, [201, 200, 200]),
        ("image/png", other, [400; 3]),
        ("image/svg+xml", other, [400; 3]),
        ("image/webp", wav, [400; 3]),
        ("image/png", "no base64!", [400; 3]),
        ("text/plain", png, [400; 3]),
        ("image/png", large.as_str(), [413; 3]),
    ] {
        let url = format!("data:{kind};base64,{data}");
        let page = json!({ "content": [{ "type": "text", "text": "look" }, { "type": "image", "media_type": kind, "data": data }] });
        let sdk = json!({ "id": "p", "messages": [{ "role": "user", "parts": [{ "type": "file", "url": url, "mediaType": kind }] }] });
        let openai = json!({ "messages": [{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": url } }] }] });
        let got = [
            world.post("sessions", page).await.status,
            world.post("/api/v1/ai-sdk/chat", sdk).await.status,
            world.post("/v1/chat/completions", openai).await.status,
        ];
        assert_eq!(got, status, "{kind} {}", &data[..8]);
    }
    let upload =
        world.request("POST", "uploads?name=a.wav").bearer_auth(&world.token).body(&b"RIFF\x24\0\0\0WAVEfmt \xff"[..]);
    let got = world.send(upload).await;
    assert_eq!(got.status, 400, "a sound is no picture: {}", got.text);
}

#[tokio::test]
async fn other_protocols_are_in_the_description_too() {
    let world = World::saying("hi").await;
    let described = world.get("openapi.json").await.json();
    for (path, method) in [
        ("/api/v1/ai-sdk/chat", "post"),
        ("/v1/models", "get"),
        ("/v1/models/{model}", "get"),
        ("/v1/chat/completions", "post"),
    ] {
        assert!(described["paths"][path][method].is_object(), "{path}");
    }
}
