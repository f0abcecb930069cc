use super::*;

/// The words of a PDF, page by page, read with another program's parser.
fn read(bytes: &[u8]) -> Vec<String> {
    let document = lopdf::Document::load_mem(bytes).unwrap();
    let pages = document.get_pages();
    pages.keys().map(|page| document.extract_text(&[*page]).unwrap()).collect()
}

fn flat(pages: &[String]) -> String {
    pages.concat().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn letters_come_out_as_they_went_in() {
    let text = "# Prüfung – «Über» 100 €\n\nGrößere “Zitate” mit ‘Strichen’… und — Gedanken. Café, naïve, Œuvre, Ýmir ß.\n\n- Punkt (eins)\n- back\\\\slash\n\n> Zitat\n\n| Was | Wie lange |\n|---|---|\n| Akten | 6 Jahre |";
    let pages = read(&pdf("Prüfung", text));
    let words = flat(&pages);
    for expected in [
        "Prüfung – «Über» 100 €",
        "Größere “Zitate” mit ‘Strichen’… und — Gedanken.",
        "Café, naïve, Œuvre, Ýmir ß.",
        "(eins)",
        "Zitat",
        "Akten",
        "6 Jahre",
        "1 / 1",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert!(!words.contains("question marks"));
}

#[test]
fn what_the_fonts_do_not_have_is_told() {
    let words = flat(&read(&pdf("x", "Ελλάδα und a ≥ b")));
    assert!(words.contains("6 letters of this document cannot be shown") && words.contains("a >= b"), "{words}");
}

#[test]
fn long_documents_have_pages_and_nothing_is_lost() {
    let words: Vec<String> = (0..4_000).map(|number| format!("word{number}")).collect();
    let text = format!("# T\n\n{}\n\n{}", words.join(" "), "x".repeat(500));
    let pages = read(&pdf("T", &text));
    assert!(pages.len() > 3, "{}", pages.len());
    let all = flat(&pages);
    assert!(words.iter().all(|word| all.contains(word.as_str())));
    assert_eq!(all.matches('x').count(), 500);
}

#[test]
fn no_line_is_wider_than_the_page() {
    let pieces = [Piece { face: Face::Bold, bytes: encode(&"Wide WORDS und MEHR ".repeat(40)).0 }];
    for line in broken(&pieces, BODY, WIDTH) {
        assert!(line.iter().map(|piece| wide(piece, BODY)).sum::<f32>() <= WIDTH + 3.0);
    }
}

#[test]
fn what_a_link_leads_to_is_printed() {
    let words = flat(&read(&pdf("T", "# T\n\n[A page](https://a.example/x) says so.")));
    assert!(words.contains("A page (https://a.example/x) says so."), "{words}");
}
