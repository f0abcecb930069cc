use super::*;

fn parsed(path: &str, language: Language, text: &str) -> Parsed {
    parse(path, language, text.as_bytes().to_vec()).unwrap()
}

fn shown(parsed: &Parsed) -> Vec<String> {
    let nodes = parsed.nodes.iter().skip(1);
    nodes.map(|node| format!("{} {} {}", node.kind, node.paragraph.as_deref().unwrap_or("-"), node.first)).collect()
}

fn edges(parsed: &Parsed) -> Vec<String> {
    let edges = parsed.edges.iter();
    edges.map(|edge| format!("{} {}/{}", edge.kind, edge.qualifier, edge.name)).collect()
}

#[test]
fn markdown_is_taken_apart() {
    let text = "# Guide\n\nIntro with `Store::open` and [more](other.md#a).\n\n## 3.2 Scope\n\n3.2.1 It applies, see 3.2.2.\n\n3.2.2 Or not.\n\n| a | b |\n|---|---|\n| c | d |\n\n- one\n- two\n";
    let guide = parsed("docs/guide.md", Language::Markdown, text);
    let expected = [
        "section guide 1",
        "paragraph",
        "section 3.2 5",
        "paragraph 3.2.1 7",
        "paragraph 3.2.2 9",
        "table",
        "paragraph",
    ];
    let found = shown(&guide);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found} is not {expected}");
    }
    assert_eq!(edges(&guide), ["cites other.md/other.md", "mentions Store/open", "cites /3.2.2"]);
    assert_eq!(guide.nodes[4].context, "Guide > 3.2 Scope");
    assert!(guide.pieces.iter().any(|piece| piece.text.contains("c | d")));
}

#[test]
fn ids_stay_when_other_paragraphs_change() {
    let long = "words ".repeat(200);
    let id = |text: &str| {
        let parsed = parsed("a.md", Language::Markdown, text);
        parsed.nodes.iter().rev().find_map(|node| node.paragraph.clone()).unwrap()
    };
    let before = id(&format!("# A\n\nFirst {long}\n\nLast {long}"));
    let after = id(&format!("# A\n\nNew {long}\n\nFirst, changed {long}\n\nLast {long}"));
    assert_eq!(before, after);
    let corrected = id(&format!("# A\n\nFirst {long}\n\nLast {long} with a word more"));
    assert_eq!(before, corrected, "nor by a correction further on in itself");
}

#[test]
fn plain_text_has_numbered_paragraphs() {
    let text = "AUDIT RISK\n\n315.11 The auditor shall\nobtain an understanding.\n315.12 In accordance with ISA 330.7,\nand see 315.11.\n\nA note\n======\n\nText.\n";
    let plain = parsed("isa.txt", Language::Text, text);
    let found = shown(&plain);
    assert_eq!(found[0], "section audit-risk 1");
    assert_eq!(found[1], "paragraph 315.11 3");
    assert_eq!(found[2], "paragraph 315.12 5");
    assert!(found[3].starts_with("section a-note"), "{found:?}");
    assert_eq!(edges(&plain), ["cites ISA/330.7", "cites /315.11"]);
}

#[test]
fn a_line_that_stands_alone_at_the_beginning_is_the_title() {
    let context = |path: &str, language: Language, text: &str| {
        let parsed = parsed(path, language, text);
        parsed.nodes.last().map(|node| node.context.clone()).unwrap_or_default()
    };
    let title = "Herons of the lower river and what they eat in winter.";
    let text = format!("{title}\n\nThey eat fish, frogs and\nwhat else there is.\n");
    assert_eq!(context("a.txt", Language::Text, &text), title);
    assert_eq!(context("a.md", Language::Markdown, &text), title);
    // A sentence can still be cited, and found once as what it says.
    let said = parsed("a.md", Language::Markdown, &text);
    assert!(said.nodes.iter().any(|node| node.kind == Kind::Paragraph && node.first == 1), "{:?}", said.nodes);
    let named = parsed("a.md", Language::Markdown, "On herons\n\nThey eat fish.\n");
    assert!(!named.nodes.iter().any(|node| node.kind == Kind::Paragraph && node.first == 1), "{:?}", named.nodes);
    for other in [
        "They eat fish,\nfrogs and more.\n\nIn winter too.\n",
        "- fish\n- frogs\n\nIn winter too.\n",
        "They eat fish.\n",
        "3.1 They eat fish.\n\nIn winter too.\n",
    ] {
        assert_eq!(context("a.txt", Language::Text, other), "", "{other:?}");
        assert_eq!(context("a.md", Language::Markdown, other), "", "{other:?}");
    }
    let long = "A study of herons ".repeat(15);
    let named = parsed("a.md", Language::Markdown, &format!("# {long}\n\nText.\n"));
    assert_eq!(named.nodes[1].name, long.trim(), "titles of papers are long");
}

#[test]
fn html_is_read_as_a_reader_would() {
    let html = "<html><body><nav>menu</nav><h1>Title</h1><p>Some words about <a href=\"b.html\">another</a>.</p><script>x()</script></body></html>";
    let page = parsed("a.html", Language::Html, html);
    assert_eq!(page.nodes[1].name, "Title");
    let text: String = page.pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert!(text.contains("Some words") && !text.contains("x()"), "{text}");
    assert_eq!(edges(&page), ["cites b.html/b.html"]);
}

#[test]
fn damaged_files_say_so() {
    for (language, bytes) in
        [(Language::Pdf, &b"%PDF-1.4 nonsense"[..]), (Language::Docx, b"PK\x03\x04 nonsense"), (Language::Docx, b"")]
    {
        assert!(parse("x", language, bytes.to_vec()).is_err(), "{language}");
    }
}
