use std::path::PathBuf;

use super::*;
use crate::book::Tier;
use crate::cite::Grammar;

fn paragraph(folder: usize, source: &str, id: &str, section: &str) -> Paragraph {
    Paragraph {
        id: id.to_owned(),
        cite: String::new(),
        text: "Words.".to_owned(),
        section: section.to_owned(),
        source: source.to_owned(),
        line: 1,
        page: None,
        tier: Tier::Primary,
        folder,
    }
}

#[test]
fn every_paragraph_has_a_name_of_its_own_that_can_be_cited() {
    let folder =
        |path: &str, cite: &str| Folder { path: PathBuf::from(path), tier: Tier::Primary, cite: cite.to_owned() };
    let folders = [folder("/x/north", "R"), folder("/x/south", "")];
    let mut all = vec![
        paragraph(0, "the rules.md", "1.1", "Rules"),
        paragraph(0, "the rules.md", "1.2", "Rules"),
        paragraph(0, "more (old).md", "1.1", "Old"),
        paragraph(1, "the rules.md", "1.1", "Rules"),
        paragraph(1, "the rules.txt", "1.1", "Rules"),
        paragraph(1, "notes.md", "", "Notes > Booking a trip"),
        paragraph(1, "notes.md", "", "Notes > Booking a trip"),
        paragraph(1, "notes.md", "", ""),
    ];
    name(&mut all, &folders);
    let ids: Vec<&str> = all.iter().map(|paragraph| paragraph.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "north/the-rules.md#1.1",
            "1.2",
            "more-old#1.1",
            "south/the-rules.md#1.1",
            "south/the-rules.txt#1.1",
            "notes#booking-a-trip.1",
            "notes#booking-a-trip.2",
            "notes#1"
        ]
    );
    let grammar = Grammar { prefixes: vec!["R".to_owned()], ..Grammar::default() };
    for paragraph in &all {
        let read = grammar.read(&format!("It is so ({}).", paragraph.cite));
        assert_eq!(read.cites, std::slice::from_ref(&paragraph.cite));
    }
}
