//! Attacks by a source that is reached over HTTP: answers without end, of every kind that there is.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weft_core::event::Outcome;
use weft_mcp::Limits;
use weft_mcp::config::SourceTable;

use crate::world::World;

/// What is sent to a call, over and over, for as long as it is taken.
struct Attack {
    name: &'static str,
    status: &'static str,
    kind: &'static str,
    begins: &'static str,
    goes_on: String,
    fails_with: &'static str,
}

fn attacks() -> Vec<Attack> {
    let large = "x".repeat(1 << 20);
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": large}});
    vec![
        Attack {
            name: "an answer without end",
            status: "200 OK",
            kind: "application/json",
            begins: "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"",
            goes_on: large.clone(),
            fails_with: "more than 8 MB",
        },
        Attack {
            name: "an event without end",
            status: "200 OK",
            kind: "text/event-stream",
            begins: "data: ",
            goes_on: large.clone(),
            fails_with: "more than 8 MB",
        },
        Attack {
            name: "an event of lines without end",
            status: "200 OK",
            kind: "text/event-stream",
            begins: "",
            goes_on: format!("data: {large}\n"),
            fails_with: "more than 8 MB",
        },
        Attack {
            name: "notifications without end",
            status: "200 OK",
            kind: "text/event-stream",
            begins: "",
            goes_on: format!("data: {note}\n\n"),
            fails_with: "nobody asked for",
        },
        Attack {
            name: "a refusal without end",
            status: "400 Bad Request",
            kind: "text/plain",
            begins: "no ",
            goes_on: large,
            fails_with: "400",
        },
    ]
}

/// A server that attacks when its tool is called; gives its address.
fn serve(attack: Attack) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let attack = std::sync::Arc::new(attack);
        for stream in listener.incoming().flatten() {
            let attack = std::sync::Arc::clone(&attack);
            std::thread::spawn(move || answer(stream, &attack));
        }
    });
    address
}

fn answer(mut stream: TcpStream, attack: &Attack) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "it", "version": "1"}}),
        Some("tools/list") => json!({"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}),
        Some("tools/call") => {
            let head =
                format!("HTTP/1.1 {}\r\nContent-Type: {}\r\nConnection: close\r\n\r\n", attack.status, attack.kind);
            let mut sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(attack.begins.as_bytes()));
            while sent.is_ok() {
                sent = stream.write_all(attack.goes_on.as_bytes());
            }
            return;
        }
        Some(_) => {
            return drop(stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        }
        None => {
            let no = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            return drop(stream.write_all(no));
        }
    };
    let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_without_end_are_cut() {
    for attack in attacks() {
        let (name, fails_with) = (attack.name, attack.fails_with);
        let table = SourceTable { url: Some(serve(attack)), ..SourceTable::default() };
        let limits = Limits { call: Duration::from_secs(40), turn_wait: Duration::from_secs(20), ..Limits::default() };
        let world = World::new(table, limits, None);
        let notices = world.ready().await;
        assert_eq!(world.tool_names(), ["mcp__it__go"], "{name}: {notices:?}");
        let begun = Instant::now();
        let finished = world.call("mcp__it__go", json!({})).await;
        assert_eq!(finished.outcome, Outcome::Failed, "{name}: {}", finished.output.text);
        assert!(finished.output.text.contains(fails_with), "{name}: {}", finished.output.text);
        assert!(begun.elapsed() < Duration::from_secs(30), "{name} was listened to for {:?}", begun.elapsed());
        world.sources.close().await;
    }
}
