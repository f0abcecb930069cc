use std::path::PathBuf;

use super::*;

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
    let folder = |path: &str, cite: &str| Folder::at(PathBuf::from(path), Tier::Primary, cite);
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

/// What paragraphs of such documents are called.
fn named(all: &[(&str, &str)]) -> Vec<String> {
    let folders = [Folder::at(PathBuf::from("/x"), Tier::Primary, "ISA")];
    let mut all: Vec<Paragraph> = all.iter().map(|(source, id)| paragraph(0, source, id, "S")).collect();
    name(&mut all, &folders);
    all.into_iter().map(|paragraph| paragraph.cite).collect()
}

#[test]
fn a_guide_with_the_numbers_of_its_text_leaves_them_to_it() {
    let folder = |tier| Folder::at(PathBuf::from("/x"), tier, "ISA");
    let cites = |folders: &[Folder]| {
        let mut all = vec![
            paragraph(0, "isa-315.pdf", "12", "S"),
            paragraph(0, "isa-240.pdf", "12", "S"),
            paragraph(1, "guide-315.pdf", "12", "S"),
            paragraph(1, "guide-240.pdf", "12", "S"),
        ];
        name(&mut all, folders);
        all.into_iter().map(|paragraph| paragraph.cite).collect::<Vec<_>>()
    };
    let guided = cites(&[folder(Tier::Primary), folder(Tier::Guide)]);
    assert_eq!(guided, ["ISA 315.12", "ISA 240.12", "ISA guide-315#12", "ISA guide-240#12"]);
    let texts = cites(&[folder(Tier::Primary), folder(Tier::Primary)]);
    assert_eq!(texts, ["ISA isa-315#12", "ISA isa-240#12", "ISA guide-315#12", "ISA guide-240#12"]);
}

#[test]
fn documents_with_numbers_give_them_to_their_paragraphs() {
    let standards = [
        ("isa-315.pdf", "12"),
        ("isa-315.pdf", "A5"),
        ("ISA 0240 (Revised 2019).pdf", "12"),
        ("ISA 0240 (Revised 2019).pdf", "70"),
    ];
    assert_eq!(named(&standards), ["ISA 315.12", "ISA 315.A5", "ISA 240.12", "ISA 240.70"]);
    let grammar = Grammar { prefixes: vec!["ISA".to_owned()], ..Grammar::default() };
    for cite in named(&standards) {
        assert_eq!(grammar.read(&format!("It is so ({cite}).")).cites, [cite]);
    }
    // One that has none, or the same as another: they are told apart by their names.
    assert_eq!(named(&[("isa-315.pdf", "12"), ("notes.pdf", "12")]), ["ISA isa-315#12", "ISA notes#12"]);
    assert_eq!(named(&[("part 1.md", "12"), ("annex 1.md", "12")]), ["ISA part-1#12", "ISA annex-1#12"]);
    // Numbers that already tell the part, or that only one document has, stay.
    assert_eq!(named(&[("01-words.md", "1.2"), ("02-roles.md", "2.2")]), ["ISA 1.2", "ISA 2.2"]);
    assert_eq!(named(&[("01-words.md", "1"), ("02-roles.md", "2")]), ["ISA 1", "ISA 2"]);
}
