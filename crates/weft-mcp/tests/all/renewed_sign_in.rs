//! A sign-in that has run out: it is renewed without asking anybody, and what comes back is kept; where the
//! server says no, the person is told to sign in again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use weft_core::event::Outcome;
use weft_mcp::Limits;
use weft_mcp::config::SourceTable;
use weft_mcp::oauth::Tokens as _;

use crate::world::World;

struct Server {
    base: String,
    renews: bool,
    /// What was sent to have it renewed.
    asked: Mutex<Vec<String>>,
    /// Requests that came with the token that has run out.
    stale: AtomicUsize,
}

fn serve(renews: bool) -> Arc<Server> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let server = Arc::new(Server { base, renews, asked: Mutex::default(), stale: AtomicUsize::new(0) });
    let shared = Arc::clone(&server);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(&shared);
            std::thread::spawn(move || server.answer(stream));
        }
    });
    server
}

impl Server {
    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut first, mut length, mut token) = (String::new(), 0, String::new());
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let (name, value) = line.trim().split_once(':').unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => value.trim().trim_start_matches("Bearer ").clone_into(&mut token),
                _ => {}
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body = String::from_utf8(body).unwrap();
        let (status, text) = self.say(first.split(' ').nth(1).unwrap_or_default(), &first, &body, &token);
        let text = text.map(|text| text.to_string()).unwrap_or_default();
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
    }

    fn say(&self, path: &str, first: &str, body: &str, token: &str) -> (&'static str, Option<Value>) {
        let base = &self.base;
        if path.starts_with("/.well-known/oauth-protected-resource") {
            return ("200 OK", Some(json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]})));
        }
        if path.starts_with("/.well-known/") {
            let endpoints = json!({"issuer": base, "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"), "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"]});
            return ("200 OK", Some(endpoints));
        }
        if path == "/token" {
            self.asked.lock().unwrap().push(body.to_owned());
            let fresh = json!({"access_token": "fresh-token", "token_type": "bearer", "expires_in": 3600,
                "refresh_token": "next-refresh"});
            return match self.renews {
                true => ("200 OK", Some(fresh)),
                false => ("400 Bad Request", Some(json!({"error": "invalid_grant"}))),
            };
        }
        if token != "fresh-token" {
            self.stale.fetch_add(usize::from(token == "stale-token"), Ordering::Relaxed);
            return ("401 Unauthorized", None);
        }
        if !first.starts_with("POST") {
            return ("405 Method Not Allowed", None);
        }
        let message: Value = serde_json::from_str(body).unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "it", "version": "1"}}),
            Some("tools/list") => json!({"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => json!({"content": [{"type": "text", "text": "it went"}]}),
            _ => return ("202 Accepted", None),
        };
        ("200 OK", Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
    }
}

/// A source whose sign-in has run out long ago.
fn signed_in(server: &Server) -> World {
    let url = format!("{}/mcp", server.base);
    let table = SourceTable { url: Some(url.clone()), ..SourceTable::default() };
    let world = World::new(table, Limits::default(), None);
    let token = json!({"access_token": "stale-token", "token_type": "bearer", "expires_in": 60,
        "refresh_token": "old-refresh"});
    let credentials = json!({"client_id": "weft", "token_response": token, "granted_scopes": [],
        "token_received_at": 1_000_000, "issuer": server.base});
    world.tokens.save("it", &json!({"url": url, "credentials": credentials}).to_string()).unwrap();
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_run_out_is_renewed_and_kept() {
    let server = serve(true);
    let world = signed_in(&server);
    let notices = world.ready().await;
    assert_eq!(world.tool_names(), ["mcp__it__go"], "{notices:?}");
    let finished = world.call("mcp__it__go", json!({})).await;
    assert_eq!(finished.outcome, Outcome::Ok, "{}", finished.output.text);
    assert!(finished.output.text.contains("it went"));
    let asked = server.asked.lock().unwrap().clone();
    let [asked] = asked.as_slice() else { panic!("asked once: {asked:?}") };
    assert!(asked.contains("grant_type=refresh_token") && asked.contains("refresh_token=old-refresh"), "{asked}");
    assert_eq!(server.stale.load(Ordering::Relaxed), 0, "what has run out is not sent");
    let kept = world.tokens.load("it").unwrap().unwrap();
    assert!(kept.contains("fresh-token") && kept.contains("next-refresh") && !kept.contains("stale-token"), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_it_is_not_renewed_the_person_signs_in_again() {
    let server = serve(false);
    let world = signed_in(&server);
    let notices = world.ready().await.join("\n");
    assert!(world.tool_names().is_empty());
    assert!(notices.contains("weft sources login it"), "{notices}");
    assert!(!notices.contains("stale-token") && !notices.contains("old-refresh"), "{notices}");
    assert!(!server.asked.lock().unwrap().is_empty());
}

/// A key that the person gave is theirs to correct; nobody could sign in to anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_that_is_refused_asks_for_no_sign_in() {
    let server = serve(true);
    let headers = std::collections::BTreeMap::from([("Authorization".to_owned(), "Bearer wrong-key".to_owned())]);
    let table = SourceTable { url: Some(format!("{}/mcp", server.base)), headers, ..SourceTable::default() };
    let world = World::new(table, Limits::default(), None);
    let notices = world.ready().await.join("\n");
    assert!(notices.contains("401") && !notices.contains("sources login"), "{notices}");
}
