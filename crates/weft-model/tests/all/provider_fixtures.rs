//! Streams as real providers send them, and what becomes of them. Also cut at random places, where
//! the same must come of them.

use std::fmt::Write as _;

use proptest::prelude::*;
use weft_core::Part;
use weft_model::provider::Protocol;
use weft_model::provider::fuzzing::{self, essence, is_sound};
use weft_model::{Answer, Chunk};

const FIXTURES: &[(Protocol, &str, &str)] = &[
    (Protocol::Anthropic, "anthropic_tools", include_str!("../fixtures/anthropic_tools.sse")),
    (Protocol::Anthropic, "anthropic_thinking", include_str!("../fixtures/anthropic_thinking.sse")),
    (Protocol::Anthropic, "anthropic_pause", include_str!("../fixtures/anthropic_pause.sse")),
    (Protocol::Anthropic, "anthropic_overloaded", include_str!("../fixtures/anthropic_overloaded.sse")),
    (Protocol::Anthropic, "anthropic_server_tool", include_str!("../fixtures/anthropic_server_tool.sse")),
    (Protocol::Responses, "responses_reasoning_tools", include_str!("../fixtures/responses_reasoning_tools.sse")),
    (Protocol::Responses, "responses_incomplete", include_str!("../fixtures/responses_incomplete.sse")),
    (Protocol::Responses, "responses_failed", include_str!("../fixtures/responses_failed.sse")),
    (Protocol::Chat, "chat_openai_tools", include_str!("../fixtures/chat_openai_tools.sse")),
    (Protocol::Chat, "chat_openrouter_reasoning", include_str!("../fixtures/chat_openrouter_reasoning.sse")),
    (Protocol::Chat, "chat_openrouter_error", include_str!("../fixtures/chat_openrouter_error.sse")),
    (Protocol::Chat, "chat_ollama", include_str!("../fixtures/chat_ollama.sse")),
    (Protocol::Chat, "chat_deepseek", include_str!("../fixtures/chat_deepseek.sse")),
    (Protocol::Chat, "chat_mistral_thinking", include_str!("../fixtures/chat_mistral_thinking.sse")),
    (Protocol::Chat, "chat_reasoning_beside", include_str!("../fixtures/chat_reasoning_beside.sse")),
    (Protocol::Chat, "chat_openrouter_cut", include_str!("../fixtures/chat_openrouter_cut.sse")),
    (Protocol::Gemini, "gemini_thinking_tools", include_str!("../fixtures/gemini_thinking_tools.sse")),
    (Protocol::Gemini, "gemini_text_signature", include_str!("../fixtures/gemini_text_signature.sse")),
    (Protocol::Gemini, "gemini_blocked", include_str!("../fixtures/gemini_blocked.sse")),
    (Protocol::Gemini, "gemini_malformed_call", include_str!("../fixtures/gemini_malformed_call.sse")),
    (Protocol::Gemini, "gemini_signature_within_text", include_str!("../fixtures/gemini_signature_within_text.sse")),
];

/// An answer as a page to read.
fn page(chunks: &[Chunk]) -> String {
    let mut page = String::new();
    for chunk in chunks {
        match chunk {
            Chunk::Text(text) => writeln!(page, "+ text {text:?}"),
            Chunk::Thinking(text) => writeln!(page, "+ thinking {text:?}"),
            Chunk::ToolStart { call, name } => writeln!(page, "+ call {call} {name}"),
            Chunk::ToolDelta { call, json } => writeln!(page, "+ arguments {call} {json}"),
            Chunk::Failed { failure, usage } => {
                writeln!(page, "failed: {:?} {:?} {} {usage:?}", failure.kind, failure.status, failure.message)
            }
            Chunk::Done(answer) => answer_page(&mut page, answer),
        }
        .unwrap();
    }
    page
}

