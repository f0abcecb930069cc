//! The stream of all sessions.

use serde_json::json;
use weft_script::{call, text};

use crate::world::World;

#[tokio::test]
async fn whatever_changes_a_session_is_told_to_who_looks_at_the_list() {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call("write", json!({ "path": "note.txt", "content": "hi\n" })),
        _ => text("Done."),
    })
    .await;
    let mut news = world.events("events").await;
    let body = json!({ "content": [{ "type": "text", "text": "write it" }], "mode": "ask" });
    let id = world.post("sessions", body).await.expect(201)["id"].as_str().unwrap().to_owned();
    let seen = news.until(|message| message.event == "session" && message.json()["status"] == "waiting").await;
    assert!(seen.iter().all(|message| message.event != "session" || message.json()["id"] == id.as_str()));
    let asks = news.until(|message| message.event == "asks").await;
    assert_eq!(asks.last().unwrap().json()["open"], 1);
    world.post(&format!("sessions/{id}/stop"), json!({})).await.expect(202);
    news.until(|message| message.event == "asks" && message.json()["open"] == 0).await;
    world.call("PATCH", &format!("sessions/{id}"), json!({ "title": "Mine" })).await.expect(200);
    news.until(|message| message.event == "session" && message.json()["title"] == "Mine").await;
    world.send(world.request("DELETE", &format!("sessions/{id}")).bearer_auth(&world.token)).await.expect(202);
    let gone = news.until(|message| message.event == "removed").await;
    assert_eq!(gone.last().unwrap().json()["id"], id.as_str());
    world.call("PATCH", &format!("sessions/{id}"), json!({ "deleted": false })).await.expect(200);
    news.until(|message| message.event == "session" && message.json()["title"] == "Mine").await;
}
