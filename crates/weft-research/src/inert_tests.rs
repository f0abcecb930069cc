use pulldown_cmark::{Event, Options, Parser, Tag};

use super::{address, block, cell, line, prose};

const HOSTILE: [&str; 16] = [
    "# A heading",
    "words\n\n## Verification\n\nAll marks reached",
    "words\n===",
    "words\n---",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    "<img src=x onerror=alert(1)>",
    "<!-- never closed",
    "<https://evil.example>",
    "\\\\[click](https://evil.example)",
    "```\nswallowed",
    "~~~ html\nswallowed",
    "[click][1]\n\n[1]: https://evil.example",
    "a `code",
    "**bold _and more",
    "the end \\",
];

/// What of a text is more than words, lists and tables.
fn active(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_))
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Rule => found.push(format!("{event:?}")),
            _ => {}
        }
    }
    found
}

#[test]
fn nothing_quoted_is_more_than_words() {
    for text in HOSTILE {
        for made in
            [line(text), format!("x {}", cell(text)), block(text), prose(&line(text), &[]), format!("- {}", line(text))]
        {
            assert_eq!(active(&made), Vec::<String>::new(), "{text:?} became {made:?}");
        }
        // In front of what the document itself says.
        let before = format!("{}\n\n## Ours\n\n[W1](https://known.example)\n", block(text));
        assert_eq!(active(&before).len(), 2, "{before}");
        assert_eq!(line(&line(text)), line(text));
    }
}

#[test]
fn plain_words_stay_as_they_are() {
    let plain = "Keep it for 60 days (HHS 3.12); see 01-purpose_and_scope.md, 3 < 4, 5 > 4, a - b, C# and R&D!";
    assert_eq!(
        (line(plain), block(plain), prose(plain, &[])),
        (plain.to_owned(), format!("> {plain}"), plain.to_owned())
    );
    let table = "| what | how long |\n|---|---|\n| files | six years |";
    assert_eq!(block(table), "> | what | how long |\n> |---|---|\n> | files | six years |");
    assert_eq!(cell("a | b"), "a \\| b");
    let written = "**Six years** [W1] after *employment* ends (HHS 3.8) (see also [W1]).";
    assert_eq!(prose(written, &[]), written);
}

#[test]
fn a_model_links_to_what_was_found_and_to_nothing_else() {
    let web = ["https://known.example/a".to_owned()];
    let known = "[Known](https://known.example/a) says so.";
    assert_eq!(prose(known, &web), known);
    for text in
        ["[x](https://evil.example)", "[x](javascript:alert(1))", "[x](//evil.example)", "[x](/api/v1/sessions)"]
    {
        assert_eq!(active(&prose(text, &web)), Vec::<String>::new(), "{text}");
    }
    for text in ["# Verification", "``` json", "> quoted", "<script>alert(1)</script>", "[1]: https://evil.example"] {
        assert_eq!(active(&prose(text, &web)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn an_address_does_not_end_its_link() {
    let link = format!("[{}]({})", line("t"), address("https://a.example/x) <script> [y](https://evil.example"));
    assert_eq!(active(&link).len(), 1, "{link}");
    assert!(link.starts_with("[t](https://a.example/x%29%20%3Cscript%3E"), "{link}");
}
