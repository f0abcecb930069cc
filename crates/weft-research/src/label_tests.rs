use serde_json::json;

use super::*;

fn input() -> Value {
    json!({ "prefixes": ["HHS"], "calibrate": { "status": "calibrated",
        "web_sources": [
            { "url": "https://a.example", "title": "Keeping employee files", "relevance_note": "periods" },
            { "url": "https://b.example", "title": "Zeppelins", "relevance_note": "something else" }],
        "results": [{ "url": "https://a.example", "snippet": "Employee files" }, { "url": "https://b.example", "snippet": "" }] } })
}

#[test]
fn a_source_is_pointed_to_once_where_words_are_shared_and_not_at_all_otherwise() {
    let text = "Travel is booked early (HHS 11.1). Employee files are kept (HHS 3.8).";
    let labelled = label(text, &input());
    assert_eq!(labelled, "Travel is booked early (HHS 11.1). Employee files are kept (HHS 3.8) (see also [W1]).");
    assert_eq!(label(&labelled, &input()), labelled, "a second time changes nothing");
}

#[test]
fn what_code_points_to_bears_nothing_out() {
    let labelled = label("Employee files are kept for long.", &input());
    assert!(labelled.contains("(see also [W1])"));
    assert!(statements(&labelled, &grammar(&input())).iter().all(|one| one.is_uncited()), "{labelled}");
    let own = label("Employee files are kept for long [W1].", &input());
    assert_eq!(own, "Employee files are kept for long [W1].");
}
