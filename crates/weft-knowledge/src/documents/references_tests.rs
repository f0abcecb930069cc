use super::*;

#[test]
fn numbers_of_paragraphs() {
    let cases = [
        ("315.12 The auditor shall", Some("315.12")),
        ("A12. Application", Some("A12")),
        ("(4) Each", Some("4")),
        ("12. Text", Some("12")),
        ("2024 was a year", None),
        ("3 apples", None),
        ("Hello 3.2", None),
        ("1.2.3", None),
    ];
    for (text, number) in cases {
        assert_eq!(number_at(text).map(|(number, _)| number), number, "{text}");
    }
}

#[test]
fn cited_paragraphs() {
    let cases: [(&str, &[(&str, &str)]); 7] = [
        ("as set out (see 315.12).", &[("", "315.12")]),
        ("in accordance with ISA 330.7, the", &[("ISA", "330.7")]),
        ("see paragraphs 12, 13 and A5 of this", &[("", "12"), ("", "13"), ("", "A5")]),
        ("§4 applies", &[("", "4")]),
        ("it costs 3.50 today", &[]),
        ("Section 3.2", &[("", "3.2")]),
        ("see the 3 of them", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(cited(text), expected, "{text}");
    }
}

#[test]
fn links_and_mentions() {
    assert_eq!(linked("../docs/A.md#b"), Some(("A.md", "../docs/A.md".to_owned())));
    assert_eq!(linked("#a-b"), Some(("a-b", "".to_owned())));
    assert_eq!(linked("https://example.com"), None);
    assert_eq!(mentioned("Engine::open()"), Some(("open", "Engine".to_owned())));
    assert_eq!(mentioned("crates/a/src/lib.rs"), Some(("lib.rs", "crates/a/src/lib.rs".to_owned())));
    assert_eq!(mentioned("weft run x"), None);
}
