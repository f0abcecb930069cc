//! Real calls over real connections to the scripted server.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use weft_core::message::{calls_of, text_of};
use weft_core::{Entry, FailureKind, Message, Part, SessionId, ToolResult};
use weft_model::provider::{HttpModel, Protocol, ProviderConfig, Secret, check_key};
use weft_model::{Answer, Catalog, Chunk, Model, Request};
use weft_script::{Behaviour, ChatShape, Fault, Reply, Server, Settings, call, failure, text, thinking};

use crate::cases::{Case, Outcome, cases};

const KEY: &str = "secret-key-0123456789";

pub fn script_protocol(protocol: Protocol) -> weft_script::Protocol {
    match protocol {
        Protocol::Anthropic => weft_script::Protocol::Anthropic,
        Protocol::Responses => weft_script::Protocol::Responses,
        Protocol::Chat => weft_script::Protocol::Chat,
        Protocol::Gemini => weft_script::Protocol::Gemini,
    }
}

fn model_with(server: &Server, protocol: Protocol, change: impl FnOnce(&mut ProviderConfig)) -> HttpModel {
    let mut config = ProviderConfig::new("acme", protocol, server.url(script_protocol(protocol)));
    config.idle_timeout = Duration::from_secs(20);
    change(&mut config);
    HttpModel::new(config, Some(Secret::new(KEY)), Arc::new(Catalog::new())).unwrap()
}

fn model(server: &Server, protocol: Protocol) -> HttpModel {
    model_with(server, protocol, |_| {})
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        model: "some-model".into(),
        system: "Be brief.".into(),
        tools: Arc::from([]),
        messages: messages
            .into_iter()
            .enumerate()
            .map(|(seq, message)| Entry::new(seq as u64 + 1, 0, message))
            .collect(),
        max_output: 1000,
        effort: None,
        session: SessionId::from_random(7),
    }
}

fn hello() -> Request {
    request(vec![Message::user("Hello")])
}

async fn chunks(model: &HttpModel, request: Request) -> Vec<Chunk> {
    model.stream(request).collect().await
}

async fn answer(model: &HttpModel, request: Request) -> Answer {
    match chunks(model, request).await.pop() {
        Some(Chunk::Done(answer)) => answer,
        other => panic!("no answer, but {other:?}"),
    }
}

/// Long enough for a busy machine, short enough to wait for.
const IMPATIENT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn every_protocol_passes_every_case() {
    let all = cases().into_iter().flat_map(|case| {
        let case = Arc::new(case);
        Protocol::ALL.map(|protocol| pass(Arc::clone(&case), protocol))
    });
    futures_util::future::join_all(all).await;
}

async fn pass(case: Arc<Case>, protocol: Protocol) {
    let server = Server::start(Behaviour::Sequence(vec![case.reply.clone()])).unwrap();
    let silent = case.reply.faults.iter().any(|fault| matches!(fault, Fault::Silent { .. }));
    let model = model_with(&server, protocol, |config| {
        if silent {
            config.idle_timeout = IMPATIENT;
        }
    });
    let outcome = Outcome { protocol, chunks: chunks(&model, hello()).await };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (case.check)(&outcome)));
    assert!(result.is_ok(), "case `{}` of {protocol}: {:#?}", case.name, outcome.chunks.last());
}

#[tokio::test]
async fn requests_carry_key_version_and_own_headers() {
    let server = Server::start(Behaviour::Sequence(vec![text("ok")])).unwrap();
    for (index, protocol) in Protocol::ALL.into_iter().enumerate() {
        let model = model_with(&server, protocol, |config| {
            config.headers =
                vec![("x-team".to_owned(), "weavers".to_owned()), ("User-Agent".to_owned(), "mine".to_owned())];
        });
        answer(&model, hello()).await;
        let seen = server.requests().swap_remove(index);
        assert_eq!((seen.header("x-team"), seen.header("user-agent")), (Some("weavers"), Some("mine")));
        let (name, value) = match protocol {
            Protocol::Anthropic => ("x-api-key", KEY.to_owned()),
            Protocol::Gemini => ("x-goog-api-key", KEY.to_owned()),
            Protocol::Responses | Protocol::Chat => ("authorization", format!("Bearer {KEY}")),
        };
        assert_eq!(seen.header(name), Some(value.as_str()), "{protocol}");
        assert!(!seen.path.contains(KEY) && !seen.body.to_string().contains(KEY));
        assert_eq!(seen.header("anthropic-version").is_some(), protocol == Protocol::Anthropic);
        assert_eq!(seen.last_user, "Hello");
    }
}

