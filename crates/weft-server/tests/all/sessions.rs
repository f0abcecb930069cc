//! Sessions from the first word to the last.

use serde_json::{Value, json};
use weft_script::{call, text};

use crate::world::{MODEL, World};

#[tokio::test]
async fn a_session_is_on_disk_when_something_is_said_in_it() {
    let world = World::saying("Hello to you.").await;
    let new = world.post("sessions", json!({})).await.expect(201);
    assert_eq!((new["begun"].as_bool(), new["model"].as_str()), (Some(false), Some(MODEL)));
    assert_eq!(new["workspace"], world.folder.path().to_str().unwrap());
    let id = new["id"].as_str().unwrap();
    assert_eq!(world.get("sessions").await.json()["sessions"], json!([]));
    assert_eq!(world.get(&format!("sessions/{id}")).await.json()["status"], "idle");
    assert_eq!(world.get(&format!("sessions/{id}/log")).await.json()["events"], json!([]));
    assert_eq!(
        world.call("PATCH", &format!("sessions/{id}"), json!({ "mode": "safe" })).await.expect(200)["mode"],
        "safe"
    );

    let turn = json!({ "content": [{ "type": "text", "text": "hello" }] });
    world.post(&format!("sessions/{id}/turns"), turn).await.expect(202);
    let state = world.at_rest(id).await;
    assert_eq!((state["mode"].as_str(), state["turns"].as_u64()), (Some("safe"), Some(1)));
    assert_eq!(state["last_end"]["reason"], "completed");
    let titled = world.until(&format!("sessions/{id}"), |state| state["title"].as_str().map(str::to_owned)).await;
    assert_eq!(titled, "A fine title");
    let page = world.get(&format!("sessions/{id}/log")).await.json();
    assert_eq!(page["events"], Value::Array(world.log(id)));
    let list = world.get("sessions").await.json();
    assert_eq!(list["sessions"][0]["id"], id);
    assert_eq!(list["counts"]["total"], 1);
}

#[tokio::test]
async fn pages_of_the_log_and_of_the_list_fit_together() {
    let world = World::saying("ok").await;
    let mut ids = Vec::new();
    for number in 0..7 {
        let id = world.session(&format!("number {number}")).await;
        world.until(&format!("sessions/{id}"), |state| state["title"].as_str().map(drop)).await;
        ids.push(id);
    }
    ids.reverse();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("sessions?limit=3&cursor={cursor}")).await.json();
        seen.extend(page["sessions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(seen, ids);

    let (id, whole) = (&ids[0], world.log(&ids[0]));
    let (mut before, mut backwards) = (whole.len() as u64 + 1, Vec::new());
    while before > 1 {
        let page = world.get(&format!("sessions/{id}/log?before={before}&limit=2")).await.json();
        let events = page["events"].as_array().unwrap().clone();
        backwards.splice(0..0, events);
        before = page["first"].as_u64().unwrap();
    }
    assert_eq!(backwards, whole);
    let newest = world.get(&format!("sessions/{id}/log?limit=2")).await.json();
    assert_eq!(newest["last"].as_u64(), Some(whole.len() as u64));
    let after = world.get(&format!("sessions/{id}/log?after=2&limit=2")).await.json();
    assert_eq!((after["first"].as_u64(), after["last"].as_u64()), (Some(3), Some(4)));
}

#[tokio::test]
async fn marks_are_kept_and_a_deleted_session_comes_back() {
    let world = World::saying("ok").await;
    let id = world.session("mend the gate").await;
    world.until(&format!("sessions/{id}"), |state| state["title"].as_str().map(drop)).await;
    let path = format!("sessions/{id}");
    let change = json!({ "title": "My gate", "labels": ["home/garden", "home/garden", "later"], "flag": "blocked", "read": true });
    let view = world.call("PATCH", &path, change).await.expect(200);
    assert_eq!(view["title"], "My gate");
    assert_eq!((&view["labels"], &view["flag"]), (&json!(["home/garden", "later"]), &json!("blocked")));
    assert_eq!(view["unread"], false);
    world.call("PATCH", &path, json!({ "read": false })).await.expect(200);
    assert_eq!(world.get("sessions").await.json()["counts"]["unread"], 1);
    let found = |list: Value| list["sessions"].as_array().unwrap().len();
    assert_eq!(found(world.get("sessions?label=later").await.json()), 1);
    assert_eq!(found(world.get("sessions?label=home").await.json()), 1, "what is below a label is shown with it");
    assert_eq!(found(world.get("sessions?label=hom").await.json()), 0);
    assert_eq!(found(world.get("sessions?q=my%20gate").await.json()), 1);
    assert_eq!(found(world.get("sessions?q=%25").await.json()), 0);
    world.call("PATCH", &path, json!({ "archived": true, "flag": "" })).await.expect(200);
    assert_eq!(found(world.get("sessions").await.json()), 0);
    assert_eq!(found(world.get("sessions?view=archived").await.json()), 1);

    let gone = world.send(world.request("DELETE", &path).bearer_auth(&world.token)).await.expect(202);
    assert!(gone["restore_until"].as_i64().unwrap() > 0);
    assert_eq!(found(world.get("sessions?view=all").await.json()), 0);
    assert_eq!(found(world.get("sessions?view=deleted").await.json()), 1);
    assert_eq!(world.get("search?q=gate").await.json()["hits"], json!([]));
    let back = world.call("PATCH", &path, json!({ "deleted": false, "archived": false })).await.expect(200);
    assert_eq!((back["deleted"].as_bool(), back["flag"].as_str()), (Some(false), None));
    assert_eq!(found(world.get("sessions").await.json()), 1);
}

#[tokio::test]
async fn what_was_said_is_found_in_all_sessions() {
    let world = World::new(|seen| text(format!("About {}: consider the wisteria.", seen.last_user))).await;
    for words in ["a trellis for roses", "paint the fence", "Über Zäune"] {
        let id = world.session(words).await;
        world.at_rest(&id).await;
    }
    let hits = |query: &'static str| {
        let world = &world;
        async move { world.get(&format!("search?q={query}")).await.json()["hits"].as_array().unwrap().clone() }
    };
    let found = hits("trell").await;
    assert_eq!(found.len(), 2, "{found:?}");
    let kinds: Vec<&str> = found.iter().map(|hit| hit["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"input") && kinds.contains(&"answer"), "{kinds:?}");
    let marked = found[0]["snippet"].as_array().unwrap().iter().find(|piece| piece["hit"] == true).unwrap();
    assert_eq!(marked["text"], "trell");
    assert_eq!(hits("wisteria%20fence").await.len(), 1);
    assert_eq!(hits("zaune").await.len(), 2);
    assert_eq!(hits("%22%20OR%20*").await.len(), 0);
    // What is said later is found too.
    let id = world.session("a heron in the pond").await;
    world.at_rest(&id).await;
    assert_eq!(hits("heron").await.len(), 2);
}

#[tokio::test]
async fn a_turn_that_changed_files_is_shown_taken_back_and_done_again() {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call("write", json!({ "path": "note.txt", "content": "one\n" })),
        _ => text("Written."),
    })
    .await;
    let id = world.session("write a note").await;
    world.at_rest(&id).await;
    let note = world.folder.path().join("note.txt");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "one\n");
    let state = world.until(&format!("sessions/{id}"), |state| (state["can_undo"] == 1).then(|| state.clone())).await;
    assert_eq!(state["can_redo"], false);
    let diff = world.get(&format!("sessions/{id}/diff")).await.json();
    assert!(diff["diff"].as_str().unwrap().contains("+one"), "{diff}");
    let undone = world.post(&format!("sessions/{id}/undo"), json!({})).await.expect(200);
    assert_eq!(undone["way"], "undo");
    assert!(!note.exists());
    world.post(&format!("sessions/{id}/redo"), json!({})).await.expect(200);
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "one\n");
}

