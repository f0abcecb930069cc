#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn made(kind: &str, encoding: &str, body: &[u8]) -> Result<Document, String> {
    let url = Url::parse("https://example.org/x").unwrap();
    let (kind, encoding) = (kind.to_owned(), encoding.to_owned());
    let fetched = Fetched { url, status: 200, kind, encoding, body: body.to_vec(), cut: false };
    document(fetched, &CancellationToken::new())
}

fn packed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn letters_come_out_right() {
    let cases: [(&str, &[u8], &str); 8] = [
        ("text/plain", "Grüße".as_bytes(), "Grüße"),
        ("text/plain; charset=iso-8859-1", b"Gr\xfc\xdfe", "Grüße"),
        ("text/plain", b"Gr\xfc\xdfe", "Grüße"),
        ("text/plain; charset=\"shift_jis\"", b"\x93\xfa\x96{", "日本"),
        ("text/plain; charset=utf-8", b"\xff\xfeh\0i\0", "hi"),
        ("text/html", b"<meta charset=windows-1251><p>\xcf\xf0\xe8", "При"),
        ("application/json", b"{\"a\": 1}", "{\"a\": 1}"),
        ("application/octet-stream", b"<!DOCTYPE html><p>hi", "hi"),
    ];
    for (kind, body, text) in cases {
        assert_eq!(made(kind, "", body).unwrap().text, text, "{kind}");
    }
}

#[test]
fn what_is_no_text_is_not_read() {
    for (kind, body) in [("image/png", &b"\x89PNG"[..]), ("", b"\x7fELF\0\0"), ("application/zip", b"PK\x03\x04")] {
        assert!(made(kind, "", body).unwrap_err().contains("cannot be read as text"), "{kind}");
    }
    assert!(made("application/pdf", "", b"%PDF-1.4 rubbish").unwrap_err().starts_with("The PDF "));
    assert!(made("text/plain", "br", b"x").unwrap_err().contains("not asked for"));
    assert!(made("text/plain", "gzip", b"not packed").is_err());
}

#[test]
fn a_bomb_unpacks_to_no_more_than_its_share() {
    let small = packed(b"hello");
    assert_eq!(made("text/plain", "gzip", &small).unwrap().text, "hello");
    let bomb = packed(&vec![b'a'; 3 * MOST_UNPACKED / 2]);
    assert!(bomb.len() < MOST_UNPACKED / 100);
    let unpacked = made("text/plain", "gzip", &bomb).unwrap();
    assert!(unpacked.cut && unpacked.text.len() == MOST_UNPACKED);
    // Cut off in the middle: what came is kept.
    let half = bomb.get(..bomb.len() / 2).unwrap();
    assert!(made("text/plain", "gzip", half).unwrap().cut);
}