#[tokio::test]
async fn a_key_is_checked_without_asking_a_model() {
    let mut settings = Settings::new(Behaviour::Sequence(vec![text("ok")]));
    settings.key = Some(KEY.to_owned());
    let server = Server::start_with(settings).unwrap();
    for protocol in Protocol::ALL {
        let config = ProviderConfig::new("acme", protocol, server.url(script_protocol(protocol)));
        check_key(&config, Secret::new(KEY)).await.unwrap();
        let refused = check_key(&config, Secret::new("wrong-key-9876543210")).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::Auth, "{protocol}: {refused}");
        assert!(!refused.message.contains("wrong-key"), "{refused}");
    }
    let nowhere = ProviderConfig::new("acme", Protocol::Chat, "http://127.0.0.1:1/v1");
    assert_eq!(check_key(&nowhere, Secret::new(KEY)).await.unwrap_err().kind, FailureKind::Network);
    assert_eq!(server.stats().requests, 0);
}

#[tokio::test]
async fn a_missing_key_is_told_before_anything_is_sent() {
    let server = Server::start(Behaviour::Sequence(vec![text("ok")])).unwrap();
    let mut config = ProviderConfig::new("acme", Protocol::Chat, server.url(weft_script::Protocol::Chat));
    config.needs_key = true;
    config.key_env = vec!["ACME_API_KEY".to_owned()];
    let model = HttpModel::new(config, None, Arc::new(Catalog::new())).unwrap();
    let outcome = Outcome { protocol: Protocol::Chat, chunks: chunks(&model, hello()).await };
    assert_eq!(outcome.failure().kind, FailureKind::Auth);
    assert!(outcome.failure().message.contains("ACME_API_KEY"), "{}", outcome.failure());
    assert_eq!(server.stats().requests, 0);
}

#[tokio::test]
async fn nobody_listening_is_a_network_failure() {
    let config = ProviderConfig::new("acme", Protocol::Anthropic, "http://127.0.0.1:9/v1");
    let model = HttpModel::new(config, None, Arc::new(Catalog::new())).unwrap();
    let outcome = Outcome { protocol: Protocol::Anthropic, chunks: chunks(&model, hello()).await };
    assert_eq!(outcome.failure().kind, FailureKind::Network);
    assert!(
        outcome.failure().message.starts_with("Cannot reach acme at http://127.0.0.1:9/v1"),
        "{}",
        outcome.failure()
    );
}

#[tokio::test]
async fn connections_are_used_again() {
    for protocol in Protocol::ALL {
        let server =
            Server::start(Behaviour::Sequence(vec![text("ok"), failure(429, "rate_limit_error", "m"), text("ok")]))
                .unwrap();
        let model = model(&server, protocol);
        for _ in 0..6 {
            chunks(&model, hello()).await;
            // The rest of an answer is read behind our back, in its own time.
            tokio::task::yield_now().await;
        }
        let stats = server.stats();
        assert_eq!(stats.requests, 6);
        assert!(stats.connections <= 2, "{protocol}: {} connections for 6 requests", stats.connections);
    }
}

#[tokio::test]
async fn dropping_the_stream_cancels_the_call() {
    let server =
        Server::start(Behaviour::Sequence(vec![text("Half").then(text("more")).fault(Fault::Silent { after: 1 })]))
            .unwrap();
    let model = model(&server, Protocol::Anthropic);
    let mut stream = model.stream(hello());
    assert!(matches!(stream.next().await, Some(Chunk::Text(_))));
    drop(stream);
    server.wait_for_hangups(1).await.unwrap();
}

