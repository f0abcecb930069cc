#![allow(clippy::unwrap_used, clippy::panic)]
use std::cell::RefCell;

use serde_json::json;

use super::*;

/// Fills a form with these answers and returns it with the questions that were put.
fn fill_with(schema: &Value, answers: &[Option<&str>]) -> (Filled, Vec<Question>) {
    let asked = RefCell::new(Vec::new());
    let filled = futures_util::FutureExt::now_or_never(fill("src", "Please\u{1b}[0m", schema, |question| {
        asked.borrow_mut().push(question);
        let answer = answers.get(asked.borrow().len() - 1).copied().flatten().map(str::to_owned);
        std::future::ready(answer)
    }));
    (filled.unwrap(), asked.into_inner())
}

#[test]
fn each_field_is_a_question_of_its_kind() {
    let schema = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "title": "Name"},
        "age": {"type": "integer", "default": 30},
        "ok": {"type": "boolean"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
    }});
    let (filled, asked) = fill_with(&schema, &[Some("Ann"), Some(""), Some("No"), Some("Large"), Some("a, c")]);
    let expected = json!({"name": "Ann", "age": 30, "ok": false, "size": "l", "tags": ["a", "c"]});
    assert_eq!(filled, Filled::Accepted(expected));
    assert!(asked.iter().all(|question| question.text.starts_with("The source `src` asks: Please[0m")));
    assert!(asked.last().unwrap().several);
}

#[test]
fn what_does_not_fit_or_is_not_answered_declines_the_form() {
    let schema = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]});
    for answer in [Some("many"), Some(""), None] {
        assert_eq!(fill_with(&schema, &[answer]).0, Filled::Declined, "{answer:?}");
    }
    let many: Map<String, Value> = (0..40).map(|n| (n.to_string(), json!({"type": "string"}))).collect();
    let (filled, asked) = fill_with(&json!({"properties": many}), &[]);
    assert_eq!((filled, asked.len()), (Filled::Declined, 0), "a flood of fields is not put to a person");
}

#[test]
fn a_form_without_fields_is_a_yes_or_no() {
    assert_eq!(fill_with(&json!({}), &[Some("Yes")]).0, Filled::Accepted(json!({})));
    assert_eq!(fill_with(&json!({}), &[Some("No")]).0, Filled::Declined);
}
