use super::*;

#[test]
fn a_key_is_never_printed() {
    let key = Secret::new(" sk-ant-very-secret\n");
    assert_eq!(key.expose(), "sk-ant-very-secret");
    assert!(!format!("{key:?} {:?}", Some(&key)).contains("very"));
}

#[test]
fn texts_lose_what_is_or_looks_like_a_key() {
    let key = Secret::new("my-own-odd-key");
    let check = |text: &str, clean: &str| assert_eq!(scrub(text, Some(&key)), clean);
    check("bad key my-own-odd-key!", "bad key [key]!");
    check(
        "Incorrect API key provided: sk-proj-****abcd. Find yours at …",
        "Incorrect API key provided: [key]. Find yours at …",
    );
    check("key=AIzaSyA1234567890&x", "key=[key]&x");
    check("a risk-free sk- task", "a risk-free sk- task");
    assert_eq!(scrub("no key at all: none", Some(&Secret::new("none"))), "no key at all: none");
}
