#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;

#[test]
fn slow_commands_get_more_time() {
    let cases = [
        ("echo hello", 60),
        ("cargo test", 600),
        ("cd x && cargo build --release 2>&1 | tail", 600),
        ("RUST_LOG=1 /usr/bin/cargo check", 600),
        ("python -m pytest -q", 300),
        ("go test ./... && go build", 600),
        ("cat cargo.toml-notes", 60),
        ("./mycargo", 60),
        ("ls Makefile", 60),
        ("uv run x", 300),
    ];
    for (command, seconds) in cases {
        assert_eq!(base(command).as_secs(), seconds, "{command}");
    }
}

#[test]
fn a_time_the_model_names_is_taken_at_its_word() {
    let timing_of = |asked| timing("cargo test", asked);
    assert_eq!(timing_of(Some(5)).max.as_secs(), 5);
    assert_eq!(timing_of(Some(0)).max.as_secs(), 1);
    assert_eq!(timing_of(Some(999_999)).max.as_secs(), 1_800);
    assert_eq!((timing_of(None).base.as_secs(), timing_of(None).max.as_secs()), (600, 1_800));
}
