//! The list of cases that every protocol must pass, each through a real connection to the scripted
//! server.

use serde_json::{Value, json};
use weft_core::event::StopReason;
use weft_core::message::{calls_of, text_of};
use weft_core::{Failure, FailureKind, Part};
use weft_model::provider::Protocol;
use weft_model::{Answer, Chunk};
use weft_script::{Fault, Reply, Stop, call, failure, nothing, raw_call, status, text, thinking};

/// What came of a call.
pub struct Outcome {
    pub protocol: Protocol,
    pub chunks: Vec<Chunk>,
}

impl Outcome {
    pub fn answer(&self) -> &Answer {
        match self.chunks.last() {
            Some(Chunk::Done(answer)) => answer,
            other => panic!("{}: no answer, but {other:?}", self.protocol),
        }
    }

    pub fn failure(&self) -> &Failure {
        match self.chunks.last() {
            Some(Chunk::Failed { failure, .. }) => failure,
            other => panic!("{}: no failure, but {other:?}", self.protocol),
        }
    }

    /// What was shown while it came.
    pub fn streamed(&self) -> String {
        self.chunks
            .iter()
            .filter_map(|chunk| if let Chunk::Text(text) = chunk { Some(text.as_str()) } else { None })
            .collect()
    }

    fn text(&self) -> String {
        assert_eq!(self.streamed(), text_of(&self.answer().parts).replace("\n\n", ""), "{}", self.protocol);
        self.streamed()
    }

    fn calls(&self) -> Vec<(&str, Value)> {
        calls_of(&self.answer().parts).map(|call| (call.name.as_str(), call.input.clone())).collect()
    }

    fn check_failure(&self, kind: FailureKind) {
        assert_eq!(self.failure().kind, kind, "{}: {:?}", self.protocol, self.failure());
        assert!(self.failure().message.contains("acme"), "the provider is not named: {}", self.failure().message);
        assert!(!self.failure().message.contains("secret"), "{}", self.failure().message);
    }
}

pub struct Case {
    pub name: &'static str,
    pub reply: Reply,
    pub check: fn(&Outcome),
}

const HUGE: usize = 100_000;
const UNICODE: &str = "größer 🧵 織物 \u{1F469}\u{200D}\u{1F4BB} e\u{301}";

/// All of them. One whose answer never comes waits for the watchdog, so its client is impatient.
pub fn cases() -> Vec<Case> {
    let mut cases = answers();
    cases.extend(refusals());
    cases.extend(accidents());
    cases
}

fn two_calls() -> Reply {
    text("Looking.").then(call("read", json!({"path": "a"}))).then(call("list", json!({})))
}

fn answers() -> Vec<Case> {
    vec![
        Case {
            name: "plain text",
            reply: text("Hello there."),
            check: |outcome| {
                assert_eq!(outcome.text(), "Hello there.");
                assert_eq!(outcome.answer().stop, StopReason::End);
                assert_eq!((outcome.answer().usage.input, outcome.answer().usage.output), (120, 24));
            },
        },
        Case { name: "two parallel tools", reply: two_calls(), check: check_two_calls },
        Case { name: "interleaved", reply: two_calls().fault(Fault::Interleave), check: check_two_calls },
        Case {
            name: "thinking",
            reply: thinking("Let me think.").then(text("Done.")),
            check: |outcome| {
                assert_eq!(outcome.text(), "Done.");
                let thought: String = outcome.answer().parts.iter().filter_map(thought_of).collect();
                assert_eq!(thought, "Let me think.", "{}", outcome.protocol);
                assert!(outcome.chunks.iter().any(|chunk| matches!(chunk, Chunk::Thinking(_))));
            },
        },
        Case {
            name: "broken arguments",
            reply: raw_call("read", "{\"path\": \"a"),
            check: |outcome| {
                let calls = outcome.calls();
                assert!(
                    matches!(calls.as_slice(), [("read", Value::String(raw))] if raw.contains("path")),
                    "{calls:?}"
                );
            },
        },
        Case {
            name: "cut off by the limit",
            reply: text("Once").stop(Stop::MaxTokens),
            check: |outcome| assert_eq!(outcome.answer().stop, StopReason::Length),
        },
        Case {
            name: "refusal",
            reply: text("No.").stop(Stop::Refusal),
            check: |outcome| assert_eq!(outcome.answer().stop, StopReason::Refusal),
        },
        Case {
            name: "nothing at all",
            reply: nothing(),
            check: |outcome| {
                assert_eq!((outcome.answer().parts.as_slice(), outcome.answer().stop), ([].as_slice(), StopReason::End))
            },
        },
        Case {
            name: "huge text",
            reply: text("weft ".repeat(HUGE / 5)),
            check: |outcome| assert_eq!(outcome.text().len(), HUGE),
        },
        Case {
            name: "unicode, byte by byte",
            reply: text(UNICODE).fault(Fault::SplitBytes),
            check: |outcome| assert_eq!(outcome.text(), UNICODE),
        },
        Case {
            name: "slowly",
            reply: text("a b c").fault(Fault::SlowChunks { ms: 5 }),
            check: |outcome| assert_eq!(outcome.text(), "a b c"),
        },
    ]
}

