//! From what a model wrote to the document: read, checked against a corpus, judged, rendered.

use std::sync::{Arc, PoisonError};

use super::*;
use crate::{Corpora, Corpus, Folder, Tier, judge, render, tools};

const RULES: &str = "# Keeping\n\n3.8 The records owner shall keep employee files for six years.\n\n3.9 The records owner shall \
     delete files within 60 days after the keeping period.\n";
const GUIDE: &str = "# About keeping\n\nG2.1 Six years are counted from the day on which the employee leaves.\n";

fn corpora(home: &std::path::Path) -> Corpora {
    let corpora = Corpora::within(home, Arc::new(|| 1_800_000_000_000));
    let folder = |name: &str, text: &str, tier, cite: &str| {
        let path = home.join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("text.md"), text).unwrap();
        Folder::at(path, tier, cite)
    };
    let folders = vec![folder("rules", RULES, Tier::Primary, "HHS"), folder("guide", GUIDE, Tier::Guide, "Guide")];
    corpora.add(Corpus { name: "rules".to_owned(), title: String::new(), folders }, &mut |_| {}).unwrap();
    corpora
}

struct Made {
    judged: Value,
    document: String,
}

/// The way of a run from the model's answer on.
fn made(model: Value) -> Made {
    let home = tempfile::tempdir().unwrap();
    let corpora = corpora(home.path());
    let book = corpora.book("rules").unwrap();
    let book = book.lock().unwrap_or_else(PoisonError::into_inner);
    let calibrate = json!({ "status": "calibrated", "web_sources": [{ "url": "https://a.example/x", "title": "A | page", "relevance_note": "zeppelin" }],
        "results": [{ "url": "https://a.example/x", "title": "A | page", "snippet": "A zeppelin flies." }] });
    let prefixes = json!(["HHS", "Guide"]);
    let answer = answer(&json!({ "model": model, "calibrate": calibrate, "prefixes": prefixes }));
    let checked = tools::check(&book, &json!({ "claims": answer["claims"], "names": answer["names"] })).unwrap().data;
    let judged = judge::judge(&json!({ "answer": answer, "checked": checked }));
    let rendered = render::render(
        &json!({ "question": "How long?", "answer": answer, "verify": judged, "calibrate": calibrate, "prefixes": prefixes }),
    );
    Made { judged, document: rendered["document"].as_str().unwrap().to_owned() }
}

fn written(synthesis: &str) -> Made {
    made(json!({ "synthesis": synthesis }))
}

const GOOD: &str = "The records owner shall keep employee files for six years (HHS 3.8).";

#[test]
fn citations_in_every_form_are_checked_and_none_that_is_made_up_is_shown() {
    for bad in [
        "A golden rule says so (see HHS 99.9).",
        "The records owner shall keep employee files for six years (HHS 3.8, ISO 27001).",
        "The records owner shall keep employee files for six years (Guide 3.8).",
        "The records owner shall keep employee files for six years [W9].",
        "The records owner shall keep employee files for six years [1] (HHS 3.8).",
        "The records owner shall keep employee files for six years, as HHS 77.7 says (HHS 3.8).",
        "The records owner shall keep employee files (https://made.up/1) for six years (HHS 3.8).",
        "The records owner shall keep employee files for six years (ISO 27001) (HHS 3.8).",
    ] {
        let made = written(&format!("{GOOD} {bad}"));
        assert!(made.document.contains("1 statement was left out"), "{bad}: {}", made.document);
        for gone in ["99.9", "27001", "(Guide 3.8)", "[W9]", "[1]", "77.7", "made.up"] {
            assert!(!made.document.contains(gone), "{bad}: {}", made.document);
        }
        assert!(made.document.contains("six years (HHS 3.8)."), "{bad}");
    }
}

#[test]
fn a_sentence_without_a_source_goes_back_and_is_left_out_at_last() {
    let made = written(&format!("{GOOD} Everybody knows this."));
    assert_eq!(made.judged["needs_repair"], true);
    assert!(made.judged["feedback"].as_str().unwrap().contains("\"Everybody knows this.\": it has no citation"));
    assert!(!made.document.contains("Everybody knows"), "{}", made.document);
    assert!(made.document.contains("*1 sentence was left out for want of a source.*"), "{}", made.document);
    assert!(made.document.contains("| Sentences without a source | 1 | 0 | left out |"));
    // What only looks like a citation is none, whatever stands in its brackets.
    for foreign in ["(GDPR Art. 17)", "(HSS 99.9)", "(HSS 99.9) (HHS 3.8)", "(GDPR Art. 17) (HHS 3.8)"] {
        let made = written(&format!("{GOOD} The records owner shall keep employee files for six years {foreign}."));
        assert!(!made.document.contains("99.9") && !made.document.contains("GDPR"), "{foreign}: {}", made.document);
    }
    let fine = written(GOOD);
    assert_eq!((fine.judged["needs_repair"].clone(), fine.judged["status"].clone()), (json!(false), json!("passed")));
    assert!(!fine.document.contains("left out"));
    // Only such sentences: there is no answer to show, and it is sent back all the same.
    let none = written("Everybody knows this.");
    assert_eq!((none.judged["needs_repair"].clone(), none.judged["status"].clone()), (json!(true), json!("failed")));
    assert!(none.document.contains("No answer can be shown: what was written does not hold"), "{}", none.document);
    assert!(!none.document.contains("Everybody") && !none.document.contains("do not answer"), "{}", none.document);
}

