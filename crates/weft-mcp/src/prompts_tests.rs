#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use serde_json::json;

use super::*;

#[test]
fn words_fill_the_blanks() {
    let check = |names: &[&str], words: &str, expected: Value| {
        assert_eq!(Value::Object(arguments(names, words)), expected, "{words}");
    };
    check(&["city"], "New York", json!({"city": "New York"}));
    check(&["city", "state"], "Berlin", json!({"city": "Berlin"}));
    check(&["city", "state"], "'New York' NY", json!({"city": "New York", "state": "NY"}));
    check(&["city", "state"], "Paris in the north", json!({"city": "Paris", "state": "in the north"}));
    check(&["city", "state"], "state=NY 'New York'", json!({"city": "New York", "state": "NY"}));
    check(&[], "ignored", json!({}));
}
