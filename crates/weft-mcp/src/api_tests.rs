#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;

fn url_of(path: &str) -> Result<String, String> {
    let base = url::Url::parse("https://api.example/v1/").unwrap();
    request(&base, &json!({"method": "GET", "path": path})).map(|request| request.url.to_string())
}

#[test]
fn a_request_stays_below_the_base() {
    assert_eq!(url_of("users/7").unwrap(), "https://api.example/v1/users/7");
    assert_eq!(url_of("/users?x=1").unwrap(), "https://api.example/v1/users?x=1");
    assert_eq!(url_of("").unwrap(), "https://api.example/v1/");
    for bad in [
        "../admin",
        "users/../../admin",
        "%2e%2e/admin",
        "..%2fadmin",
        "\\\\evil.example",
        "a\\..\\..\\b",
        "users//x",
        "x\r\nHost: evil",
    ] {
        assert!(url_of(bad).is_err(), "{bad}");
    }
    // What looks like another host is a path.
    for odd in ["https://evil.example/", "//evil.example/", "@evil.example"] {
        if let Ok(url) = url_of(odd) {
            assert!(url.starts_with("https://api.example/v1/"), "{odd} became {url}");
        }
    }
}

#[test]
fn query_and_body_are_taken() {
    let base = url::Url::parse("https://api.example/v1/").unwrap();
    let input = json!({"method": "post", "path": "a", "query": {"q": "x y&z", "n": 3}, "body": {"k": 1}});
    let request = request(&base, &input).unwrap();
    assert_eq!(request.url.as_str(), "https://api.example/v1/a?q=x+y%26z&n=3");
    assert_eq!((request.method, request.body), ("POST", Some(json!({"k": 1}))));
}
