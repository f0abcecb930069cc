#![allow(clippy::unwrap_used)]

use FailureKind::*;
use serde_json::json;

use super::*;

fn check(status: u16, body: &str, kind: FailureKind, sentence: &str) {
    let key = Secret::new("sk-test-0123456789");
    let remedy = "Give another with `weft auth acme`; one in an environment variable goes before it.";
    let sentence = if kind == FailureKind::Auth { format!("{sentence} {remedy}") } else { sentence.to_owned() };
    let failure = from_response("acme", status, &HeaderMap::new(), body.as_bytes(), Some(&key));
    assert_eq!((failure.kind, failure.message.as_str()), (kind, sentence.as_str()), "{status} {body}");
    assert_eq!(failure.status, Some(status));
}

#[test]
fn statuses_and_words_become_kinds() {
    let anthropic =
        |kind: &str, message: &str| json!({"type":"error","error":{"type":kind,"message":message}}).to_string();
    let openai = |code: &str, message: &str| json!({"error":{"code":code,"type":"x","message":message}}).to_string();

    check(
        401,
        &anthropic("authentication_error", "invalid x-api-key"),
        Auth,
        "acme did not accept the key (401): invalid x-api-key.",
    );
    check(403, "", Forbidden, "acme does not allow this (403) and gave no reason.");
    check(402, &openai("x", "Pay first."), Quota, "The acme account has no credit left (402): Pay first.");
    check(
        429,
        &openai("insufficient_quota", "You exceeded it"),
        Quota,
        "The acme account has no credit left (429): You exceeded it.",
    );
    check(
        400,
        &anthropic("invalid_request_error", "Your credit balance is too low"),
        Quota,
        "The acme account has no credit left (400): Your credit balance is too low.",
    );
    check(
        404,
        r#"{"error":"model 'x' not found"}"#,
        NotFound,
        "acme has no such model or address (404): model 'x' not found.",
    );
    check(413, "", ContextOverflow, "The conversation is too long for acme (413) and gave no reason.");
    check(
        400,
        &anthropic("invalid_request_error", "prompt is too long: 2 > 1"),
        ContextOverflow,
        "The conversation is too long for acme (400): prompt is too long: 2 > 1.",
    );
    check(
        400,
        &openai("context_length_exceeded", "m"),
        ContextOverflow,
        "The conversation is too long for acme (400): m.",
    );
    check(
        429,
        &anthropic("rate_limit_error", "Slow"),
        RateLimited,
        "acme is limiting how much may be asked (429): Slow.",
    );
    check(529, &anthropic("overloaded_error", "Overloaded"), Overloaded, "acme is overloaded (529): Overloaded.");
    check(
        503,
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
        Overloaded,
        "acme is overloaded (503): The model is overloaded.",
    );
    check(500, "oops", Server, "acme failed (500): oops.");
    check(422, r#"{"detail":[{"msg":"bad"}]}"#, BadRequest, r#"acme refused the request (422): [{"msg":"bad"}]."#);
    check(
        400,
        r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
        Auth,
        "acme did not accept the key (400): API key not valid.",
    );
    check(
        502,
        "<html><head><title>502 Bad Gateway</title>",
        Server,
        "acme failed (502): a web page came back instead of an answer, titled `502 Bad Gateway`.",
    );
    check(401, "wrong key sk-test-0123456789", Auth, "acme did not accept the key (401): wrong key [key].");
}

#[test]
fn waits_are_read_from_headers_and_bodies() {
    let body = br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"RetryInfo","retryDelay":"34.5s"}]}}"#;
    let mut headers = HeaderMap::new();
    assert_eq!(from_response("acme", 429, &headers, body, None).retry_after_ms, Some(34_500));
    headers.insert("retry-after", "3".parse().unwrap());
    assert_eq!(from_response("acme", 429, &headers, body, None).retry_after_ms, Some(3_000));
    assert_eq!(from_response("acme", 400, &headers, b"", None).retry_after_ms, None);
}

#[test]
fn a_redirect_names_its_target() {
    let mut headers = HeaderMap::new();
    headers.insert("location", "https://example.com/v1".parse().unwrap());
    let failure = from_response("acme", 308, &headers, b"", None);
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (Config, "acme has moved to https://example.com/v1. Set that as its base URL.")
    );
}

#[test]
fn errors_inside_a_stream() {
    let check = |error: Value, kind| assert_eq!(from_stream("acme", &error, None).kind, kind, "{error}");
    check(json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}), Overloaded);
    check(json!({"error":{"code":502,"message":"bad upstream"}}), Server);
    check(json!({"error":{"code":"429","message":"m"}}), RateLimited);
    check(json!({"type":"error","code":"rate_limit_exceeded","message":"m"}), RateLimited);
    check(json!({"error":{"type":"invalid_request_error","message":"m"}}), BadRequest);
    check(json!({"error":"something"}), Server);
    check(json!(7), Server);
    let long = from_stream("acme", &json!({"error":"word ".repeat(1000)}), None);
    assert!(long.message.len() < 600);
}