#[test]
fn what_cannot_be_read_goes_back_and_is_never_taken_for_an_answer() {
    let cut = "{\"synthesis\": \"The records owner shall keep employee files for six years (HHS 3.8).";
    for (model, why) in [
        (json!({ "raw_text": cut, "truncated": true }), "was cut off at the longest"),
        (json!({ "raw_text": cut }), "is not valid JSON"),
        (json!({ "error": "overloaded" }), "has no answer in it"),
        (json!(["a", "b"]), "has no answer in it"),
        (json!({ "synthesis": null }), "has no answer in it"),
        (json!({ "raw_text": "{\"error\": \"overloaded\"}" }), "has no answer in it"),
    ] {
        let made = made(model);
        assert_eq!(
            (made.judged["needs_repair"].clone(), made.judged["status"].clone()),
            (json!(true), json!("failed"))
        );
        assert!(made.judged["feedback"].as_str().unwrap().contains(why), "{}", made.judged);
        assert!(made.document.contains("No answer can be shown: what the model wrote"), "{}", made.document);
        assert!(made.document.contains(why) && !made.document.contains("synthesis"), "{}", made.document);
        assert!(!made.document.contains("do not answer"), "nobody knows that: {}", made.document);
    }
    // That the sources have no answer can be said in two ways.
    for none in [json!({ "synthesis": "" }), json!({ "gaps": ["All of it"] })] {
        let made = made(none);
        assert_eq!(made.judged["status"], "no_answer");
        assert!(made.document.contains("The documents do not answer this question."), "{}", made.document);
    }
    // Prose instead of JSON is an answer like any other.
    assert!(made(json!({ "raw_text": GOOD })).document.contains("six years (HHS 3.8)."));
}

#[test]
fn findings_conclusions_and_gaps_are_held_to_the_same() {
    let made = made(json!({
        "synthesis": GOOD,
        "key_findings": ["Files are kept six years (HHS 3.8).", "A secret rule applies (HHS 99.9)."],
        "conclusions": "Delete files within 60 days after the keeping period (HHS 3.9).",
        "gaps": ["Paper files", "Whether HHS 3.9 holds for paper", "What (HHS 99.9) says", "See [W9]", "## Look at HHS 99.9", "> Look at **https://made.up/9**", "# Old files"],
    }));
    assert!(
        made.document.contains("## Key findings") && made.document.contains("- Files are kept six years (HHS 3.8).")
    );
    assert!(made.document.contains("## Conclusions") && made.document.contains("60 days"));
    assert!(made.document.contains("- Paper files") && made.document.contains("Whether HHS 3.9 holds"));
    assert!(!made.document.contains("99.9") && !made.document.contains("[W9]"), "{}", made.document);
    assert!(!made.document.contains("made.up") && made.document.contains("- Old files\n"), "{}", made.document);
}

#[test]
fn a_wrong_number_is_left_out_even_if_all_else_is_right() {
    let made = written(&format!(
        "{GOOD} The records owner shall delete files within 60 days after the keeping period (HHS 3.9). \
         Employee files, of which there are 400, are kept by the records owner for six years (HHS 3.8)."
    ));
    assert!(!made.document.contains("400"), "{}", made.document);
    assert!(made.document.contains("60 days"));
}

#[test]
fn citations_behind_the_full_stop_stay_with_their_sentence() {
    let made = written(
        "The records owner shall keep employee files for six years. (HHS 3.8) The records owner shall delete files \
         within 60 days after the keeping period. (HHS 3.9)",
    );
    assert_eq!(made.judged["failed_claims"], json!([]), "{}", made.judged);
    assert!(!made.document.contains("left out"), "{}", made.document);
}

