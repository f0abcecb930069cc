//! Research that is kept as a paper: its versions, and what people decide about it.

use serde_json::{Value, json};

use crate::world::World;

const QUESTION: &str = "Within how many days shall the records owner delete records after the keeping period?";
/// A plan and an answer in one.
const SAID: &str = r###"{"sub_queries": [{"query": "delete records after the keeping period"}], "clarity_score": 0.9, "recommended_action": "proceed", "synthesis": "## Deleting\n\nThe records owner shall delete records within 60 days after the end of the keeping period (HHS 3.12).", "confidence": 0.9}"###;

/// A session with a finished run.
async fn researched(world: &World) -> String {
    let session = world.post("sessions", json!({})).await.expect(201)["id"].as_str().unwrap().to_owned();
    let asked = json!({ "question": QUESTION, "corpus": "harbour", "yes": true });
    world.post(&format!("sessions/{session}/research"), asked).await.expect(202);
    let path = format!("sessions/{session}/research");
    world.until(&path, |run| run["output"]["answerable"].as_bool().filter(|answered| *answered)).await;
    session
}

#[tokio::test]
async fn research_becomes_a_paper_with_versions_and_decisions() {
    let world = World::saying(SAID).await;
    let session = researched(&world).await;
    let marks = world.engine.store().marked_session(session.parse().unwrap()).unwrap().marks;
    assert!(marks.served, "a server that starts again goes on with it");
    let of_session = format!("sessions/{session}/research/paper");
    assert_eq!(world.get(&of_session).await.expect(200)["paper"], Value::Null);
    assert_eq!(world.get("papers").await.expect(200)["papers"], json!([]));

    let made = world.post(&of_session, json!({ "title": "Deleting records" })).await.expect(200);
    assert_eq!((made["paper"].as_str(), made["version"].as_u64()), (Some("deleting-records"), Some(1)));
    assert_eq!((made["status"].as_str(), made["session"].as_str()), (Some("draft"), Some(session.as_str())));
    assert!(made["text"].as_str().unwrap().contains("within 60 days"), "{made}");
    assert_eq!(made["items"][0]["id"], "F1");
    assert_eq!(made["items"][0]["decision"], Value::Null);

    let decided = json!({ "item": "f1", "decision": "accepted", "note": "as we do it" });
    let after = world.post("papers/deleting-records/decisions", decided).await.expect(200);
    assert_eq!(
        (&after["items"][0]["decision"], &after["items"][0]["note"]),
        (&json!("accepted"), &json!("as we do it"))
    );
    assert_eq!(after["status"], "decided");

    // The next version keeps the title, and what was decided on what stayed.
    let second = world.post(&of_session, json!({ "why": "asked again" })).await.expect(200);
    assert_eq!((second["title"].as_str(), second["version"].as_u64()), (Some("Deleting records"), Some(2)));
    assert_eq!(second["versions"][1]["why"], "asked again");
    assert_eq!(second["items"][0]["decision"], "accepted");
    let first = world.get("papers/deleting-records?version=1").await.expect(200);
    assert!(first["text"].as_str().unwrap().contains("within 60 days"));
    assert_eq!(world.get("papers").await.expect(200)["papers"][0]["version"], 2);
    assert_eq!(world.get(&of_session).await.expect(200)["paper"]["paper"], "deleting-records");
    // It can be asked like any other text.
    let corpora = world.get("corpora").await.expect(200);
    assert!(corpora["corpora"].as_array().unwrap().iter().any(|corpus| corpus["name"] == "papers"), "{corpora}");
}

#[tokio::test]
async fn each_version_of_a_paper_is_saved_in_every_form() {
    let world = World::saying(SAID).await;
    let session = researched(&world).await;
    let of_session = format!("sessions/{session}/research/paper");
    world.post(&of_session, json!({ "title": "One" })).await.expect(200);
    world.post(&of_session, json!({ "why": "looked at again" })).await.expect(200);
    for (query, begins) in
        [("", "<!-- paper: One"), ("?version=1&format=html", "<!doctype html>"), ("?format=pdf", "%PDF-1.4")]
    {
        let got = world.get(&format!("papers/one/document{query}")).await;
        assert!(got.status == 200 && got.text.starts_with(begins), "{query}: {} {}", got.status, got.text);
        assert!(got.headers["content-disposition"].to_str().unwrap().contains("one-v"), "{:?}", got.headers);
    }
    assert!(!world.get("papers/one/document?version=1").await.text.contains("looked at again"));
    for (query, status) in [("?format=odt", 400), ("?version=7", 404)] {
        assert_eq!(world.get(&format!("papers/one/document{query}")).await.status, status, "{query}");
    }
}

#[tokio::test]
async fn what_there_is_no_paper_of_is_said_so() {
    let world = World::saying(SAID).await;
    let empty = world.post("sessions", json!({})).await.expect(201)["id"].as_str().unwrap().to_owned();
    assert!([404, 409].contains(&world.post(&format!("sessions/{empty}/research/paper"), json!({})).await.status));
    let session = researched(&world).await;
    let of_session = format!("sessions/{session}/research/paper");
    world.post(&of_session, json!({ "title": "One" })).await.expect(200);
    for (path, status) in [("papers/none", 404), ("papers/..%2Fone", 404), ("papers/one?version=7", 404)] {
        assert_eq!(world.get(path).await.status, status, "{path}");
    }
    let long = "x".repeat(2_001);
    for (body, status) in [
        (json!({ "item": "F9", "decision": "accepted" }), 400),
        (json!({ "item": "F1", "decision": "perhaps" }), 400),
        (json!({ "item": "F1", "decision": "accepted", "note": long }), 400),
        (json!({ "item": "F1", "decision": "accepted", "by": "me" }), 400),
    ] {
        let got = world.post("papers/one/decisions", body.clone()).await;
        assert_eq!(got.status, status, "{body} {}", got.text);
    }
    assert_eq!(world.post("papers/none/decisions", json!({ "item": "F1", "decision": "accepted" })).await.status, 404);
    assert_eq!(world.post(&of_session, json!({ "why": long })).await.status, 400);
    assert_eq!(world.get("papers/one").await.expect(200)["status"], "draft", "nothing was decided by these");
}

#[tokio::test]
async fn two_windows_change_a_paper_at_once_and_lose_nothing() {
    let world = World::saying(SAID).await;
    let session = researched(&world).await;
    let of_session = format!("sessions/{session}/research/paper");
    world.post(&of_session, json!({ "title": "One" })).await.expect(200);
    let decide = |note: usize| {
        let body = json!({ "item": "F1", "decision": "deferred", "note": note.to_string() });
        let world = &world;
        async move { world.post("papers/one/decisions", body).await.expect(200) }
    };
    let make = |_: usize| async { world.post(&of_session, json!({})).await.expect(200) };
    futures_util::future::join(
        futures_util::future::join_all((0..8).map(decide)),
        futures_util::future::join_all((0..8).map(make)),
    )
    .await;
    let paper = world.get("papers/one").await.expect(200);
    let numbers: Vec<u64> =
        paper["versions"].as_array().unwrap().iter().map(|version| version["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=9).collect::<Vec<u64>>());
    let lines = std::fs::read_to_string(world.home.path().join("papers/one/decisions.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 8);
}
