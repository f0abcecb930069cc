use futures_util::FutureExt as _;
use weft_core::event::{AskWithdrawn, Withdrawn};

use super::*;

#[test]
fn a_question_that_waits_hears_of_the_end_of_one_whose_asker_has_gone() {
    let inquiries = Inquiries::default();
    let closed = inquiries.closed.notified();
    // Nobody waits for its answer any more.
    let gone = AskWithdrawn { ask: AskId::from_random(1), why: Withdrawn::Stopped };
    inquiries.observe(&[Event::AskWithdrawn(gone)]);
    assert!(closed.now_or_never().is_some());
}

#[test]
fn the_person_sees_all_that_a_model_would_be_told() {
    let long = "word ".repeat(MOST_SENT / 5 - 10) + "and the end";
    let sample = Sample {
        source: "it".to_owned(),
        system: "Be brief.".to_owned(),
        messages: vec![(true, long.clone()), (false, "Yes?".to_owned())],
        max_tokens: 1,
    };
    assert_eq!(shown(&sample), format!("system: Be brief.\nuser: {long}\nmodel: Yes?\n"));
}
