use proptest::prelude::*;

use super::*;

fn whole(text: &str) -> Vec<Piece> {
    cut(text, &[Span { parent: None, start: 0, end: text.len() }])
}

#[test]
fn a_child_is_not_in_its_parent() {
    let text = "use a;\nfn one() {\n  body\n}\nconst X: u8 = 1;\n";
    let inner = text.find("fn").unwrap();
    let end = text.find("const").unwrap();
    let spans = [Span { parent: None, start: 0, end: text.len() }, Span { parent: Some(0), start: inner, end }];
    let pieces = cut(text, &spans);
    assert_eq!(pieces.len(), 2);
    assert!(pieces[0].text.contains("use a;") && pieces[0].text.contains("const X"), "{pieces:?}");
    assert!(!pieces[0].text.contains("body"));
    assert_eq!((pieces[1].node, pieces[1].first, pieces[1].last), (1, 2, 5));
}

#[test]
fn long_text_is_cut_between_lines() {
    let text = "some words in a line\n".repeat(1000);
    let pieces = whole(&text);
    assert!(pieces.len() > 5);
    assert!(
        pieces
            .iter()
            .all(|piece| piece.text.len() <= LONGEST && piece.text.ends_with("line\n") || piece.text.ends_with("line"))
    );
    let lines: u32 = pieces.iter().map(|piece| piece.last - piece.first + 1).sum();
    assert!(lines >= 1000);
}

proptest! {
    #[test]
    fn no_word_is_lost(words in proptest::collection::vec("[a-zé]{3,9}[ \n]", 0..200), endless in 0usize..3) {
        let mut text: String = words.concat();
        text.push_str(&"xyz".repeat(endless * 3000));
        let pieces = whole(&text);
        let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        let strip = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        prop_assert_eq!(strip(&joined), strip(&text));
    }
}
