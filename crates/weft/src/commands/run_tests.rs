#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn text_is_told_from_what_is_none() {
    let latin1 = [b"a long line of an old log with one ".as_slice(), &[0xe9], b" in it"].concat();
    assert_eq!(as_text("plain ünïcode".into()).unwrap(), "plain ünïcode");
    assert!(as_text(latin1).unwrap().contains('\u{fffd}'));
    for binary in [b"\x7fELF\0\0\x01".to_vec(), vec![0x89; 400], vec![0xff, 0xfe, 0x41]] {
        assert!(as_text(binary).unwrap_err().to_string().contains("binary"));
    }
}
