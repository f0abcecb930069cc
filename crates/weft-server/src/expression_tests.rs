#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use weft_core::event::SessionStarted;
use weft_core::{Limits, Mode, SessionId, Timestamp};

use super::{Around, Expression};
use crate::rows::{SessionView, StatusWord};

const NOW: i64 = 1_900_000_000_000;

fn row() -> SessionView {
    let started = SessionStarted {
        workspace: "/home/ada/weft".to_owned(),
        agent: "reviewer".to_owned(),
        model: "anthropic/claude".parse().unwrap(),
        mode: Mode::Auto,
        limits: Limits::default(),
        origin: None,
        labels: std::collections::BTreeMap::new(),
    };
    let mut row = SessionView::unbegun(SessionId::from_random(7), started, Timestamp(NOW - 3 * 86_400_000));
    row.title = Some("Mend the Gate".to_owned());
    row.labels = vec!["work/urgent".to_owned(), "home".to_owned()];
    row.flag = Some("Needs review".to_owned());
    row.unread = true;
    row.status = StatusWord::Failed;
    row.cost_usd = 1.5;
    row.turns = 4;
    row
}

fn around() -> Around {
    Around { now: NOW, closed: vec!["Done".to_owned(), "Needs review".to_owned()] }
}

fn check(expression: &str, fits: bool) {
    let parsed = Expression::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    assert_eq!(parsed.fits(&row(), &around()), fits, "{expression}");
}

fn check_wrong(expression: &str, at: usize, says: &str) {
    let error = Expression::parse(expression).unwrap_err();
    assert!(error.to_string().contains(says), "{expression}: {error}");
    assert_eq!(error.at, at, "{expression}: {error}");
}

#[test]
fn comparisons_are_joined_as_one_reads_them() {
    check("unread", true);
    check("unread == true", true);
    check("not unread", false);
    check("unread != true or waiting", false);
    check("label == work", true);
    check("label == 'wor'", false);
    check("label == work/urgent and label == home", true);
    check("label != home", false);
    check("title contains gate and status == failed", true);
    check("title contains \"the gate\"", true);
    check("flag == \"needs review\"", true);
    check("closed and not archived", true);
    check("closed == false", false);
    check("cost > 1 and cost <= 1.5", true);
    check("turns>=5 or tokens<1", true);
    check("age > 2 and age < 4", true);
    check("mode == auto and not (archived or workspace contains /tmp)", true);
    // `and` binds tighter than `or`.
    check("unread or waiting and archived", true);
    check("(unread or waiting) and archived", false);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    check_wrong("", 1, "a comparison is missing");
    check_wrong("unread and", 11, "a comparison is missing");
    check_wrong("colour == red", 1, "nothing is called `colour`");
    check_wrong("cost = 3", 6, "`=` has no meaning here");
    check_wrong("cost contains 3", 6, "does not fit");
    check_wrong("cost > much", 8, "a number is missing");
    check_wrong("cost > inf", 8, "a number is missing");
    check_wrong("unread == maybe", 11, "`true` or `false`");
    check_wrong("title < b", 7, "does not fit");
    check_wrong("(unread", 8, "`)` is missing");
    check_wrong("unread waiting", 8, "`and` or `or` is missing");
    check_wrong("title == \"open", 10, "does not end");
    check_wrong(&format!("{}unread", "(".repeat(400)), 34, "too deep");
    check_wrong(&"not ".repeat(200), 133, "too deep");
    check_wrong(&"x".repeat(2_000), 1_000, "longer than");
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in "\\PC{0,80}") {
        if let Ok(expression) = Expression::parse(&text) {
            expression.fits(&row(), &around());
        }
    }

    #[test]
    fn not_turns_every_answer_round(words in proptest::collection::vec(0usize..6, 1..6)) {
        let parts = ["unread", "waiting", "cost > 1", "label == work", "status != failed", "title contains x"];
        let text = words.iter().filter_map(|word| parts.get(*word)).copied().collect::<Vec<_>>().join(" and ");
        let (plain, turned) = (Expression::parse(&text).unwrap(), Expression::parse(&format!("not ({text})")).unwrap());
        prop_assert_ne!(plain.fits(&row(), &around()), turned.fits(&row(), &around()));
    }
}

#[test]
fn a_status_is_called_by_its_new_name_wherever_an_expression_speaks_of_it() {
    let renamed = [("Done", "Shipped"), ("Todo", "To do \"soon\"")].map(|(old, new)| (old.to_owned(), new.to_owned()));
    let renamed = renamed.into_iter().collect();
    let check = |before: &str, after: &str| {
        assert_eq!(Expression::with_flags_renamed(before, &renamed), after);
    };
    check("flag == Done", "flag == \"Shipped\"");
    check("(unread or flag != 'done') and ä == 1", "(unread or flag != \"Shipped\") and ä == 1");
    check("flag == Todo or flag == Done", "flag == 'To do \"soon\"' or flag == \"Shipped\"");
    check("title == Done and label == Todo", "title == Done and label == Todo");
    check("flag contains Done", "flag contains Done");
    check("flag == 'Done", "flag == 'Done");
}
