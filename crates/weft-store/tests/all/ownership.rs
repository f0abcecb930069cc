//! Two cannot work on one session, and the dead do not hold on to theirs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use weft_store::{Commit, Owner, Side, Store, StoreError};

use crate::support::*;

fn begin() -> Vec<weft_core::Event> {
    vec![input(1, "hi"), turn(1, &[1]), round(1)]
}

#[tokio::test]
async fn a_running_turn_belongs_to_the_one_who_runs_it() {
    let home = Home::new();
    let (first, second) = (home.open(), home.open());
    let mut session = Session::started(&first, 1).await;
    assert_eq!(first.owner(session.id()).unwrap(), Owner::Nobody);
    session.append(&first, begin()).await.unwrap();
    assert_eq!(first.owner(session.id()).unwrap(), Owner::Me);
    let pid = std::process::id();
    assert_eq!(second.owner(session.id()).unwrap(), Owner::Alive { pid });

    let mut intruder = session.clone();
    assert_eq!(intruder.append(&second, vec![input(2, "me too")]).await, Err(StoreError::Owned { pid }));
    let partial = second.save_partial(session.id(), "round", String::new()).await;
    assert_eq!(partial, Err(StoreError::Owned { pid }));
    assert_eq!(second.delete(session.id()).await, Err(StoreError::Busy { pid }));
    assert_eq!(first.delete(session.id()).await, Err(StoreError::Busy { pid }));
    assert_eq!(second.unfinished().unwrap(), []);

    session.append(&first, vec![answer("Hello.", &[]), ended(1)]).await.unwrap();
    assert_eq!(second.owner(session.id()).unwrap(), Owner::Nobody);
    session.append(&second, vec![input(3, "now I may")]).await.unwrap();
}

#[tokio::test]
async fn waiting_for_a_person_owns_nothing() {
    let home = Home::new();
    let (first, second) = (home.open(), home.open());
    let mut session = Session::started(&first, 1).await;
    session.append(&first, begin()).await.unwrap();
    session.append(&first, vec![answer("May I?", &["a"]), ask(7, "a")]).await.unwrap();
    assert_eq!(second.owner(session.id()).unwrap(), Owner::Nobody);
    session.append(&second, vec![tool_started("a")]).await.unwrap();
    assert_eq!(second.owner(session.id()).unwrap(), Owner::Me);
}

#[tokio::test]
async fn a_store_that_is_gone_leaves_its_turn_to_others() {
    let home = Home::new();
    let first = home.open();
    let mut session = Session::started(&first, 1).await;
    session.append(&first, begin()).await.unwrap();
    drop(first);
    assert_eq!(std::fs::read_dir(home.folder.path().join("locks")).unwrap().count(), 1, "only the opening's own lock");

    let second = home.open();
    assert_eq!(second.owner(session.id()).unwrap(), Owner::Dead);
    let left = second.unfinished().unwrap();
    assert_eq!((left.len(), left[0].id, left[0].owner), (1, session.id(), Owner::Dead));
    session.append(&second, vec![answer("Where was I?", &[])]).await.unwrap();
    assert_eq!(second.owner(session.id()).unwrap(), Owner::Me);
}

#[tokio::test]
async fn in_memory_a_reopened_store_finds_the_former_owner_dead() {
    let store = Store::in_memory(Commit::Inline).unwrap();
    let mut session = Session::started(&store, 1).await;
    session.append(&store, begin()).await.unwrap();
    let again = store.reopened();
    assert_eq!(again.owner(session.id()).unwrap(), Owner::Dead);
    assert_eq!(again.unfinished().unwrap().len(), 1);
    let mut ghost = session.clone();
    session.append(&again, vec![answer("Here I am.", &[])]).await.unwrap();
    let pid = std::process::id();
    assert_eq!(ghost.append(&store, vec![answer("Boo.", &[])]).await, Err(StoreError::Owned { pid }));
}

#[tokio::test]
async fn in_memory_a_store_beside_another_finds_it_alive() {
    let store = Store::in_memory(Commit::Inline).unwrap();
    let mut session = Session::started(&store, 1).await;
    session.append(&store, begin()).await.unwrap();
    let pid = std::process::id();
    let beside = store.beside();
    assert_eq!(beside.owner(session.id()).unwrap(), Owner::Alive { pid });
    let mut rival = session.clone();
    assert_eq!(rival.append(&beside, vec![answer("Mine.", &[])]).await, Err(StoreError::Owned { pid }));
    session.append(&store, vec![answer("Mine still.", &[])]).await.unwrap();
    let passing = store.beside();
    session.append(&store, vec![ended(1)]).await.unwrap();
    session.append(&passing, vec![input(2, "Me?"), turn(2, &[2]), round(1)]).await.unwrap();
    assert_eq!(store.owner(session.id()).unwrap(), Owner::Alive { pid });
    drop(passing);
    assert_eq!(store.owner(session.id()).unwrap(), Owner::Dead, "it went like a process");
}

#[tokio::test]
async fn a_boundary_is_crossed_on_both_sides_of_a_write_and_can_refuse_it() {
    let crossed = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = std::sync::Arc::clone(&crossed);
    let store = Store::in_memory(Commit::Inline).unwrap().reopened_with(std::sync::Arc::new(move |side| {
        let mut log = log.lock().unwrap();
        log.push(side);
        let result = if log.len() == 3 { Err(StoreError::Full) } else { Ok(()) };
        Box::pin(async move { result })
    }));
    let mut session = Session::started(&store, 1).await;
    assert_eq!(*crossed.lock().unwrap(), [Side::Before, Side::After]);
    let before = store.load(session.id()).unwrap().seq;
    assert_eq!(session.clone().append(&store, begin()).await, Err(StoreError::Full));
    assert_eq!(store.load(session.id()).unwrap().seq, before, "refused before anything was written");
    session.append(&store, begin()).await.unwrap();
}

const CHILD_HOME: &str = "WEFT_STORE_TEST_HOME";

/// Not a test of its own: the other process of the test below.
#[tokio::test]
async fn other_process() {
    let Ok(folder) = std::env::var(CHILD_HOME) else { return };
    let folder = std::path::PathBuf::from(folder);
    let options = weft_store::Options {
        path: folder.join("weft.db"),
        backups: folder.join("backups"),
        locks: folder.join("locks"),
        commit: Commit::Thread,
    };
    let store = Store::open(options).unwrap().store;
    let mut session = Session::started(&store, 1).await;
    session.append(&store, begin()).await.unwrap();
    std::io::stdout().write_all(b"ready\n").unwrap();
    // Until it is killed.
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_killed_process_is_dead_at_once() {
    let home = Home::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ownership::other_process", "--nocapture"])
        .env(CHILD_HOME, home.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("ready")), "the other process failed");

    let store = home.open();
    assert_eq!(store.owner(id(1)).unwrap(), Owner::Alive { pid: child.id() });
    let mut session = Session { state: store.load(id(1)).unwrap(), now: 0 };
    let refused = session.append(&store, vec![answer("Mine!", &[])]).await;
    assert_eq!(refused, Err(StoreError::Owned { pid: child.id() }));

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(store.owner(id(1)).unwrap(), Owner::Dead);
    assert_eq!(store.unfinished().unwrap().len(), 1);
    session.append(&store, vec![answer("Now it is mine.", &[])]).await.unwrap();
    assert_eq!(store.owner(id(1)).unwrap(), Owner::Me);
    let locks = home.folder.path().join("locks");
    let files = std::fs::read_dir(locks).unwrap().count();
    assert_eq!(files, 2, "the dead one's lock is swept away; mine and the opening's stay");
}
