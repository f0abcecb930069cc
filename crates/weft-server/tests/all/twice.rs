//! What is sent again because no answer came is said once.

use serde_json::{Value, json};

use crate::world::World;

fn said(words: &str, input: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": words }], "input": input })
}

fn inputs(world: &World, session: &str) -> Vec<String> {
    let of_people = |event: &Value| event["type"] == "input_received";
    world
        .log(session)
        .iter()
        .filter(|event| of_people(event))
        .map(|event| event["input"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn words_with_an_id_of_their_own_are_said_once_however_often_they_are_sent() {
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    world.at_rest(&session).await;
    let path = format!("sessions/{session}/turns");
    let turn = said("more", "0123456789ab");
    // Side by side, as when a browser gives up and asks again, and once more later.
    let (one, two) = tokio::join!(world.post(&path, turn.clone()), world.post(&path, turn.clone()));
    for got in [one, two, world.post(&path, turn).await] {
        assert_eq!(got.expect(202)["input"], "0123456789ab");
    }
    world.at_rest(&session).await;
    assert_eq!(inputs(&world, &session).len(), 2);
    // Another server, which was not there, finds it in the log.
    let other = world.another_url().await;
    let request = world.client.post(format!("{other}/api/v1/{path}")).bearer_auth(&world.token);
    let request = request.header("content-type", "application/json").body(said("more", "0123456789ab").to_string());
    world.send(request).await.expect(202);
    assert_eq!(inputs(&world, &session).len(), 2);
    world.post(&path, said("more", "0123456789ac")).await.expect(202);
    assert_eq!(inputs(&world, &session).len(), 3, "another id, other words");
    for wrong in ["short", "0123456789aU!", ""] {
        assert_eq!(world.post(&path, said("more", wrong)).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn words_whose_sender_went_away_before_the_answer_are_said_once() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    world.at_rest(&session).await;
    let host = world.url.trim_start_matches("http://").to_owned();
    let body = said("cut", "0123456789ab").to_string();
    let mut socket = tokio::net::TcpStream::connect(&host).await.unwrap();
    let head = format!(
        "POST /api/v1/sessions/{session}/turns HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\ncontent-type: \
         application/json\r\ncontent-length: {}\r\n\r\n{body}",
        world.token,
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    drop(socket);
    world.post(&format!("sessions/{session}/turns"), said("cut", "0123456789ab")).await.expect(202);
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(inputs(&world, &session).len(), 2);
}

#[tokio::test]
async fn a_session_that_is_begun_again_with_the_same_words_is_the_same_session() {
    let world = World::saying("hi").await;
    let (one, two) = tokio::join!(
        world.post("sessions", said("hello", "0123456789ab")),
        world.post("sessions", said("hello", "0123456789ab"))
    );
    let id = one.expect(201)["id"].clone();
    assert_eq!(two.expect(201)["id"], id);
    let other = world.another_url().await;
    let request = world.client.post(format!("{other}/api/v1/sessions")).bearer_auth(&world.token);
    let request = request.header("content-type", "application/json").body(said("hello", "0123456789ab").to_string());
    assert_eq!(world.send(request).await.expect(201)["id"], id);
    assert_eq!(world.get("sessions").await.json()["counts"]["total"], 1);
}

#[tokio::test]
async fn a_copy_that_is_asked_for_again_under_the_same_id_is_the_same_copy() {
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    world.at_rest(&session).await;
    let path = format!("sessions/{session}/fork");
    let wanted = json!({ "input": "0123456789ab" });
    let (one, two) = tokio::join!(world.post(&path, wanted.clone()), world.post(&path, wanted.clone()));
    let copy = one.expect(201)["id"].clone();
    assert_eq!(two.expect(201)["id"], copy);
    let other = world.another_url().await;
    let request = world.client.post(format!("{other}/api/v1/{path}")).bearer_auth(&world.token);
    let request = request.header("content-type", "application/json").body(wanted.to_string());
    assert_eq!(world.send(request).await.expect(201)["id"], copy, "also for a server that was not there");
    let third = world.post(&path, json!({ "input": "0123456789ac" })).await.expect(201);
    assert_ne!(third["id"], copy, "another id, another copy");
    assert_ne!(world.post(&path, json!({})).await.expect(201)["id"], third["id"]);
    assert_eq!(world.get("sessions").await.json()["counts"]["total"], 4);
}

#[tokio::test]
async fn a_question_to_documents_with_an_id_of_its_own_is_asked_once() {
    let world = World::saying("Nothing.").await;
    let session = world.post("sessions", json!({})).await.expect(201)["id"].as_str().unwrap().to_owned();
    let path = format!("sessions/{session}/research");
    let asked =
        json!({ "question": "How long are files kept?", "yes": true, "depth": "quick", "input": "0123456789ab" });
    let (one, two) = tokio::join!(world.post(&path, asked.clone()), world.post(&path, asked.clone()));
    assert_eq!((&one.expect(202)["run"], &two.expect(202)["run"]), (&json!(1), &json!(1)));
    world.at_rest(&session).await;
    world.post(&path, asked.clone()).await.expect(202);
    let other = world.another_url().await;
    let request = world.client.post(format!("{other}/api/v1/{path}")).bearer_auth(&world.token);
    let request = request.header("content-type", "application/json").body(asked.to_string());
    world.send(request).await.expect(202);
    let runs = world.log(&session).iter().filter(|event| event["type"] == "flow_started").count();
    assert_eq!((runs, inputs(&world, &session).len()), (1, 1));
}