fn thought_of(part: &Part) -> Option<&str> {
    match part {
        Part::Thinking { text, .. } => Some(text),
        Part::Text { .. } | Part::ToolCall(_) | Part::Opaque { .. } => None,
    }
}

fn check_two_calls(outcome: &Outcome) {
    assert_eq!(outcome.text(), "Looking.");
    assert_eq!(outcome.calls(), [("read", json!({"path": "a"})), ("list", json!({}))], "{}", outcome.protocol);
    assert_eq!(outcome.answer().stop, StopReason::ToolCalls);
    let shown: Vec<_> = outcome
        .chunks
        .iter()
        .filter_map(
            |chunk| if let Chunk::ToolStart { call, name } = chunk { Some((call.clone(), name.clone())) } else { None },
        )
        .collect();
    let called: Vec<_> = calls_of(&outcome.answer().parts).map(|call| (call.id.clone(), call.name.clone())).collect();
    assert_eq!(shown, called);
}

fn refusals() -> Vec<Case> {
    vec![
        Case {
            name: "401",
            reply: failure(401, "authentication_error", "invalid key secret-key-0123456789"),
            check: |outcome| outcome.check_failure(FailureKind::Auth),
        },
        Case {
            name: "403",
            reply: failure(403, "permission_error", "no"),
            check: |outcome| outcome.check_failure(FailureKind::Forbidden),
        },
        Case {
            name: "404",
            reply: failure(404, "not_found_error", "model: x"),
            check: |outcome| outcome.check_failure(FailureKind::NotFound),
        },
        Case {
            name: "too long",
            reply: failure(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            check: |outcome| outcome.check_failure(FailureKind::ContextOverflow),
        },
        Case {
            name: "429 with a wait",
            reply: failure(429, "rate_limit_error", "slow down").header("retry-after", "7"),
            check: |outcome| {
                outcome.check_failure(FailureKind::RateLimited);
                assert_eq!((outcome.failure().retry_after_ms, outcome.failure().status), (Some(7_000), Some(429)));
            },
        },
        Case {
            name: "500",
            reply: failure(500, "api_error", "boom"),
            check: |outcome| outcome.check_failure(FailureKind::Server),
        },
        Case {
            name: "500 without a word",
            reply: status(500, ""),
            check: |outcome| outcome.check_failure(FailureKind::Server),
        },
        Case {
            name: "529",
            reply: failure(529, "overloaded_error", "Overloaded"),
            check: |outcome| outcome.check_failure(FailureKind::Overloaded),
        },
        Case {
            name: "a web page",
            reply: status(502, "<html><head><title>Bad gateway</title></head></html>"),
            check: |outcome| {
                outcome.check_failure(FailureKind::Server);
                assert!(outcome.failure().message.contains("Bad gateway"), "{}", outcome.failure());
            },
        },
        Case {
            name: "overloaded half-way",
            reply: text("Half").then(text("more")).fault(Fault::StreamError {
                after: 1,
                kind: "overloaded_error".to_owned(),
                message: "Overloaded".to_owned(),
            }),
            check: |outcome| {
                assert!(outcome.streamed().starts_with("Half"));
                // Gemini reports errors by status, of which 503 is the nearest.
                let kind = outcome.failure().kind;
                assert!(
                    matches!(kind, FailureKind::Overloaded | FailureKind::Server),
                    "{}: {kind:?}",
                    outcome.protocol
                );
            },
        },
    ]
}

fn accidents() -> Vec<Case> {
    vec![
        Case {
            name: "reset at once",
            reply: text("x").fault(Fault::ResetBefore),
            check: |outcome| outcome.check_failure(FailureKind::Network),
        },
        Case {
            name: "reset in the middle",
            reply: text("Half").then(text("more")).fault(Fault::ResetAfter { pieces: 1 }),
            check: |outcome| outcome.check_failure(FailureKind::StreamBroken),
        },
        Case {
            name: "cut without an end",
            reply: text("Half").then(text("more")).fault(Fault::CutAfter { pieces: 1 }),
            check: |outcome| {
                outcome.check_failure(FailureKind::StreamBroken);
                assert_eq!(outcome.streamed(), "Half");
            },
        },
        Case {
            name: "silence",
            reply: text("Half").then(text("more")).fault(Fault::Silent { after: 1 }),
            check: |outcome| {
                outcome.check_failure(FailureKind::Idle);
                assert_eq!(outcome.streamed(), "Half");
            },
        },
        Case {
            name: "rubbish",
            reply: text("Half").then(text("more")).fault(Fault::Rubbish { after: 1 }),
            check: |outcome| {
                outcome.check_failure(FailureKind::Protocol);
                assert_eq!(outcome.streamed(), "Half");
            },
        },
        Case {
            name: "everything twice",
            reply: text("Once.").then(call("read", json!({"path": "a"}))).fault(Fault::Duplicate),
            check: |outcome| {
                // Only some protocols let a repetition be noticed; none may make a call of nothing.
                assert!(outcome.answer().parts.len() >= 2, "{}", outcome.protocol);
                assert!(outcome.calls().iter().all(|(name, _)| *name == "read"));
            },
        },
    ]
}
