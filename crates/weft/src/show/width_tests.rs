use super::is_plain;

#[test]
fn plain_is_what_takes_one_byte_and_one_column_wherever_it_stands() {
    for length in [1, 7, 8, 9, 16, 29] {
        for place in 0..length {
            for letter in (0..=0xff).map(char::from).chain(['ä', '…', '漢', '\u{202e}']) {
                let mut text = "a".repeat(length);
                text.replace_range(place..=place, letter.encode_utf8(&mut [0; 4]));
                assert_eq!(is_plain(&text), matches!(letter, ' '..='~'), "{letter:?} at {place} of {length}");
            }
        }
    }
    assert!(is_plain(""));
}
