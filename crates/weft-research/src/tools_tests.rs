use super::*;

#[test]
fn texts_and_guides_are_searched_together_or_apart() {
    let home = tempfile::tempdir().unwrap();
    let corpora = Corpora::within(home.path(), Arc::new(|| 1_800_000_000_000));
    let book = corpora.book("harbour").unwrap();
    let book = book.lock().unwrap();
    let cites = |input: Value| -> Vec<String> {
        let found = search(&book, &input).unwrap().data;
        let found = found["paragraphs"].as_array().unwrap().clone();
        found.iter().map(|one| one["cite"].as_str().unwrap().to_owned()).collect()
    };
    let query = "keeping periods of employee files";
    for (tier, begins) in [("primary", "HHS "), ("guide", "Guide G")] {
        let found = cites(json!({ "query": query, "tier": tier, "limit": 7 }));
        assert!(found.len() == 7 && found.iter().all(|cite| cite.starts_with(begins)), "{tier}: {found:?}");
    }
    assert_eq!(cites(json!({ "query": query })).len(), 10);
    // From the guide to the text that it explains.
    let hops = hop(&book, &json!({ "ids": ["G2.2"] })).unwrap().data;
    let primary = |one: &Value| one["tier"] == "primary" && one["from"] == "G2.2";
    assert!(hops["paragraphs"].as_array().unwrap().iter().any(primary), "{hops}");
}
