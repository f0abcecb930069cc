#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use serde_json::json;

fn schema() -> Value {
    json!({"type":"object","required":["path"],"properties":{
        "path":{"type":"string"}, "offset":{"type":"integer"}, "flag":{"type":"boolean"},
        "state":{"type":"string","enum":["open","done"]},
        "edits":{"type":"array","items":{"type":"object","required":["old","new"],"properties":{
            "old":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"}}}}}})
}

#[test]
fn what_fits_is_brought_into_one_form() {
    let cases = [
        (json!({"path":"a"}), json!({"path":"a"})),
        (json!({"file_path":"a","offset":"12","flag":"true"}), json!({"path":"a","offset":12,"flag":true})),
        (json!({"filePath":"a","offset":3.0,"flag":null}), json!({"path":"a","offset":3})),
        (json!({"path":7}), json!({"path":"7"})),
        (
            json!({"path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true}]}),
            json!({"path":"a","edits":[{"old":"x","new":"y","all":true}]}),
        ),
        (
            json!({"path":"a","edits":"[{\"old\":\"x\",\"new\":\"y\"}]"}),
            json!({"path":"a","edits":[{"old":"x","new":"y"}]}),
        ),
    ];
    for (given, expected) in cases {
        assert_eq!(accept(&schema(), &given).unwrap(), expected, "{given}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let cases = [
        (json!({}), "The field `path` is missing."),
        (Value::Null, "The field `path` is missing."),
        (json!({"path":"a","paht":1}), "Unknown field `paht`. The fields are `path`, `offset`"),
        (json!({"path":["a"]}), "The field `path` must be a string."),
        (json!({"path":"a","offset":-1}), "The field `offset` must be a whole number"),
        (json!({"path":"a","offset":1.5}), "The field `offset` must be a whole number"),
        (json!({"path":"a","offset":"ten"}), "The field `offset` must be a whole number"),
        (json!({"path":"a","flag":"yes"}), "The field `flag` must be true or false."),
        (json!({"path":"a","state":"gone"}), "must be one of open, done, not `gone`"),
        (json!({"path":"a","edits":"x"}), "The field `edits` must be a list."),
        (json!({"path":"a","edits":[{"old":"x","new":"y"},{"old":"x"}]}), "The field `edits[1].new` is missing."),
        (json!({"path":"a","edits":[3]}), "The field `edits[0]` must be an object."),
        (json!("{\"path\": "), "The arguments are not valid JSON: EOF"),
        (json!("{}"), "must be a JSON object, not a string"),
        (json!([1]), "must be a JSON object"),
    ];
    for (given, expected) in cases {
        let error = accept(&schema(), &given).unwrap_err();
        assert!(error.contains(expected), "{given}: {error}");
    }
}
