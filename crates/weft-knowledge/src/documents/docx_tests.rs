use std::io::Write as _;

use super::*;

/// An archive with one part, as Word writes it.
fn archive(name: &str, content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    let packed = encoder.finish().unwrap();
    let sizes = |out: &mut Vec<u8>| {
        out.extend(0u32.to_le_bytes());
        out.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        out.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
        out.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    };
    let mut out = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0".to_vec();
    sizes(&mut out);
    out.extend(0u16.to_le_bytes());
    out.extend(name.as_bytes());
    out.extend(&packed);
    let directory = out.len();
    out.extend(b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0");
    sizes(&mut out);
    out.extend([0; 12]);
    out.extend(0u32.to_le_bytes());
    out.extend(name.as_bytes());
    let length = out.len() - directory;
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(u32::try_from(length).unwrap().to_le_bytes());
    out.extend(u32::try_from(directory).unwrap().to_le_bytes());
    out.extend(0u16.to_le_bytes());
    out
}

#[test]
fn headings_paragraphs_and_tables_are_read() {
    let xml = "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Scope</w:t></w:r></w:p>\
               <w:p><w:r><w:t>It ap</w:t></w:r><w:r><w:t xml:space=\"preserve\">plies &amp; holds.</w:t></w:r></w:p>\
               <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>";
    let blocks = blocks(&archive("word/document.xml", xml.as_bytes())).unwrap();
    let shown: Vec<(Shape, &str)> = blocks.iter().map(|block| (block.shape, block.text.trim())).collect();
    assert_eq!(
        shown,
        [(Shape::Heading(1), "Scope"), (Shape::Paragraph, "It applies & holds."), (Shape::Table, "a | b |")]
    );
}

#[test]
fn a_bomb_is_refused_and_damage_is_told() {
    let bomb = vec![b' '; 65 * 1024 * 1024];
    assert!(blocks(&archive("word/document.xml", &bomb)).unwrap_err().contains("64 MB"));
    assert!(blocks(&archive("word/other.xml", b"x")).is_err());
    let sound = archive("word/document.xml", b"<w:p><w:t>words</w:t></w:p>");
    for cut in 0..sound.len() {
        let _ = blocks(&sound[..cut]);
    }
}
