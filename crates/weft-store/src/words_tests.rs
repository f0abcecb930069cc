use super::*;

fn check(text: &str, words: &str, expected: &str) {
    let shown: String = snippet(text, &terms(words))
        .into_iter()
        .map(|piece| if piece.hit { format!("[{}]", piece.text) } else { piece.text })
        .collect();
    assert_eq!(shown, expected, "{text:?} for {words:?}");
}

#[test]
fn a_snippet_marks_what_was_looked_for() {
    check("Mend the gate", "gate", "Mend the [gate]");
    check("Mend the Gate now", "GATE mend", "[Mend] the [Gate] now");
    check("gates\nand doors", "gat", "[gat]es and doors");
    check("investigate", "gate", "investigate");
    check("Straße nach Zürich", "zürich", "Straße nach [Zürich]");
    check("", "x", "");
    check("a\"b* (c)", "\"b* OR", "a\"[b]* (c)");
}

#[test]
fn a_long_text_is_cut_around_the_first_word() {
    let text = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
    let pieces = snippet(&text, &terms("needle"));
    assert_eq!(pieces.iter().filter(|piece| piece.hit).count(), 1);
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert!(whole.starts_with('…') && whole.ends_with('…'), "{whole}");
    assert!(whole.chars().count() <= 3 * AROUND + 2, "{whole}");
}

#[test]
fn only_letters_and_digits_reach_the_query() {
    assert_eq!(terms("a-b NEAR(\"c\")* x:y ^1"), ["a", "b", "near", "c", "x", "y", "1"]);
    assert_eq!(terms("…  \"\" *"), Vec::<String>::new());
}
