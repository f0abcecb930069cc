#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use weft_core::event::{Delivery, InputReceived};
use weft_core::{InputId, UserPart};

use super::*;

fn open(folder: &std::path::Path) -> Store {
    let options = Options {
        path: folder.join("weft.db"),
        backups: folder.join("backups"),
        locks: folder.join("locks"),
        commit: Commit::Thread,
    };
    Store::open(options).unwrap().store
}

async fn say(store: &Store, state: &mut State, text: &str) -> Result<(), StoreError> {
    let content = vec![UserPart::text(text)];
    let input = InputId::from_random(state.seq);
    let event: Event = InputReceived { input, content, delivery: Delivery::FollowUp, shorthand: None }.into();
    let mut after = state.clone();
    after.apply(state.seq + 1, Timestamp(1), &event);
    store.append(Append::new(state.seq, &after, Timestamp(1), vec![event])).await?;
    *state = after;
    Ok(())
}

fn limit_pages(store: &Store, extra: i64) {
    let set = |connection: &mut rusqlite::Connection| {
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        connection.query_row(&format!("PRAGMA max_page_count = {}", pages + extra), [], |_| Ok(()))?;
        Ok(())
    };
    store.database().write(set).unwrap();
}

#[tokio::test]
async fn a_full_disk_is_said_and_what_was_saved_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut state = State::new(SessionId::from_random(1));
    say(&store, &mut state, "hello").await.unwrap();
    limit_pages(&store, 20);
    let mut result = Ok(());
    for _ in 0..100 {
        result = say(&store, &mut state, &"x".repeat(10_000)).await;
        if result.is_err() {
            break;
        }
    }
    assert_eq!(result, Err(StoreError::Full));
    assert_eq!(store.load(state.id).unwrap(), state);
    limit_pages(&store, 100_000);
    say(&store, &mut state, "there is room again").await.unwrap();
    assert_eq!(store.load(state.id).unwrap(), state);
}

#[tokio::test]
async fn every_connection_syncs_waits_and_checks_references() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let settings = |connection: &rusqlite::Connection| {
        let setting = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        Ok([setting("synchronous")?, setting("foreign_keys")?, setting("busy_timeout")?])
    };
    // The first connection goes to the writer, so the reader's is a new one.
    assert_eq!(store.database().write(|connection| settings(connection)).unwrap(), [2, 1, 5_000]);
    assert_eq!(store.database().read(settings).unwrap(), [2, 1, 5_000]);
}

/// A job that SQLite rejects fails alone, though its whole batch was rolled back.
#[tokio::test]
async fn a_spoilt_job_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store
        .database()
        .write(|connection| {
            Ok(connection.execute_batch(
                "CREATE TRIGGER spoil BEFORE INSERT ON sessions WHEN new.id = 3
                 BEGIN SELECT raise(FAIL, 'spoilt'); END;",
            )?)
        })
        .unwrap();
    // While another holds the database, jobs gather behind the first.
    let blocker = crate::database::connect(&folder.path().join("weft.db")).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let jobs: Vec<_> = (1..=5)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { say(&store, &mut State::new(SessionId::from_random(number)), "hi").await })
        })
        .collect();
    tokio::task::yield_now().await;
    blocker.execute_batch("COMMIT").unwrap();
    for (number, job) in (1..).zip(jobs) {
        let result = job.await.unwrap();
        match number {
            3 => assert!(matches!(&result, Err(StoreError::Unexpected { detail }) if detail == "spoilt"), "{result:?}"),
            _ => assert_eq!(result, Ok(()), "session {number}"),
        }
    }
    assert_eq!(store.list(&ListFilter::default()).unwrap().len(), 4);
}
