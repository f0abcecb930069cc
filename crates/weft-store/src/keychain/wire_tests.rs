use super::*;

#[test]
fn what_is_written_is_read_back() {
    let mut writer = Writer::default();
    writer.truth(true);
    writer.signature("a{sv}");
    writer.string("häuser");
    writer.bytes(b"\x00\x01");
    writer.array(4, |items| {
        items.string("/a");
        items.string("/bc");
    });
    let mut reader = Reader::new(writer.finish(), cfg!(target_endian = "big"));
    assert_eq!(reader.number(), Some(1));
    assert_eq!(reader.signature().as_deref(), Some("a{sv}"));
    assert_eq!(reader.string().as_deref(), Some("häuser"));
    assert_eq!(reader.bytes(), Some(&b"\x00\x01"[..]));
    assert_eq!(reader.strings(), Some(vec!["/a".to_owned(), "/bc".to_owned()]));
    assert!(reader.is_at_end());
}

#[test]
fn a_dictionary_has_the_form_that_the_protocol_asks_for() {
    let mut writer = Writer::default();
    writer.dictionary(&[("k", "v")]);
    let mut expected = Vec::new();
    for number in [12_u32, 0, 1] {
        expected.extend(number.to_ne_bytes());
    }
    expected.extend(b"k\0\0\0");
    expected.extend(1_u32.to_ne_bytes());
    expected.extend(b"v\0");
    // The entry begins at 8, and its length is counted from there.
    let length = u32::try_from(expected.len() - 8).unwrap();
    expected.splice(..4, length.to_ne_bytes());
    assert_eq!(*writer.finish(), expected);
}

#[test]
fn what_does_not_fit_is_nothing() {
    for bytes in [vec![], vec![255; 4], vec![9, 0, 0, 0, b'x'], vec![1, 0, 0, 0, 0xff, 0]] {
        let mut reader = Reader::new(Zeroizing::new(bytes.clone()), false);
        assert_eq!(reader.string(), None, "{bytes:?}");
        let mut reader = Reader::new(Zeroizing::new(bytes), false);
        assert_eq!(reader.field(), None);
    }
}
