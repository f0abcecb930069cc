#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;

const SECRETS: [&str; 3] = ["sk-abcdef-123456", "hunter2hunter2", "short"];

fn redaction() -> Redaction {
    Redaction::new(SECRETS.map(str::to_owned))
}

#[test]
fn text_is_scrubbed_of_every_secret_long_enough() {
    let mut text = "key=sk-abcdef-123456 pw=hunter2hunter2hunter2hunter2 short".to_owned();
    redaction().scrub(&mut text);
    assert_eq!(text, "key=[REDACTED] pw=[REDACTED][REDACTED] short");
}

#[test]
fn a_stream_is_scrubbed_wherever_it_is_cut() {
    let whole = b"a sk-abcdef-12345 b sk-abcdef-123456 c hunter2hunter2";
    for size in 1..=whole.len() {
        let mut stream = redaction().stream();
        let mut seen = Vec::new();
        for chunk in whole.chunks(size) {
            seen.extend(stream.push(chunk));
        }
        seen.extend(stream.finish());
        assert_eq!(String::from_utf8(seen).unwrap(), "a sk-abcdef-12345 b [REDACTED] c [REDACTED]", "chunks of {size}");
    }
}

#[test]
fn without_redaction_nothing_is_held_back() {
    assert!(Redaction::default().stream().is_idle());
    assert!(!Redaction::new(["short".to_owned()]).stream().is_idle());
}

#[test]
fn what_looks_like_a_secret_goes_too() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let mut text = format!("GITHUB_TOKEN={token}\n");
    redaction().scrub(&mut text);
    assert_eq!(text, "GITHUB_TOKEN=[REDACTED]\n");
    let mut stream = redaction().stream();
    let (first, last) = token.split_at(17);
    let mut seen = stream.push(format!("it is {first}").as_bytes());
    seen.extend(stream.push(last.as_bytes()));
    seen.extend(stream.finish());
    assert_eq!(String::from_utf8(seen).unwrap(), "it is [REDACTED]");
}
