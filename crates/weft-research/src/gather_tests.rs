use super::*;

fn search(query: &str, ids: &[&str]) -> Value {
    let paragraphs: Vec<Value> = ids
        .iter()
        .enumerate()
        .map(|(place, id)| json!({ "id": id, "score": 1.0 / (1.0 + place as f64 * 0.1) }))
        .collect();
    json!({ "query": query, "paragraphs": paragraphs })
}

fn ids(gathered: &Value) -> Vec<String> {
    let paragraphs = gathered["paragraphs"].as_array().unwrap();
    paragraphs.iter().map(|paragraph| paragraph["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_question_counts_more_than_its_clauses() {
    let gathered = gather(&json!({ "searches": [search("all", &["a", "b"]), search("part", &["c", "b"])] }));
    assert_eq!(ids(&gathered), ["a", "b", "c"], "what both found comes before what only the clause found");
}

#[test]
fn references_stand_after_the_first_sixteen_and_nothing_is_lost_or_doubled() {
    let found: Vec<String> = (0..20).map(|number| format!("f{number}")).collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let hops: Vec<Value> = ["f3", "f18", "h1", "h2"].iter().map(|id| json!({ "id": id, "distance": 1 })).collect();
    let gathered = gather(&json!({ "searches": [search("q", &found)], "hops": { "paragraphs": hops } }));
    let ids = ids(&gathered);
    assert_eq!(ids[..16], found[..16]);
    assert_eq!(ids[16..19], ["f18", "h1", "h2"]);
    assert_eq!(ids.len(), 22);
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 22);
}

#[test]
fn of_very_many_references_the_rest_comes_last() {
    let hops: Vec<Value> = (0..30).map(|number| json!({ "id": format!("h{number}"), "distance": 1 })).collect();
    let found: Vec<String> = (0..20).map(|number| format!("f{number}")).collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let gathered = gather(&json!({ "searches": [search("q", &found)], "hops": { "paragraphs": hops }, "most": 40 }));
    let ids = ids(&gathered);
    assert_eq!((ids[15].as_str(), ids[19].as_str(), ids[20].as_str(), ids.len()), ("f15", "h3", "f16", 40));
}
