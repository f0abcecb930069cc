use super::*;

#[test]
fn a_snippet_shows_what_was_asked() {
    let text = "fn a() {\n    one();\n    two();\n    three();\n    four();\n    wanted(thing);\n}\n";
    let shown = snippet(text, &["wanted".to_owned(), "thing".to_owned()]);
    assert!(shown.trim_start().starts_with("wanted(thing);"), "{shown}");
    assert!(snippet(text, &[]).starts_with("fn a()"));
    assert_eq!(snippet("", &[]), "");
    assert!(snippet(&"é".repeat(1000), &[]).len() <= LONGEST_SNIPPET);
}
