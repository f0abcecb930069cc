#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use weft_core::{Failure, FailureKind, Timestamp};

use super::Troubles;

fn at(troubles: &Troubles, provider: &str, kind: FailureKind, second: i64) -> bool {
    let failure = Failure::new(kind, "The connection was lost");
    troubles.note(&Arc::from(provider), &failure, Timestamp(second * 1000)).is_some()
}

#[test]
fn several_failures_within_seconds_are_told_once_a_minute() {
    let troubles = Troubles::default();
    let told: Vec<bool> =
        [0, 4, 8, 9, 30, 31, 32, 69, 70].map(|second| at(&troubles, "a", FailureKind::Network, second)).into();
    assert_eq!(told, [false, false, true, false, false, false, false, false, false]);
    assert!(at(&troubles, "a", FailureKind::Server, 71), "the minute is over, and there were three in ten seconds");
}

#[test]
fn providers_are_counted_apart_and_what_is_no_trouble_is_not_counted() {
    let troubles = Troubles::default();
    for second in 0..3 {
        assert!(!at(&troubles, "a", FailureKind::RateLimited, second));
        assert!(!at(&troubles, "a", FailureKind::Auth, second));
    }
    assert!(!at(&troubles, "a", FailureKind::Network, 3));
    assert!(!at(&troubles, "b", FailureKind::Network, 3));
    assert!(!at(&troubles, "a", FailureKind::Idle, 3));
    assert!(at(&troubles, "a", FailureKind::StreamBroken, 3));
}

#[test]
fn it_says_what_happened_and_what_to_do() {
    let troubles = Troubles::default();
    let failure = Failure::new(FailureKind::Network, "The connection was lost");
    let note = |_| troubles.note(&Arc::from("anthropic"), &failure, Timestamp(0));
    let notice = (0..3).filter_map(note).next().unwrap();
    assert_eq!(
        notice,
        "anthropic is in trouble: it failed 3 times in the last 10 seconds. Last: The connection was lost. It is tried \
         again; `--model` or `/model` chooses another one."
    );
}