fn answer_page(page: &mut String, answer: &Answer) -> std::fmt::Result {
    for part in &answer.parts {
        match part {
            Part::Text { text } => writeln!(page, "text: {text}")?,
            Part::Thinking { text, signature } => writeln!(page, "thinking: {text:?} signed {signature:?}")?,
            Part::ToolCall(call) => {
                writeln!(page, "call: {} {} {} signed {:?}", call.id, call.name, call.input, call.signature)?;
            }
            Part::Opaque { protocol, data } => writeln!(page, "kept for {protocol}: {data}")?,
        }
    }
    writeln!(page, "stop: {:?}", answer.stop)?;
    writeln!(page, "usage: {:?}", answer.usage)
}

#[test]
fn fixtures_are_understood() {
    for (protocol, name, stream) in FIXTURES {
        insta::assert_snapshot!(*name, page(&fuzzing::stream(*protocol, [stream.as_bytes()])));
    }
}

fn pieces<'a>(stream: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = stream;
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, tail) = rest.split_at((*cut).min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cuts_change_nothing(which in 0..FIXTURES.len(), cuts in prop::collection::vec(1usize..120, 1..12), ends in 0usize..3) {
        let (protocol, name, stream) = FIXTURES[which];
        let stream = stream.replace('\n', ["\n", "\r\n", "\r"][ends]);
        let whole = fuzzing::stream(protocol, [stream.as_bytes()]);
        let cut = fuzzing::stream(protocol, pieces(stream.as_bytes(), &cuts));
        prop_assert_eq!(essence(&whole), essence(&cut), "{}", name);
    }

    #[test]
    fn a_stream_that_stops_early_is_broken(which in 0..FIXTURES.len(), at in 0.0f64..1.0) {
        let (protocol, name, stream) = FIXTURES[which];
        let bytes = &stream.as_bytes()[..(stream.len() as f64 * at) as usize];
        let chunks = fuzzing::stream(protocol, [bytes]);
        prop_assert!(is_sound(&chunks), "{}: {:?}", name, chunks);
    }

    /// Events shuffled, repeated and damaged: nothing may panic, and there is exactly one last word.
    #[test]
    fn damaged_streams_are_survived(
        which in 0..FIXTURES.len(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let (protocol, _, stream) = FIXTURES[which];
        let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
        let mut bytes: Vec<u8> = order.iter().flat_map(|index| index.get(&events).bytes()).collect();
        for (index, byte) in damage {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let chunks = fuzzing::stream(protocol, bytes.chunks(50));
        prop_assert!(is_sound(&chunks), "{:?}", chunks);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), which in 0usize..4) {
        fuzzing::sse(&bytes);
        fuzzing::check(Protocol::ALL[which], &bytes);
        weft_core::stored::decode(u16::from(bytes.first().copied().unwrap_or(0)), &bytes).ok();
    }

    /// JSON of the right words in the wrong places gets further than random bytes.
    #[test]
    fn any_events_are_survived(events in prop::collection::vec(any_event(), 0..20), which in 0usize..4) {
        let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        fuzzing::check(Protocol::ALL[which], stream.as_bytes());
        for event in &events {
            prop_assert!(is_sound(&fuzzing::document(Protocol::ALL[which], event.to_string().as_bytes())));
        }
    }
}

const WORDS: &[&str] = &[
    "type",
    "index",
    "delta",
    "text",
    "thinking",
    "content_block",
    "content_block_start",
    "content_block_delta",
    "tool_use",
    "id",
    "name",
    "input",
    "partial_json",
    "input_json_delta",
    "message_delta",
    "message_stop",
    "usage",
    "choices",
    "tool_calls",
    "function",
    "arguments",
    "function_call",
    "finish_reason",
    "stop",
    "message",
    "content",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "finishReason",
    "thoughtSignature",
    "thought",
    "usageMetadata",
    "response.output_item.added",
    "response.output_item.done",
    "response.function_call_arguments.delta",
    "output_index",
    "item",
    "response.completed",
    "response",
    "output",
    "status",
    "reasoning",
    "encrypted_content",
    "error",
    "code",
    "reasoning_details",
    "summary",
    "sequence_number",
    "details",
];

fn any_event() -> impl Strategy<Value = serde_json::Value> {
    let word = prop::sample::select(WORDS).prop_map(str::to_owned);
    let leaf = prop_oneof![
        word.clone().prop_map(serde_json::Value::from),
        (0u64..3).prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}
