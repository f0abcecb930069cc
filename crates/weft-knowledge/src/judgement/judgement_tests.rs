use super::firewall::{Shape, claims};

type Row = (&'static str, Option<(Shape, &'static str, &'static str)>);

#[test]
fn claims_are_told_from_other_sentences() {
    let rows: &[Row] = &[
        ("We use tantivy for full text.", Some((Shape::Uses, "tantivy", "full text"))),
        ("We use `serde_json`.", Some((Shape::Uses, "serde_json", ""))),
        ("Guard implements Policy.", Some((Shape::Implements, "Guard", "Policy"))),
        ("The function parse_file is in src/parse.rs.", Some((Shape::IsIn, "parse_file", "src/parse.rs"))),
        ("`Store` is defined in src/store.rs now.", Some((Shape::IsIn, "Store", "src/store.rs"))),
        ("Should we use tantivy for search?", None),
        ("We should not use it for that.", None),
        ("We use the same for all.", None),
        ("This is in order.", None),
    ];
    for (text, wanted) in rows {
        let found = claims(text).into_iter().next();
        let found = found.as_ref().map(|said| (said.shape, said.subject.as_str(), said.object.as_str()));
        assert_eq!(found, *wanted, "{text}");
    }
}
