#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use weft_core::ask::Grant;

use super::*;

#[test]
fn answers_are_read_by_the_kind_of_question() {
    let grant = Some(Grant::Tool { tool: "edit".into() });
    let approval = AskKind::Approval { tool: "edit".into(), detail: String::new(), grant, effect: String::new() };
    let strict = AskKind::Approval { tool: "edit".into(), detail: String::new(), grant: None, effect: String::new() };
    let question = AskKind::Question { options: vec!["red".into(), "blue".into()], several: false };
    let several = AskKind::Question { options: vec!["red".into(), "blue".into()], several: true };
    let text = |text: &str| Ok(Answer::Text { text: text.into() });
    let check = |kind: &AskKind, words: &str, expected: Result<Answer, ()>| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(read_answer(kind, &words).map_err(|_| ()), expected, "{words:?}");
    };
    check(&approval, "yes", Ok(Answer::Approve { scope: Choice::Once }));
    check(&approval, "ONCE", Ok(Answer::Approve { scope: Choice::Once }));
    check(&approval, "session", Ok(Answer::Approve { scope: Choice::Session }));
    check(&strict, "session", Err(()));
    check(&approval, "always", Err(()));
    let rules = Some(Grant::Rules { rules: vec!["write docs/**".into()] });
    let lasting = AskKind::Approval { tool: "edit".into(), detail: String::new(), grant: rules, effect: String::new() };
    check(&lasting, "always", Ok(Answer::Approve { scope: Choice::Always }));
    check(&approval, "no", Ok(Answer::Reject { message: None }));
    check(&approval, "no use nextest", Ok(Answer::Reject { message: Some("use nextest".into()) }));
    check(&approval, "perhaps", Err(()));
    check(&question, "2", text("blue"));
    check(&question, "3", text("3"));
    check(&question, "yes please", text("yes please"));
    check(&question, "1 2", text("1 2"));
    check(&several, "1, 2", text("red, blue"));
}
