use super::*;

#[test]
fn both_shapes_of_a_plan_are_read() {
    let settings = json!({ "sub_queries": 8, "depth": "standard" });
    let read = |answer: Value| plan(&json!({ "question": "q", "settings": settings, "answer": answer }));
    let usual = read(
        json!({ "query_plan": { "clarity_score": 0.8, "sub_queries": [{ "query": "a", "role": "primary", "target_standards": ["3"] }] } }),
    );
    let other =
        read(json!({ "confidence": 0.8, "queries": [{ "text": "a", "intent": "primary", "isa_standards": ["3"] }] }));
    assert_eq!((usual["path"].clone(), other["path"].clone()), (json!("model"), json!("alias")));
    assert_eq!(usual["sub_queries"], other["sub_queries"]);
    assert_eq!(usual["clarity_score"], other["clarity_score"]);
    for plan in [usual, other] {
        let shown = crate::pause::analysed(&json!({ "output": plan, "settings": settings }));
        assert!(shown["text"].as_str().unwrap().contains("- [primary] a - 3"), "{shown}");
    }
    // What cannot be read becomes a plan of the question itself.
    let rubbish = read(json!({ "raw_text": "I would rather not." }));
    assert_eq!((rubbish["path"].clone(), rubbish["sub_queries"][0]["query"].clone()), (json!("fallback"), json!("q")));
    let many: Vec<Value> = (0..50).map(|number| json!({ "query": format!("q{number}") })).collect();
    assert_eq!(read(json!({ "sub_queries": many }))["sub_queries"].as_array().unwrap().len(), 8);
}

#[test]
fn a_clarity_of_a_hundred_is_read_as_a_share() {
    for (said, read) in [(0.85, 0.85), (85.0, 0.85), (1.0, 1.0), (900.0, 1.0), (-2.0, 0.0)] {
        let made = plan(
            &json!({ "question": "q", "answer": { "query_plan": { "clarity_score": said, "sub_queries": ["q"] } } }),
        );
        assert_eq!(made["clarity_score"], json!(read), "{said}");
    }
}
