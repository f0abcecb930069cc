use super::*;

fn check(text: &str, expected: Reply) {
    assert_eq!(Reply::read(text, 3), expected, "{text}");
}

fn list(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_reply_is_read_by_its_marks() {
    check("Errors are wrapped [2]. They are retried [1, 2].", Reply { sources_used: vec![1, 2], ..Reply::default() });
    check("Errors are wrapped. [3] They are retried. [1-2]", Reply { sources_used: vec![1, 2, 3], ..Reply::default() });
    check(
        "Errors are wrapped [1]. [INFERENCE] So nothing is lost.\n[CONFLICT] The guide [2] says otherwise; the code counts.\n\
         [WARNING] The guide is old [2].",
        Reply {
            sources_used: vec![1, 2],
            inferences: list(&["So nothing is lost."]),
            conflicts: list(&["The guide says otherwise; the code counts."]),
            warnings: list(&["The guide is old."]),
            ..Reply::default()
        },
    );
    check("⚠️ It is old [1].", Reply { sources_used: vec![1], warnings: list(&["It is old."]), ..Reply::default() });
}

#[test]
fn what_has_no_source_and_what_cites_none_that_is_there_is_found() {
    let reply = Reply::read("Errors are wrapped [7]. They are blue.", 3);
    assert_eq!((reply.not_there, reply.sources_used), (vec![7], vec![]));
    assert_eq!(reply.without_source, ["They are blue."]);
    let mark_behind = Reply::read("It holds. [INFERENCE]\nNext [1].", 3);
    assert_eq!((mark_behind.inferences, mark_behind.without_source), (list(&["It holds."]), vec![]));
}

#[test]
fn what_only_looks_like_a_mark_is_none() {
    for text in
        ["See [the guide](x.md).", "`list[0]` and [1](x.md)", "[x] done", "[1", "", "[]", "[9-1]", "[1-999999999]"]
    {
        let reply = Reply::read(text, 3);
        assert_eq!((reply.sources_used, reply.not_there), (vec![], vec![]), "{text}");
    }
    let reply = Reply::read("# Answer [1]\n\nErrors are\nwrapped [2].\n\n```\nx[3]\n```\n", 3);
    assert_eq!((reply.sources_used, reply.without_source), (vec![2], vec![]));
}
