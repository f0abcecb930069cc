use super::*;

const FLOW: &str = r#"name = "f"
title = "F"
[[stages]]
id = "one"
title = "One"
[[stages.steps]]
id = "a"
code = "x.y"
input = "{'q': question}"
[stages.pause]
again = "one"
[[stages]]
id = "two"
title = "Two"
[[stages.steps]]
id = "b"
model = "b.md"
uses = "anthropic/claude-x"
"#;

fn parse(text: &str) -> Result<Flow, String> {
    let prompts = BTreeMap::from([
        ("b.md".to_owned(), "Say {{ question }}".to_owned()),
        ("broken.md".to_owned(), "Say {{ question".to_owned()),
        ("README.md".to_owned(), "Nobody renders {{ this".to_owned()),
    ]);
    Flow::parse("FLOW.toml", text, prompts).map_err(|error| error.to_string())
}

#[test]
fn what_cannot_run_is_refused_before_it_begins() {
    parse(FLOW).unwrap();
    for (from, to, why) in [
        ("'q': question}", "'q': question", "line 9: {'q': question: syntax error: unexpected"),
        ("model = \"b.md\"", "model = \"broken.md\"", "broken.md"),
        ("uses = \"anthropic/claude-x\"", "uses = \"claude\"", "provider/model"),
        ("uses = \"anthropic/claude-x\"", "optional = true", "calls no tool"),
        ("id = \"b\"", "id = \"b\"\nfor_each = \"[1]\"", "calls no tool"),
        ("again = \"one\"", "again = \"two\"", "later stage"),
        ("again = \"one\"", "again = \"none\"", "not there"),
        (
            "[[stages]]\nid = \"two\"",
            "[[stages.steps]]\nid = \"a\"\ncode = \"x.z\"\n[[stages]]\nid = \"two\"",
            "are called `a`",
        ),
        ("title = \"Two\"", "title = \"Two\"\n[stages.pause]\nquestion = \"x\"\n", "last one"),
        ("title = \"Two\"", "title = \"Two\"\nsummary = \"{{ x\"", "the stage `two`"),
    ] {
        let text = FLOW.replace(from, to);
        assert_ne!(text, FLOW, "{from}");
        let refused = parse(&text).unwrap_err();
        assert!(refused.contains(why), "{to}: {refused}");
    }
}
