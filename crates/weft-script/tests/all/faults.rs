//! Each fault does what its name says, in every protocol.

use std::time::{Duration, Instant};

use serde_json::json;
use weft_script::{Behaviour, Fault, Protocol, Reply, Server, call, failure, status, text};

use crate::client::{Client, End, Response, hello, path};

async fn fetch(protocol: Protocol, reply: Reply) -> Response {
    let server = Server::start(Behaviour::Sequence(vec![reply])).unwrap();
    Client::connect(&server).await.post(path(protocol), &hello(protocol)).await
}

fn two_texts() -> Reply {
    text("first").then(text("second"))
}

fn end_marker(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Anthropic => "message_stop",
        Protocol::Responses => "response.completed",
        Protocol::Chat => "[DONE]",
        Protocol::Gemini => "finishReason",
    }
}

#[tokio::test]
async fn a_good_answer_has_both_pieces_and_its_end() {
    for protocol in Protocol::ALL {
        let response = fetch(protocol, two_texts()).await;
        assert_eq!(response.end, End::Complete);
        for expected in ["first", "second", end_marker(protocol)] {
            assert!(response.body.contains(expected), "{protocol:?} {expected}: {}", response.body);
        }
    }
}

#[tokio::test]
async fn an_error_status_has_its_body_and_headers() {
    for protocol in Protocol::ALL {
        let response = fetch(protocol, failure(429, "rate_limit_error", "Slow down").header("retry-after", "7")).await;
        assert_eq!(response.status, 429);
        assert!(response.head.contains("retry-after: 7\r\n"), "{}", response.head);
        let body: serde_json::Value = serde_json::from_str(&response.body).unwrap();
        assert_eq!(body["error"]["message"], "Slow down");
        let raw = fetch(protocol, status(502, "<html>Bad gateway</html>")).await;
        assert_eq!((raw.status, raw.body.as_str()), (502, "<html>Bad gateway</html>"));
        assert!(raw.head.contains("text/html"));
    }
}

#[tokio::test]
async fn reset_before_sends_nothing() {
    for protocol in Protocol::ALL {
        let response = fetch(protocol, two_texts().fault(Fault::ResetBefore)).await;
        assert_eq!((response.status, response.end), (0, End::Reset));
    }
}

#[tokio::test]
async fn reset_after_and_cut_after_stop_between_pieces() {
    for protocol in Protocol::ALL {
        let faults = [(Fault::ResetAfter { pieces: 1 }, End::Reset), (Fault::CutAfter { pieces: 1 }, End::Complete)];
        for (fault, end) in faults {
            let response = fetch(protocol, two_texts().fault(fault)).await;
            assert_eq!(response.end, end, "{protocol:?}");
            assert!(response.body.contains("first"), "{protocol:?}: {}", response.body);
            assert!(!response.body.contains("second"));
            assert!(!response.body.contains(end_marker(protocol)));
        }
    }
}

#[tokio::test]
async fn a_cut_past_the_last_piece_leaves_out_only_the_end() {
    for protocol in Protocol::ALL {
        let response = fetch(protocol, two_texts().fault(Fault::CutAfter { pieces: 99 })).await;
        assert!(response.body.contains("second"));
        assert!(!response.body.contains(end_marker(protocol)));
    }
}

#[tokio::test]
async fn cut_after_bytes_is_exact() {
    for protocol in Protocol::ALL {
        let whole = fetch(protocol, two_texts()).await.body;
        for bytes in [0, 1, 100, whole.len() - 1] {
            let response = fetch(protocol, two_texts().fault(Fault::CutAfterBytes { bytes })).await;
            assert_eq!(response.end, End::Complete);
            assert_eq!(response.body, whole[..bytes]);
        }
    }
}

#[tokio::test]
async fn silence_lasts_until_the_client_leaves() {
    let server = Server::start(Behaviour::Sequence(vec![two_texts().fault(Fault::Silent { after: 1 })])).unwrap();
    for (left_before, protocol) in Protocol::ALL.into_iter().enumerate() {
        give_up(&server, protocol).await;
        server.wait_for_hangups(left_before + 1).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_leaves_during_a_pause_is_noticed_at_once() {
    let replies =
        vec![text("late").fault(Fault::Delay { ms: 60_000 }), two_texts().fault(Fault::SlowChunks { ms: 60_000 })];
    let server = Server::start(Behaviour::Sequence(replies)).unwrap();
    for left_before in 0..2 {
        give_up(&server, Protocol::Anthropic).await;
        server.wait_for_hangups(left_before + 1).await.unwrap();
    }
}

/// Asks, sees that no complete answer comes, and leaves.
async fn give_up(server: &Server, protocol: Protocol) {
    let mut client = Client::connect(server).await;
    let request = hello(protocol);
    let answer = client.post(path(protocol), &request);
    assert!(tokio::time::timeout(Duration::from_millis(30), answer).await.is_err(), "the answer ended");
}

#[tokio::test]
async fn rubbish_comes_between_the_pieces() {
    for protocol in Protocol::ALL {
        let body = fetch(protocol, two_texts().fault(Fault::Rubbish { after: 1 })).await.body;
        let (before, after) = body.split_once("event: nonsense").unwrap();
        assert!(before.contains("first") && !before.contains("second"));
        assert!(after.contains("second") && after.contains(end_marker(protocol)));
    }
}

#[tokio::test]
async fn slow_split_and_delayed_answers_are_the_same_answers() {
    for protocol in Protocol::ALL {
        let whole = fetch(protocol, two_texts()).await.body;
        for fault in [Fault::SlowChunks { ms: 2 }, Fault::SplitBytes, Fault::Delay { ms: 20 }] {
            let begun = Instant::now();
            let response = fetch(protocol, two_texts().fault(fault.clone())).await;
            assert_eq!(response.body, whole);
            match fault {
                Fault::SplitBytes => {}
                _ => assert!(begun.elapsed() >= Duration::from_millis(6), "{protocol:?} {fault:?}"),
            }
        }
    }
}

#[tokio::test]
async fn duplicate_repeats_every_event() {
    for protocol in Protocol::ALL {
        let whole = fetch(protocol, two_texts()).await.body;
        let body = fetch(protocol, two_texts().fault(Fault::Duplicate)).await.body;
        assert_eq!(body.len(), 2 * whole.len());
        assert_eq!(body.matches(end_marker(protocol)).count(), 2 * whole.matches(end_marker(protocol)).count());
    }
}

#[tokio::test]
async fn interleaved_calls_take_turns() {
    let reply = call("one", json!({ "path": "a long enough argument" }))
        .then(call("two", json!({ "path": "another long enough argument" })))
        .fault(Fault::Interleave);
    let body = fetch(Protocol::Chat, reply).await.body;
    let indexes: Vec<char> = body
        .match_indices(r#""tool_calls":[{"index":"#)
        .map(|(at, found)| body[at + found.len()..].chars().next().unwrap())
        .collect();
    assert_eq!(indexes[..6], ['0', '1', '0', '1', '0', '1']);
}

#[tokio::test]
async fn a_stream_error_is_an_event_and_the_last_one() {
    for protocol in Protocol::ALL {
        let fault = Fault::StreamError { after: 1, kind: "overloaded_error".into(), message: "Overloaded".into() };
        let response = fetch(protocol, two_texts().fault(fault)).await;
        assert_eq!((response.status, response.end), (200, End::Complete));
        assert!(response.body.contains("first") && !response.body.contains("second"));
        assert!(response.body.contains(r#""message":"Overloaded""#), "{}", response.body);
        assert!(!response.body.contains(end_marker(protocol)));
    }
}
