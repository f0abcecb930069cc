#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]

use proptest::prelude::*;
use serde_json::json;
use weft_core::event::StopReason;
use weft_core::message::Image;
use weft_core::{CallId, Entry, Message, Part, SessionId, ToolCall, ToolResult, Usage, UserPart};

use super::*;
use crate::model::{Answer, ToolSpec};

/// A model that says the given chunks, whatever it is asked.
struct Says(Vec<Chunk>);

impl Model for Says {
    fn stream(&self, _: Request) -> ChunkStream {
        Box::pin(stream::iter(self.0.clone()))
    }
}

fn request(messages: Vec<Message>) -> Request {
    let tool = ToolSpec { name: "read".into(), description: "Reads".into(), schema: json!({"type": "object"}) };
    Request {
        model: "m-1".into(),
        system: "Work in /home/ann/project. Today is 2026-01-02.".into(),
        tools: Arc::from([tool]),
        messages: messages.into_iter().map(|message| Entry::new(1, 1, message)).collect(),
        max_output: 100,
        effort: None,
        session: SessionId::from_random(1),
    }
}

fn says(text: &str) -> Vec<Chunk> {
    let (front, back) = text.split_at(text.len() / 2);
    vec![Chunk::Text(front.into()), Chunk::Text(back.into()), done(vec![Part::Text { text: text.into() }])]
}

fn done(parts: Vec<Part>) -> Chunk {
    Chunk::Done(Answer { parts, stop: StopReason::End, usage: Usage { input: 3, output: 4, ..Usage::default() } })
}

fn all(model: &Cassette, request: Request) -> Vec<Chunk> {
    futures_util::FutureExt::now_or_never(model.stream(request).collect::<Vec<_>>()).expect("a cassette is never late")
}

fn message_of(chunks: &[Chunk]) -> &str {
    match chunks {
        [Chunk::Failed { failure, usage: None }] if failure.kind == FailureKind::NotRecorded => &failure.message,
        other => panic!("expected a failure, got {other:?}"),
    }
}

struct Shelf(tempfile::TempDir);

impl Shelf {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn path(&self) -> PathBuf {
        self.0.path().join("talk.jsonl")
    }
    fn record(&self, exchanges: &[(Request, Vec<Chunk>)], volatile: &[Volatile]) {
        for (request, chunks) in exchanges {
            let cassette =
                Cassette::record(&self.path(), Arc::new(Says(chunks.clone())), "acme", volatile.to_vec()).unwrap();
            assert_eq!(all(&cassette, request.clone()), *chunks, "recording changes nothing");
        }
    }
    fn replay(&self) -> Cassette {
        Cassette::replay(&self.path(), Vec::new()).unwrap()
    }
    fn content(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }
    /// The message of the error with `FILE` for the path.
    fn replay_error(&self) -> String {
        let Err(error) = Cassette::replay(&self.path(), Vec::new()) else { panic!("it opened") };
        error.to_string().replace(&self.path().display().to_string(), "FILE")
    }
}

