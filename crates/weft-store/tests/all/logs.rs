//! Whole logs: forked, brought in, deleted.

use weft_core::ask::Grant;
use weft_core::event::{AskAnswered, AskRaised, GrantGiven, Origin};
use weft_core::{Answer, Ask, AskId, AskKind, CallId, Choice, Event, Mode, Timestamp};
use weft_store::{Commit, ListFilter, SpentScope, Store, StoreError};

use crate::support::*;

async fn with_a_session() -> (Store, Session) {
    let store = Store::in_memory(Commit::Thread).unwrap();
    let mut session = Session::started(&store, 1).await;
    session.append(&store, vec![input(1, "First"), turn(1, &[1]), round(1)]).await.unwrap();
    session.append(&store, vec![answer("One.", &[]), ended(1)]).await.unwrap();
    session.append(&store, vec![input(2, "Second")]).await.unwrap();
    (store, session)
}

#[tokio::test]
async fn a_fork_goes_its_own_way_and_costs_nothing_again() {
    let (store, session) = with_a_session().await;
    store.fork(id(1), 6, id(2), Timestamp(99)).await.unwrap();
    let copied: Vec<_> = store.events(id(2), 0, 100).unwrap().into_iter().map(|event| event.event).collect();
    let source: Vec<_> = store.events(id(1), 0, 6).unwrap().into_iter().map(|event| event.event).collect();
    assert_eq!(copied, source);

    let rows = store.list(&ListFilter::default()).unwrap();
    let row = rows.iter().find(|row| row.id == id(2)).unwrap();
    assert_eq!((row.parent, row.forked_at, row.seq), (Some(id(1)), Some(6), 6));
    assert_eq!((row.preview.as_deref(), row.created_at, row.turns), (Some("First"), Timestamp(99), 1));
    let mut fork = Session { state: store.load(id(2)).unwrap(), now: 100 };
    fork.append(&store, vec![input(3, "Elsewhere")]).await.unwrap();
    let rows = store.list(&ListFilter::default()).unwrap();
    let row = rows.iter().find(|row| row.id == id(2)).unwrap();
    assert_eq!((row.parent, row.forked_at), (Some(id(1)), Some(6)), "an append does not forget where it came from");
    assert_eq!(store.load(id(1)).unwrap(), session.state);
    assert_eq!(store.spent(SpentScope::Global, Timestamp(0)).unwrap().0, 1_000);

    let refused = |result: Result<(), StoreError>| result.unwrap_err();
    let at = Timestamp(0);
    assert_eq!(refused(store.fork(id(1), 8, id(3), at).await), StoreError::NoSuchEvent { seq: 8, last: 7 });
    assert_eq!(refused(store.fork(id(1), 0, id(3), at).await), StoreError::NoSuchEvent { seq: 0, last: 7 });
    assert_eq!(refused(store.fork(id(1), 3, id(2), at).await), StoreError::Exists { id: id(2) });
    assert!(matches!(refused(store.fork(id(9), 3, id(3), at).await), StoreError::NoSuchSession { .. }));
}

#[tokio::test]
async fn an_exported_log_comes_in_whole() {
    let (store, session) = with_a_session().await;
    let log: Vec<_> = store.events(id(1), 0, 100).unwrap().into_iter().map(|event| (event.at, event.event)).collect();
    let other = Store::in_memory(Commit::Thread).unwrap();
    other.import(id(1), log.clone()).await.unwrap();
    assert_eq!(other.load(id(1)).unwrap(), session.state);
    assert_eq!(other.events(id(1), 0, 100).unwrap(), store.events(id(1), 0, 100).unwrap());
    let (here, there) = (store.list(&ListFilter::default()).unwrap(), other.list(&ListFilter::default()).unwrap());
    assert_eq!(here, there);
    assert_eq!(other.import(id(1), log).await, Err(StoreError::Exists { id: id(1) }));
    let headless = other.import(id(2), vec![(Timestamp(0), input(1, "hi"))]).await;
    assert!(matches!(headless, Err(StoreError::BadLog { .. })));
    assert!(matches!(other.import(id(2), Vec::new()).await, Err(StoreError::BadLog { .. })));
}

