//! Whatever happened, wherever a snapshot was taken: loading says what folding every event says.

use proptest::prelude::*;
use weft_core::event::{
    AskAnswered, Compacted, CompactionCause, CompactionStarted, Delivery, InputReceived, InputWithdrawn, Method,
    RoundFailed, RoundStarted, TitleSet, Unknown,
};
use weft_core::state::Stage;
use weft_core::{Answer, CallId, Event, Failure, FailureKind, InputId, Phase, State, UserPart};
use weft_store::{Append, Commit, ListFilter, Store, encode_snapshot};

use crate::support::*;

/// One step that could come next, chosen by `dice`.
fn next_event(state: &State, dice: u8, serial: u64) -> Event {
    let queued: Vec<InputId> = state.conversation.queue.iter().map(|queued| queued.id).collect();
    let said = |delivery| {
        let content = vec![UserPart::text(format!("say {serial}"))];
        Event::from(InputReceived { input: InputId::from_random(serial), content, delivery, shorthand: None })
    };
    match (state.phase, dice % 8) {
        (_, 0) => said(if dice > 100 { Delivery::Steer } else { Delivery::FollowUp }),
        (_, 1) if dice > 200 => match queued.first() {
            Some(input) => InputWithdrawn { input: *input }.into(),
            None => Event::Unknown(Unknown { kind: 999, data: serde_json::json!({ "serial": serial }) }),
        },
        (Phase::Idle, 2) => TitleSet { title: format!("title {serial}"), spent: Some(spent(serial)) }.into(),
        (Phase::Idle, _) => match queued.is_empty() {
            true => said(Delivery::FollowUp),
            false => weft_core::event::TurnStarted { turn: state.turns + 1, inputs: queued }.into(),
        },
        (Phase::Ready, 3) => CompactionStarted { cause: CompactionCause::Threshold }.into(),
        (Phase::Ready, 4) => ended(state.turns),
        (Phase::Ready | Phase::Retrying { .. }, _) => {
            let round = state.turn.as_ref().map_or(1, |turn| turn.round + 1);
            RoundStarted { round, attempt: 1, model: model(), steered: queued }.into()
        }
        (Phase::Compacting, _) => {
            let messages = &state.conversation.entries;
            let upto = messages.get(messages.len() / 2).map_or(0, |entry| entry.seq);
            let summary = format!("summary {serial}");
            Compacted { upto, summary, method: Method::Extractive, tokens_before: state.context_tokens, spent: None }
                .into()
        }
        (Phase::Calling, 5) => {
            let kind = if dice > 128 { FailureKind::Cancelled } else { FailureKind::Network };
            let failure = Failure::new(kind, "broke");
            RoundFailed { failure, partial: "half a".to_owned(), retry_at: None, spent: None }.into()
        }
        (Phase::Calling, 6 | 7) => answer(&format!("done {serial}"), &[]),
        (Phase::Calling, _) => {
            let names: Vec<String> = (0..=dice % 3).map(|call| format!("c{serial}-{call}")).collect();
            answer(&format!("calls {serial}"), &names.iter().map(String::as_str).collect::<Vec<_>>())
        }
        (Phase::Tools, _) => {
            let open = state.conversation.calls.iter().find(|call| !matches!(call.stage, Stage::Done { .. }));
            let Some(open) = open else { return ended(state.turns) };
            let call: &CallId = &open.call.id;
            match &open.stage {
                Stage::Pending if dice.is_multiple_of(3) => ask(serial, call.as_str()),
                Stage::Pending => tool_started(call.as_str()),
                Stage::Asking { ask } => {
                    AskAnswered { ask: ask.id, answer: Answer::Text { text: "yes".to_owned() }, by: "cli".to_owned() }
                        .into()
                }
                Stage::Running | Stage::Inquiring { .. } | Stage::Done { .. } => {
                    tool_finished(call.as_str(), &format!("result {serial}"))
                }
            }
        }
    }
}

async fn check(dice: Vec<(u8, bool)>, fork_at: usize) {
    let store = Store::in_memory(Commit::Inline).unwrap();
    let mut session = Session::started(&store, 1).await;
    let mut states = vec![session.state.clone()];
    for (serial, (dice, wants_snapshot)) in (1..).zip(dice) {
        let (mut append, after) = session.plan(vec![next_event(&session.state, dice, serial)]);
        if wants_snapshot && after.can_snapshot() {
            append.snapshot = Some(encode_snapshot(&after).unwrap());
        }
        store.append(append).await.unwrap();
        session = Session { state: after, now: session.now + 1 };
        assert_eq!(store.load(session.id()).unwrap(), session.state);
        states.push(session.state.clone());
    }
    let rows = store.list(&ListFilter::default()).unwrap();
    assert_eq!(rows[0].status, session.state.status());
    assert_eq!(rows[0].asks as usize, session.state.open_asks().count());
    let mut open: Vec<_> = session.state.open_asks().map(|ask| ask.id).collect();
    open.sort();
    let mut listed: Vec<_> = store.open_asks().unwrap().iter().map(|row| row.ask.id).collect();
    listed.sort();
    assert_eq!(listed, open);

    let mut expected = states[fork_at % states.len()].clone();
    let at = weft_core::Timestamp(5);
    store.fork(session.id(), expected.seq, id(2), at).await.unwrap();
    expected.id = id(2);
    assert_eq!(store.load(id(2)).unwrap(), expected);
    let mut fork = Session { state: expected, now: 9 };
    fork.append(&store, vec![input(77, "another way")]).await.unwrap();
    assert_eq!(store.load(id(2)).unwrap(), fork.state);
    assert_eq!(store.load(id(1)).unwrap(), session.state);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn loading_equals_folding(dice in proptest::collection::vec((any::<u8>(), any::<bool>()), 1..80), fork_at in 0usize..80) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(check(dice, fork_at));
    }
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_is_no_loss() {
    let store = Store::in_memory(Commit::Inline).unwrap();
    let mut session = Session::started(&store, 1).await;
    let (append, after) = session.plan(vec![input(1, "hi")]);
    store.append(Append { snapshot: Some(b"{ not a state".to_vec()), ..append }).await.unwrap();
    assert_eq!(store.load(session.id()).unwrap(), after);
    // Neither is one that belongs to another moment.
    session.state = after;
    let (append, after) = session.plan(vec![input(2, "ho")]);
    let earlier = encode_snapshot(&session.state).unwrap();
    store.append(Append { snapshot: Some(earlier), ..append }).await.unwrap();
    assert_eq!(store.load(session.id()).unwrap(), after);
}
