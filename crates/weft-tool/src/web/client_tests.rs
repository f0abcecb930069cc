#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

#[test]
fn addresses_are_taken_or_refused_before_anybody_is_asked() {
    let good = [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c"),
        (" http://example.org:8080 ", "http://example.org:8080/"),
    ];
    for (given, taken) in good {
        assert_eq!(parse(given).unwrap().as_str(), taken);
    }
    let bad = [
        "",
        "example.org",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org",
        "data:text/html,hi",
        "javascript:alert(1)",
        "https://me:secret@example.org/",
        "https://me@example.org/",
        "http://",
        "https://exa mple.org/",
        "https://example.org/\n",
        "http://example.org:99999/",
        "view-source:http://example.org",
    ];
    for given in bad {
        let given = given.replace('\n', "\nx");
        assert!(parse(&given).is_err(), "{given}");
    }
    assert!(parse(&format!("https://example.org/{}", "a".repeat(3000))).is_err());
}

#[test]
fn redirects_are_judged_one_by_one() {
    let from = parse("https://a.example/one").unwrap();
    let step = |location: &str, may: bool| next(&from, location, &|_: &Url| may);
    assert_eq!(step("/two", false).unwrap().as_str(), "https://a.example/two");
    assert!(matches!(step("https://b.example/", false), Err(WebError::Elsewhere(_))));
    assert_eq!(step("//b.example/", true).unwrap().as_str(), "https://b.example/");
    assert!(matches!(step("http://a.example/", true), Err(WebError::Downgrade(_))));
    assert!(matches!(step("https://u:p@a.example/", true), Err(WebError::Credentials)));
    assert!(matches!(step("file:///etc/passwd", true), Err(WebError::Scheme(_))));
    assert!(matches!(step("https://[broken", true), Err(WebError::NoAddress(_))));
}
