use super::*;

#[test]
fn typing_errors_are_counted() {
    let count = |one: &str, other: &str| {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        distance(&letters(one), &letters(other), 3)
    };
    let cases =
        [("open", "open", 0), ("opne", "open", 1), ("opn", "open", 1), ("oppen", "open", 1), ("oben", "open", 1)];
    for (one, other, expected) in cases {
        assert_eq!(count(one, other), expected, "{one} {other}");
    }
    assert!(count("something", "other") > 3);
    assert_eq!(count("", "ab"), 2);
}

#[test]
fn owners_are_split_off() {
    assert_eq!(split_owner("a::Engine::open"), (Some("Engine"), "open"));
    assert_eq!(split_owner("Engine.open"), (Some("Engine"), "open"));
    assert_eq!(split_owner("open"), (None, "open"));
    assert_eq!(split_owner("::open"), (None, "::open"));
}
