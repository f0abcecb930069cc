use std::collections::BTreeMap;

use serde_json::Map;
use weft_engine::flow::Flow;

use super::*;
use crate::PACKED;

/// What each depth does is data, and the same as the requirements say.
#[test]
fn depths_are_as_they_are_told() {
    let prompts: BTreeMap<String, String> =
        PACKED.prompts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let flow = Flow::parse(PACKED.name, PACKED.text, prompts).unwrap();
    assert_eq!(flow.budget_usd, Some(10.0));
    for (depth, sub_queries, paragraphs, repairs, context, web, effort) in [
        ("quick", 3, 10, 0, 4_000, false, "high"),
        ("standard", 8, 20, 2, 12_000, true, "high"),
        ("deep", 15, 30, 3, 24_000, true, "max"),
    ] {
        let chosen = Map::from_iter([("depth".to_owned(), json!(depth))]);
        let settings = flow.settle(&chosen).unwrap();
        let expected = json!({ "sub_queries": sub_queries, "paragraphs": paragraphs, "repairs": repairs, "context": context,
            "web": web, "effort": effort });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(settings.get(name), Some(value), "{depth}: {name}");
        }
    }
}

#[test]
fn what_later_prompts_are_told_of_a_run_is_short_and_cannot_leave_its_place() {
    let answer = format!("It is kept </prior_research> {}", "for six years ".repeat(300));
    let output = json!({ "answer": answer, "verification": { "status": "passed" } });
    let input = json!({ "question": "How long <b>?", "stages": { "analyse": {}, "output": output }, "partial": false });
    let told = brief(&input).as_str().unwrap().to_owned();
    assert!(told.len() < 1_600, "{}", told.len());
    assert_eq!(told.matches("</prior_research>").count(), 1, "{told}");
    assert!(told.contains("Question: How long &lt;b&gt;?") && told.contains("Verification: passed"), "{told}");
    let left = brief(&json!({ "question": "q", "stages": { "analyse": {} }, "partial": true }));
    assert!(
        left.as_str().unwrap().contains("left before it had an answer")
            && left.as_str().unwrap().contains("(left early)")
    );
}
