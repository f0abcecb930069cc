//! Every case is an answer's sentence, what it cites, and what must come of each axis: `+` holds, `-`
//! fails, `.` was not looked at.

use super::{Axis, Claim, Report, Source, Verdict, verify};

fn source(id: &str, text: &str) -> Source {
    Source { id: id.to_owned(), text: text.to_owned() }
}

fn contract() -> Vec<Source> {
    vec![
        source("4.1", "The buyer shall pay the seller within 30 days of receipt of the invoice."),
        source("4.2", "The seller may suspend deliveries if the buyer is in default for more than 14 business days."),
        source(
            "4.3",
            "The seller must not disclose confidential information unless the buyer has given written consent.",
        ),
        source("4.4", "The licensee need not return backup copies. It should delete them after the end of the term."),
        source(
            "5.1",
            "Either party may terminate the agreement with three months' notice. Notice shall be given in writing.",
        ),
        source("5.2", "The total liability of the seller shall not exceed EUR 500,000 in any calendar year."),
        source("5.3", "Risk passes from the seller to the buyer when the goods are handed over in Rotterdam."),
        source("6.1", "The warranty period is 24 months and begins on 1 March 2024."),
        source(
            "6.2",
            "Defects shall be reported by the buyer to the seller at least 5 days before the end of the warranty period.",
        ),
    ]
}

fn audit() -> Vec<Source> {
    vec![
        source(
            "315.12",
            "315.12 The auditor shall obtain an understanding of internal control relevant to the audit. \
                          Although most controls relevant to the audit are likely to relate to financial reporting, not all \
                          controls that relate to financial reporting are relevant to the audit.",
        ),
        source(
            "315.A5",
            "The auditor may inquire of internal audit personnel. Inquiries of management should be \
                          corroborated with other evidence.",
        ),
        source(
            "330.18",
            "Irrespective of the assessed risks of material misstatement, the auditor shall design and perform \
                          substantive procedures for each material class of transactions, account balance and disclosure.",
        ),
        source(
            "450.5",
            "The auditor shall accumulate misstatements identified during the audit, other than those that are \
                         clearly trivial.",
        ),
        source(
            "560.9",
            "The International Auditing and Assurance Standards Board (IAASB) requires written representations \
                         from management. Management is not required to perform procedures after the date of the auditor's report.",
        ),
        source(
            "570.3",
            "The going concern basis is appropriate only if the entity does not intend to liquidate. \
                         The assessment covers at least twelve months from the date of the financial statements.",
        ),
        source("600.2", "The threshold is 5% of profit before tax. In 2023 the group had 12 components."),
    ]
}

/// What came of one axis.
fn mark(report: &Report, axis: Axis) -> char {
    let mut of_axis = report.checks.iter().filter(|check| check.axis == axis && check.claim == 0).peekable();
    if of_axis.peek().is_none() {
        return '.';
    }
    if of_axis.any(|check| check.verdict == Verdict::Fails) { '-' } else { '+' }
}

