use super::*;
use crate::answers::Origin;
use crate::answers::tests::{NOW, World};
use crate::{Knowledge, Places};

fn say(world: &World, question: &str, fault: Fault, correct: &str) -> Feedback {
    let new = NewFeedback {
        question: question.to_owned(),
        subject: None,
        fault,
        given: vec!["src/errors.rs:2".to_owned()],
        outcome: "That went in March".to_owned(),
        correct: Some(correct.to_owned()),
    };
    world.knowledge.add_feedback(&new, NOW).unwrap()
}

#[test]
fn what_was_wrong_is_forgotten_and_said_to_whoever_asks_the_like() {
    let world = World::new();
    let question = "How does error wrapping work?";
    world.keep(Intent::Explain, question, &["src/errors.rs"], 0.9).unwrap();
    world.keep(Intent::Explain, "retrying parcels", &["src/retry.rs"], 0.9).unwrap();
    assert_eq!(world.ask(question, NOW).origin, Origin::Kept);
    let said = say(&world, "explain the wrapping of errors", Fault::OutdatedContext, "It is in src/retry.rs:1 now");
    assert_eq!(said.forgotten, 1);
    let found = world.ask(question, NOW);
    assert_ne!(found.origin, Origin::Kept);
    for part in [
        "CONFIDENCE: LOW. An answer to “explain the wrapping of errors” was found wanting (outdated context): That went in March.",
        "It would have been right: It is in src/retry.rs:1 now.",
        "Missing then: src/retry.rs:1\npub fn retry_later() { wrap_error(); }",
    ] {
        assert!(found.text.contains(part), "{part}: {}", found.text);
    }
    assert_eq!(found.doubts.len(), 1);
    assert!(world.ask("How does error wrapping work with parcels?", NOW).doubts.len() == 1, "narrower");
    assert!(world.ask("How do errors work?", NOW).doubts.is_empty(), "wider");
    let other = world.ask("How does retrying parcels work?", NOW);
    assert_eq!((other.origin, other.doubts.len()), (Origin::Kept, 0), "another subject");
    // An answer that is kept after that is told with the doubt.
    world.keep(Intent::Explain, question, &["src/retry.rs"], 0.9).unwrap();
    let kept = world.ask(question, NOW);
    assert_eq!(kept.origin, Origin::Kept);
    assert!(kept.text.starts_with("CONFIDENCE: LOW.") && kept.text.ends_with("Errors are wrapped."), "{}", kept.text);
}

#[test]
fn it_stays_until_it_is_taken_back() {
    let mut world = World::new();
    let said = say(&world, "How does error wrapping work?", Fault::MissingContext, "");
    world.write("src/errors.rs", "pub fn other() {}\n");
    world.index();
    world.knowledge.rebuild().unwrap();
    let other = Knowledge::open(&Places::within(world.home.path()), world.folder.path()).unwrap();
    assert_eq!(other.feedback(None).unwrap(), std::slice::from_ref(&said));
    assert_eq!(other.feedback(Some("wrapping")).unwrap().len(), 1);
    assert_eq!(other.feedback(Some("parcels")).unwrap().len(), 0);
    assert!(other.remove_feedback(said.id).unwrap() && !other.remove_feedback(said.id).unwrap());
    assert!(world.ask("How does error wrapping work?", NOW).doubts.is_empty());
}

#[test]
fn questions_that_only_mean_the_same_lose_their_kept_answers_too() {
    let world = World::new();
    world.keep(Intent::General, "error wrapping", &["src/errors.rs"], 0.9).unwrap();
    assert_eq!(say(&world, "error wrapping", Fault::EngineerFailure, "").forgotten, 1);
}

#[test]
fn what_says_nothing_is_not_put_down_and_secrets_are_hidden() {
    let world = World::new();
    let check = |question: &str, outcome: &str| {
        let new = NewFeedback {
            question: question.to_owned(),
            subject: None,
            fault: Fault::MissingContext,
            given: Vec::new(),
            outcome: outcome.to_owned(),
            correct: None,
        };
        world.knowledge.add_feedback(&new, NOW)
    };
    for (question, outcome) in [("", "x"), ("errors", " "), ("how does it work?", "x"), ("errors", &"x".repeat(4_001))]
    {
        assert!(matches!(check(question, outcome), Err(KnowledgeError::NoFeedback(_))), "{question} {outcome}");
    }
    let secret = ["ghp_", "0123456789abcdefABCDEF0123456789abcd"].concat();
    let said = check("which token is used?", &format!("it was {secret}")).unwrap();
    assert!(!said.outcome.contains(&secret), "{said:?}");
    assert_eq!(world.knowledge.feedback(None).unwrap().len(), 1);
}

#[test]
fn how_good_answers_were_is_counted() {
    let world = World::new();
    assert_eq!(world.knowledge.quality().unwrap().success_rate, None);
    for _ in 0..4 {
        world.ask("How do we handle errors?", NOW);
    }
    say(&world, "How do we handle errors?", Fault::PatternMismatch, "");
    let quality = world.knowledge.quality().unwrap();
    assert_eq!((quality.asked, quality.feedback), (4, 1));
    assert_eq!((quality.success_rate, quality.pattern_accuracy, quality.kept_quality), (Some(0.75), Some(0.75), None));
    assert_eq!(quality.by_fault, [(Fault::PatternMismatch, 1)]);
    assert_eq!(
        quality.text(),
        "Asked 4 times, found wanting 1.\nanswers that nobody objected to 75%, patterns 75%\npattern mismatch 1"
    );
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test writes beside the product")]
fn an_answer_does_not_wait_for_who_writes() {
    let world = World::new();
    let writer = rusqlite::Connection::open(world.knowledge.folder.join(crate::tables::FILE_NAME)).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(world.ask("where is wrap_error", NOW).origin, Origin::Index);
    assert!(begun.elapsed() < weft_store::BUSY_TIMEOUT / 2, "{:?}", begun.elapsed());
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(world.knowledge.quality().unwrap().asked, 0);
    world.ask("where is wrap_error", NOW);
    assert_eq!(world.knowledge.quality().unwrap().asked, 1);
}
