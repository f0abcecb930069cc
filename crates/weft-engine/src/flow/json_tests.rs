use serde_json::json;

use super::*;

#[test]
fn json_is_found_wherever_models_put_it() {
    let cases = [
        (r#"{"a": 1}"#, Some(json!({"a": 1}))),
        ("```json\n{\"a\": 1}\n```", Some(json!({"a": 1}))),
        ("```\n[1]\n```", Some(json!([1]))),
        ("Here it is:\n\n```json\n{\"a\": [1, 2]}\n```\nDone.", Some(json!({"a": [1, 2]}))),
        ("I think {\"a\": {\"b\": 2}} is right.", Some(json!({"a": {"b": 2}}))),
        ("The list [\"x\"] only", Some(json!(["x"]))),
        ("{\"a\": 1", None),
        ("no structure", None),
        ("42", None),
        ("", None),
        ("{\"a\": \"cut o", None),
        // A part of what was cut off is not the answer.
        ("{\"synthesis\": \"x\", \"citations_used\": [\"3.8\"], \"confi", None),
        ("```json\n{\"plan\": {\"assumptions\": [\"a\", \"b\"], \"sub_qu", None),
        ("[{\"a\": 1}", None),
        ("As [1] says: {\"a\": 1}", Some(json!({"a": 1}))),
    ];
    for (text, expected) in cases {
        assert_eq!(extract(text, &[]), expected, "{text}");
    }
}

#[test]
fn json_of_another_shape_is_none() {
    let needs = ["synthesis".to_owned(), "gaps".to_owned()];
    for text in ["{\"error\": \"overloaded\"}", "[\"a\", \"b\"]", "{}"] {
        assert_eq!(extract(text, &needs), None, "{text}");
    }
    let found = extract("As in {\"x\": 1}:\n```json\n{\"error\": 1}\n```\n```json\n{\"gaps\": []}\n```", &needs);
    assert_eq!(found, Some(json!({ "gaps": [] })), "the first that fits counts");
}
