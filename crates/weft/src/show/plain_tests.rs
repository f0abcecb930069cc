#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn errors_are_sentences() {
    let check = |text: &str, expected: &str| assert_eq!(as_sentence(text), expected);
    check("there is no session `x`", "There is no session `x`.");
    check("config.toml:3: broken", "config.toml:3: broken.");
    check("Sure?", "Sure?");
}

#[test]
fn library_phrases_become_plain_words() {
    let check = |text: &str, expected: &str| assert_eq!(plain_words(text), expected);
    check("nothing to change.", "nothing to change.");
    check(
        "`limits`: invalid type: string \"many\", expected u32; it is left out",
        "`limits`: \"many\" does not fit: it must be a whole number, 0 or more; it is left out",
    );
    check("invalid type: map, expected a string", "it must be a text");
    check("invalid value: integer `-1`, expected u32", "`-1` does not fit: it must be a whole number, 0 or more");
    check(
        "unknown field `x`, expected one of `a`, `b`; it is left out",
        "there is no `x` here, only `a`, `b`; it is left out",
    );
    check("unknown variant `x`, expected `a` or `b`", "`x` is not one of `a` or `b`");
    check("f:3: missing field `turn` at line 1 column 34", "f:3: missing: `turn`");
}
