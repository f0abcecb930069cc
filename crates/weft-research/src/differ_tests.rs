use std::sync::Arc;

use super::*;
use crate::{Corpora, Corpus, Folder};

const RULES: &str = "# Rules\n\n1.1 Staff shall claim an expense within 30 days. A late claim is refused.\n\n\
     1.2 The privacy lead shall notify the authority of a data breach within 72 hours.\n\n\
     1.3 A member of staff who travels shall claim the expense of a journey within 90 days.\n\n\
     1.4 The clerk shall keep an expense claim for six years.\n\n\
     1.5 Before data of people passes on, an agreement shall be signed. It says what data is passed, who may see it \
     and when it is deleted.\n\n\
     1.6 The privacy lead shall approve an agreement on data.\n";
const GUIDE: &str = "# Guide\n\nG1.1 You have 60 days to claim an expense of your own.\n\n\
     G1.2 The incident lead shall notify the authority of a breach within 72 hours.\n\n\
     G1.3 An expense is claimed within 30 days, and the clerk answers soon.\n\n\
     G1.4 The privacy lead shall notify the people whose data is concerned.\n\n\
     G1.5 Whoever travels has 80 days to claim an expense, see 1.3.\n\n\
     G1.6 The agreement on the data of people should have been there before, see 1.5.\n\n\
     G1.7 The legal team must approve an agreement on data.\n";

/// What differs between these paragraphs, as pairs of their names.
fn differ(question: &str, cited: &[&str], near: &[&str]) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let corpora = Corpora::within(home.path(), Arc::new(|| 1_800_000_000_000));
    let folder = |name: &str, text: &str, tier| {
        let path = home.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("text.md"), text).unwrap();
        Folder::at(path, tier, "")
    };
    let folders = vec![folder("rules", RULES, Tier::Primary), folder("guide", GUIDE, Tier::Guide)];
    corpora.add(Corpus { name: "r".to_owned(), title: String::new(), folders }, &mut |_| {}).unwrap();
    let book = corpora.book("r").unwrap();
    let book = book.lock().unwrap();
    let get = |ids: &[&str]| ids.iter().map(|id| book.get(id).unwrap()).collect::<Vec<_>>();
    let found = differences(&book, question, &get(cited), &get(near));
    found.iter().map(|one| one["item"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn another_period_for_what_was_asked_is_found_across_tiers() {
    let question = "Within how many days shall I claim an expense?";
    assert_eq!(differ(question, &["1.1"], &["G1.1", "G1.3", "1.3"]), ["1.1 / G1.1"]);
    // Two rules of one text are for different cases.
    assert!(differ(question, &["1.1"], &["1.3"]).is_empty());
    // A guide to another rule is no other rule for this one.
    assert!(differ(question, &["1.1"], &["G1.5"]).is_empty());
    assert_eq!(differ(question, &["1.3"], &["G1.5"]), ["1.3 / G1.5"]);
    // Years of keeping and days of claiming cannot be compared.
    assert!(differ("How long is an expense claim kept?", &["1.4"], &["G1.1"]).is_empty());
    // A question that asks for nothing that can be compared.
    assert!(differ("What is an expense?", &["1.1"], &["G1.1"]).is_empty());
}

#[test]
fn somebody_else_who_has_to_do_it_is_found() {
    let question = "Who shall notify the authority of a data breach?";
    assert_eq!(differ(question, &["1.2"], &["G1.2", "G1.1"]), ["1.2 / G1.2"]);
    assert!(differ(question, &["1.2"], &["G1.4"]).is_empty(), "the same person has another duty as well");
    let question = "Who shall approve an agreement on data?";
    assert_eq!(differ(question, &["1.6"], &["G1.7"]), ["1.6 / G1.7"]);
}

#[test]
fn a_clause_or_a_reference_is_no_duty() {
    let question = "Who has to agree before somebody may see data of people?";
    assert!(differ(question, &["1.5"], &["G1.6"]).is_empty(), "\"who may see it\" and \"see 1.5\" are no duties");
}
