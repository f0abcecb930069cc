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

#[tokio::test]
async fn a_label_shows_what_is_below_it_and_views_and_statuses_are_the_persons_own() {
    let world = World::saying("hi").await;
    let (one, two, three) = (world.session("a").await, world.session("b").await, world.session("c").await);
    for (session, label) in [(&one, "work"), (&two, "work/urgent"), (&three, "workshop")] {
        world.at_rest(session).await;
        world.call("PATCH", &format!("sessions/{session}"), json!({ "labels": [label] })).await.expect(200);
    }
    world.call("PATCH", &format!("sessions/{two}"), json!({ "flag": "Blocked" })).await.expect(200);
    let found = |list: &serde_json::Value| {
        let mut ids: Vec<String> =
            list["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let mut both = vec![one, two.clone()];
    both.sort();
    assert_eq!(found(&world.get("sessions?label=work").await.json()), both);
    assert_eq!(found(&world.get("sessions?label=work/urgent").await.json()), std::slice::from_ref(&two));
    assert_eq!(found(&world.get("sessions?flag=Blocked").await.json()), [two]);
    assert_eq!(found(&world.get("sessions?label=wor%25").await.json()), Vec::<String>::new());

    let views = world.get("views").await.json();
    assert_eq!(views["statuses"][0], "Todo");
    let labels: Vec<&str> =
        views["labels"].as_array().unwrap().iter().map(|label| label["name"].as_str().unwrap()).collect();
    assert_eq!(labels, ["work", "work/urgent", "workshop"]);
    let mine = json!({ "statuses": ["Blocked", "Shipped"], "views": [{ "name": "Urgent", "label": "work/urgent" }] });
    world.call("PUT", "views", mine).await.expect(200);
    let views = world.get("views").await.json();
    assert_eq!((views["statuses"][1].as_str(), views["views"][0]["name"].as_str()), (Some("Shipped"), Some("Urgent")));
    for wrong in [
        json!({ "statuses": ["A", "A"], "views": [] }),
        json!({ "statuses": [" "], "views": [] }),
        json!({ "statuses": [], "views": [{ "name": "x".repeat(61) }] }),
        json!({ "statuses": [], "views": [{ "name": "x", "other": 1 }] }),
    ] {
        assert_eq!(world.call("PUT", "views", wrong.clone()).await.status, 400, "{wrong}");
    }
}