#[test]
fn tables_and_headings_hide_nothing() {
    let made = written(&format!(
        "## Keeping, see HHS 99.9\n\n{GOOD}\n\n| what | how long |\n|---|---|\n| employee files (HHS 3.8) | six years |\n| other files | 9 years |\n| secrets (HHS 99.9) | 1 day |"
    ));
    assert!(!made.document.contains("99.9"), "{}", made.document);
    assert!(!made.document.contains("9 years"), "{}", made.document);
    assert!(made.document.contains("| what | how long |\n|---|---|\n| employee files (HHS 3.8) | six years |"));
    // A head has no source of its own, and only the first rule makes one.
    for (head, gone) in [
        ("| Records are kept 99 years (HHS 98.7) | https://made.up/2 |", "made.up"),
        ("| Records shall be burnt | how |", "burnt"),
        ("| what | see **www.made.up** |", "made.up"),
        ("| files kept 99 years | how |", "99"),
    ] {
        let rows = "| employee files (HHS 3.8) | six years |";
        let made = written(&format!("{GOOD}\n\n{head}\n|---|---|\n{rows}"));
        assert!(!made.document.contains(gone) && !made.document.contains("98.7"), "{head}: {}", made.document);
        assert!(made.document.contains(&format!("|\n|---|---|\n{rows}")), "the table stays: {}", made.document);
    }
    let many = written(&format!("{GOOD}\n\n| a | b |\n|---|---|\n| all is burnt | 99 |\n|---|---|\n| or sold | 98 |"));
    assert!(!many.document.contains("burnt") && !many.document.contains("sold"), "{}", many.document);
    assert!(!many.document.contains("| a | b |"), "no row is left: {}", many.document);
}

#[test]
fn a_heading_states_nothing() {
    for bad in [
        "Records shall be burnt by the Board of Trustees",
        "Files are sold",
        "Kept 99 years",
        "Kept ninety years",
        "See `https://made.up/1`",
    ] {
        let made = written(&format!("## {bad}\n\n{GOOD}\n## {bad}\n- {GOOD}"));
        assert!(!made.document.contains(bad), "{bad}: {}", made.document);
        assert_eq!(made.document.matches("six years (HHS 3.8).").count(), 2, "{}", made.document);
        assert!(!made.document.contains("left out"), "a heading is no statement: {}", made.document);
    }
    for good in ["Keeping", "Who must keep files", "What is HHS 3.8 about?", "1. Employee files"] {
        assert!(written(&format!("## {good}\n\n{GOOD}")).document.contains(&format!("## {good}")), "{good}");
    }
}

#[test]
fn a_name_that_no_source_has_is_marked() {
    let made = written(&format!(
        "{GOOD} The records owner and Trustee Wilhelm shall delete files within 60 days after the keeping period (HHS 3.9)."
    ));
    let shown = "(HHS 3.9). [not in the sources: ";
    assert!(made.document.contains(shown) && made.document.contains("Wilhelm]"), "{}", made.document);
    assert!(made.document.contains("names that are not in the sources are marked"), "{}", made.document);
    assert!(!written(GOOD).document.contains("[not in the sources"));
}

#[test]
fn what_only_a_web_page_says_is_compared_with_its_words() {
    let says = written(&format!("{GOOD} A zeppelin flies [W1]."));
    assert!(says.document.contains("A zeppelin flies [W1].") && !says.document.contains("[not checked]"));
    let not = written(&format!("{GOOD} Balloons need 40 permits from the mayor [W1]."));
    assert!(not.document.contains("from the mayor [W1]. [not checked]"), "{}", not.document);
    assert!(not.document.contains("marked as not checked"), "{}", not.document);
}

#[test]
fn only_parts_of_the_earlier_answer_that_are_used_are_listed() {
    let prior = json!({ "question": "q", "output": { "followup_number": 1, "document": "# q\n\n## Keeping\n\nLong.\n\n## Deleting | soon\n\nSoon.\n\n## Travel\n\nFar.\n\n## Citations\n\n- x\n" } });
    let input = |words: &str| json!({ "model": { "synthesis": words }, "prior": prior, "prefixes": ["HHS"] });
    let document = |words: &str| {
        let answer = answer(&input(words));
        let texts = json!({ "3.8": { "cite": "HHS 3.8", "text": "Six years." } });
        let rendered = render::render(
            &json!({ "question": "and?", "answer": answer, "prior": prior, "prefixes": ["HHS"], "verify": { "source_texts": texts } }),
        );
        rendered["document"].as_str().unwrap().to_owned()
    };
    let both = document("Zeppelins fly [P1] (HHS 3.8). Balloons rise [P2].");
    assert!(
        both.starts_with("# Follow-up 1: and?") && both.contains("- [P1] Keeping\n- [P2] Deleting \\| soon\n"),
        "{both}"
    );
    assert!(!both.contains("[P3]"), "{both}");
    assert!(!document("Zeppelins fly (HHS 3.8).").contains("## Earlier research"));
}
