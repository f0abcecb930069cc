use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn checks(tokens: &Tokens) -> Checks {
    let mut checks = Checks::default();
    tokens.refresh(&mut checks);
    checks
}

#[test]
fn the_first_token_stays_and_is_for_the_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(folder.path());
    let token = tokens.first().unwrap();
    assert_eq!(token.len(), 64);
    assert_eq!(tokens.first().unwrap(), token);
    let mode = std::fs::metadata(folder.path().join("server.token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let checks = checks(&tokens);
    assert_eq!(checks.bearer(&token).unwrap().name, FIRST);
    assert_eq!(checks.cookie(&cookie_of(&token)).unwrap().name, FIRST);
    // One is not the other.
    assert_eq!(checks.bearer(&cookie_of(&token)), None);
    assert_eq!(checks.cookie(&token), None);
    assert_eq!(checks.bearer(""), None);
    assert_eq!(checks.bearer(&token[..63]), None);
}

#[test]
fn tokens_are_added_and_revoked_and_only_their_hashes_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(folder.path());
    let phone = tokens.add("phone", Timestamp(5)).unwrap();
    assert!(matches!(tokens.add("phone", Timestamp(6)), Err(TokenError::Exists(_))));
    assert!(matches!(tokens.add("first", Timestamp(6)), Err(TokenError::Exists(_))));
    assert!(matches!(tokens.add("../x", Timestamp(6)), Err(TokenError::BadName(_))));
    let kept = std::fs::read_to_string(folder.path().join("server-tokens.json")).unwrap();
    assert!(!kept.contains(&phone), "{kept}");
    assert_eq!(checks(&tokens).bearer(&phone).unwrap().name, "phone");
    assert_eq!(tokens.list().unwrap(), [TokenRow { name: "phone".to_owned(), created_at: Some(Timestamp(5)) }]);
    tokens.revoke("phone").unwrap();
    assert_eq!(checks(&tokens).bearer(&phone), None);
    assert!(matches!(tokens.revoke("phone"), Err(TokenError::Unknown(_))));
}

#[test]
fn without_a_file_nobody_comes_in() {
    let folder = tempfile::tempdir().unwrap();
    let none = checks(&Tokens::open(folder.path()));
    assert_eq!(none.bearer(""), None);
    assert_eq!(none.cookie(&cookie_of("")), None);
}

#[test]
fn what_is_on_disk_makes_no_cookie() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(folder.path());
    let phone = tokens.add("phone", Timestamp(5)).unwrap();
    let checks = checks(&tokens);
    assert_eq!(checks.cookie(&cookie_of(&phone)).unwrap().name, "phone");
    let kept = tokens.kept().unwrap().remove(0);
    for stored in [kept.sha256, kept.cookie_sha256.unwrap()] {
        for forged in [stored.clone(), cookie_of(&stored), hex(&hash(stored.as_bytes()))] {
            assert_eq!(checks.cookie(&forged), None, "{forged}");
            assert_eq!(checks.bearer(&forged), None, "{forged}");
        }
        let bytes = unhex(&stored).unwrap();
        let mut hasher = Sha256::new();
        hasher.update(b"weft cookie\0");
        hasher.update(bytes);
        assert_eq!(checks.cookie(&hex(&hasher.finalize().into())), None);
    }
}

#[test]
fn a_token_of_an_earlier_version_gets_its_cookie_when_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(folder.path());
    let token = "ab".repeat(32);
    let old = format!(r#"[{{"name":"old","sha256":"{}","created_at":5}}]"#, hex(&hash(token.as_bytes())));
    std::fs::write(folder.path().join("server-tokens.json"), old).unwrap();
    assert_eq!(checks(&tokens).bearer(&token).unwrap().name, "old");
    assert_eq!(checks(&tokens).cookie(&cookie_of(&token)), None);
    tokens.note_cookie("old", &token).unwrap();
    assert_eq!(checks(&tokens).cookie(&cookie_of(&token)).unwrap().name, "old");
    // It is noted once; nobody can put another in its place.
    tokens.note_cookie("old", &"cd".repeat(32)).unwrap();
    assert_eq!(checks(&tokens).cookie(&cookie_of(&token)).unwrap().name, "old");
}

#[test]
fn the_own_name_stays_with_the_first_token_and_says_nothing_of_it() {
    let (one, two) = ("ab".repeat(32), "cd".repeat(32));
    assert_eq!(own_name(&one), own_name(&one));
    assert_ne!(own_name(&one), own_name(&two));
    let name = own_name(&one);
    assert!(name.starts_with("weft-") && name.ends_with(".localhost") && !name.contains("abab"), "{name}");
}
