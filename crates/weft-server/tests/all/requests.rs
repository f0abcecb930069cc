//! Requests that make no sense.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn wrong_requests_are_refused_with_a_sentence() {
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    world.at_rest(&session).await;
    let unknown = "zzzzzzzzzzzz";
    let long = "x".repeat(300);
    for (method, path, body, status) in [
        ("GET", format!("sessions/{unknown}"), json!(null), 404),
        ("GET", "sessions/..%2f..%2fetc".to_owned(), json!(null), 404),
        ("GET", "sessions/%00".to_owned(), json!(null), 404),
        ("GET", format!("sessions/{unknown}/log"), json!(null), 404),
        ("GET", format!("sessions/{unknown}/events"), json!(null), 404),
        ("GET", format!("sessions/{unknown}/context"), json!(null), 404),
        ("GET", format!("sessions/{session}/outputs/none"), json!(null), 404),
        ("GET", format!("sessions/{session}/diff?turn=x"), json!(null), 400),
        ("GET", format!("sessions/{session}/log?limit=0"), json!(null), 400),
        ("GET", format!("sessions/{session}/log?after=1&before=2"), json!(null), 400),
        ("GET", format!("sessions/{session}/log?after=-1"), json!(null), 400),
        ("GET", "sessions?limit=100000".to_owned(), json!(null), 400),
        ("GET", "sessions?cursor=x".to_owned(), json!(null), 400),
        ("GET", "sessions?view=odd".to_owned(), json!(null), 400),
        ("GET", "search".to_owned(), json!(null), 400),
        ("GET", "files?workspace=relative".to_owned(), json!(null), 400),
        ("GET", "uploads/../../x".to_owned(), json!(null), 404),
        ("GET", "uploads/0000000000000000".to_owned(), json!(null), 404),
        ("GET", "agents/%ff".to_owned(), json!(null), 404),
        ("GET", "uploads/%ff".to_owned(), json!(null), 404),
        ("GET", "papers/%ff".to_owned(), json!(null), 404),
        ("GET", "/v1/models/%ff".to_owned(), json!(null), 404),
        ("POST", format!("sessions/{session}/asks/%ff"), json!({ "answer": { "type": "text", "text": "a" } }), 404),
        ("GET", "audit?severity=loud".to_owned(), json!(null), 400),
        ("PUT", "sessions".to_owned(), json!({}), 405),
        ("POST", "nothing".to_owned(), json!({}), 405),
        ("POST", "sessions".to_owned(), json!({ "workspace": "/does/not/exist" }), 400),
        ("POST", "sessions".to_owned(), json!({ "model": "nonsense" }), 400),
        ("POST", "sessions".to_owned(), json!({ "model": "nobody/x" }), 400),
        ("POST", "sessions".to_owned(), json!({ "agent": "nobody" }), 400),
        ("POST", "sessions".to_owned(), json!({ "odd": 1 }), 400),
        ("POST", "sessions".to_owned(), json!([1, 2]), 400),
        ("POST", format!("sessions/{unknown}/turns"), json!({ "content": [] }), 404),
        ("POST", format!("sessions/{session}/turns"), json!({ "content": [] }), 400),
        ("POST", format!("sessions/{session}/turns"), json!({ "content": [{ "type": "text", "text": " " }] }), 400),
        ("POST", format!("sessions/{session}/turns"), json!({ "content": [{ "type": "odd" }] }), 400),
        ("POST", format!("sessions/{session}/turns"), json!({ "content": [{ "type": "upload", "id": "x" }] }), 404),
        (
            "POST",
            format!("sessions/{session}/turns"),
            json!({ "content": [{ "type": "image", "media_type": "text/html", "data": "AAAA" }] }),
            400,
        ),
        (
            "POST",
            format!("sessions/{session}/turns"),
            json!({ "content": [{ "type": "text", "text": "/nosuchcommand" }] }),
            400,
        ),
        ("POST", format!("sessions/{session}/fork"), json!({ "at": 100000 }), 400),
        ("POST", format!("sessions/{session}/undo"), json!({}), 409),
        ("POST", format!("sessions/{session}/resume"), json!({}), 409),
        ("POST", format!("sessions/{session}/asks/{unknown}"), json!({ "answer": { "type": "reject" } }), 404),
        ("POST", format!("sessions/{session}/asks/{unknown}"), json!({ "answer": { "type": "odd" } }), 400),
        ("DELETE", format!("sessions/{session}/queue/{unknown}"), json!({}), 409),
        ("PATCH", format!("sessions/{session}"), json!({ "title": "" }), 400),
        ("PATCH", format!("sessions/{session}"), json!({ "title": long }), 400),
        ("PATCH", format!("sessions/{session}"), json!({ "labels": ["a\nb"] }), 400),
        ("PATCH", format!("sessions/{session}"), json!({ "mode": "odd" }), 400),
        ("PATCH", "settings".to_owned(), json!({ "hooks": [] }), 400),
    ] {
        let got = if body.is_null() { world.get(&path).await } else { world.call(method, &path, body.clone()).await };
        assert_eq!(got.status, status, "{method} {path} {body}: {got:?}");
        let message = got.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.ends_with(['.', '!', '?']) && message.len() > 10, "{path}: {message}");
    }
    // And nothing came of any of it.
    assert_eq!(world.get("sessions").await.json()["counts"]["total"], 1);
}