/// What a log from elsewhere says people have allowed was not allowed here.
#[tokio::test]
async fn a_log_brings_no_permissions_with_it() {
    let Event::SessionStarted(mut start) = started("/w") else { unreachable!() };
    start.mode = Mode::Auto;
    let kind =
        AskKind::Approval { tool: "shell".to_owned(), detail: "true".to_owned(), grant: None, effect: String::new() };
    let approval = |number: u64, call: &str| {
        let ask = Ask {
            id: AskId::from_random(number),
            call: CallId::new(call),
            kind: kind.clone(),
            question: "May I?".to_owned(),
            deadline: None,
        };
        let answer = Answer::Approve { scope: Choice::Once };
        [AskRaised { ask }.into(), AskAnswered { ask: AskId::from_random(number), answer, by: "cli".to_owned() }.into()]
    };
    let mut log: Vec<Event> = vec![start.into(), input(1, "hi"), turn(1, &[1]), round(1)];
    log.extend([answer("?", &["done", "waits", "runs"])]);
    for (number, call) in [(1, "done"), (2, "waits"), (3, "runs")] {
        log.extend(approval(number, call));
    }
    log.push(GrantGiven { grant: Grant::Tool { tool: "write".to_owned() }, always: false }.into());
    log.extend([tool_started("done"), tool_finished("done", "ok"), tool_started("runs")]);
    let store = Store::in_memory(Commit::Thread).unwrap();
    let length = log.len() as u64;
    store.import(id(1), log.into_iter().map(|event| (Timestamp(5), event)).collect()).await.unwrap();
    let state = store.load(id(1)).unwrap();
    assert_eq!((state.mode, state.grants.as_slice(), state.seq), (Mode::Ask, [].as_slice(), length + 1));
    let approved = |call: &str| {
        let calls = &state.conversation.calls;
        calls.iter().find(|progress| progress.call.id.as_str() == call).unwrap().approved.is_some()
    };
    assert_eq!(["done", "waits", "runs"].map(approved), [true, false, false]);
}

#[tokio::test]
async fn a_child_that_comes_in_without_its_parent_is_still_listed() {
    let store = Store::in_memory(Commit::Thread).unwrap();
    let Event::SessionStarted(mut start) = started("/w") else { unreachable!() };
    start.origin = Some(Origin::Child { parent: id(50) });
    store.import(id(1), vec![(Timestamp(0), start.into())]).await.unwrap();
    assert_eq!(store.list(&ListFilter::default()).unwrap().len(), 1);
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_but_its_cost() {
    let home = Home::new();
    let store = home.open();
    let mut session = Session::started(&store, 1).await;
    session.append(&store, vec![input(1, "hi"), turn(1, &[1]), round(1)]).await.unwrap();
    session.append(&store, vec![answer("?", &["a"]), ask(7, "a")]).await.unwrap();
    store.save_partial(id(1), "round", "half".to_owned()).await.unwrap();
    store.fork(id(1), 2, id(2), Timestamp(0)).await.unwrap();
    store.delete(id(1)).await.unwrap();
    assert!(matches!(store.load(id(1)), Err(StoreError::NoSuchSession { .. })));
    assert_eq!(store.open_asks().unwrap(), []);
    assert_eq!(store.events(id(2), 0, 10).unwrap().len(), 2, "its fork lives on");
    let reader = rusqlite::Connection::open(home.database()).unwrap();
    let left = |table: &str| {
        reader.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!(["events", "partials", "snapshots", "asks", "usage"].map(left), [2, 0, 1, 0, 1]);
    assert!(matches!(store.delete(id(1)).await, Err(StoreError::NoSuchSession { .. })));
}
