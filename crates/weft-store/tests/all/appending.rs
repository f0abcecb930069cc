//! What an append promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use weft_core::Event;
use weft_core::event::Unknown;
use weft_store::{Append, Commit, Store, StoreError};

use crate::support::*;

#[tokio::test]
async fn what_is_acknowledged_is_on_disk_for_everybody() {
    let home = Home::new();
    let store = home.open();
    // Another program, with nothing of ours in between.
    let reader = Connection::open(home.database()).unwrap();
    let mut session = Session::new(1);
    for step in 0..20u32 {
        let event = if step == 0 { started("/w") } else { input(u64::from(step), "more") };
        session.append(&store, vec![event]).await.unwrap();
        let count: u32 = reader.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(count, step + 1);
        let seq: u32 = reader.query_row("SELECT seq FROM sessions", [], |row| row.get(0)).unwrap();
        assert_eq!(seq, step + 1);
    }
}

#[tokio::test]
async fn a_stale_writer_is_refused_and_changes_nothing() {
    for commit in [Commit::Thread, Commit::Inline] {
        let store = Store::in_memory(commit).unwrap();
        let mut mine = Session::started(&store, 1).await;
        let mut theirs = mine.clone();
        theirs.append(&store, vec![input(1, "first")]).await.unwrap();
        let refused = mine.append(&store, vec![input(2, "second")]).await;
        assert_eq!(refused, Err(StoreError::Stale { expected: 1, found: 2 }));
        let again = Session::new(1).append(&store, vec![started("/w")]).await;
        assert_eq!(again, Err(StoreError::Stale { expected: 0, found: 2 }));
        assert_eq!(store.load(mine.id()).unwrap(), theirs.state);
        assert_eq!(store.events(mine.id(), 0, 100).unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_append_to_a_session_that_is_gone_says_so() {
    let store = Store::in_memory(Commit::Inline).unwrap();
    let mut session = Session::started(&store, 1).await;
    store.delete(session.id()).await.unwrap();
    let refused = session.append(&store, vec![input(1, "hello?")]).await;
    assert_eq!(refused, Err(StoreError::NoSuchSession { id: session.id().to_string() }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_writers_at_once_exactly_one_wins_each_event() {
    let home = Home::new();
    let stores = [home.open(), home.open()];
    let base = Session::started(&stores[0], 1).await;
    let wins = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for number in 0..40 {
        let (store, mut session, wins) = (stores[number % 2].clone(), base.clone(), Arc::clone(&wins));
        tasks.push(tokio::spawn(async move {
            match session.append(&store, vec![input(number as u64, "me")]).await {
                Ok(()) => drop(wins.fetch_add(1, Ordering::SeqCst)),
                Err(error) => assert_eq!(error, StoreError::Stale { expected: 1, found: 2 }),
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(wins.load(Ordering::SeqCst), 1);
    assert_eq!(stores[1].load(base.id()).unwrap().seq, 2);
}

#[tokio::test]
async fn a_refused_append_does_not_disturb_the_others_of_its_batch() {
    let home = Home::new();
    let store = home.open();
    let mut sessions = Vec::new();
    for number in 1..=20 {
        sessions.push(Session::started(&store, number).await);
    }
    // Holding the database's lock makes the rest gather into one batch.
    let blocker = Connection::open(home.database()).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut appends = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        let (mut append, _) = session.plan(vec![input(1, "go")]);
        if number % 3 == 0 {
            append.expected_seq = 9;
        }
        let store = store.clone();
        appends.push(tokio::spawn(async move { store.append(append).await }));
    }
    tokio::task::yield_now().await;
    blocker.execute_batch("COMMIT").unwrap();
    for (number, append) in appends.into_iter().enumerate() {
        let expected = if number % 3 == 0 { Err(StoreError::Stale { expected: 9, found: 1 }) } else { Ok(()) };
        assert_eq!(append.await.unwrap(), expected, "session {number}");
    }
}

#[tokio::test]
async fn events_of_a_newer_weft_are_kept_and_skipped() {
    let home = Home::new();
    let mut session = Session::new(1);
    let unknown = Event::Unknown(Unknown { kind: 60_000, data: serde_json::json!({ "wings": 2, "name": "ü" }) });
    {
        let store = home.open();
        session.append(&store, vec![started("/w"), unknown.clone(), input(1, "go on")]).await.unwrap();
    }
    let store = home.open();
    assert_eq!(store.events(session.id(), 1, 1).unwrap()[0].event, unknown);
    assert_eq!(store.load(session.id()).unwrap(), session.state);
}

#[tokio::test]
async fn partials_grow_in_place_and_go_with_the_answer() {
    let store = Store::in_memory(Commit::Thread).unwrap();
    let mut session = Session::started(&store, 1).await;
    session.append(&store, vec![input(1, "hi"), turn(1, &[1]), round(1)]).await.unwrap();
    for text in ["Once", "Once upon", "Once upon a time"] {
        store.save_partial(session.id(), "round", text.to_owned()).await.unwrap();
    }
    store.save_partial(session.id(), "call-1", "output".to_owned()).await.unwrap();
    let kept = vec![("round".to_owned(), "Once upon a time".to_owned()), ("call-1".to_owned(), "output".to_owned())];
    assert_eq!(store.partials(session.id()).unwrap(), kept);

    let (append, after) = session.plan(vec![answer("Once upon a time.", &[])]);
    store.append(Append { clear_partials: true, ..append }).await.unwrap();
    assert_eq!(store.partials(session.id()).unwrap(), []);
    assert_eq!(store.load(session.id()).unwrap(), after);
    let nobody = store.save_partial(id(99), "round", String::new()).await;
    assert_eq!(nobody, Err(StoreError::NoSuchSession { id: id(99).to_string() }));
}
