#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::json;

use super::*;

fn range(line: u64) -> Value {
    json!({"start": {"line": line, "character": 2}, "end": {"line": line, "character": 3}})
}

#[test]
fn all_forms_of_places_are_read() {
    let one = json!({"uri": "file:///a.rs", "range": range(4)});
    let link = json!({"targetUri": "file:///a.rs", "targetRange": range(0), "targetSelectionRange": range(4)});
    let expected = [Location { path: "/a.rs".into(), line: 4 }];
    assert_eq!(locations(&one), expected);
    assert_eq!(locations(&json!([one, link, one])), expected);
    let rubbish =
        json!([1, null, {"uri": 1}, {"uri": "http://x/a", "range": range(1)}, {"uri": "file:///a", "range": {}}]);
    assert_eq!(locations(&rubbish), []);
    assert_eq!(locations(&json!("x")), []);
}

#[test]
fn diagnostics_are_one_line_each_and_hints_are_left_out() {
    let list = json!([
        {"range": range(1), "severity": 1, "message": "a\n  b\u{1b}[31m", "source": "rustc", "code": "E1"},
        {"range": range(2), "severity": 4, "message": "hint"},
        {"range": range(3), "message": "x".repeat(5000), "code": 7},
        {"range": {"start": {"line": -1, "character": 0}}, "message": "nowhere"},
        {"message": "nowhere"},
        "rubbish",
    ]);
    let found = diagnostics(Some(&list));
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].message.as_str(), found[0].code.as_str()), ("a b [31m", "rustc E1"));
    assert!(found[1].message.len() < 700 && found[1].code == "7");
    assert_eq!(diagnostics(None), []);
}

#[test]
fn symbols_nest() {
    let list = json!([
        {"name": "Shape", "kind": 23, "range": range(0), "selectionRange": range(1),
         "children": [{"name": "area", "kind": 6, "range": range(2), "selectionRange": range(2)}]},
        {"name": "flat", "kind": 12, "location": {"uri": "file:///b.rs", "range": range(5)}, "containerName": "m"},
        {"name": "elsewhere", "kind": 99, "location": {"uri": "jar://b"}},
        {"kind": 1},
    ]);
    let found = symbols(&list);
    let short: Vec<_> = found.iter().map(|found| (found.kind, &*found.name, found.line, found.depth)).collect();
    assert_eq!(short, [("struct", "Shape", 1, 0), ("method", "area", 2, 1), ("function", "flat", 5, 0)]);
}

#[test]
fn hovers_are_words() {
    assert_eq!(hover(&json!({"contents": "a"})), "a");
    assert_eq!(hover(&json!({"contents": {"kind": "markdown", "value": "b"}})), "b");
    assert_eq!(hover(&json!({"contents": [{"language": "ts", "value": "c"}, "d"]})), "c\nd");
    assert_eq!(hover(&json!(null)), "");
}
