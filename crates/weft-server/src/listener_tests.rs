#![allow(clippy::unwrap_used)]

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

#[tokio::test(start_paused = true)]
async fn who_says_nothing_or_not_enough_is_closed_and_who_waits_for_an_answer_is_not() {
    let slow = || async {
        tokio::time::sleep(10 * SILENCE).await;
        "late"
    };
    let router = Router::new().route("/slow", axum::routing::get(slow));
    for (words, least, most) in [
        ("", SILENCE, 2 * SILENCE),
        ("GET /slow HTTP/1.1\r\nhost: a", SILENCE, 2 * SILENCE),
        ("GET /slow HTTP/1.1\r\nhost: a\r\n\r\n", 11 * SILENCE, 12 * SILENCE),
    ] {
        let (ours, mut theirs) = tokio::io::duplex(4_096);
        let connection = Connection {
            peer: Peer(([127, 0, 0, 1], 1).into()),
            router: router.clone(),
            guest: Strangers::default().enter(),
            stop: CancellationToken::new(),
        };
        let begun = Instant::now();
        let serving = tokio::spawn(connection.serve(ours));
        theirs.write_all(words.as_bytes()).await.unwrap();
        let mut heard = String::new();
        theirs.read_to_string(&mut heard).await.unwrap();
        serving.await.unwrap();
        assert!((least..most).contains(&begun.elapsed()), "{words:?}: {:?}", begun.elapsed());
        assert_eq!(heard.ends_with("late"), least > SILENCE, "{heard}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_strangers_the_oldest_goes_when_there_are_many_and_who_showed_a_token_stays() {
    let strangers = Strangers::default();
    let known = strangers.enter();
    known.settle();
    let first = strangers.enter();
    let rest: Vec<_> = (0..MANY_STRANGERS).map(|_| strangers.enter()).collect();
    assert!(!first.leave.is_cancelled(), "all came at once, as those do who belong here");
    tokio::time::sleep(GRACE + Duration::from_millis(1)).await;
    let last = strangers.enter();
    assert!(first.leave.is_cancelled());
    assert!(!known.leave.is_cancelled() && !last.leave.is_cancelled());
    let left = rest.iter().filter(|guest| !guest.leave.is_cancelled()).count();
    assert_eq!(left, MANY_STRANGERS - 1, "as many as there may be, with the last one");
    for _ in 0..2 * MOST_STRANGERS {
        strangers.enter();
    }
    assert!(last.leave.is_cancelled(), "however young, where there are far too many");
}
