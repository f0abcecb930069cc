use super::*;

#[test]
fn citations_are_told_from_remarks() {
    let prefixes = vec!["HHS".to_owned(), "Guide".to_owned()];
    let cases: [(&str, &str, &[&str]); 7] = [
        ("Records are kept for six years (HHS 3.8).", "Records are kept for six years.", &["3.8"]),
        ("Two rules apply (HHS 3.8, 3.9; Guide G2.1).", "Two rules apply.", &["3.8", "3.9", "G2.1"]),
        ("It may (in some cases) be longer (HHS 3.9).", "It may (in some cases) be longer.", &["3.9"]),
        ("Made up (HHS 99.1).", "Made up.", &["99.1"]),
        ("The fee is small (about 3.50).", "The fee is small (about 3.50).", &[]),
        ("See the web [W1] (HHS 1.1).", "See the web.", &["1.1"]),
        ("An open bracket (HHS 3.8", "An open bracket (HHS 3.8", &[]),
    ];
    for (sentence, words, cites) in cases {
        let (found, ids) = cited(sentence, &prefixes);
        assert_eq!((found.as_str(), ids), (words, cites.iter().map(|id| (*id).to_owned()).collect()), "{sentence}");
    }
}

#[test]
fn headings_and_source_blocks_are_no_claims() {
    let text =
        "## Keeping\n\nFiles are kept (HHS 3.8). This is a remark.\n\n> (HHS 3.8) six years\n\n- A point (HHS 3.9).";
    let found = claims(text, &["HHS".to_owned()]);
    let texts: Vec<&str> = found.iter().map(|claim| claim.text.as_str()).collect();
    assert_eq!(texts, ["Files are kept.", "A point."]);
}
