//! Promises about the amount of work, checked by counting, not by the clock.

use rusqlite::Connection;
use weft_core::event::{Compacted, CompactionCause, CompactionStarted, Method};
use weft_core::{Event, Timestamp};
use weft_store::StoreError;

use crate::support::*;

/// Commits in a write-ahead log: its frames that name the database's size after them.
fn commits(wal: &[u8]) -> usize {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    wal[HEADER..].chunks_exact(FRAME).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn appends_that_wait_together_share_one_sync() {
    let home = Home::new();
    let store = home.open();
    let wal = home.folder.path().join("weft.db-wal");
    Session::started(&store, 1_000).await;
    let before = commits(&std::fs::read(&wal).unwrap());

    let blocker = Connection::open(home.database()).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appends: Vec<_> = (1..=50)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { Session::started(&store, number).await })
        })
        .collect();
    tokio::task::yield_now().await;
    blocker.execute_batch("COMMIT").unwrap();
    for append in appends {
        append.await.unwrap();
    }
    let made = commits(&std::fs::read(&wal).unwrap()) - before;
    assert!((1..=2).contains(&made), "{made} commits: the one that was waiting, and the rest");
}

#[tokio::test]
async fn a_lone_append_is_one_commit() {
    let home = Home::new();
    let store = home.open();
    let wal = home.folder.path().join("weft.db-wal");
    let mut session = Session::started(&store, 1).await;
    let before = commits(&std::fs::read(&wal).unwrap());
    session.append(&store, vec![input(1, "hi"), turn(1, &[1]), round(1)]).await.unwrap();
    session.append(&store, vec![answer("Hi.", &[]), ended(1)]).await.unwrap();
    assert_eq!(commits(&std::fs::read(&wal).unwrap()) - before, 2);
}

#[tokio::test]
async fn opening_a_long_session_reads_only_what_the_model_sees() {
    let home = Home::new();
    let store = home.open();
    let mut log: Vec<Event> = vec![started("/w")];
    for number in 1..=2_000 {
        let turn_number = u32::try_from(number).unwrap();
        log.extend([input(number, "go on"), turn(turn_number, &[number]), round(1), answer("Yes.", &[])]);
        if number == 1_990 {
            let upto = log.len() as u64;
            let (summary, method) = ("what happened so far".to_owned(), Method::Extractive);
            log.push(CompactionStarted { cause: CompactionCause::Threshold }.into());
            log.push(Compacted { upto, summary, method, tokens_before: 9, spent: None }.into());
        }
        log.push(ended(turn_number));
    }
    store.import(id(1), log.into_iter().map(|event| (Timestamp(1), event)).collect()).await.unwrap();
    let whole = store.load(id(1)).unwrap();
    assert_eq!(whole.conversation.entries.len(), 1 + 2 * 10);

    // What is not needed is not missed.
    let outside = Connection::open(home.database()).unwrap();
    let cut = format!("DELETE FROM events WHERE key & 0xffffffff < {}", whole.context_from);
    assert!(outside.execute(&cut, []).unwrap() > 9_000);
    assert_eq!(store.load(id(1)).unwrap(), whole);
    outside.execute(&format!("DELETE FROM events WHERE key & 0xffffffff = {}", whole.seq), []).unwrap();
    assert_eq!(store.load(id(1)).unwrap(), whole, "the snapshot says it all");
    outside.execute("DELETE FROM snapshots", []).unwrap();
    let error = store.load(id(1)).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "a hole is not taken for an end: {error}");
}
