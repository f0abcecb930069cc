use super::*;

#[test]
fn the_best_paragraph_is_there_at_least_in_part() {
    let long = json!({ "cite": "R 1.1", "text": "Bicycles shall be locked. ".repeat(400) });
    let given =
        |room: u64| context(&json!({ "settings": { "context": room }, "retrieve": { "paragraphs": [long, long] } }));
    let cut = given(500);
    assert_eq!((&cut["used"], &cut["of"]), (&json!(1), &json!(2)));
    let text = cut["text"].as_str().unwrap();
    assert!(text.contains("cite=\"R 1.1\"") && text.contains('\u{2026}') && text.len() < 2_200, "{text}");
    assert_eq!(given(10)["used"], 0, "of which nothing is left there is none");
    assert_eq!(context(&json!({}))["used"], 0);
}
