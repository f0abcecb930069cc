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
    assert_eq!(text, "key=[secret] pw=[secret][secret] short");
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
        assert_eq!(String::from_utf8(seen).unwrap(), "a sk-abcdef-12345 b [secret] c [secret]", "chunks of {size}");
    }
}

#[test]
fn without_secrets_nothing_is_held_back() {
    assert!(Redaction::new(["short".to_owned()]).stream().is_idle());
}
