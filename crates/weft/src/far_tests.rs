use super::*;

#[test]
fn texts_are_divided_by_number_and_size_and_none_is_lost() {
    let check = |lengths: &[usize], wanted: &[usize]| {
        let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let found: Vec<usize> = portions(&texts).map(<[String]>::len).collect();
        assert_eq!(found, wanted, "{lengths:?}");
    };
    check(&[], &[]);
    check(&[10; 3], &[3]);
    check(&[10; 300], &[128, 128, 44]);
    check(&[LONGEST_TEXT; 25], &[10, 10, 5]);
    check(&[MOST_LETTERS + 1, 1], &[1, 1]);
}

#[test]
fn no_secret_and_no_endless_text_leaves() {
    let key = format!("sk-ant-api03-{}", "aB3dE5fG7h".repeat(9));
    let sent = harmless(&format!("the key is {key} today"));
    assert!(!sent.contains(&key) && sent.contains("the key is"), "{sent}");
    let sent = harmless(&"ä".repeat(LONGEST_TEXT));
    assert!(sent.len() <= LONGEST_TEXT && sent.chars().all(|letter| letter == 'ä'));
    assert_eq!(harmless("  "), "-");
}
