use serde_json::json;

use super::*;
use crate::calibrate;

#[test]
fn who_does_not_want_the_web_is_understood() {
    for reply in [
        "b",
        "B. No",
        "b.",
        "no web search please",
        "skip the web search",
        "B. No, go on without the web",
        "proceed directly",
    ] {
        assert_eq!(skips(&json!({ "reply": reply })), json!(["calibrate"]), "{reply}");
    }
    for reply in ["proceed", "Yes search", "A. Yes, search the web first", "budget please", "", "because"] {
        assert_eq!(skips(&json!({ "reply": reply })), json!([]), "{reply}");
    }
}

#[test]
fn a_pause_says_how_clear_the_question_is() {
    let plan = |clarity: f64| {
        json!({ "output": { "clarity_score": clarity, "sub_queries": [{ "query": "keeping periods", "role": "primary", "targets": ["3"] }],
            "clarification_questions": ["Which country \u{2013} yours?"], "alternative_interpretations": ["x"], "path": "model" },
            "settings": { "web": true }, "tools": ["web_search"] })
    };
    let clear = analysed(&plan(0.73));
    let text = clear.get("text").and_then(Value::as_str).unwrap();
    assert!(text.contains("73% (above 70%)") && text.contains("- [primary] keeping periods - 3"), "{text}");
    assert!(!text.contains("could also mean") && text.is_ascii());
    assert_eq!(clear.get("options").unwrap().as_array().unwrap().len(), 3);
    let vague = analysed(&plan(0.65));
    let text = vague.get("text").and_then(Value::as_str).unwrap();
    assert!(text.contains("65% (below 70%)") && text.contains("(a) Which country") && text.contains("could also mean"));
    let quick =
        analysed(&json!({ "output": plan(0.9)["output"], "settings": { "web": false }, "tools": ["web_search"] }));
    assert_eq!(quick.get("options").unwrap(), &json!(["Go on", "Exit"]));
}

#[test]
fn what_cannot_be_laid_out_is_shown_as_it_is() {
    let shown = analysed(&json!({ "output": "rubbish" }));
    assert_eq!(shown.get("path").unwrap(), "fallback");
    assert!(shown.get("text").and_then(Value::as_str).unwrap().contains("```json"));
}

#[test]
fn a_failed_search_is_never_called_a_calibration() {
    let failed = json!({ "output": { "status": "failed", "execution": { "queries_planned": 3, "queries_succeeded": 0, "warnings": ["no key"] } } });
    let text = calibrated(&failed)["text"].as_str().unwrap().to_owned();
    assert!(text.contains("did not work") && text.contains("no key") && !text.contains("confirms"), "{text}");
    let unread = calibrate::calibrated(&json!({ "plan": {}, "answer": { "raw_text": "{\"websearch_" },
        "searched": { "results": [{ "url": "https://a.example" }], "execution": { "queries_planned": 1, "queries_succeeded": 1, "results_count": 1 } } }));
    let text = calibrated(&json!({ "output": unread }))["text"].as_str().unwrap().to_owned();
    assert!(text.contains("could not be read") && !text.contains("confirms"), "{text}");
    let claimed = json!({ "output": { "status": "calibrated", "execution": { "queries_planned": 5, "queries_succeeded": 2, "results_count": 7 }, "changes": {} } });
    assert!(calibrated(&claimed)["text"].as_str().unwrap().contains("2 of 5 searches, 7 results"));
}