#[tokio::test]
async fn a_fork_goes_its_own_way_and_context_says_what_the_model_sees() {
    let world = World::new(|seen| text(format!("I heard {}.", seen.last_user))).await;
    let id = world.session("first").await;
    world.until(&format!("sessions/{id}"), |state| state["title"].as_str().map(drop)).await;
    let copy = world.post(&format!("sessions/{id}/fork"), json!({})).await.expect(201);
    assert_eq!(copy["parent"], id);
    let other = copy["id"].as_str().unwrap();
    let turn = json!({ "content": [{ "type": "text", "text": "second" }] });
    world.post(&format!("sessions/{other}/turns"), turn).await.expect(202);
    world
        .until(&format!("sessions/{other}"), |state| (state["turns"] == 2 && state["turn"].is_null()).then_some(()))
        .await;
    let context = world.get(&format!("sessions/{other}/context")).await.json();
    let texts: Vec<&str> =
        context["messages"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first", "I heard first.", "second", "I heard second."]);
    assert_eq!(world.get(&format!("sessions/{id}")).await.json()["turns"], 1);
}

#[tokio::test]
async fn a_secret_is_held_back_until_the_person_has_looked() {
    let world = World::saying("ok").await;
    let key = format!(
        "{}{}",
        "sk-ant-api03-", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0-AbCdEfGAA"
    );
    let body = |more: Value| {
        let mut body = json!({ "content": [{ "type": "text", "text": format!("use {key}") }] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let held = world.post("sessions", body(json!({}))).await;
    assert_eq!((held.status, held.code().as_str()), (422, "secret"), "{held:?}");
    assert!(!held.text.contains(&key));
    assert_eq!(world.get("sessions").await.json()["counts"]["total"], 0);
    let hidden = world.post("sessions", body(json!({ "redact": true }))).await.expect(201);
    let log = serde_json::to_string(&world.log(hidden["id"].as_str().unwrap())).unwrap();
    assert!(!log.contains(&key), "{log}");
}

#[tokio::test]
async fn whoever_says_something_in_a_deleted_session_brings_it_back() {
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    world.at_rest(&session).await;
    let deleted = || {
        let marks = world.engine.store().marked_session(session.parse().unwrap()).unwrap().marks;
        marks.deleted_at.is_some()
    };
    let delete = || world.send(world.request("DELETE", &format!("sessions/{session}")).bearer_auth(&world.token));
    delete().await.expect(202);
    assert!(deleted());
    let words = json!({ "content": [{ "type": "text", "text": "one more thing" }] });
    world.post(&format!("sessions/{session}/turns"), words).await.expect(202);
    assert!(!deleted(), "else it would go for good in ten minutes, with what was said");
    world.at_rest(&session).await;
    assert_eq!(world.get("sessions").await.json()["counts"]["total"], 1);
    // To look at it, or to stop what runs in it, does not.
    delete().await.expect(202);
    world.get(&format!("sessions/{session}")).await.expect(200);
    world.post(&format!("sessions/{session}/stop"), json!({})).await;
    assert!(deleted());
}
