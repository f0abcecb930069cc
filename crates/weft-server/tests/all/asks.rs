//! Questions, answered once.

use serde_json::json;
use weft_script::{call, text};

use crate::world::{World, is_event};

async fn asking() -> (World, String, String) {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call("write", json!({ "path": "note.txt", "content": "hi\n" })),
        _ => text("Done."),
    })
    .await;
    let body = json!({ "content": [{ "type": "text", "text": "write it" }], "mode": "ask" });
    let id = world.post("sessions", body).await.expect(201)["id"].as_str().unwrap().to_owned();
    let ask = world.until("asks", |asks| asks["asks"][0]["ask"]["id"].as_str().map(str::to_owned)).await;
    (world, id, ask)
}

#[tokio::test]
async fn two_clients_answer_and_one_of_them_counts() {
    let (world, id, ask) = asking().await;
    assert_eq!(world.get(&format!("sessions/{id}")).await.json()["status"], "waiting");
    let path = format!("sessions/{id}/asks/{ask}");
    let yes = json!({ "answer": { "type": "approve", "scope": "once" } });
    let no = json!({ "answer": { "type": "reject", "message": "not now" } });
    let (one, two) = tokio::join!(world.post(&path, yes), world.post(&path, no));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{one:?} {two:?}");
    let late = if one.status == 409 { one } else { two };
    assert_eq!(late.code(), "answered");
    assert_eq!(late.json()["error"]["by"], "web");
    world.at_rest(&id).await;
    let answers = world.log(&id).into_iter().filter(|event| event["type"] == "ask_answered").count();
    assert_eq!(answers, 1);
    assert_eq!(world.get("asks").await.json()["asks"], json!([]));
}

#[tokio::test]
async fn an_answer_of_the_wrong_kind_leaves_the_question_open() {
    let (world, id, ask) = asking().await;
    let path = format!("sessions/{id}/asks/{ask}");
    let words = world.post(&path, json!({ "answer": { "type": "text", "text": "yes" } })).await;
    assert_eq!(words.status, 400, "{words:?}");
    assert_eq!(world.get("asks").await.json()["asks"].as_array().unwrap().len(), 1);
    let mut events = world.events(&format!("sessions/{id}/events?after=0")).await;
    world.post(&path, json!({ "answer": { "type": "approve", "scope": "session" } })).await.expect(200);
    let seen = events.until(|message| is_event(message, "turn_ended")).await;
    assert!(seen.iter().any(|message| is_event(message, "grant_given")), "{seen:#?}");
    assert_eq!(std::fs::read_to_string(world.folder.path().join("note.txt")).unwrap(), "hi\n");
}

#[tokio::test]
async fn stopping_closes_the_question() {
    let (world, id, ask) = asking().await;
    world.post(&format!("sessions/{id}/stop"), json!({})).await.expect(202);
    world.at_rest(&id).await;
    let path = format!("sessions/{id}/asks/{ask}");
    let late = world.post(&path, json!({ "answer": { "type": "approve", "scope": "once" } })).await;
    assert_eq!((late.status, late.code().as_str()), (409, "closed"), "{late:?}");
    assert!(!world.folder.path().join("note.txt").exists());
}

#[tokio::test]
async fn a_form_is_filled_in_as_a_whole_and_checked_before_it_is_taken() {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call(
            "ask_user",
            json!({ "question": "Who are you?", "form": { "type": "object", "required": ["name", "age"], "properties": {
                "name": { "type": "string", "title": "Name" },
                "age": { "type": "integer", "minimum": 18 },
                "plan": { "type": "string", "enum": ["free", "paid"] },
            } } }),
        ),
        _ => text(format!("Noted {}", seen.last_results.join(" "))),
    })
    .await;
    let session = world.session("go").await;
    let ask = world.until("asks", |list| list["asks"].get(0).map(|row| row["ask"].clone())).await;
    assert_eq!(ask["kind"]["type"], "form");
    assert_eq!(ask["kind"]["fields"][1]["kind"], json!({ "type": "number", "integer": true, "min": 18.0 }));
    let path = format!("sessions/{session}/asks/{}", ask["id"].as_str().unwrap());
    let fill = |values: serde_json::Value| json!({ "answer": { "type": "form", "values": values } });
    for (values, field) in [
        (json!({ "name": "Ada" }), "age"),
        (json!({ "name": "Ada", "age": 17 }), "age"),
        (json!({ "name": "Ada", "age": 36, "plan": "gold" }), "plan"),
    ] {
        let refused = world.post(&path, fill(values.clone())).await.expect(400);
        assert!(refused["error"]["fields"][field].is_string(), "{values}: {refused}");
    }
    assert_eq!(world.post(&path, json!({ "answer": { "type": "text", "text": "x" } })).await.status, 400);
    world.post(&path, fill(json!({ "name": "Ada", "age": 36, "plan": "paid" }))).await.expect(200);
    let state = world.at_rest(&session).await;
    assert_eq!(state["last_end"]["reason"], "completed", "{state}");
    let said = world.log(&session).into_iter().rev().find(|event| event["type"] == "round_answered").unwrap();
    assert!(said["parts"][0]["text"].as_str().unwrap().starts_with(r#"Noted {"name":"Ada","age":36"#), "{said}");
}

#[tokio::test]
async fn the_next_question_is_told_of_although_there_are_as_many_as_before() {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call("write", json!({ "path": "one.txt", "content": "1\n" })),
        1 => call("write", json!({ "path": "two.txt", "content": "2\n" })),
        _ => text("Done."),
    })
    .await;
    let mut news = world.events("events").await;
    let body = json!({ "content": [{ "type": "text", "text": "write both" }], "mode": "ask" });
    let id = world.post("sessions", body).await.expect(201)["id"].as_str().unwrap().to_owned();
    let open = || world.until("asks", |asks| asks["asks"][0]["ask"]["id"].as_str().map(str::to_owned));
    let first = open().await;
    news.until(|message| message.event == "asks" && message.json()["open"] == 1).await;
    let yes = json!({ "answer": { "type": "approve", "scope": "once" } });
    world.post(&format!("sessions/{id}/asks/{first}"), yes).await.expect(200);
    let path = "asks";
    let second = world
        .until(path, |asks| asks["asks"][0]["ask"]["id"].as_str().filter(|ask| *ask != first).map(str::to_owned))
        .await;
    assert_ne!(first, second);
    // Whether it was told of between the two or only after, it is told of.
    news.until(|message| message.event == "asks").await;
}
