use serde_json::json;

use super::*;
use crate::papers::{Decided, Source};

#[test]
fn an_agent_reads_the_newest_version_with_what_was_decided() {
    let data = tempfile::tempdir().unwrap();
    let papers = Papers::within(data.path(), Arc::new(|| 1_800_000_000_000));
    let read = |input: Value| read(&papers, &input);
    assert_eq!(read(json!({})).unwrap().0, "There are no papers yet.");
    let made = |body: &str| {
        let document = format!("# How long?\n\n## Keeping\n\n{body}\n\n## Deleting\n\nWithin 60 days (HHS 3.12).\n");
        let output = json!({ "answerable": true, "original_query": "How long?", "document": document });
        papers.make(&Source { session: "s1", run: 1, output: &output, earlier: &[], title: None, why: "" }).unwrap();
    };
    (0..10).for_each(|years| made(&format!("{years} years (HHS 3.8).")));
    papers.decide("how-long", "F1", Decided::Rejected, "too short", "ada").unwrap();
    papers.decide("how-long", "F2", Decided::Accepted, "", "ada").unwrap();
    assert!(read(json!({})).unwrap().0.starts_with("how-long  version 10  decided  How long?"));
    // The tenth is newer than the ninth.
    let (text, data) = read(json!({ "paper": "how-long" })).unwrap();
    assert!(text.contains("9 years (HHS 3.8).") && text.contains("| F1 | Keeping | rejected | too short |"), "{text}");
    assert_eq!((&data["version"], &data["items"][1]["decision"]), (&json!(10), &json!("accepted")));
    let (text, data) = read(json!({ "paper": "how-long", "version": 2 })).unwrap();
    assert!(text.contains("1 years") && data["items"][0]["decision"].is_null(), "{text}");
    let missing = |input: Value| read(input).unwrap_err().to_string();
    assert!(missing(json!({ "paper": "x" })).contains("there is no paper `x`"));
    assert!(missing(json!({ "paper": "how-long", "version": 11 })).contains("its newest is 10"));
}
