#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use super::*;

#[test]
fn only_names_are_called() {
    let check = |text: &str, expected: Option<(&str, &str)>| assert_eq!(called(text), expected, "{text}");
    check("/review", Some(("review", "")));
    check(" /review  src  lib ", Some(("review", "src  lib")));
    check("/web:page a", Some(("web:page", "a")));
    check("/Docs:Sum_up.x a", Some(("Docs:Sum_up.x", "a")));
    check("/etc/hosts is odd", None);
    check("/Review", None);
    check("/", None);
    check("see /review", None);
}

#[test]
fn agents_are_found_among_the_words() {
    let found: Vec<&str> = mentions("@one look (@two), then \"@three\"! me@four.example @src/a.rs @a.b").collect();
    assert_eq!(found, ["one", "two", "three"]);
}