#[tokio::test]
async fn a_slow_consumer_is_not_taken_for_a_silent_provider() {
    let words = "weft ".repeat(2_000);
    let server = Server::start(Behaviour::Sequence(vec![text(words.clone())])).unwrap();
    let all = Protocol::ALL.map(async |protocol| {
        let model = model_with(&server, protocol, |config| config.idle_timeout = IMPATIENT);
        let mut stream = model.stream(hello());
        let mut chunks = vec![stream.next().await.unwrap()];
        tokio::time::sleep(IMPATIENT * 6 / 5).await;
        while let Some(chunk) = stream.next().await {
            chunks.push(chunk);
        }
        let outcome = Outcome { protocol, chunks };
        assert_eq!(text_of(&outcome.answer().parts), words);
    });
    futures_util::future::join_all(all).await;
}

#[tokio::test]
async fn many_calls_at_once_share_one_client() {
    let server = Server::start(Behaviour::Sequence(vec![text("ok").fault(Fault::Delay { ms: 50 })])).unwrap();
    let model = Arc::new(model(&server, Protocol::Chat));
    let calls = (0..300).map(|_| {
        let model = Arc::clone(&model);
        tokio::spawn(async move { text_of(&answer(&model, hello()).await.parts) })
    });
    for done in futures_util::future::join_all(calls).await {
        assert_eq!(done.unwrap(), "ok");
    }
    assert_eq!(server.stats().requests, 300);
}

/// Two calls in every odd shape in which a server may send them come out the same.
#[tokio::test]
async fn chat_calls_in_all_shapes() {
    use ChatShape::*;
    let two = || {
        thinking("Hm.")
            .then(call("read", json!({"path": "a/ü"})))
            .then(call("read", json!({"path": "b", "lines": [1, 2]})))
    };
    let one = || thinking("Hm.").then(call("read", json!({"path": "a/ü"})));
    let shapes: &[&[ChatShape]] = &[
        &[],
        &[NoIndex],
        &[IdEveryChunk],
        &[NoIndex, IdEveryChunk],
        &[EmptyId],
        &[NameEveryChunk],
        &[NameInPieces],
        &[WholeCall],
        &[WholeCall, NoIndex],
        &[WholeCall, NoIndex, EmptyId],
        &[ObjectArguments],
        &[ObjectArguments, NoIndex],
        &[SameIndexNewId],
        &[SameIndexNewId, WholeCall],
        &[StopWithCalls],
        &[NoDone],
        &[NoUsage],
        &[NoUsage, NoDone],
        &[PlainJson],
        &[ReasoningContent],
        &[LegacyFunctionCall],
    ];
    for shapes in shapes {
        let legacy = shapes.contains(&LegacyFunctionCall);
        let reply = shapes.iter().fold(if legacy { one() } else { two() }, |reply, shape| reply.shape(*shape));
        let server = Server::start(Behaviour::Sequence(vec![reply])).unwrap();
        let answer = answer(&model(&server, Protocol::Chat), hello()).await;
        let calls: Vec<_> = calls_of(&answer.parts).map(|call| (call.name.as_str(), call.input.clone())).collect();
        let mut expected = vec![("read", json!({"path": "a/ü"})), ("read", json!({"path": "b", "lines": [1, 2]}))];
        expected.truncate(if legacy { 1 } else { 2 });
        assert_eq!(calls, expected, "{shapes:?}");
        assert!(
            matches!(&answer.parts[0], Part::Thinking { text, .. } if text == "Hm."),
            "{shapes:?}: {:?}",
            answer.parts
        );
        assert_eq!(answer.stop, weft_core::event::StopReason::ToolCalls, "{shapes:?}");
    }
}

