#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use super::*;

#[track_caller]
fn check(domain: &str, host: &str, covered: bool) {
    assert_eq!(domain.parse::<Domain>().unwrap().covers(host), covered, "{domain} {host}");
}

#[test]
fn domains_cover_themselves_or_what_is_beneath() {
    check("example.org", "example.org", true);
    check("Example.ORG", "eXample.org.", true);
    check("example.org", "www.example.org", false);
    check("example.org", "notexample.org", false);
    check("*.example.org", "a.b.example.org", true);
    check("*.example.org", "example.org", false);
    check("*.example.org", ".example.org", false);
    check("*.example.org", "evilexample.org", false);
    check("*.example.org", "example.org.evil.net", false);
}

#[test]
fn what_is_no_domain_is_refused() {
    for text in
        ["", "*", "*.", "org", "*.org", "10.0.0.1", "1.2.3.4", "a..b", "-a.org", "a b.org", "http://a.org", "é.org"]
    {
        assert!(text.parse::<Domain>().is_err(), "{text}");
    }
}

#[test]
fn only_public_addresses_are_public() {
    for inner in [
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "192.0.0.192",
        "198.18.0.1",
        "240.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::10.0.0.1",
        "2002:7f00:1::",
        "2001:db8::1",
        "2001::1",
        "::127.0.0.1",
    ] {
        assert!(!is_public(inner.parse().unwrap()), "{inner}");
    }
    for outer in ["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::1.1.1.1"] {
        assert!(is_public(outer.parse().unwrap()), "{outer}");
    }
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_blocked() {
    let rules = Rules {
        allowed: vec!["localhost".parse().unwrap()],
        forbids: Arc::new(|_| false),
        report: Arc::new(|_| {}),
        counts: Mutex::default(),
        loopback: false,
    };
    let Err(Verdict::Blocked(why)) = rules.reach("localhost", 80).await else { panic!("not blocked") };
    assert!(why.contains("which is not a public address"), "{why}");
}

#[track_caller]
fn parsed(text: &str) -> (String, u16, Option<String>) {
    let (request, length) = Request::parse(text.as_bytes()).unwrap().unwrap();
    assert_eq!(length, text.len());
    (request.target.host, request.target.port, request.forward.map(|head| String::from_utf8(head).unwrap()))
}

#[test]
fn requests_are_rewritten_for_the_server() {
    let (host, port, head) = parsed(
        "POST http://A.org/x HTTP/1.1\r\nHost: other.net\r\nProxy-Authorization: secret\r\nX: y\r\nConnection: keep-alive\r\n\r\n",
    );
    assert_eq!((host.as_str(), port), ("a.org", 80));
    assert_eq!(head.unwrap(), "POST /x HTTP/1.1\r\nHost: A.org\r\nConnection: close\r\nX: y\r\n\r\n");
    assert_eq!(parsed("CONNECT a.org:443 HTTP/1.1\r\n\r\n"), ("a.org".to_owned(), 443, None));
    assert_eq!(parsed("GET http://a.org?q HTTP/1.1\r\n\r\n").2.unwrap().lines().next(), Some("GET /?q HTTP/1.1"));
}

#[test]
fn what_is_no_request_is_refused() {
    for text in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET https://a.org/ HTTP/1.1\r\n\r\n",
        "GET http:///x HTTP/1.1\r\n\r\n",
        "GET http://user@a.org/ HTTP/1.1\r\n\r\n",
        "CONNECT a.org HTTP/1.1\r\n\r\n",
        "CONNECT a.org:99999 HTTP/1.1\r\n\r\n",
        "\0\0\0",
    ] {
        assert!(Request::parse(text.as_bytes()).is_err(), "{text:?}");
    }
    assert_eq!(Request::parse(b"GET http://a.org/ HT").unwrap(), None);
}
