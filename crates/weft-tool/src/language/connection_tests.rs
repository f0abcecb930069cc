#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use super::*;

/// The other end: a server that says what a test wants.
struct Peer {
    from: BufReader<ReadHalf<DuplexStream>>,
    to: WriteHalf<DuplexStream>,
}

fn pair() -> (Connection, Peer) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let ((our_from, our_to), (from, to)) = (tokio::io::split(ours), tokio::io::split(theirs));
    let settings = ("fake".to_owned(), json!({"option": 1}));
    let connection = Connection::new(our_from, our_to, settings, "file:///ws".to_owned());
    (connection, Peer { from: BufReader::new(from), to })
}

impl Peer {
    async fn hear(&mut self) -> Message {
        wire::read(&mut self.from).await.unwrap().unwrap()
    }

    async fn say(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).await.unwrap();
    }

    /// The number of the question that is asked next.
    async fn asked(&mut self) -> Value {
        match self.hear().await {
            Message::Request { id, .. } => id,
            other => panic!("{other:?}"),
        }
    }
}

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn only_the_answer_to_the_question_counts() {
    let (connection, mut peer) = pair();
    let question = async { connection.ask("q", &json!({}), SOON).await };
    let server = async {
        let id = peer.asked().await;
        peer.say(&wire::answer(&json!(77), &json!("nobody asked"))).await;
        peer.say(&wire::answer(&json!("1"), &json!("a number in letters"))).await;
        peer.say(&wire::answer(&json!(-1), &json!("below zero"))).await;
        peer.say(&wire::answer(&id, &json!("right"))).await;
        peer.say(&wire::answer(&id, &json!("again"))).await;
    };
    assert_eq!(tokio::join!(question, server).0, Ok(json!("right")));
}

#[tokio::test]
async fn a_server_is_let_nothing_do() {
    let (connection, mut peer) = pair();
    let cases = [
        ("workspace/applyEdit", json!({"edit": {}}), Some(json!(false)), "/applied"),
        ("window/showDocument", json!({"uri": "http://x"}), Some(json!(false)), "/success"),
        ("workspace/configuration", json!({"items": [{"section": "x"}]}), Some(json!([null])), ""),
        ("workspace/configuration", json!({"items": [{"section": "fake"}]}), Some(json!([{"option": 1}])), ""),
        ("workspace/configuration", json!(7), Some(json!([])), ""),
        ("workspace/executeCommand", json!({"command": "rm"}), None, ""),
        ("anything/else", json!(null), None, ""),
    ];
    for (number, (method, params, expected, pointer)) in cases.into_iter().enumerate() {
        peer.say(&wire::request(number as u64, method, &params)).await;
        match (peer.hear().await, expected) {
            (Message::Response { id, result: Ok(result) }, Some(expected)) => {
                assert_eq!(id, number as u64);
                assert_eq!(result.pointer(pointer), Some(&expected), "{method}");
            }
            (Message::Response { result: Err(refusal), .. }, None) => assert_eq!(refusal.code, -32601),
            (other, _) => panic!("{method}: {other:?}"),
        }
    }
    drop(connection);
}

#[tokio::test(start_paused = true)]
async fn one_that_never_answers_is_not_waited_for() {
    let (connection, mut peer) = pair();
    let patience = Duration::from_secs(30);
    assert_eq!(connection.ask("q", &json!({}), patience).await, Err(Trouble::Silent(patience)));
    peer.asked().await;
    let taken_back = Message::Notification { method: "$/cancelRequest".into(), params: json!({"id": 1}) };
    assert_eq!(peer.hear().await, taken_back);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_read_is_noticed() {
    let (connection, _peer) = pair();
    let large = json!("x".repeat(100_000));
    let mut last = Ok(());
    for _ in 0..MOST_WAITING + 5 {
        last = connection.notify("n", &large).await;
    }
    assert_eq!(last, Err(Trouble::Deaf));
}

#[tokio::test]
async fn one_that_ends_ends_what_waits_for_it() {
    let (connection, peer) = pair();
    let waiting = async { connection.until(SOON, |_| false).await };
    let question = async { connection.ask("q", &json!({}), SOON).await };
    let (waited, asked, ()) = tokio::join!(waiting, question, async move { drop(peer) });
    assert!(matches!(waited, Err(Trouble::Ended(_))), "{waited:?}");
    assert!(matches!(asked, Err(Trouble::Ended(_))), "{asked:?}");
    assert!(matches!(connection.ask("q", &json!({}), SOON).await, Err(Trouble::Ended(_))));
}

#[tokio::test]
async fn rubbish_and_floods_end_it() {
    let (connection, mut peer) = pair();
    peer.say(b"Content-Length: 99999999999\r\n\r\n").await;
    let ended = connection.until(SOON, |_| false).await;
    assert_eq!(ended, Err(Trouble::Ended("a message of 99999999999 bytes is too large".into())));

    let (connection, mut peer) = pair();
    let flood = wire::notification("window/logMessage", &json!({})).repeat(FLOOD + 1);
    let (ended, _) = tokio::join!(connection.until(SOON, |_| false), peer.to.write_all(&flood));
    assert_eq!(ended, Err(Trouble::Ended("it says far too much".into())));
}

#[tokio::test]
async fn a_question_is_asked_again_when_files_have_just_changed() {
    let (connection, mut peer) = pair();
    let question = async { connection.ask("q", &json!({}), SOON).await };
    let server = async {
        let id = peer.asked().await;
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32801, "message": "modified"}}).to_string();
        peer.say(format!("Content-Length: {}\r\n\r\n{error}", error.len()).as_bytes()).await;
        let id = peer.asked().await;
        peer.say(&wire::answer(&id, &json!(2))).await;
    };
    assert_eq!(tokio::join!(question, server).0, Ok(json!(2)));
}

#[tokio::test]
async fn what_is_kept_of_its_words_has_an_end() {
    let (connection, mut peer) = pair();
    let mut words = Vec::new();
    for number in 0..MOST_FILES + 50 {
        let uri = format!("file:///ws/{number}.rs");
        words.extend(wire::notification("textDocument/publishDiagnostics", &json!({"uri": uri, "diagnostics": []})));
        let begun = json!({"token": number, "value": {"kind": "begin"}});
        words.extend(wire::notification("$/progress", &begun));
    }
    words.extend(wire::notification("experimental/serverStatus", &json!({"quiescent": true})));
    let (known, written) =
        tokio::join!(connection.until(SOON, |state| state.quiescent.is_some()), peer.to.write_all(&words));
    written.unwrap();
    assert_eq!(known, Ok(true));
    let state = connection.state();
    assert_eq!((state.published.len(), state.progress.len()), (MOST_FILES, MOST_PROGRESS));
}
