use proptest::prelude::*;

use super::*;

fn grammar() -> Grammar {
    Grammar {
        prefixes: vec!["HHS".to_owned(), "Guide".to_owned()],
        web: vec!["https://a.example".to_owned()],
        earlier: 1,
    }
}

fn check(text: &str, expected: &[(&str, &[&str])]) {
    let found = statements(text, &grammar());
    let found: Vec<(&str, Vec<&str>)> =
        found.iter().map(|one| (one.words.as_str(), one.cites.iter().map(String::as_str).collect())).collect();
    let expected: Vec<(&str, Vec<&str>)> = expected.iter().map(|(words, cites)| (*words, cites.to_vec())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn each_sentence_keeps_its_own_citations() {
    check("One. (HHS 3.8) Two. (HHS 3.9)", &[("One.", &["HHS 3.8"]), ("Two.", &["HHS 3.9"])]);
    check("One (HHS 3.8). Two (HHS 3.9).", &[("One.", &["HHS 3.8"]), ("Two.", &["HHS 3.9"])]);
    check("One. (HHS 3.8) (HHS 3.9). Two.", &[("One..", &["HHS 3.8", "HHS 3.9"]), ("Two.", &[])]);
    check("(HHS 3.8) One. Two.", &[("One.", &["HHS 3.8"]), ("Two.", &[])]);
    check("One (HHS 3.8. Guide G2.1). Two.", &[("One.", &["HHS 3.8. Guide G2.1"]), ("Two.", &[])]);
    check("One. [W1] Two. [W9]", &[("One.", &[]), ("Two.", &["[W9]"])]);
}

#[test]
fn lists_tables_and_headings_are_read_line_by_line() {
    let text = "## Keeping\nFiles are kept (HHS 3.8). A remark.\n\n> (HHS 3.8) six years\n\n- A point (HHS 3.9).\n1. First (HHS 4.1).\n\n**Exceptions**\n\n| what | how long |\n|---|---|\n| files (HHS 3.8) | 6 years |\n| papers | 9 years |";
    check(
        text,
        &[
            ("Files are kept.", &["HHS 3.8"]),
            ("A remark.", &[]),
            ("A point.", &["HHS 3.9"]),
            ("First.", &["HHS 4.1"]),
            ("| files | 6 years |", &["HHS 3.8"]),
            ("| papers | 9 years |", &[]),
        ],
    );
}

proptest! {
    /// Nothing that is written escapes: every letter is in a statement, a heading or a quotation.
    #[test]
    fn every_letter_is_somewhere(lines in proptest::collection::vec("[A-Z][a-z (),.!?0-9]{0,40}", 0..6)) {
        let text = lines.join("\n\n");
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
        let mut seen = String::new();
        for block in blocks(&text, &grammar()) {
            if let Block::Lines(lines) = block {
                for line in lines {
                    seen.push_str(&letters(&line.mark));
                    line.statements.iter().for_each(|statement| seen.push_str(&letters(&statement.text)));
                }
            }
        }
        prop_assert_eq!(seen, letters(&text));
    }

    /// Citations stay with their sentences, whether before or behind the full stop.
    #[test]
    fn citations_never_move(behind in proptest::collection::vec(any::<bool>(), 1..6)) {
        let text: Vec<String> = behind.iter().enumerate().map(|(number, behind)| {
            if *behind { format!("Rule {number} holds. (HHS 1.{number})") } else { format!("Rule {number} holds (HHS 1.{number}).") }
        }).collect();
        let found = statements(&text.join(" "), &grammar());
        prop_assert_eq!(found.len(), behind.len());
        for (number, statement) in found.iter().enumerate() {
            prop_assert_eq!(&statement.cites, &vec![format!("HHS 1.{number}")]);
            let rule = format!("Rule {number}");
            prop_assert!(statement.words.contains(&rule));
        }
    }
}
