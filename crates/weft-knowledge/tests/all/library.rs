//! Documents by paragraph: numbers, references, pages, and answers checked against them.

use weft_knowledge::verify::{Axis, Claim, Verdict, claims_in};

use crate::world::World;

fn standards() -> World {
    let world = World::new();
    world.write(
        "isa/contract.md",
        "# Contract\n\n## 4 Payment\n\n4.1 The buyer shall pay within 30 days, see 4.2.\n\n\
         4.2 Interest is due, see 5.1.\n\n## 5 Interest\n\n5.1 The rate is 5%.\n",
    );
    world.write("other.md", "# Other\n\n4.1 Nothing to see.\n\n4.9 The same holds, see 4.1.\n");
    world
}

#[test]
fn a_paragraph_is_found_by_number_and_document() {
    let (knowledge, _) = standards().index();
    assert_eq!(knowledge.paragraphs("4.1", None).unwrap().len(), 2);
    for (id, document) in [("4.1", Some("isa/contract.md")), ("4.1", Some("contract.md")), ("contract.md#4.1", None)] {
        let found = knowledge.paragraphs(id, document).unwrap();
        assert_eq!(found.len(), 1, "{id} {document:?}");
        assert_eq!(found[0].text, "4.1 The buyer shall pay within 30 days, see 4.2.");
        assert_eq!(found[0].address(), "isa/contract.md#4.1");
    }
    // A section is more than its heading.
    let section = knowledge.paragraphs("contract.md#5", None).unwrap();
    assert!(section[0].text.contains("The rate is 5%"), "{section:?}");
    assert!(knowledge.paragraphs("9.9", None).unwrap().is_empty());
}

#[test]
fn references_are_followed_with_their_way() {
    let (knowledge, _) = standards().index();
    let hops = knowledge.hops("4.1", Some("contract.md"), 2).unwrap();
    let told: Vec<(String, usize, usize)> =
        hops.iter().map(|hop| (hop.paragraph.address(), hop.distance, hop.way.len())).collect();
    assert!(told.contains(&("isa/contract.md#4.2".to_owned(), 1, 2)), "{told:?}");
    assert!(told.contains(&("isa/contract.md#5.1".to_owned(), 2, 3)), "{told:?}");
    assert!(knowledge.hops("4.1", Some("contract.md"), 1).unwrap().iter().all(|hop| hop.distance == 1));
    let back = knowledge.hops("contract.md#5.1", None, 1).unwrap();
    assert!(back.iter().any(|hop| hop.back && hop.paragraph.id == "4.2"), "{back:?}");
}

#[test]
fn documents_are_listed_with_counts() {
    let (knowledge, _) = standards().index();
    let documents = knowledge.documents().unwrap();
    let told: Vec<(&str, &str, u64, u64)> = documents
        .iter()
        .map(|document| (document.path.as_str(), document.title.as_str(), document.sections, document.paragraphs))
        .collect();
    assert_eq!(told, [("isa/contract.md", "Contract", 3, 3), ("other.md", "Other", 1, 2)]);
    assert!(documents[0].references >= 2);
}

#[test]
fn an_answer_is_checked_against_the_documents() {
    let (knowledge, _) = standards().index();
    let answer = "The buyer must pay within 30 days [contract.md#4.1]. The rate is 7%. [contract.md#5.1]\n\n\
                  Fees are waived [6.6].";
    let claims = claims_in(answer);
    assert_eq!(claims.len(), 3);
    assert_eq!(claims[1], Claim { text: "The rate is 7%.".to_owned(), cites: vec!["contract.md#5.1".to_owned()] });
    let report = knowledge.verify(&claims, &[]).unwrap();
    let failed: Vec<(usize, Axis)> = report.failures().map(|check| (check.claim, check.axis)).collect();
    assert!(failed.contains(&(1, Axis::Entity)) && failed.contains(&(2, Axis::Citation)), "{report:#?}");
    assert!(!failed.iter().any(|(claim, _)| *claim == 0), "{report:#?}");
    assert!(report.checks.iter().any(|check| check.claim == 0 && check.verdict == Verdict::Holds));
}

