#![allow(clippy::unwrap_used, clippy::panic)]
use serde_json::json;

use super::*;

fn result(value: Value) -> CallToolResult {
    serde_json::from_value(value).unwrap()
}

#[test]
fn each_way_of_being_wrong_is_told_apart_and_names_the_tool() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let cases = [
        (json!({"content": []}), "gave back nothing"),
        (json!({"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}), "no text"),
        (json!({"content": [{"type": "text", "text": "hello"}]}), "not JSON"),
        (json!({"content": [{"type": "text", "text": "{\"m\": 1}"}]}), "lacks `n`"),
        (json!({"content": [{"type": "text", "text": "{\"n\": \"1\"}"}]}), "`n` must be integer"),
        (json!({"content": [], "structuredContent": []}), "must be object"),
        (json!({"content": [{"type": "text", "text": "boom"}], "isError": true}), "reported an error: boom"),
    ];
    let mut seen = Vec::new();
    for (value, expected) in cases {
        let error = json("look", &result(value), &schema).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains("`look`"), "{text}");
        seen.push(std::mem::discriminant(&error));
    }
    seen.dedup();
    assert_eq!(seen.len(), 5, "five kinds of errors");
    let good = result(json!({"content": [{"type": "text", "text": "{\"n\": 1}"}]}));
    assert_eq!(json("look", &good, &schema), Ok(json!({"n": 1})));
}

#[test]
fn text_says_what_is_not_text_and_has_no_control_characters() {
    let value = result(json!({"content": [
        {"type": "text", "text": "a\u{1b}[31mb"},
        {"type": "image", "data": "AAAABBBB", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "x://y", "text": "inside"}},
    ]}));
    assert_eq!(
        text("t", &value, 1_000).unwrap(),
        "a[31mb\n[An image (image/png, about 1 KB) was left out.]\n[x://y]\ninside"
    );
    let long = result(json!({"content": [{"type": "text", "text": "ä".repeat(10_000)}]}));
    assert!(text("t", &long, 1_001).unwrap().len() < 1_100);
}
