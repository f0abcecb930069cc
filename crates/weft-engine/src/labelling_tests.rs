use weft_core::UserPart;

use super::{AutoLabel, of};

fn labels(said: &[&str], rules: &[(&str, &str)]) -> Vec<String> {
    let content: Vec<UserPart> = said.iter().map(|text| UserPart::text((*text).to_owned())).collect();
    let rule = |(pattern, label): &(&str, &str)| AutoLabel { pattern: (*pattern).into(), label: (*label).into() };
    of(&content, &rules.iter().map(rule).collect::<Vec<_>>())
}

#[test]
fn words_give_labels_each_once() {
    let rules = [("invoice", "money"), ("BILL", "money"), ("fix*test", "work/tests"), (" * ", "everything")];
    assert_eq!(labels(&["Pay the INVOICE and the bill"], &rules), ["money"]);
    assert_eq!(labels(&["Please fix the slow Test"], &rules), ["work/tests"]);
    assert_eq!(labels(&["The test is fixed"], &rules), [""; 0], "the other way round");
    assert_eq!(labels(&["hello", "and an invoice"], &rules), ["money"]);
    assert_eq!(labels(&["Straße"], &[("STRASSE", "no"), ("stra\u{df}e", "yes")]), ["yes"]);
    assert_eq!(labels(&["\n<file name=\"a.txt\">\ninvoice\n</file>"], &rules), [""; 0], "a file is not what was said");
}
