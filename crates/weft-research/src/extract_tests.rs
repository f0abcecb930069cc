use std::sync::Arc;

use super::*;
use crate::corpora::Corpora;

/// Asks the sample corpus by words alone.
fn ask(question: &str) -> Extract {
    let data = tempfile::tempdir().unwrap();
    let corpora = Corpora::within(data.path(), Arc::new(|| 1_800_000_000_000));
    let book = corpora.book("harbour").unwrap();
    let book = book.lock().unwrap();
    extract(&book, question, &[], 4).unwrap()
}

fn cited(extract: &Extract) -> Vec<&str> {
    let mut cited: Vec<&str> = extract.quotes.iter().map(|quote| quote.cite.as_str()).collect();
    cited.dedup();
    cited
}

#[test]
fn a_paragraph_that_only_points_on_gives_what_it_points_to() {
    // HHS 12.6 has all words of this, and a period of something else; of the file it says "for the period
    // given in 3.8".
    let found = ask("How long are employee files kept?");
    assert!(found.answerable && cited(&found).contains(&"HHS 3.8"), "{found:?}");
    assert!(!cited(&found).contains(&"HHS 12.6"), "{found:?}");
    let rows: Vec<&str> =
        found.quotes.iter().map(|quote| quote.text.as_str()).filter(|text| text.contains('|')).collect();
    assert_eq!(rows, ["Employee files | end of employment | six years"], "of its table the row that was asked for");
}

#[test]
fn what_has_nothing_of_the_kind_that_is_asked_for_is_no_answer() {
    // HHS 7.9 says within how many hours a key supplier reports, and nothing about money.
    let found = ask("How much must a key supplier pay when it reports an incident later than 24 hours?");
    assert!(!found.answerable && found.quotes.is_empty(), "{found:?}");
    assert!(!found.nearest.is_empty(), "who wants to look is told where: {found:?}");
}

#[test]
fn what_a_question_names_is_quoted_whatever_it_asks() {
    assert_eq!(cited(&ask("What does 3.12 say?")), ["HHS 3.12"]);
}

#[test]
fn a_bar_in_a_sentence_makes_no_table() {
    let text = "Use `ps aux | grep weft` to see what runs.\nIt ends with Weft.";
    assert_eq!(split_table(text), (text, ""));
    let (prose, table) = split_table("Times:\nwhat | how long\nfiles | six years");
    assert_eq!((prose, table), ("Times:\n", "what | how long\nfiles | six years"));
}
