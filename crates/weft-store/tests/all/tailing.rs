//! Following a session from near and far.

use weft_store::{Commit, Store, StoreError};

use crate::support::*;

async fn check_follows(writer: Store, follower: Store) {
    let mut session = Session::started(&writer, 1).await;
    let mut tail = follower.tail(id(1), 0);
    let mut seen: Vec<u64> = tail.next().await.unwrap().iter().map(|event| event.seq).collect();
    let writing = tokio::spawn(async move {
        for number in 0..50 {
            session.append(&writer, vec![input(number, "more")]).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    while seen.len() < 51 {
        seen.extend(tail.next().await.unwrap().iter().map(|event| event.seq));
    }
    writing.await.unwrap();
    assert_eq!(seen, (1..=51).collect::<Vec<_>>(), "in order, none missing, none twice");
}

#[tokio::test]
async fn within_one_store() {
    let store = Store::in_memory(Commit::Thread).unwrap();
    check_follows(store.clone(), store).await;
}

#[tokio::test]
async fn across_two_stores_on_one_file() {
    let home = Home::new();
    check_follows(home.open(), home.open()).await;
}

#[tokio::test]
async fn a_quiet_session_is_not_woken_by_others_and_a_deleted_one_ends() {
    let home = Home::new();
    let store = home.open();
    Session::started(&store, 1).await;
    let mut tail = store.tail(id(1), 1);
    let mut other = Session::started(&store, 2).await;
    let waiting = tokio::spawn(async move { tail.next().await });
    other.append(&store, vec![input(1, "elsewhere")]).await.unwrap();
    assert!(!waiting.is_finished());
    store.delete(id(1)).await.unwrap();
    assert_eq!(waiting.await.unwrap(), Err(StoreError::NoSuchSession { id: id(1).to_string() }));
    assert!(matches!(store.tail(id(9), 0).next().await, Err(StoreError::NoSuchSession { .. })));
}
