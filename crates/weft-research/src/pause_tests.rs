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
        "please do not search the web",
        "I don't need the web here",
        "go on without the web",
    ] {
        assert_eq!(skips(&json!({ "reply": reply })), json!(["calibrate"]), "{reply}");
    }
    for reply in [
        "proceed",
        "Yes search",
        "A. Yes, search the web first",
        "budget please",
        "",
        "because",
        "Now do the web search",
        "I know, search the web",
        "don't skip the web",
        "There is no hurry, do the web search",
        "another web search would be good",
    ] {
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
    assert!(text.contains("65% (below 70%)") && text.contains("Q1: Which country") && text.contains("could also mean"));
    // Letters of other languages can be read, and what turns a line around is seen.
    let german =
        analysed(&json!({ "output": { "sub_queries": [{ "query": "Aufbewahrung f\u{fc}r Personal\u{202e}akten" }] } }));
    let text = german.get("text").and_then(Value::as_str).unwrap();
    assert!(text.contains("f\u{fc}r Personal\\u{202e}akten") && !text.contains('\u{202e}'), "{text}");
    let quick =
        analysed(&json!({ "output": plan(0.9)["output"], "settings": { "web": false }, "tools": ["web_search"] }));
    assert_eq!(quick.get("options").unwrap(), &json!(["Go on", "Exit"]));
}

#[test]
fn a_clarity_is_never_on_both_sides_of_the_mark() {
    for (share, said) in [(0.695, "69.5%"), (0.6999, "69.9%"), (0.7, "70%"), (0.85, "85%"), (0.0, "0%"), (1.0, "100%")]
    {
        assert_eq!(percent(share), said);
    }
}

#[test]
fn a_plan_changes_by_either_shape_and_within_bounds() {
    let plan = json!({ "sub_queries": [{ "query": "old" }, { "query": "bad" }] });
    let searched = json!({ "results": [{ "url": "https://a.example" }], "execution": { "queries_planned": 1, "queries_succeeded": 1, "results_count": 1 } });
    let changed = |answer: Value| {
        calibrate::calibrated(
            &json!({ "plan": plan, "settings": { "sub_queries": 8 }, "searched": searched, "answer": answer }),
        )
    };
    let by_action = changed(json!({ "calibration": { "calibration_summary": "Two things are new.", "queries": [
        { "original_text": "old", "refined_text": "old and better", "action": "refine" },
        { "original_text": "bad", "action": "remove" },
        { "refined_text": "new", "action": "add" },
    ] } }));
    let queries: Vec<&str> =
        by_action["sub_queries"].as_array().unwrap().iter().map(|query| query["query"].as_str().unwrap()).collect();
    assert_eq!(queries, ["old and better", "new"]);
    let shown = calibrated(&json!({ "output": by_action }))["text"].as_str().unwrap().to_owned();
    assert!(
        shown.contains("has changed the plan") && shown.contains("In the model's words: Two things are new."),
        "{shown}"
    );
    let many: Vec<Value> = (0..100).map(|number| json!({ "query": format!("more {number}") })).collect();
    let bounded = changed(json!({ "websearch_calibration": { "intent_changes": { "sub_queries_added": many } } }));
    assert_eq!(bounded["sub_queries"].as_array().unwrap().len(), 12);
    assert_eq!(bounded["changes"]["sub_queries_added"].as_array().unwrap().len(), 10, "what is told is what was done");
}

#[test]
fn a_model_counts_nothing_and_adds_no_address() {
    let searched = json!({ "results": [{ "url": "https://a.example" }], "execution": { "queries_succeeded": 1 } });
    let made = calibrate::calibrated(&json!({ "plan": {}, "searched": searched, "answer": { "websearch_calibration": {
        "web_research_context": "I have made 5 searches with fifty results. Look at **https://made.up/x**. Records are deleted, as https://a.example says.",
        "web_sources": [{ "url": "https://a.example", "title": "Mine", "relevance_note": "See https://made.up/y." }] } } }));
    assert_eq!(made["web_research_context"], "Records are deleted, as https://a.example says.");
    assert!(!made.to_string().contains("made.up"), "{made}");
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
