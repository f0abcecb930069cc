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
    assert_eq!(
        views["statuses"][3],
        json!({ "name": "Done", "category": "closed", "icon": "check", "colour": { "light": "#247438", "dark": "#7cc48d" }, "shortcut": "4" })
    );
    let labels: Vec<&str> =
        views["labels"].as_array().unwrap().iter().map(|label| label["name"].as_str().unwrap()).collect();
    assert_eq!(labels, ["work", "work/urgent", "workshop"]);
    let mine = json!({
        "statuses": [{ "name": "Blocked", "icon": "pause", "shortcut": "b" }, { "name": "Shipped", "category": "closed" }],
        "views": [{ "name": "Urgent", "label": "work/urgent" }],
        "colours": { "work": { "light": "#2b62a8", "dark": "#7fb2f0" } },
    });
    world.call("PUT", "views", mine).await.expect(200);
    let views = world.get("views").await.json();
    assert_eq!(
        (views["statuses"][1]["name"].as_str(), views["views"][0]["name"].as_str()),
        (Some("Shipped"), Some("Urgent"))
    );
    assert_eq!(
        (views["statuses"][0]["icon"].as_str(), views["statuses"][0]["category"].as_str()),
        (Some("pause"), Some("open"))
    );
    assert_eq!(views["colours"]["work"]["dark"], "#7fb2f0");
    let colour = |light: &str| json!({ "light": light, "dark": "#000000" });
    for wrong in [
        json!({ "statuses": [{ "name": "A" }, { "name": "A" }], "views": [] }),
        json!({ "statuses": [{ "name": " " }], "views": [] }),
        json!({ "statuses": [{ "name": "A", "category": "odd" }], "views": [] }),
        json!({ "statuses": [{ "name": "A", "shortcut": "ab" }], "views": [] }),
        json!({ "statuses": [{ "name": "A", "shortcut": "1" }, { "name": "B", "shortcut": "1" }], "views": [] }),
        json!({ "statuses": [{ "name": "A", "colour": colour("red;} body{display:none") }], "views": [] }),
        json!({ "statuses": [], "views": [], "colours": { "work": colour("#12345g") } }),
        json!({ "statuses": [], "views": [], "renamed": { "A": "B" } }),
        json!({ "statuses": [], "views": [{ "name": "x".repeat(61) }] }),
        json!({ "statuses": [], "views": [{ "name": "x", "other": 1 }] }),
    ] {
        assert_eq!(world.call("PUT", "views", wrong.clone()).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_status_says_whether_work_is_closed_and_sessions_follow_its_new_name() {
    let world = World::saying("hi").await;
    let (one, two) = (world.session("a").await, world.session("b").await);
    for (session, flag) in [(&one, "Done"), (&two, "Todo")] {
        world.at_rest(session).await;
        world.call("PATCH", &format!("sessions/{session}"), json!({ "flag": flag })).await.expect(200);
    }
    let ids = |list: serde_json::Value| {
        list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(world.get("sessions?where=closed").await.json()), std::slice::from_ref(&one));
    // The two trade their names, and what was done stays done.
    let traded = json!({
        "statuses": [{ "name": "Done", "category": "open" }, { "name": "Todo", "category": "closed" }],
        "views": [{ "name": "Finished", "flag": "Done" }, { "name": "Both", "where": "unread or flag == Done" }],
        "renamed": { "Done": "Todo", "Todo": "Done" },
    });
    world.call("PUT", "views", traded).await.expect(200);
    let views = world.get("views").await.json()["views"].clone();
    assert_eq!((&views[0]["flag"], &views[1]["where"]), (&json!("Todo"), &json!("unread or flag == \"Todo\"")));
    assert_eq!(world.get(&format!("sessions/{one}")).await.json()["flag"], "Todo");
    assert_eq!(ids(world.get("sessions?where=closed").await.json()), [one]);
    assert_eq!(ids(world.get("sessions?flag=Done").await.json()), [two]);
    // A file of an earlier version has only names.
    let file = weft_engine::Home::at(world.home.path()).config.join("views.json");
    assert!(file.exists());
    std::fs::write(&file, r#"{"views":[],"statuses":["Blocked","Done"]}"#).unwrap();
    let statuses = world.get("views").await.json()["statuses"].clone();
    assert_eq!((&statuses[0]["category"], &statuses[1]["category"]), (&json!("open"), &json!("closed")));
}

#[tokio::test]
async fn a_file_of_views_that_cannot_be_understood_breaks_nothing_and_is_put_aside() {
    let world = World::saying("hi").await;
    let session = world.session("a").await;
    world.at_rest(&session).await;
    world.call("PATCH", &format!("sessions/{session}"), json!({ "flag": "Done" })).await.expect(200);
    let folder = weft_engine::Home::at(world.home.path()).config;
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("views.json"), "{\"views\": [{\"na").unwrap();
    // Lists work with what there is without it.
    let list = world.get("sessions?where=closed").await.expect(200);
    assert_eq!(list["sessions"][0]["id"], session.as_str());
    let views = world.get("views").await.expect(200);
    assert!(views["notice"].as_str().unwrap().contains("views.json` cannot be understood"), "{views}");
    assert_eq!(views["statuses"][3]["name"], "Done");
    // Saving begins another file and loses nothing of the old one.
    let saved = json!({ "statuses": [{ "name": "Done", "category": "closed" }], "views": [] });
    assert_eq!(world.call("PUT", "views", saved).await.expect(200)["notice"], json!(null));
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let aside: Vec<String> = names.filter(|name| name.starts_with("views.damaged-")).collect();
    let [aside] = aside.as_slice() else { panic!("{aside:?}") };
    assert_eq!(std::fs::read_to_string(folder.join(aside)).unwrap(), "{\"views\": [{\"na");
}
