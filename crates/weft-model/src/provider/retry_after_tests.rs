#![allow(clippy::unwrap_used)]

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::*;

fn check(headers: &[(&str, &str)], expected: Option<u64>) {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    assert_eq!(from_headers(&map), expected, "{headers:?}");
}

#[test]
fn every_way_to_say_when() {
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    check(&[], None);
    check(&[("retry-after", "7")], Some(7_000));
    check(&[("retry-after", "0.5")], Some(500));
    check(&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250));
    check(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), date], Some(30_000));
    check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date], Some(0));
    check(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], None);
    check(&[("retry-after", "soon")], None);
    check(&[("retry-after", "-3")], None);
    check(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")], Some(360_000));
    check(&[("x-ratelimit-remaining-tokens", "5"), ("x-ratelimit-reset-tokens", "6m0s")], None);
    check(
        &[
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "1994-11-06T08:49:47Z"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "12ms"),
            date,
        ],
        Some(10_000),
    );
}

#[test]
fn dates_are_counted_right() {
    assert_eq!(days_since_1970(1970, 1, 1), Some(0));
    assert_eq!(days_since_1970(2000, 2, 29), Some(11_016));
    assert_eq!(days_since_1970(2026, 11, 15), Some(20_772));
    assert_eq!(days_since_1970(1969, 1, 1), None);
    assert_eq!(http_date("Thu, 01 Jan 1970 00:00:01 GMT"), Some(1));
    assert_eq!(iso_date("1970-01-02T00:00:00.5Z"), Some(86_400));
    assert_eq!(duration("1h2m3.5s"), Some(3_723_500));
    assert_eq!(duration("12"), None);
    assert_eq!(duration("…s"), None);
}