/// What a model said goes back to it and to every other protocol, and the scripted server, which
/// reads each protocol strictly enough to count rounds, finds the same conversation.
#[tokio::test]
async fn answers_can_be_sent_back_to_any_protocol() {
    let reply = || {
        thinking("Hm.").then(text("Looking.")).then(call("read", json!({"path": "a"}))).then(call("list", json!({})))
    };
    for first in Protocol::ALL {
        let server = Server::start(Behaviour::Sequence(vec![reply()])).unwrap();
        let answer = answer(&model(&server, first), hello()).await;
        let results = calls_of(&answer.parts)
            .map(|call| ToolResult {
                call: call.id.clone(),
                name: call.name.clone(),
                text: format!("result of {}", call.name),
                images: Vec::new(),
                is_error: false,
            })
            .collect();
        let conversation = vec![
            Message::user("Hello"),
            Message::Assistant(answer.parts.clone()),
            Message::Tool(results),
            Message::user("And?"),
        ];
        for second in Protocol::ALL {
            let server = Server::start(Behaviour::Sequence(vec![text("ok")])).unwrap();
            let mut shorter = conversation.clone();
            shorter.pop();
            chunks(&model(&server, second), request(shorter)).await;
            chunks(&model(&server, second), request(conversation.clone())).await;
            let seen = server.requests();
            let results = &seen[0].last_results;
            assert!(
                results.len() == 2 && results[0].contains("result of read") && results[1].contains("result of list"),
                "{first} to {second}: {results:?}"
            );
            assert_eq!(
                (seen[1].turn, seen[1].round, seen[1].last_user.as_str()),
                (2, 1, "And?"),
                "{first} to {second}"
            );
        }
    }
}

/// A provider that refuses reasoning it did not make, or not in this conversation, gets it no more.
#[tokio::test]
async fn refused_reasoning_is_forgotten() {
    let refuse_signed = |seen: &weft_script::Seen| -> Reply {
        if seen.body.to_string().contains("\"signature\"") {
            failure(400, "invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block")
        } else {
            text("ok")
        }
    };
    let server = Server::start(Behaviour::matching(refuse_signed)).unwrap();
    let model = model(&server, Protocol::Anthropic);
    let thought = Part::Thinking { text: "t".to_owned(), signature: Some("anthropic:FOREIGN".to_owned()) };
    let conversation = request(vec![
        Message::user("a"),
        Message::Assistant(vec![thought, Part::Text { text: "b".to_owned() }]),
        Message::user("c"),
    ]);
    assert_eq!(text_of(&answer(&model, conversation.clone()).await.parts), "ok");
    assert_eq!(text_of(&answer(&model, conversation.clone()).await.parts), "ok");
    assert_eq!(server.stats().requests, 3, "refused once, then remembered");

    let always = Server::start(Behaviour::Sequence(vec![failure(400, "invalid_request_error", "signature")])).unwrap();
    let model = self::model(&always, Protocol::Anthropic);
    let outcome = Outcome { protocol: Protocol::Anthropic, chunks: chunks(&model, conversation).await };
    assert_eq!(outcome.failure().kind, FailureKind::BadRequest);
    assert_eq!(always.stats().requests, 2, "tried once more, not for ever");
}

#[tokio::test]
async fn usage_counts_everything_once() {
    let usage = weft_script::Usage { input: 5_000, output: 200, cache_read: 3_000, cache_write: 1_000, reasoning: 0 };
    for protocol in Protocol::ALL {
        let server = Server::start(Behaviour::Sequence(vec![text("ok").usage(usage)])).unwrap();
        let counted = answer(&model(&server, protocol), hello()).await.usage;
        assert_eq!((counted.input, counted.output, counted.cache_read), (5_000, 200, 3_000), "{protocol}");
        if protocol == Protocol::Anthropic {
            assert_eq!(counted.cache_write, 1_000);
        }
    }
}

#[tokio::test]
async fn a_body_is_small() {
    let server = Server::start(Behaviour::Sequence(vec![text("ok")])).unwrap();
    for protocol in Protocol::ALL {
        let body = model(&server, protocol).body(&hello());
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value.to_string().len(), body.len(), "{protocol}: the JSON is not compact");
        assert!(body.len() < 330, "{protocol}: {} bytes: {value}", body.len());
    }
}
