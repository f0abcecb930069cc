#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

#[test]
fn names_are_found_and_columns_counted_in_utf_16() {
    let text = "let 😀é = area;\nfn areas() {}\nfn area() -> Shape::area\n  x.area()\n";
    let check = |line: Option<usize>, symbol: &str, expected: Option<(u32, u32)>| {
        let found = find(text, line, symbol).map(|found| (found.line, found.character));
        assert_eq!(found, expected, "{symbol} near {line:?}");
    };
    check(None, "area", Some((0, 10)));
    check(Some(3), "area", Some((2, 3)));
    check(Some(3), "Shape::area", Some((2, 20)));
    check(Some(4), "x.area", Some((3, 4)));
    // One line off, and qualified otherwise than in the text.
    check(Some(5), "area", Some((3, 4)));
    check(Some(2), "crate::areas", Some((1, 3)));
    check(Some(999_999), "areas", Some((1, 3)));
    check(None, "are", None);
    check(None, "", None);
    check(None, "::", None);
}

#[test]
fn addresses_stand_for_paths() {
    let path_ = Path::new("/a b/ü#?%.rs");
    assert_eq!(path(&address(path_)).as_deref(), Some(path_));
    for other in ["http://host/a", "untitled:a", "", "file://elsewhere/a", "../a"] {
        assert_eq!(path(other), None, "{other}");
    }
}
