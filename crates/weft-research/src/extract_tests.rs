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
fn short_forms_of_words_are_not_words_that_a_corpus_lacks() {
    assert_eq!(stems("I'll, haven't, isn\u{2019}t, doesn't, we've"), Vec::<String>::new());
    let found = ask("I'll be on a zeppelin and haven't got a badge. What's due?");
    assert_eq!(found.nowhere, ["zeppelin"], "{found:?}");
    assert!(!found.foreign, "{found:?}");
    assert!(ask("How fast do zeppelins cross Norwegian fjords?").foreign);
}

/// Text without numbers may be several paragraphs in one; of a numbered one nothing is left out.
#[test]
fn of_text_without_numbers_only_what_speaks_of_it_is_quoted() {
    let data = tempfile::tempdir().unwrap();
    let corpora = Corpora::within(data.path(), Arc::new(|| 1_800_000_000_000));
    let path = data.path().join("documents");
    std::fs::create_dir_all(&path).unwrap();
    let text = "# House\n\nDogs may enter the yard on a lead.\n\nBicycles shall be\nlocked to the green rack.\n";
    std::fs::write(path.join("rules.md"), text).unwrap();
    let text = "# Yard\n\n1.1 It is open by day. Carts shall be parked at the wall.\n";
    std::fs::write(path.join("yard.md"), text).unwrap();
    let folder = crate::Folder::at(path, Tier::Primary, "");
    let corpus = crate::Corpus { name: "house".to_owned(), title: String::new(), folders: vec![folder] };
    corpora.add(corpus, &mut |_| {}).unwrap();
    let book = corpora.book("house").unwrap();
    let book = book.lock().unwrap();
    let quoted = |question: &str| -> Vec<String> {
        let found = extract(&book, question, &[], 4).unwrap();
        found.quotes.into_iter().map(|quote| quote.text.replace('\n', " ")).collect()
    };
    assert_eq!(quoted("To which rack shall bicycles be locked?"), ["Bicycles shall be locked to the green rack."]);
    assert_eq!(quoted("Where shall carts be parked?"), ["It is open by day.", "Carts shall be parked at the wall."]);
}

/// G2.4 says in the asker's words what the table of HHS 3.8 decides.
#[test]
fn a_guide_is_quoted_with_the_text_that_it_explains() {
    let found = ask("how long are employee files kept, and from when is that counted?");
    assert_eq!(cited(&found), ["HHS 3.8", "Guide G2.4"], "{found:?}");
}

#[test]
fn a_bar_in_a_sentence_makes_no_table() {
    let text = "Use `ps aux | grep weft` to see what runs.\nIt ends with Weft.";
    assert_eq!(split_table(text), (text, ""));
    let (prose, table) = split_table("Times:\nwhat | how long\nfiles | six years");
    assert_eq!((prose, table), ("Times:\n", "what | how long\nfiles | six years"));
}
