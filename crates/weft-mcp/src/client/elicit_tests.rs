#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
use std::cell::RefCell;
use std::future::ready;

use futures_util::FutureExt as _;
use serde_json::json;

use super::*;

/// Puts a form to somebody who answers so, and returns what was asked.
fn fill_with(schema: &Value, says: Option<&str>, fills: Option<Value>) -> (Filled, Vec<String>, Vec<Field>) {
    let (asked, shown) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let filled = fill(
        "src",
        "Please\u{1b}[0m",
        schema,
        |question| {
            asked.borrow_mut().push(question.text);
            ready(says.map(str::to_owned))
        },
        |text, fields| {
            asked.borrow_mut().push(text);
            *shown.borrow_mut() = fields;
            ready(fills.as_ref().and_then(Value::as_object).cloned())
        },
    );
    (filled.now_or_never().unwrap(), asked.into_inner(), shown.into_inner())
}

#[test]
fn a_form_is_put_whole_and_says_who_asks() {
    let schema = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "title": "Na\u{1b}[2Jme", "description": "x\u{202e}y"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Sm\u{7}all"}, {"const": "l"}]},
    }});
    let (filled, asked, fields) = fill_with(&schema, None, Some(json!({"name": "Ann", "size": "l"})));
    assert_eq!(filled, Filled::Accepted(json!({"name": "Ann", "size": "l"})));
    assert_eq!(asked, ["The source `src` asks: Please[0m"]);
    let words = serde_json::to_string(&fields).unwrap();
    assert!(!words.contains("\\u001b") && !words.contains('\u{202e}') && !words.contains("\\u0007"), "{words}");
}

#[test]
fn what_does_not_fit_or_is_not_filled_in_declines_the_form() {
    let schema = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]});
    for given in [Some(json!({"n": "many"})), Some(json!({})), Some(json!({"n": 1, "more": 2})), None] {
        assert_eq!(fill_with(&schema, None, given.clone()).0, Filled::Declined, "{given:?}");
    }
    let many: Map<String, Value> = (0..40).map(|n| (n.to_string(), json!({"type": "string"}))).collect();
    let (filled, asked, _) = fill_with(&json!({"properties": many}), None, None);
    assert_eq!((filled, asked.len()), (Filled::Declined, 0), "a flood of fields is not put to a person");
}

#[test]
fn a_form_without_fields_is_a_yes_or_no() {
    assert_eq!(fill_with(&json!({}), Some("Yes"), None).0, Filled::Accepted(json!({})));
    assert_eq!(fill_with(&json!({}), Some("No"), None).0, Filled::Declined);
}
