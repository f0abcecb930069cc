//! Many connections at once.

use std::time::Duration;

use serde_json::json;
use weft_script::{Behaviour, Piece, Protocol, Server, Settings, raise_open_files};

use crate::client::{Client, End, hello, path};

#[tokio::test]
async fn two_thousand_requests_at_once_are_answered() {
    const CLIENTS: usize = 2_000;
    // Both ends of each connection live in this process.
    assert!(raise_open_files() > 2 * CLIENTS as u64 + 64, "raise the hard limit of open files for this test");
    let mut settings = Settings::new(Behaviour::rounds(
        1,
        |_| Piece::Call { name: "shell".into(), input: json!({ "command": "echo hi" }) },
        "Done.",
    ));
    settings.record = false;
    settings.delay = Duration::from_millis(50);
    let server = Server::start_with(settings).unwrap();
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let mut client = Client::connect(&server).await;
        let protocol = Protocol::ALL[number % 4];
        clients.spawn(async move { client.post(path(protocol), &hello(protocol)).await });
    }
    while let Some(response) = clients.join_next().await {
        let response = response.unwrap();
        assert_eq!((response.status, response.end), (200, End::Complete));
        assert!(response.body.contains(r#""name":"shell""#), "{}", response.body);
    }
    assert_eq!((server.stats().requests, server.stats().connections), (CLIENTS, CLIENTS));
}
