#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

fn settings(text: &str) -> SearchSettings {
    serde_json::from_str(text).unwrap()
}

#[test]
fn where_each_engine_is() {
    let cases = [
        (r#"{"provider":"brave"}"#, "https://api.search.brave.com/res/v1/web/search"),
        (r#"{"provider":"tavily"}"#, "https://api.tavily.com/search"),
        (r#"{"provider":"searxng","url":"http://localhost:8080"}"#, "http://localhost:8080/search"),
        (r#"{"url":"https://find.example/searx/"}"#, "https://find.example/searx/search"),
        (r#"{"url":"https://find.example/search"}"#, "https://find.example/search"),
    ];
    for (text, place) in cases {
        assert_eq!(settings(text).place().unwrap().as_str(), place);
    }
    assert!(settings("{}").place().unwrap_err().contains("`url` is missing"));
    assert!(settings(r#"{"url":"localhost"}"#).place().is_err());
    assert!(serde_json::from_str::<SearchSettings>(r#"{"provider":"google"}"#).is_err());
}

#[test]
fn marks_of_the_engine_are_taken_out() {
    let cases = [
        ("the <strong>best</strong> one", "the best one"),
        ("if a < b and <em>c</em>\n  d", "if a < b and c d"),
        ("<", "<"),
        ("x <b", "x <b"),
    ];
    for (given, expected) in cases {
        assert_eq!(plain(given, 100), expected);
    }
    assert_eq!(plain(&"é".repeat(50), 11), "é".repeat(5));
}
