use proptest::prelude::*;

use super::*;

fn grammar() -> Grammar {
    Grammar {
        prefixes: vec!["HHS".to_owned(), "Guide".to_owned()],
        web: vec!["https://a.example/x".to_owned()],
        earlier: 2,
    }
}

fn check(sentence: &str, words: &str, cites: &[&str]) {
    let read = grammar().read(sentence);
    assert_eq!(
        (read.words.as_str(), read.cites.iter().map(String::as_str).collect::<Vec<_>>()),
        (words, cites.to_vec()),
        "{sentence}"
    );
}

#[test]
fn citations_are_told_from_remarks() {
    check("Records are kept for six years (HHS 3.8).", "Records are kept for six years.", &["HHS 3.8"]);
    check("Two rules apply (HHS 3.8, 3.9; Guide G2.1).", "Two rules apply.", &["HHS 3.8", "HHS 3.9", "Guide G2.1"]);
    check("It may (in some cases) be longer (HHS 3.9).", "It may (in some cases) be longer.", &["HHS 3.9"]);
    check("The fee is small (about 3.50).", "The fee is small (about 3.50).", &[]);
    check("It is short (Guide only).", "It is short (Guide only).", &[]);
    check("Square (HHS 3.8) [HHS 3.9].", "Square.", &["HHS 3.8", "HHS 3.9"]);
    check("An item (HHS 3.8(a)).", "An item.", &["HHS 3.8"]);
    check("A remark around (which is strict (HHS 3.8)).", "A remark around (which is strict).", &["HHS 3.8"]);
    check("In small letters (hhs 3.8).", "In small letters.", &["HHS 3.8"]);
    check("“How to report (HHS 8.3) is there.” (Guide G1.2)", "“How to report (HHS 8.3) is there.”", &["Guide G1.2"]);
}

/// Whatever cannot be a paragraph stays in the list, so that it is found not to exist.
#[test]
fn no_form_of_citation_goes_unchecked() {
    check("Made up (HHS 99.1).", "Made up.", &["HHS 99.1"]);
    check("Made up (see HHS 99.9).", "Made up.", &["HHS 99.9"]);
    check("Made up (cf. also HHS 99.9 and 3.8).", "Made up.", &["HHS 99.9", "HHS 3.8"]);
    check("Foreign (HHS 3.8, ISO 27001).", "Foreign.", &["HHS 3.8", "ISO 27001"]);
    check("Wrong text (Guide 3.8).", "Wrong text.", &["Guide 3.8"]);
    check("No paragraph (HHS Part 3).", "No paragraph.", &["HHS Part 3"]);
    check("Unknown label [W9].", "Unknown label.", &["[W9]"]);
    check("Footnote [1].", "Footnote.", &["[1]"]);
    check("An open bracket (HHS 3.8", "An open bracket (HHS 3.8", &["HHS 3.8"]);
    check("According to HHS 99.9, it is so.", "According to HHS 99.9, it is so.", &["HHS 99.9"]);
    check("Look at https://made.up/1.", "Look at https://made.up/1.", &["https://made.up/1"]);
    check(
        "Look at [this](https://made.up/1) (HHS 3.8).",
        "Look at [this](https://made.up/1).",
        &["HHS 3.8", "https://made.up/1"],
    );
    check("Look at [this](https://a.example/x) (HHS 3.8).", "Look at [this](https://a.example/x).", &["HHS 3.8"]);
    let spoken = grammar().read("HHS 99.9 says so too (HHS 3.8).");
    assert_eq!((spoken.cites, spoken.names), (vec!["HHS 3.8".to_owned()], vec!["HHS 99.9".to_owned()]));
}

#[test]
fn an_address_is_seen_in_whatever_it_is_dressed() {
    for made_up in [
        "**https://made.up/page**",
        "`https://made.up/page`",
        "_https://made.up/page_",
        "source:https://made.up/page",
        "HTTPS://made.up/page",
        "ftp://made.up/page",
        "href=https://made.up/page",
        "**www.made.up/page**,",
        "<mailto:a@made.up>",
        "[this](made.up/page)",
        "[this](//made.up/page)",
        "https://a.example/x/evil",
        "https://a.example/x.evil",
    ] {
        let read = grammar().read(&format!("Look at {made_up} for more (HHS 3.8)."));
        assert_eq!(read.cites.len(), 2, "{made_up}: {read:?}");
    }
    for known in
        ["**https://a.example/x**", "`https://a.example/x`.", "[this](https://a.example/x)!", "(https://a.example/x)"]
    {
        assert_eq!(grammar().read(&format!("Look at {known} for more (HHS 3.8).")).cites, ["HHS 3.8"], "{known}");
    }
    let bracketed = Grammar { web: vec!["https://a.example/x_(y)".to_owned()], ..grammar() };
    assert_eq!(bracketed.read("Look at https://a.example/x_(y) (HHS 3.8).").cites, ["HHS 3.8"]);
}

#[test]
fn labels_count_where_something_stands_behind_them() {
    let read = grammar().read("See the web [W1] and before [P1, P2].");
    assert_eq!((read.words.as_str(), read.labels.len(), read.cites.len()), ("See the web and before.", 3, 0));
    assert!(!read.is_uncited());
    assert!(grammar().read("Nothing stands behind this.").is_uncited());
}

#[test]
fn without_a_word_before_numbers_the_number_is_the_citation() {
    let plain = Grammar::default();
    assert_eq!(plain.read("It is so (3.8, notes#keeping.2).").cites, ["3.8", "notes#keeping.2"]);
    assert!(plain.read("It costs little (about 3.50).").cites.is_empty());
}

proptest! {
    /// Whatever is written around it, a citation in brackets is never lost.
    #[test]
    fn a_citation_is_found_wherever_it_stands(before in "[a-z ,.]{0,30}", after in "[a-z ,.]{0,30}", number in "[1-9]{1,2}\\.[1-9]{1,2}", square: bool) {
        let cite = format!("HHS {number}");
        let bracket = if square { format!("[{cite}]") } else { format!("({cite})") };
        let read = grammar().read(&format!("{before} {bracket} {after}"));
        prop_assert_eq!(read.cites, vec![cite.clone()]);
        prop_assert!(!read.words.contains(&cite));
    }

    /// Reading never fails, and what it takes away are brackets that it tells of.
    #[test]
    fn anything_can_be_read(text in "\\PC{0,80}") {
        let read = grammar().read(&text);
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).count();
        let lost = letters(&text) - letters(&read.words);
        let told = read.cites.iter().chain(&read.labels).count();
        prop_assert!(lost == 0 || told > 0);
    }

    /// A bracket that speaks of the corpus is told of in every form.
    #[test]
    fn nothing_that_names_the_corpus_passes_unseen(lead in "(see |cf\\. |under paragraph )?", middle in "[ :-]?", number in "[0-9]{1,3}(\\.[0-9]{1,3})?", more in "(, ISO 27001|; and so on| and 4\\.1)?") {
        let read = grammar().read(&format!("It is so ({lead}HHS{middle}{number}{more})."));
        prop_assert!(!read.cites.is_empty());
        prop_assert!(!read.words.contains("HHS"));
    }
}