/// Checks each row: `marks` are citation, entity, relation, contradiction.
fn check(sources: &[Source], rows: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (text, cites, marks) in rows {
        let cites = cites.split(' ').filter(|id| !id.is_empty()).map(str::to_owned).collect();
        let report = verify(&[Claim { text: (*text).to_owned(), cites }], sources);
        let axes = [Axis::Citation, Axis::Entity, Axis::Relation, Axis::Contradiction];
        let got: String = axes.iter().map(|axis| mark(&report, *axis)).collect();
        let fits = got
            .chars()
            .zip(marks.chars())
            .all(|(got, wanted)| got == wanted || wanted == '?' || (wanted == '=' && got != '-'));
        if !fits {
            let told: Vec<String> = report
                .checks
                .iter()
                .map(|check| format!("    {:?} {:?} {}: {}", check.axis, check.verdict, check.item, check.why))
                .collect();
            wrong.push(format!("{text}\n  wanted {marks}, got {got}\n{}", told.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn a_sentence_or_row_as_it_stands_in_its_source_holds() {
    let sources = [
        source(
            "14.16",
            "Against a refusal by the board, the person who asked may appeal to the director within ten working days. \
             Against a decision of the director there is no appeal.",
        ),
        source("2.1", "Meal | Price |\nSoup | 2 euros |\nMain dish | 4.50 euros |"),
    ];
    check(
        &sources,
        &[
            (
                "“Against a refusal by the board, the person who asked may appeal to the director within ten working days.”",
                "14.16",
                "+==.",
            ),
            ("“Against a decision of the director there is no appeal.”", "14.16", "+==."),
            ("“Soup | 2 euros”", "2.1", "++=."),
            // A row that is not there.
            ("“Soup | 4.50 euros”", "2.1", "?-??"),
        ],
    );
}

#[test]
fn sentences_of_a_contract() {
    check(
        &contract(),
        &[
            // What holds, told in other words.
            ("The buyer must pay within 30 days after receiving the invoice.", "4.1", "++=."),
            ("The buyer has to pay the seller within thirty days of receipt of the invoice.", "4.1", "++=."),
            ("Payment by the buyer is due no later than 30 days after receipt of the invoice.", "4.1", "++=."),
            ("The seller is paid by the buyer within 30 days.", "4.1", "++=."),
            (
                "The seller can suspend deliveries when the buyer is in default for over 14 business days.",
                "4.2",
                "++=.",
            ),
            (
                "The seller may only disclose confidential information if the buyer has consented in writing.",
                "4.3",
                "+=+.",
            ),
            ("The seller is prohibited from disclosing confidential information.", "4.3", "+=+."),
            ("Backup copies do not have to be returned by the licensee.", "4.4", "+=+."),
            ("Both parties are entitled to terminate the agreement with three months' notice.", "5.1", "++=."),
            ("The liability of the seller is limited to at most EUR 500,000 in a calendar year.", "5.2", "++=."),
            ("The seller's total liability must be no more than €500,000 per calendar year.", "5.2", "++=."),
            ("Risk passes from the seller to the buyer in Rotterdam.", "5.3", "++=."),
            ("The warranty period of 24 months begins on March 1, 2024.", "6.1", "++=."),
            (
                "The buyer must report defects to the seller at least five days before the warranty period ends.",
                "6.2",
                "++=.",
            ),
            ("According to 4.1, “the buyer shall pay the seller within 30 days”.", "4.1", "++=."),
            ("“The seller may suspend deliveries … for more than 14 business days.”", "4.2", "++=."),
            ("Notice must be given in writing.", "5.1", "+=+."),
            // Another number, unit or date.
            ("The buyer shall pay the seller within 15 days of receipt of the invoice.", "4.1", "+---"),
            ("The buyer shall pay the seller within 30 months of receipt of the invoice.", "4.1", "+-=="),
            ("The seller may suspend deliveries if the buyer is in default for more than 14 days.", "4.2", "+--="),
            ("Either party may terminate the agreement with six months' notice.", "5.1", "+---"),
            ("The total liability of the seller shall not exceed EUR 5,000,000 in any calendar year.", "5.2", "+---"),
            ("The total liability of the seller shall not exceed USD 500,000 in any calendar year.", "5.2", "+-?="),
            ("The warranty period is 24 months and begins on 1 May 2024.", "6.1", "+-?-"),
            ("The warranty period is 36 months.", "6.1", "+---"),
            // Another force.
            ("The buyer may pay the seller within 30 days of receipt of the invoice.", "4.1", "++-."),
            ("The buyer should pay the seller within 30 days of receipt of the invoice.", "4.1", "++-."),
            (
                "The seller must suspend deliveries if the buyer is in default for more than 14 business days.",
                "4.2",
                "++-.",
            ),
            ("The licensee must return backup copies.", "4.4", "+=--"),
            ("The licensee must delete backup copies after the end of the term.", "4.4", "+=-?"),
            ("Either party must terminate the agreement with three months' notice.", "5.1", "++-."),
            // Turned round.
            ("The buyer shall not pay the seller within 30 days of receipt of the invoice.", "4.1", "++--"),
            ("The seller may disclose confidential information.", "4.3", "+=-."),
            ("The licensee need not delete backup copies after the end of the term.", "4.4", "+=-?"),
            ("The seller shall pay the buyer within 30 days of receipt of the invoice.", "4.1", "++-."),
            ("Risk passes from the buyer to the seller when the goods are handed over.", "5.3", "+=-."),
            (
                "Defects shall be reported by the seller to the buyer at least 5 days before the end of the warranty period.",
                "6.2",
                "++-.",
            ),
            (
                "Defects shall be reported by the buyer to the seller at most 5 days before the end of the warranty period.",
                "6.2",
                "++-.",
            ),
            (
                "Defects shall be reported by the buyer to the seller at least 5 days after the end of the warranty period.",
                "6.2",
                "++-.",
            ),
            ("The total liability of the seller shall be at least EUR 500,000 in any calendar year.", "5.2", "++-."),
            ("Notice shall be given orally.", "5.1", "?=-."),
            (
                "The seller reports defects to the buyer at least 5 days before the end of the warranty period.",
                "6.2",
                "++?.",
            ),
            ("Receipt of the invoice obliges the buyer to pay the seller.", "4.1", "+=+."),
            // Made up.
            ("The buyer shall pay a deposit of 10% to an escrow agent in Zurich.", "4.1", "--??"),
            ("The buyer shall pay the seller within 30 days.", "9.9", "-+?="),
            ("Arbitration takes place under the rules of the Chamber of Commerce.", "5.1", "--.."),
            ("The seller insures the goods against theft and fire.", "5.3", "-=.."),
            ("The buyer bears the risk once the goods are handed over in Hamburg.", "5.3", "+-=."),
            // Quotations.
            (
                "The contract says that “the buyer shall pay the seller within 30 days of receipt of the invoice”.",
                "4.1",
                "++=.",
            ),
            (
                "The contract says that “the buyer may pay the seller within 30 days of receipt of the invoice”.",
                "4.1",
                "-+-.",
            ),
            ("The contract says: “The buyer shall promptly pay the seller within 30 days of receipt.”", "4.1", "-+=."),
            ("“Time is of the essence in all matters”, the contract says.", "4.1", "-==."),
        ],
    );
}

#[test]
fn sentences_on_auditing() {
    check(
        &audit(),
        &[
            ("Auditors must gain an understanding of the internal control relevant to the audit.", "315.12", "+=+."),
            ("ISA 315.12 requires the auditor to obtain an understanding of internal control.", "315.12", "+?+."),
            ("Not all controls that relate to financial reporting are relevant to the audit.", "315.12", "+=+."),
            ("All controls that relate to financial reporting are relevant to the audit.", "315.12", "+=-?"),
            ("The auditor may choose to inquire of internal audit personnel.", "315.A5", "+=+."),
            ("The auditor must inquire of internal audit personnel.", "315.A5", "+=-."),
            ("The auditor must not inquire of internal audit personnel.", "315.A5", "+=--"),
            ("Inquiries of management should be corroborated with other evidence.", "315.A5", "+=+."),
            ("Inquiries of management must be corroborated with other evidence.", "315.A5", "+=-."),
            (
                "Substantive procedures must be performed for each material class of transactions, whatever the assessed risks.",
                "330.18",
                "+=+.",
            ),
            (
                "The auditor need not perform substantive procedures for material classes of transactions.",
                "330.18",
                "+=--",
            ),
            ("Misstatements must be accumulated by the auditor unless they are clearly trivial.", "450.5", "+=+."),
            ("The IAASB requires written representations from management.", "560.9", "+++."),
            ("The Financial Reporting Council requires written representations from management.", "560.9", "+-+."),
            ("Management must perform procedures after the date of the auditor's report.", "560.9", "+=--"),
            ("Management does not have to perform procedures after the date of the auditor's report.", "560.9", "+=+."),
            ("The assessment of going concern covers a period of no less than 12 months.", "570.3", "++=."),
            ("The assessment of going concern covers at most twelve months.", "570.3", "++-."),
            ("The threshold is 5 percent of profit before tax.", "600.2", "++=."),
            ("The threshold is 10% of profit before tax.", "600.2", "+---"),
            ("The threshold is 5% of profit after tax.", "600.2", "++-."),
            ("The group had 12 components in 2023.", "600.2", "++=."),
            ("The group had 15 components in 2023.", "600.2", "+---"),
            ("The group had 12 components in 2022.", "600.2", "+-=."),
            ("Paragraph 315.12 deals with internal control.", "315.12", "++=."),
            ("Paragraph 999.9 deals with internal control.", "315.12", "+-=."),
            (
                "Together, 315.12 and 330.18 ask for an understanding of internal control and for substantive procedures.",
                "315.12 330.18",
                "++=.",
            ),
            ("The auditor obtains an understanding of internal control.", "315.12 600.2", "-==."),
        ],
    );
}

fn conflicts(sources: &[(&str, &str)]) -> usize {
    let sources: Vec<Source> = sources.iter().map(|(id, text)| source(id, text)).collect();
    verify(&[], &sources).scores.contradictions
}

#[test]
fn sources_against_each_other() {
    let rows: &[(&str, &str, usize)] = &[
        ("Files shall be kept for five years.", "Files shall be kept for seven years.", 1),
        ("The auditor shall confirm receivables.", "The auditor shall not confirm receivables.", 1),
        ("Visitors may enter the laboratory.", "Visitors must not enter the laboratory.", 1),
        ("The cache is shared between sessions.", "The cache is not shared between sessions.", 1),
        ("The report was published on 3 May 2021.", "The report was published on 4 May 2021.", 1),
        // Not the same thing, or not under the same condition.
        ("Files shall be kept for five years.", "Contracts shall be kept for seven years.", 0),
        ("The auditor shall confirm receivables.", "If the risk is low, the auditor need not confirm receivables.", 0),
        (
            "Visitors must not enter the laboratory.",
            "Visitors may enter the laboratory when they are accompanied by staff.",
            0,
        ),
        ("Visitors must not enter the laboratory unless accompanied.", "Visitors may enter the laboratory.", 0),
        ("For small entities, files shall be kept for five years.", "Files shall be kept for seven years.", 0),
        ("Listed entities shall file within 30 days.", "Unlisted entities shall file within 60 days.", 0),
        ("The auditor shall confirm receivables.", "The auditor may confirm receivables.", 0),
        ("Files shall be kept for five years.", "Files shall be kept for 5 years.", 0),
        ("In 2022 the fee was EUR 100.", "In 2023 the fee was EUR 120.", 0),
        ("The fee is EUR 100 for members.", "The fee is EUR 150 for visitors from abroad.", 0),
    ];
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(one, other, wanted)| conflicts(&[("a", one), ("b", other)]) != *wanted)
        .map(|(one, other, wanted)| format!("{one} / {other}: wanted {wanted}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_conflict_that_is_told_is_in_the_open() {
    let sources =
        [source("a", "Files shall be kept for five years."), source("b", "Files shall be kept for seven years.")];
    let told = Claim {
        text: "Files must be kept for five years, or for seven years.".to_owned(),
        cites: vec!["a".to_owned(), "b".to_owned()],
    };
    assert_eq!(verify(&[told], &sources).scores.contradictions, 0);
    let silent = Claim { text: "Files must be kept for five years.".to_owned(), cites: vec!["a".to_owned()] };
    assert_eq!(verify(&[silent], &sources).scores.contradictions, 2);
}

#[test]
fn says_why_in_words_that_help() {
    let claim = |text: &str, id: &str| Claim { text: text.to_owned(), cites: vec![id.to_owned()] };
    let report = verify(
        &[
            claim("The buyer shall pay the seller within 15 days.", "4.1"),
            claim("The buyer may pay the seller.", "4.1"),
            claim("The buyer pays in gold.", "9.9"),
        ],
        &contract(),
    );
    let whys: Vec<&str> = report.failures().map(|check| check.why.as_str()).collect();
    for wanted in [
        "15 days is not in 4.1, which says 30 days.",
        "The sentence says “may”, 4.1 says “must”.",
        "There is no paragraph 9.9 in the sources.",
    ] {
        assert!(whys.contains(&wanted), "{wanted} is not among {whys:#?}");
    }
    let number = report.failures().find(|check| check.item == "15 days").map(|check| check.evidence.clone());
    assert_eq!(number.unwrap_or_default().first().map(|evidence| evidence.source.clone()), Some("4.1".to_owned()));
}

#[test]
fn nothing_to_look_at_is_right() {
    let report = verify(&[], &[]);
    assert_eq!((report.scores.entity, report.scores.citation, report.scores.relation), (1.0, 1.0, 1.0));
    let empty = Claim { text: String::new(), cites: Vec::new() };
    assert!(verify(&[empty], &contract()).checks.is_empty());
}

#[test]
fn scores_are_shares() {
    let claim = |text: &str, id: &str| Claim { text: text.to_owned(), cites: vec![id.to_owned()] };
    let good = claim("The warranty period is 24 months.", "6.1");
    let bad = claim("The warranty period is 24 months.", "7.7");
    let report = verify(&[good, bad], &contract());
    assert!((report.scores.citation - 0.5).abs() < 1e-6, "{report:#?}");
}

#[test]
fn takes_whatever_it_is_given() {
    let odd = [
        "",
        "…",
        "“",
        "“”",
        "3",
        "%",
        "€",
        "...",
        "not",
        "May may not.",
        "\u{0}\u{fffd}",
        "1.2.3.4.5 — § §§",
        "不可 30 日",
        "-- 5 - 6",
    ];
    for one in odd {
        for other in odd {
            let claim = Claim { text: one.to_owned(), cites: vec![other.to_owned()] };
            let report = verify(&[claim], &[source(other, one), source(one, other)]);
            assert!(report.scores.entity <= 1.0);
        }
    }
}