/// A PDF of two pages, one line each, made by hand.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (at, text) in pages.iter().enumerate() {
        let stream = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * at
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut out = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let start = out.len();
    out.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        out.push_str(&format!("{place:010} 00000 n \n"));
    }
    out.push_str(&format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1));
    out.into_bytes()
}

#[test]
fn a_paragraph_of_a_pdf_has_its_page() {
    let world = World::new();
    let bytes = pdf(&["12.1 The first rule stands here.", "12.2 The second rule stands on the next page."]);
    std::fs::write(world.folder.path().join("rules.pdf"), bytes).unwrap();
    let (knowledge, report) = world.index();
    assert!(report.passed.is_empty(), "{report:?}");
    let pages: Vec<Option<u32>> = ["12.1", "12.2"]
        .iter()
        .flat_map(|id| knowledge.paragraphs(id, None).unwrap())
        .map(|found| found.page)
        .collect();
    assert_eq!(pages, [Some(1), Some(2)]);
    assert_eq!(knowledge.documents().unwrap()[0].pages, Some(2));
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test makes the tables older than they are")]
fn tables_of_the_version_before_are_brought_up() {
    let world = standards();
    let (knowledge, _) = world.index();
    drop(knowledge);
    let path = world.kept().join("knowledge.db");
    let before = "DROP TABLE feedback; DROP TABLE told; DROP TABLE answer_sources; DROP TABLE answers; ALTER TABLE conflicts DROP COLUMN counts; \
                  PRAGMA user_version = 2;";
    rusqlite::Connection::open(&path).unwrap().execute_batch(before).unwrap();
    drop(world.open());
    rusqlite::Connection::open(&path).unwrap().execute_batch(before).unwrap();
    let older = "ALTER TABLE nodes DROP COLUMN page; ALTER TABLE nodes DROP COLUMN confidence; \
                 ALTER TABLE nodes DROP COLUMN verified; ALTER TABLE nodes DROP COLUMN warning; \
                 DROP TABLE provenance; DROP TABLE conflicts; DROP TABLE settled; PRAGMA user_version = 1;";
    rusqlite::Connection::open(&path).unwrap().execute_batch(older).unwrap();
    let (knowledge, _) = world.index();
    assert_eq!(knowledge.paragraphs("contract.md#4.1", None).unwrap().len(), 1);
}

#[test]
fn documents_that_contradict_each_other_are_found() {
    let world = World::new();
    world.write("a.md", "# A\n\n1.1 Files shall be kept for five years.\n\n1.2 Visitors may enter.\n");
    world.write("b.md", "# B\n\n2.1 Files shall be kept for seven years.\n\n2.2 Contracts are signed.\n");
    let (mut knowledge, _) = world.index();
    let stop = std::sync::atomic::AtomicBool::new(false);
    assert_eq!(knowledge.find_conflicts(1, &stop).unwrap(), 1);
    assert_eq!(knowledge.find_conflicts(2, &stop).unwrap(), 0, "found once");
    let conflict = knowledge.conflicts(false).unwrap().remove(0);
    let mut places = [conflict.one_at.as_str(), conflict.other_at.as_str()];
    places.sort_unstable();
    assert_eq!(places, ["a.md#1.1", "b.md#2.1"]);
    assert!(knowledge.settle(conflict.id, "seven it is", 3).unwrap());
    // Read again, and found again: it stays settled.
    world.write("b.md", "# B\n\n2.1 Files shall be kept for seven years.\n\n2.2 Contracts are signed. Twice.\n");
    let mut knowledge = world.index().0;
    assert!(knowledge.conflicts(true).unwrap().is_empty(), "gone with the file");
    assert_eq!(knowledge.find_conflicts(4, &stop).unwrap(), 1);
    assert!(knowledge.conflicts(false).unwrap().is_empty());
    assert_eq!(knowledge.conflicts(true).unwrap()[0].resolution.as_deref(), Some("seven it is"));
}
