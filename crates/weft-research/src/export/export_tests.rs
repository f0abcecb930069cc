use super::*;

/// Goes through the elements of a part of a DOCX and says what stands in what.
fn check_nesting(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in xml.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag)) {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{xml}");
            continue;
        }
        let inside = open.last().copied().unwrap_or("");
        match name {
            "w:tbl" | "w:p" => assert!(["w:body", "w:tc"].contains(&inside), "{name} in {inside}: {xml}"),
            "w:r" => assert_eq!(inside, "w:p", "{xml}"),
            "w:tr" => assert_eq!(inside, "w:tbl", "{xml}"),
            _ => {}
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn document_of(text: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(docx(text).unwrap())).unwrap();
    let mut xml = String::new();
    std::io::Read::read_to_string(&mut archive.by_name("word/document.xml").unwrap(), &mut xml).unwrap();
    xml.split_once("?>").unwrap().1.to_owned()
}

#[test]
fn tables_stand_between_paragraphs_in_word_also_within_lists_and_quotations() {
    for text in [
        "- first\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n\n  after\n- second",
        "> quoted\n>\n> | a |\n> |---|\n> | 1 |\n",
        "1. one\n   - two\n\n     | a |\n     |---|\n     | 1 |\n",
        "| a |\n|---|\n| **1** `x` |\n\n| b |\n|---|\n| 2 |",
        "# T\n\ntext\nmore  \nlast",
    ] {
        let xml = document_of(text);
        check_nesting(&xml);
        for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            assert!(xml.contains(&format!(">{word}")) || xml.contains(word), "{word}: {xml}");
        }
    }
}

#[test]
fn a_table_in_word_has_its_columns_and_a_head() {
    let xml = document_of("| a | b |\n|---|---|\n| 1 | 2 |");
    assert!(xml.contains("<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"), "{xml}");
    assert!(xml.contains("<w:tblHeader/>") && xml.matches("<w:b/>").count() == 2, "{xml}");
}

#[test]
fn what_a_link_leads_to_is_printed_and_items_keep_their_numbers() {
    let text = "# A *title* with \\[marks\\]\n\n- [W1] [A page](https://a.example/x)\n- [elsewhere](/local)\n\n3. three\n4. four\n";
    let xml = document_of(text);
    check_nesting(&xml);
    for expected in ["A page", " (https://a.example/x)", "3. ", "4. "] {
        assert!(xml.contains(&format!(">{expected}<")), "{expected}: {xml}");
    }
    assert!(!xml.contains("/local"), "{xml}");
    assert_eq!(title(text), "A title with [marks]");
}
