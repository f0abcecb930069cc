//! Lists, timers, questions and the ledger.

use weft_core::event::{AskAnswered, Origin, RoundFailed, SessionStarted};
use weft_core::{Answer, AskId, Cost, Event, Failure, FailureKind, Mode, ModelName, Status, Timestamp};
use weft_store::{Commit, GroupBy, ListFilter, SpentScope, Store, StoreError, UsageFilter};

use crate::support::*;

fn memory() -> Store {
    Store::in_memory(Commit::Inline).unwrap()
}

#[tokio::test]
async fn a_list_shows_what_each_session_is_about() {
    let store = memory();
    let mut session = Session::started(&store, 1).await;
    let text = format!("  Fix the\n\tbug in {}", "ä".repeat(100));
    session.append(&store, vec![input(1, &text), turn(1, &[1]), round(1)]).await.unwrap();
    session.append(&store, vec![answer("Done.", &[]), ended(1)]).await.unwrap();
    let mut other = Session::new(2);
    other.now += 100;
    other.append(&store, vec![started("/elsewhere")]).await.unwrap();
    let mut child = Session::new(3);
    let Event::SessionStarted(root) = started("/elsewhere") else { unreachable!() };
    let origin = Some(Origin::Child { parent: id(2) });
    child.append(&store, vec![SessionStarted { origin, mode: Mode::Auto, ..root }.into()]).await.unwrap();

    let rows = store.list(&ListFilter::default()).unwrap();
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [id(2), id(1)], "newest first, no children");
    let row = &rows[1];
    assert_eq!(row.preview.as_deref().unwrap(), format!("Fix the bug in {}", "ä".repeat(65)));
    assert_eq!((row.seq, row.turns, row.status, row.mode), (6, 1, Status::Idle, Mode::Ask));
    assert_eq!((row.cost, row.tokens), (Cost(1_000), 110));
    assert_eq!((row.workspace.as_str(), row.agent.as_str()), ("/home/ada/project", "guide"));
    assert_eq!(row.model, ModelName::new("anthropic", "claude"));
    assert_eq!((row.created_at, row.updated_at), (Timestamp(1_700_000_000_001), Timestamp(1_700_000_000_003)));

    let ids = |filter: ListFilter| store.list(&filter).unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(ListFilter { children: true, ..Default::default() }), [id(2), id(1), id(3)]);
    assert_eq!(ids(ListFilter { limit: Some(1), ..Default::default() }), [id(2)]);
    let elsewhere = Some("/elsewhere".to_owned());
    assert_eq!(ids(ListFilter { workspace: elsewhere, children: true, ..Default::default() }), [id(2), id(3)]);
    assert_eq!(ids(ListFilter { status: Some(Status::Running), ..Default::default() }), []);
    assert_eq!(store.latest(None).unwrap(), Some(id(2)));
    assert_eq!(store.latest(Some("/home/ada/project")).unwrap(), Some(id(1)));
    assert_eq!(store.latest(Some("/nowhere")).unwrap(), None);
}

#[tokio::test]
async fn sessions_are_found_by_the_beginning_of_their_id() {
    let store = memory();
    for text in ["abc000000001", "abc000000002", "abd000000000", "zzzzzzzzzzzz"] {
        let mut session = Session::new(0);
        session.state.id = text.parse().unwrap();
        session.append(&store, vec![started("/w")]).await.unwrap();
    }
    let check = |prefix: &str, expected: Result<&str, &str>| {
        let found = store.find(prefix).map(|id| id.to_string()).map_err(|error| error.to_string());
        match expected {
            Ok(id) => assert_eq!(found.as_deref(), Ok(id), "{prefix}"),
            Err(part) => assert!(found.as_ref().is_err_and(|error| error.contains(part)), "{prefix}: {found:?}"),
        }
    };
    check("abd", Ok("abd000000000"));
    check("ABD0", Ok("abd000000000"));
    check("zzz", Ok("zzzzzzzzzzzz"));
    check("abc000000001", Ok("abc000000001"));
    check("abc", Err("fits more than one: abc000000001, abc000000002"));
    check("ab", Err("too short"));
    check("", Err("too short"));
    check("xyz", Err("there is no session `xyz`"));
    check("not an id at all", Err("there is no session"));
    check("üüü", Err("there is no session"));
}

#[tokio::test]
async fn timers_are_found_when_due() {
    let store = memory();
    let mut session = Session::started(&store, 1).await;
    assert_eq!(store.next_wake().unwrap(), None);
    session.append(&store, vec![input(1, "hi"), turn(1, &[1]), round(1)]).await.unwrap();
    let failure = Failure::new(FailureKind::RateLimited, "slow down");
    let retry_at = Some(Timestamp(2_000));
    session
        .append(&store, vec![RoundFailed { failure, partial: String::new(), retry_at, spent: None }.into()])
        .await
        .unwrap();
    assert_eq!(store.next_wake().unwrap(), None, "its owner is alive and sees to it");
    let store = store.reopened();
    assert_eq!(store.next_wake().unwrap(), retry_at);
    assert_eq!(store.due(Timestamp(1_999)).unwrap(), []);
    assert_eq!(store.due(Timestamp(2_000)).unwrap(), [id(1)]);
}