fn every_kind_of_chunk() -> Vec<Chunk> {
    let call = CallId::new("c1");
    vec![
        Chunk::Thinking("let me see".into()),
        Chunk::ToolStart { call: call.clone(), name: "read".into() },
        Chunk::ToolDelta { call: call.clone(), json: r#"{"path":"#.into() },
        Chunk::ToolDelta { call: call.clone(), json: r#""a.rs"}"#.into() },
        Chunk::Text("Reading.".into()),
        done(vec![
            Part::Thinking { text: "let me see".into(), signature: Some("sig".into()) },
            Part::Opaque { protocol: "openai_responses".into(), data: json!({"x": [1, null]}) },
            Part::ToolCall(ToolCall { id: call, name: "read".into(), input: json!({"path": "a.rs"}), signature: None }),
            Part::Text { text: "Reading.".into() },
        ]),
    ]
}

#[test]
fn what_was_recorded_is_replayed_chunk_by_chunk() {
    let shelf = Shelf::new();
    let image = Image { media_type: "image/png".into(), data: "QUJDRA==".into() };
    let first = request(vec![Message::User(vec![UserPart::text("read a.rs"), UserPart::Image(image)])]);
    let failure = Failure::new(FailureKind::Server, "down").with_status(503).with_retry_after(Some(5));
    let second = vec![Chunk::Failed { failure, usage: Some(Usage::default()) }];
    shelf.record(
        &[(first.clone(), every_kind_of_chunk()), (request(vec![Message::user("again")]), second.clone())],
        &[],
    );

    let replay = shelf.replay();
    assert_eq!(replay.provider(), "acme");
    assert_eq!(all(&replay, request(vec![Message::user("again")])), second, "in any order");
    assert_eq!(all(&replay, Request { session: SessionId::from_random(2), ..first }), every_kind_of_chunk());
    assert!(!shelf.content().contains("QUJDRA"), "pictures are kept as fingerprints");
}

#[test]
fn a_growing_conversation_is_stored_once() {
    let shelf = Shelf::new();
    let body = "x".repeat(1_000);
    let mut messages = Vec::new();
    let mut exchanges = Vec::new();
    for round in 0..40 {
        messages.push(Message::user(format!("{round} {body}")));
        exchanges.push((request(messages.clone()), says("ok")));
    }
    shelf.record(&exchanges, &[]);
    assert!(shelf.content().len() < 40 * 1_500, "{} bytes", shelf.content().len());
    let replay = shelf.replay();
    for (request, chunks) in exchanges {
        assert_eq!(all(&replay, request), chunks);
    }
}

#[test]
fn each_recording_is_used_once_and_the_first_match_wins() {
    let shelf = Shelf::new();
    let asked = || request(vec![Message::user("roll a die")]);
    shelf.record(&[(asked(), says("four")), (asked(), says("six"))], &[]);
    let replay = shelf.replay();
    assert_eq!(all(&replay, asked()), says("four"));
    assert_eq!(all(&replay, asked()), says("six"));
    assert!(
        message_of(&all(&replay, asked())).ends_with("holds this request, but its recording has been used already.")
    );
    let other = all(&replay, request(vec![Message::user("other")]));
    assert!(message_of(&other).ends_with("has no recording of this request: all 2 have been used."));
}

#[test]
fn a_request_that_differs_is_told_how() {
    let shelf = Shelf::new();
    let result = |text: &str| {
        Message::Tool(vec![ToolResult {
            call: CallId::new("c1"),
            name: "read".into(),
            text: text.into(),
            images: Vec::new(),
            is_error: false,
        }])
    };
    let asked = |text: &str| vec![Message::user("read it"), result(text)];
    shelf.record(
        &[(request(vec![Message::user("unrelated")]), says("x")), (request(asked("one two three")), says("y"))],
        &[],
    );
    let good = request(asked("one two three"));
    for (request, expected) in [
        (Request { model: "m-2".into(), ..good.clone() }, "the model was `m-1` and is now `m-2`."),
        (Request { system: "else".into(), ..good.clone() }, "the system prompt is not the same."),
        (Request { tools: Arc::from([]), ..good.clone() }, "the tools were [read] and are now []."),
        (
            request(asked("one 2 three")),
            "message 2 differs at parts.0.text: it was `one two three` and is now `one 2 three`.",
        ),
        (request(asked("one two three").into_iter().take(1).collect()), "message 2 of the recording is missing."),
        (
            request(asked("one two three").into_iter().chain([Message::user("go")]).collect()),
            "message 3 was not there: `{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"go\"}]}`.",
        ),
    ] {
        let chunks = all(&shelf.replay(), request);
        let message = message_of(&chunks);
        assert!(message.ends_with(&format!("Of the nearest one, {expected}")), "{message}");
    }
}

#[test]
fn volatile_values_are_placeholders_in_the_file_and_new_values_in_the_replay() {
    let shelf = Shelf::new();
    let volatile = |home: &str, date: &str| {
        vec![
            Volatile::new(home, "{HOME}"),
            Volatile::new(format!("{home}/project"), "{WORKSPACE}"),
            Volatile::new(date, "{DATE}"),
        ]
    };
    let asked = |home: &str, date: &str| Request {
        system: format!("Work in {home}/project. Today is {date}.").into(),
        ..request(vec![Message::user(format!("read {home}/project/a.rs"))])
    };
    let answer = |home: &str| {
        let text = format!("It is {home}/project/a.rs.");
        vec![Chunk::Text(text.clone()), done(vec![Part::Text { text }])]
    };
    let split = vec![
        Chunk::Text("It is /home/an".into()),
        Chunk::Text("n/project/a.rs.".into()),
        done(vec![Part::Text { text: "It is /home/ann/project/a.rs.".into() }]),
    ];
    shelf.record(&[(asked("/home/ann", "2026-01-02"), split)], &volatile("/home/ann", "2026-01-02"));
    assert!(!shelf.content().contains("ann") && !shelf.content().contains("2026-01-02"), "{}", shelf.content());
    let replay = Cassette::replay(&shelf.path(), volatile("/root", "2027-07-07")).unwrap();
    assert_eq!(all(&replay, asked("/root", "2027-07-07")), answer("/root"));
}

#[test]
fn a_line_torn_by_a_crash_is_cut_off_and_recording_goes_on() {
    let shelf = Shelf::new();
    let asked = |text: &str| request(vec![Message::user(text)]);
    shelf.record(&[(asked("a"), says("1"))], &[]);
    let whole = shelf.content();
    shelf.record(&[(asked("b"), says("2"))], &[]);
    let both = shelf.content();
    for cut in whole.len()..both.len() {
        std::fs::write(shelf.path(), &both.as_bytes()[..cut]).unwrap();
        assert_eq!(all(&shelf.replay(), asked("a")), says("1"), "cut at {cut}");
    }
    shelf.record(&[(asked("c"), says("3"))], &[]);
    let replay = shelf.replay();
    assert_eq!(all(&replay, asked("a")), says("1"));
    assert_eq!(all(&replay, asked("c")), says("3"));
    message_of(&all(&replay, asked("b")));
}

#[test]
fn a_header_without_its_line_end_is_completed() {
    let shelf = Shelf::new();
    std::fs::write(shelf.path(), "{\"cassette\":1,\"provider\":\"acme\"}").unwrap();
    shelf.record(&[(request(vec![Message::user("a")]), says("1"))], &[]);
    assert_eq!(all(&shelf.replay(), request(vec![Message::user("a")])), says("1"));
}

#[test]
fn two_recorders_can_share_a_file() {
    let shelf = Shelf::new();
    let open = |text: &str| Cassette::record(&shelf.path(), Arc::new(Says(says(text))), "acme", Vec::new()).unwrap();
    let (one, two) = (open("from one"), open("from two"));
    let asked = |name: &str, rounds: usize| {
        request((0..=rounds).map(|round| Message::user(format!("{name} {round}"))).collect())
    };
    for round in 0..4 {
        all(&one, asked("one", round));
        all(&two, asked("two", round));
    }
    let replay = shelf.replay();
    for round in 0..4 {
        assert_eq!(all(&replay, asked("one", round)), says("from one"));
        assert_eq!(all(&replay, asked("two", round)), says("from two"));
    }
}

#[test]
fn an_exchange_that_is_dropped_leaves_nothing() {
    let shelf = Shelf::new();
    let cassette = Cassette::record(&shelf.path(), Arc::new(Says(says("long answer"))), "acme", Vec::new()).unwrap();
    let mut stream = cassette.stream(request(vec![Message::user("a")]));
    futures_util::FutureExt::now_or_never(stream.next()).unwrap();
    drop(stream);
    assert_eq!(shelf.content(), "{\"cassette\":1,\"provider\":\"acme\"}\n");
}

#[test]
fn files_that_are_no_cassettes_are_refused_in_words() {
    let shelf = Shelf::new();
    assert!(shelf.replay_error().starts_with("The cassette FILE cannot be read: "));
    for (content, expected) in [
        ("", "FILE is not a cassette: its first line is not a cassette's header. Choose another file."),
        (
            "\u{0}\u{1}rubbish",
            "FILE is not a cassette: its first line is not a cassette's header. Choose another file.",
        ),
        (
            r#"{"cassette":2,"provider":"x"}"#,
            "The cassette FILE has version 2, and this Weft reads version 1. Update Weft.",
        ),
        (
            "{\"cassette\":1,\"provider\":\"x\"}\n\n{\"model\":1}\n",
            "Line 3 of the cassette FILE cannot be read: missing field `chunks` at line 1 column 11. \
             Remove the line, or record again.",
        ),
        (
            "{\"cassette\":1,\"provider\":\"x\"}\n{\"model\":\"m\",\"system\":\"\",\"tools\":[],\"messages\":[],\
             \"repeats\":{\"request\":\"x\",\"messages\":1},\"chunks\":[]}\n",
            "Line 2 of the cassette FILE cannot be read: it repeats messages of an exchange that is not there. \
             Remove the line, or record again.",
        ),
    ] {
        std::fs::write(shelf.path(), content).unwrap();
        assert_eq!(shelf.replay_error(), expected, "{content:?}");
    }
    let directory = Cassette::record(shelf.0.path(), Arc::new(Says(Vec::new())), "acme", Vec::new());
    assert!(directory.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_survives(question in any::<String>(), pieces in prop::collection::vec(any::<String>(), 0..6)) {
        let shelf = Shelf::new();
        let mut chunks: Vec<Chunk> = pieces.iter().cloned().map(Chunk::Text).collect();
        chunks.push(done(vec![Part::Text { text: pieces.concat() }]));
        shelf.record(&[(request(vec![Message::user(question.clone())]), chunks.clone())], &[]);
        prop_assert_eq!(all(&shelf.replay(), request(vec![Message::user(question)])), chunks);
    }
}
