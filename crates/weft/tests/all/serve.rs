//! `weft serve`: the real server, ended the hard way and started again under its clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use weft_script::{Behaviour, Fault, call, text};

use crate::world::{World, finish, signal, wait_until};

/// A server that ends with the test.
pub struct Served {
    child: Child,
    pub address: String,
    pub token: String,
}

impl Served {
    /// On a port of its own, or on the one that it had before.
    pub fn start(world: &World, address: &str) -> Self {
        let mut child = world.command(&["serve", "--addr", address]).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (base, token) = line.trim().split_once("/?token=").unwrap_or_else(|| panic!("no address in {line:?}"));
        // The name is for browsers, who lead it to this machine by themselves.
        let (name, port) = base.strip_prefix("http://").unwrap().rsplit_once(':').unwrap();
        assert!(name.starts_with("weft-") && name.ends_with(".localhost"), "{line}");
        Self { child, address: format!("127.0.0.1:{port}"), token: token.to_owned() }
    }

    fn kill(&mut self) {
        signal(&self.child, Signal::KILL);
        self.child.wait().unwrap();
    }

    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        // A server that begins anew is gone for a moment.
        let connect = || TcpStream::connect(&self.address);
        let mut tries = (0..100).map(|_| connect().inspect_err(|_| std::thread::sleep(Duration::from_millis(20))));
        let mut stream = tries.find_map(Result::ok).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n{headers}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    pub fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut answer = String::new();
        self.open(method, &format!("/api/v1/{path}"), "", &body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body.trim()).unwrap_or_default())
    }

    /// What a server answers that may be going or coming at this moment; nothing if the connection is cut.
    fn try_get(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        let (host, token) = (&self.address, &self.token);
        let request = format!(
            "GET /api/v1/{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1.trim()).ok()
    }

    pub fn get(&self, path: &str) -> Value {
        self.send("GET", path, &Value::Null).1
    }

    pub fn begin(&self, words: &str, mode: &str) -> String {
        let body = json!({ "content": [{ "type": "text", "text": words }], "mode": mode });
        let (status, session) = self.send("POST", "sessions", &body);
        assert_eq!(status, 201, "{session}");
        session["id"].as_str().unwrap().to_owned()
    }

    /// Events after a number, until one of this kind. Nothing if the server went away before.
    pub fn follow(&self, session: &str, after: u64, until: &str) -> (Vec<Value>, bool) {
        let stream = self.open("GET", &format!("/api/v1/sessions/{session}/events?after={after}"), "", "");
        let mut events = Vec::new();
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            if event["seq"].is_u64() && event["session"].is_string() {
                let found = event["type"] == until;
                events.push(event);
                if found {
                    return (events, true);
                }
            }
        }
        (events, false)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn numbers(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[test]
fn a_server_killed_in_the_middle_of_a_turn_goes_on_and_its_client_misses_nothing() {
    let world = World::behaving(Behaviour::matching(|seen| {
        if seen.body["system"].to_string().contains("Title: give") {
            return text("A title");
        }
        match seen.round_in_turn {
            0 => call("shell", json!({ "command": "echo once >> done.txt; echo done" })),
            _ => text("word ".repeat(60)).fault(Fault::SlowChunks { ms: 20 }),
        }
    }));
    let mut served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("go", "auto");
    let (mut seen, whole) = served.follow(&session, 0, "tool_finished");
    assert!(whole);
    // In the middle of the answer.
    std::thread::sleep(Duration::from_millis(300));
    let address = served.address.clone();
    served.kill();
    let served = Served::start(&world, &address);
    let last = seen.last().unwrap()["seq"].as_u64().unwrap();
    let (rest, whole) = served.follow(&session, last, "turn_ended");
    assert!(whole);
    seen.extend(rest);
    assert_eq!(numbers(&seen), (1..=seen.len() as u64).collect::<Vec<_>>());
    assert_eq!(seen.last().unwrap()["reason"]["reason"], "completed", "{seen:#?}");
    // The tool's effect was not repeated.
    assert_eq!(world.file("done.txt"), "once\n");
}

#[test]
fn a_question_outlives_the_server_and_is_answered_after_it_starts_again() {
    let world = World::behaving(Behaviour::matching(|seen| {
        if seen.body["system"].to_string().contains("Title: give") {
            return text("A title");
        }
        match seen.round_in_turn {
            0 => call("write", json!({ "path": "note.txt", "content": "hi\n" })),
            _ => text("Written."),
        }
    }));
    let mut served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("write", "ask");
    let ask = wait_until("the question", || served.get("asks")["asks"][0]["ask"]["id"].as_str().map(str::to_owned));
    served.kill();
    let served = Served::start(&world, "127.0.0.1:0");
    assert_eq!(served.get("asks")["asks"][0]["ask"]["id"], ask.as_str());
    // Another process answers; the server that looks on goes on with it.
    world.weft(&["answer", &ask, "yes"]).expect(0);
    let path = format!("sessions/{session}/asks/{ask}");
    let (status, late) = served.send("POST", &path, &json!({ "answer": { "type": "reject" } }));
    assert_eq!((status, late["error"]["by"].as_str()), (409, Some("cli")), "{late}");
    let (status, _) = served.send("POST", &format!("sessions/{session}/resume"), &json!({}));
    assert!(status == 202 || status == 409, "{status}");
    wait_until("the file", || Some(()).filter(|()| world.file("note.txt") == "hi\n"));
}

#[test]
fn tokens_are_added_and_revoked_while_the_server_runs() {
    let world = World::new(vec![text("hi")]);
    let mut served = Served::start(&world, "127.0.0.1:0");
    let token = world.weft(&["serve", "tokens", "add", "phone"]).expect(0).stdout.trim().to_owned();
    world.weft(&["serve", "tokens", "list"]).expect(0).says("phone");
    let first = std::mem::replace(&mut served.token, token);
    assert_eq!(served.send("GET", "version", &Value::Null).0, 200);
    world.weft(&["serve", "tokens", "revoke", "phone"]).expect(0);
    assert_eq!(served.send("GET", "version", &Value::Null).0, 401);
    served.token = first;
    assert_eq!(served.send("GET", "version", &Value::Null).0, 200);
    assert_eq!(world.weft(&["serve", "tokens", "show"]).expect(0).stdout.trim(), served.token);
}

#[test]
fn other_addresses_need_tls_or_an_explicit_word() {
    let world = World::new(vec![text("hi")]);
    world.weft(&["serve", "--addr", "0.0.0.0:0"]).expect(1).says("--insecure");
    world.weft(&["serve", "--addr", "127.0.0.1:0", "--tls-cert", "none.pem"]).expect(2);
    let cert = ["serve", "--addr", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.pem"];
    world.weft(&cert).expect(1).says("certificate");
}

#[test]
fn a_server_that_is_asked_to_end_lets_its_streams_end() {
    let world = World::new(vec![text("hi")]);
    let mut served = Served::start(&world, "127.0.0.1:0");
    let session = served.begin("hello", "ask");
    let stream = served.open("GET", &format!("/api/v1/sessions/{session}/events?after=0"), "", "");
    let mut stream = BufReader::new(stream);
    // Not before the stream has begun: a request that nobody has read is not answered any more.
    let mut line = String::new();
    while !line.contains("session_started") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended before it began");
    }
    signal(&served.child, Signal::TERM);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    let child = std::mem::replace(&mut served.child, world.command(&["--version"]).spawn().unwrap());
    assert_eq!(finish(child).code, Some(0));
}

#[test]
fn settings_sources_and_the_state_of_things_are_there_for_a_browser() {
    let world = World::new(vec![text("hi")]);
    let served = Served::start(&world, "127.0.0.1:0");
    for wrong in [json!({ "mode": "odd" }), json!({ "limits.rounds": "many" }), json!({ "mode": { "x": 1 } })] {
        let (status, refused) = served.send("PATCH", "settings", &wrong);
        assert_eq!(status, 400, "{wrong}: {refused}");
    }
    let (status, settings) = served.send("PATCH", "settings", &json!({ "mode": "safe", "limits.rounds": 7 }));
    assert_eq!((status, settings["values"]["mode"].as_str()), (200, Some("safe")), "{settings}");
    assert_eq!(settings["values"]["limits.rounds"], 7);
    // A session that begins now begins so.
    let (_, begun) = served.send("POST", "sessions", &json!({}));
    assert_eq!(begun["mode"], "safe", "{begun}");
    assert_eq!(served.send("PATCH", "settings", &json!({ "mode": null })).1["values"]["mode"], "ask");
    // One wrong value, and none of them is kept.
    let (status, _) = served.send("PATCH", "settings", &json!({ "limits.rounds": 9, "mode": "nonsense" }));
    assert_eq!((status, &served.get("settings")["values"]["limits.rounds"]), (400, &json!(7)));
    assert_eq!(served.send("PATCH", "settings", &json!({ "hooks": [{ "command": "evil" }] })).0, 400);
    let source = json!({ "name": "docs", "url": "http://127.0.0.1:1/mcp" });
    assert_eq!(served.send("POST", "sources", &source).0, 204);
    assert_eq!(served.send("POST", "sources", &source).0, 400);
    assert_eq!(served.get("sources")["sources"][0]["name"], "docs");
    assert_eq!(served.send("POST", "sources/docs/test", &Value::Null).1["ok"], false);
    assert_eq!(served.send("DELETE", "sources/docs", &Value::Null).0, 204);
    assert_eq!(served.send("DELETE", "sources/docs", &Value::Null).0, 404);
    let doctor = served.get("doctor");
    assert!(doctor["sections"].as_array().unwrap().len() > 5, "{doctor}");
    assert_eq!(served.get("sandbox")["holds"].as_array().unwrap().len(), 9);
    assert_eq!(served.get("audit/verify")["valid"], true);
    let models = served.get("models");
    assert_eq!(models["default"], crate::world::MODEL);
    assert!(!models.to_string().contains("test-key"), "{models}");
}

#[test]
fn the_browser_is_opened_without_the_token_on_a_command_line() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(vec![text("hi")]);
    let tools = world.folder.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    let opened = world.folder.path().join("opened");
    let script = format!("#!/bin/sh\nprintf '%s' \"$*\" > {0}.new && mv {0}.new {0}\n", opened.display());
    std::fs::write(tools.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(tools.join("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = world.command(&["serve", "--addr", "127.0.0.1:0", "--open"]);
    let mut child = command.env("PATH", path).env("DISPLAY", ":0").stderr(Stdio::inherit()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim();
    let page = wait_until("the browser", || std::fs::read_to_string(&opened).ok());
    let token = address.split_once("?token=").unwrap().1;
    assert!(!page.contains(token) && !page.contains("localhost"), "{page}");
    assert_eq!(std::fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&page).unwrap().contains(&format!("0;url={address}\"")));
    signal(&child, Signal::TERM);
    assert_eq!(finish(child).code, Some(0));
    assert!(!std::path::Path::new(&page).exists(), "the page with the token stayed");
}

#[test]
fn a_backup_is_restored_under_the_page_and_the_server_is_there_again() {
    let world = World::behaving(Behaviour::matching(|_| text("Noted.")));
    let served = Served::start(&world, "127.0.0.1:0");
    let first = served.begin("one", "auto");
    served.follow(&first, 0, "turn_ended");
    let (status, list) = served.send("POST", "backups", &json!({}));
    assert_eq!(status, 201, "{list}");
    let name = list["backups"][0]["name"].as_str().unwrap().to_owned();
    let second = served.begin("two", "auto");
    served.follow(&second, 0, "turn_ended");
    assert_eq!(served.get("sessions")["counts"]["total"], 2);

    assert_eq!(served.send("POST", "backups/weft-20200101-000000.db/restore", &json!({})).0, 404);
    assert_eq!(served.send("POST", "backups/..%2Fweft.db/restore", &json!({})).0, 404);
    let (status, list) = served.send("POST", &format!("backups/{name}/restore"), &json!({}));
    assert_eq!((status, &list["restoring"]), (202, &json!(name)), "{list}");
    // The same process answers again at the same place.
    wait_until("the server is back with one session", || {
        served.try_get("sessions").filter(|list| list["counts"]["total"] == 1).map(|_| ())
    });
    assert_eq!(served.get(&format!("sessions/{first}"))["id"], first);
    assert_eq!(served.send("GET", &format!("sessions/{second}"), &Value::Null).0, 404);
    assert_eq!(served.get("backups")["restoring"], Value::Null);
    let third = served.begin("three", "auto");
    assert!(served.follow(&third, 0, "turn_ended").1, "it works on");
}