#[tokio::test]
async fn questions_stay_open_until_answered_once() {
    let store = memory();
    let mut session = Session::started(&store, 1).await;
    session.append(&store, vec![input(1, "Tidy up"), turn(1, &[1]), round(1)]).await.unwrap();
    let first = AskId::from_random(7).to_string();
    session.append(&store, vec![answer("?", &["a", "b"]), ask(7, "a"), ask(1 << 50, "b")]).await.unwrap();
    let store = store.reopened();
    assert_eq!(store.open_asks().unwrap().len(), 2);
    let row = store.ask(&first).unwrap();
    assert_eq!((row.session, row.ask.question.as_str()), (id(1), "May I, 7?"));
    assert_eq!(row.title.as_deref(), Some("Tidy up"));
    assert_eq!(row.raised_at, Timestamp(1_700_000_000_003));
    assert_eq!(store.list(&ListFilter::default()).unwrap()[0].asks, 2);

    let yes = Answer::Text { text: "yes".to_owned() };
    let answered = AskAnswered { ask: AskId::from_random(7), answer: yes, by: "cli".to_owned() };
    session.append(&store, vec![answered.into()]).await.unwrap();
    assert_eq!(store.ask(&first), Err(StoreError::NoSuchAsk { id: first.clone() }));
    assert_eq!(store.open_asks().unwrap().len(), 1);
    // A call that ends in another way takes its question with it.
    session.append(&store, vec![tool_finished("a", ""), tool_finished("b", ""), ended(1)]).await.unwrap();
    assert_eq!(store.open_asks().unwrap(), []);
}

#[tokio::test]
async fn the_ledger_counts_every_paid_call_once_and_survives_its_session() {
    const DAY: i64 = 86_400_000;
    // Noon in London, so that the date is the same almost everywhere.
    const NOON: i64 = 1_700_049_600_000;
    let store = memory();
    for (number, provider, cost) in [(1, "anthropic", 10), (2, "openai", 300), (3, "anthropic", 4_000)] {
        let mut session = Session::started(&store, number).await;
        session.now = NOON + DAY * (number as i64 - 1);
        let Event::RoundAnswered(mut answered) = answer("Hi.", &[]) else { unreachable!() };
        answered.spent.model = ModelName::new(provider, "m");
        answered.spent.cost = Cost(cost);
        session.append(&store, vec![answered.into()]).await.unwrap();
    }
    let check = |filter: UsageFilter, expected: &[(&str, u64, u64)]| {
        let rows = store.usage(&filter).unwrap();
        let found: Vec<_> = rows.iter().map(|row| (row.key.as_str(), row.calls, row.cost.0)).collect();
        assert_eq!(found, expected, "{filter:?}");
    };
    let by = |by| UsageFilter { by, ..UsageFilter::default() };
    check(by(GroupBy::Nothing), &[("", 3, 4_310)]);
    check(by(GroupBy::Provider), &[("anthropic", 2, 4_010), ("openai", 1, 300)]);
    check(by(GroupBy::Model), &[("anthropic/m", 2, 4_010), ("openai/m", 1, 300)]);
    check(by(GroupBy::Agent), &[("guide", 3, 4_310)]);
    check(by(GroupBy::Day), &[("2023-11-15", 1, 10), ("2023-11-16", 1, 300), ("2023-11-17", 1, 4_000)]);
    let [one, two, three] = [id(1), id(2), id(3)].map(|id| id.to_string());
    check(by(GroupBy::Session), &[(&three, 1, 4_000), (&two, 1, 300), (&one, 1, 10)]);
    let since = Some(Timestamp(NOON + DAY));
    check(UsageFilter { since, ..by(GroupBy::Nothing) }, &[("", 2, 4_300)]);
    check(UsageFilter { until: since, ..by(GroupBy::Nothing) }, &[("", 1, 10)]);
    check(UsageFilter { provider: Some("openai".to_owned()), ..by(GroupBy::Session) }, &[(&two, 1, 300)]);
    check(UsageFilter { session: Some(id(1)), ..by(GroupBy::Provider) }, &[("anthropic", 1, 10)]);
    let total = &store.usage(&UsageFilter::default()).unwrap()[0];
    assert_eq!((total.usage.input, total.usage.output, total.millis), (300, 30, 21));

    let spent = |scope, since| store.spent(scope, Timestamp(since)).unwrap().0;
    assert_eq!(spent(SpentScope::Global, 0), 4_310);
    assert_eq!(spent(SpentScope::Global, NOON + DAY), 4_300);
    assert_eq!(spent(SpentScope::Session(id(3)), 0), 4_000);
    assert_eq!(spent(SpentScope::Provider("anthropic".to_owned()), 0), 4_010);
    assert_eq!(spent(SpentScope::Provider("nobody".to_owned()), 0), 0);
    store.delete(id(3)).await.unwrap();
    assert_eq!(spent(SpentScope::Session(id(3)), 0), 4_000);
}
