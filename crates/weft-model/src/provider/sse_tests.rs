#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
    let mut events = Vec::new();
    let mut parser = SseParser::default();
    let mut collect = |name: &[u8], data: &[u8]| {
        events.push((String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(data).into_owned()));
    };
    for piece in pieces {
        parser.feed(piece, &mut collect).unwrap();
    }
    parser.end(&mut collect);
    events
}

fn check(stream: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
    assert_eq!(parse([stream.as_bytes()]), expected, "whole: {stream:?}");
    assert_eq!(parse(stream.as_bytes().chunks(1)), expected, "byte by byte: {stream:?}");
}

#[test]
fn reads_every_way_to_end_a_line() {
    for end in ["\n", "\r", "\r\n"] {
        check(&format!("event: a{end}data: 1{end}{end}data: 2{end}data: 3{end}{end}"), &[("a", "1"), ("", "2\n3")]);
    }
    check("data: 1\r\n\ndata: 2\n\r\n", &[("", "1"), ("", "2")]);
}

#[test]
fn skips_what_carries_no_data() {
    check("\u{feff}data: 1\n\n", &[("", "1")]);
    check(": hello\nid: 7\nretry: 10\nnonsense\ndata: 1\n\n", &[("", "1")]);
    check("event: ping\n\nevent: b\ndata: 1\n\n", &[("b", "1")]);
    check("\n\n\n", &[]);
}

#[test]
fn keeps_data_as_it_is() {
    check("data:no space\n\ndata:  two spaces\n\n", &[("", "no space"), ("", " two spaces")]);
    check("data\n\n", &[("", "")]);
    check("data: grüße 🧵 \u{feff}\n\n", &[("", "grüße 🧵 \u{feff}")]);
    check("data: the last empty line is missing", &[("", "the last empty line is missing")]);
    check("error: {\"code\":500}\n\n", &[("error", "{\"code\":500}")]);
}

#[test]
fn refuses_an_endless_event() {
    let mut parser = SseParser::default();
    let piece = vec![b'x'; 1024 * 1024];
    parser.feed(b"data: ", &mut |_, _| {}).unwrap();
    let fed = (0..20).position(|_| parser.feed(&piece, &mut |_, _| {}).is_err());
    assert_eq!(fed, Some(7), "a line that never ends");

    let mut parser = SseParser::default();
    let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
    let fed = (0..20).position(|_| parser.feed(&line, &mut |_, _| {}).is_err());
    assert_eq!(fed, Some(7), "lines that never end in an event");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn cuts_do_not_matter(
        stream in prop::collection::vec(
            prop_oneof![Just("data: ".to_owned()), Just("\n".to_owned()), Just("\r".to_owned()), Just("event: x".to_owned()), "\\PC{0,6}"],
            0..40,
        ),
        cuts in prop::collection::vec(1usize..9, 1..20),
    ) {
        let stream = stream.concat();
        let mut rest = stream.as_bytes();
        let mut pieces = Vec::new();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, tail) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        prop_assert_eq!(parse(pieces), parse([stream.as_bytes()]));
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        parse(bytes.chunks(7));
    }
}
