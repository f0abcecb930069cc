#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use proptest::prelude::*;

fn apply(text: &str, old: &str, new: &str, all: bool) -> Result<String, &'static str> {
    match apply_one(text, &Replacement { old: old.into(), new: new.into(), all }) {
        Ok((text, _)) => Ok(text),
        Err(Problem::Empty) => Err("empty"),
        Err(Problem::Same) => Err("same"),
        Err(Problem::None) => Err("none"),
        Err(Problem::Many(_)) => Err("many"),
    }
}

#[test]
fn an_edit_is_exact() {
    let cases = [
        ("a b c", "b", "x", false, Ok("a x c")),
        ("a b b", "b", "x", false, Err("many")),
        ("a b b", "b", "x", true, Ok("a x x")),
        ("a", "b", "x", false, Err("none")),
        ("a", "b", "x", true, Err("none")),
        ("a", "", "x", false, Err("empty")),
        ("a", "a", "a", false, Err("same")),
        ("one\ntwo", "two", "2", false, Ok("one\n2")),
        ("one\r\ntwo\r\n", "one\ntwo\n", "1\n2\n", false, Ok("1\r\n2\r\n")),
        ("one\r\ntwo\r\n", "two", "2\n3", false, Ok("one\r\n2\r\n3\r\n")),
        ("dos\r\nunix\n", "unix\n", "x\ny\n", false, Ok("dos\r\nx\ny\n")),
        ("$1 \\n", "$1", "$2", false, Ok("$2 \\n")),
    ];
    for (text, old, new, all, expected) in cases {
        assert_eq!(apply(text, old, new, all), expected.map(str::to_owned), "{text:?} {old:?} {new:?}");
    }
}

#[test]
fn a_miss_is_explained_by_what_is_there() {
    let text = "fn main() {\n    let total = 1;\n    println!(\"{total}\");\n}\n";
    let cases = [
        ("fn main() {\nlet total = 1;", "It differs only in white space from:\n1\tfn main() {\n2\t    let total = 1;"),
        ("    let totals = 1;", "The nearest is:\n2\t    let total = 1;"),
        ("completely unrelated words", "Read the file again"),
        ("x", "The new text is already there."),
    ];
    for (old, expected) in cases {
        let new = if old == "x" { "let total" } else { "something else" };
        let hint = hint(text, &Replacement { old: old.into(), new: new.into(), all: false });
        assert!(hint.contains(expected), "{old:?}: {hint}");
    }
}

proptest! {
    #[test]
    fn what_surrounds_an_edit_stays(before in "[a-z\r\n]{0,40}", after in "[a-z\r\n]{0,40}", new in "[A-Z]{0,9}") {
        let text = format!("{before}<OLD>{after}");
        prop_assert_eq!(apply(&text, "<OLD>", &new, false).unwrap(), format!("{before}{new}{after}"));
    }
}
