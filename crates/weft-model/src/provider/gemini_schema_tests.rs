use serde_json::{Value, json};

use super::clean;

fn check(schema: Value, expected: Value) {
    assert_eq!(clean(&schema), expected, "{schema}");
}

#[test]
fn keeps_what_gemini_knows() {
    check(
        json!({
            "$schema": "x", "type": "object", "additionalProperties": false, "required": ["path", "ghost"],
            "properties": {
                "path": {"type": "string", "description": "Where", "format": "uri", "default": "."},
                "limit": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9, "format": "int64"},
                "kind": {"const": "file"},
                "level": {"enum": [1, 2]},
                "list": {"type": "array"},
            },
        }),
        json!({
            "type": "object", "required": ["path"],
            "properties": {
                "path": {"description": "Where", "type": "string"},
                "limit": {"format": "int64", "minimum": 1, "nullable": true, "type": "integer"},
                "kind": {"type": "string", "enum": ["file"]},
                "level": {},
                "list": {"type": "array", "items": {"type": "string"}},
            },
        }),
    );
}

#[test]
fn follows_references_and_merges_choices() {
    check(
        json!({
            "type": "object",
            "properties": {
                "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
                "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
                "both": {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": true}}]},
            },
            "$defs": {"Edit": {"type": "object", "properties": {"old": {"type": "string"}}}},
        }),
        json!({
            "type": "object",
            "properties": {
                "edits": {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}}}},
                "maybe": {"nullable": true, "type": "string"},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "both": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
            },
        }),
    );
}

#[test]
fn a_schema_that_contains_itself_comes_to_an_end() {
    let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert!(clean(&tree).to_string().len() < 2_000);
    let wide = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    assert!(clean(&wide).to_string().len() < 200_000);
    check(json!(true), json!({"type": "string"}));
}