#[tokio::test]
async fn bodies_that_are_too_large_or_cut_or_not_json_are_refused() {
    let world = World::saying("hi").await;
    let post = |path: &str| world.request("POST", path).bearer_auth(&world.token);
    let large =
        world.send(post("sessions").header("content-type", "application/json").body("x".repeat(40 << 20))).await;
    assert_eq!(large.status, 413, "{large:?}");
    let cut = world.send(post("sessions").header("content-type", "application/json").body("{\"workspace\": ")).await;
    assert_eq!((cut.status, cut.code().as_str()), (400, "bad_request"));
    let form = post("sessions").header("content-type", "application/x-www-form-urlencoded").body("a=b");
    assert_eq!(world.send(form).await.status, 415);
    let upload = world.send(post("uploads?name=big.bin").body(vec![0; 21 << 20])).await;
    assert_eq!(upload.status, 413, "{}", upload.text);
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(6 << 20, 0);
    for (name, bytes, status, says) in [
        ("words.txt", "w".repeat(300 << 10).into_bytes(), 413, "256 KB"),
        ("large.png", picture, 413, "5 MB"),
        ("program.bin", vec![0xff; 100], 400, "neither a picture nor text"),
    ] {
        let refused = world.send(post(&format!("uploads?name={name}")).body(bytes)).await;
        assert_eq!(refused.status, status, "{name}: {}", refused.text);
        assert!(refused.text.contains(says) && refused.text.contains(name), "{name}: {}", refused.text);
    }
    let empty = world.send(post("uploads")).await;
    assert_eq!(empty.status, 400);
    let deep = world.send(post("sessions").header("content-type", "application/json").body("[".repeat(100_000))).await;
    assert_eq!(deep.status, 400);
}

#[tokio::test]
async fn a_file_that_was_handed_over_can_be_said_and_is_never_shown_as_a_page() {
    let world = World::saying("seen").await;
    let post = |path: &str| world.request("POST", path).bearer_auth(&world.token);
    let page = "<script>alert(1)</script>";
    let request = post("uploads?name=../../evil.html").header("content-type", "text/html").body(page);
    let kept = world.send(request).await.expect(201);
    assert_eq!(kept["name"], "evil.html");
    let back = world.get(&format!("uploads/{}", kept["id"].as_str().unwrap())).await;
    assert_eq!(back.text, page);
    assert_eq!(back.headers["content-type"], "application/octet-stream");
    assert_eq!(back.headers["content-disposition"], "attachment");
    let body = json!({ "content": [{ "type": "text", "text": "look" }, { "type": "upload", "id": kept["id"] }] });
    let session = world.post("sessions", body).await.expect(201)["id"].as_str().unwrap().to_owned();
    world.at_rest(&session).await;
    let said = world.log(&session)[1].to_string();
    assert!(said.contains("evil.html") && said.contains("alert(1)"), "{said}");
}

#[tokio::test]
async fn backups_are_listed_and_made() {
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    world.at_rest(&session).await;
    let before = world.get("backups").await.json()["backups"].as_array().unwrap().len();
    let made = world.post("backups", json!({})).await.expect(201);
    let backups = made["backups"].as_array().unwrap();
    assert_eq!(backups.len(), before + 1);
    assert!(backups[0]["bytes"].as_u64().unwrap() > 1000 && backups[0]["name"].as_str().unwrap().starts_with("weft-"));
    assert!(std::path::Path::new(made["folder"].as_str().unwrap()).join(backups[0]["name"].as_str().unwrap()).exists());
}

#[tokio::test]
async fn the_context_shows_instructions_and_tools_with_what_they_weigh() {
    let world = World::saying("hi").await;
    std::fs::write(world.folder.path().join("AGENTS.md"), "Use tabs in Makefiles.").unwrap();
    let session = world.session("hello there").await;
    world.at_rest(&session).await;
    let context = world.get(&format!("sessions/{session}/context")).await.json();
    let parts = context["parts"].as_array().unwrap();
    let part = |name: &str| {
        parts
            .iter()
            .find(|part| part["name"].as_str().unwrap().contains(name))
            .unwrap_or_else(|| panic!("{name} in {parts:?}"))
    };
    assert!(part("project instructions")["text"].as_str().unwrap().contains("Use tabs in Makefiles."));
    assert!(part("environment")["text"].as_str().unwrap().contains("folder:"));
    assert!(part("tools")["text"].as_str().unwrap().contains("read: "));
    assert!(part("agent's instructions")["tokens"].as_u64().unwrap() > 20);
    assert_eq!(context["messages"][0]["text"], "hello there");
}

#[tokio::test]
async fn an_upload_that_is_cut_in_the_middle_leaves_nothing_behind() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::saying("hi").await;
    let host = world.url.trim_start_matches("http://").to_owned();
    let uploads = weft_engine::Home::at(world.home.path()).data.join("uploads");
    let lying = || std::fs::read_dir(&uploads).map_or(0, Iterator::count);
    for framing in ["content-length: 1000000\r\n\r\n", "transfer-encoding: chunked\r\n\r\nffff\r\n"] {
        let mut socket = tokio::net::TcpStream::connect(&host).await.unwrap();
        let head = format!(
            "POST /api/v1/uploads?name=a.txt HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n{framing}",
            world.token
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(&vec![b'x'; 40_000]).await.unwrap();
        socket.flush().await.unwrap();
        // The cable is pulled.
        drop(socket);
    }
    // What came before is dealt with before what comes now, which works as ever.
    let post = |name: &str| world.request("POST", &format!("uploads?name={name}")).bearer_auth(&world.token);
    let kept = world.send(post("b.txt").body("whole")).await.expect(201);
    assert_eq!(world.get(&format!("uploads/{}", kept["id"].as_str().unwrap())).await.text, "whole");
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(lying(), 2, "the file and what is known of it, and nothing of those that were cut");
}
