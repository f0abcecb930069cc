//! What is replaced as a whole: nobody undoes what they did not see, and a crash leaves nothing half done.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn views_that_changed_after_they_were_read_are_not_overwritten() {
    let world = World::saying("hi").await;
    let read = world.get("views").await.expect(200)["version"].clone();
    let saved =
        |name: &str, version: &Value| json!({ "statuses": [], "views": [{ "name": name }], "version": version });
    let first = world.call("PUT", "views", saved("First", &read)).await.expect(200);
    assert_ne!(first["version"], read);
    let late = world.call("PUT", "views", saved("Second", &read)).await;
    assert_eq!((late.status, late.code().as_str()), (409, "changed"), "{late:?}");
    assert!(late.text.contains("Nothing was saved"), "{late:?}");
    assert_eq!(world.get("views").await.json()["views"][0]["name"], "First");
    // From what there is now, it goes.
    assert_eq!(world.call("PUT", "views", saved("Second", &first["version"])).await.status, 200);
    // Ten at once from the same version: one wins, nine are told.
    let read = world.get("views").await.json()["version"].clone();
    let names: Vec<String> = (0..10).map(|number| format!("View {number}")).collect();
    let all = names.iter().map(|name| world.call("PUT", "views", saved(name, &read)));
    let answers = futures_util::future::join_all(all).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 9, "{answers:?}");
}

#[tokio::test]
async fn a_renaming_of_statuses_that_a_crash_interrupted_is_finished_exactly_once() {
    let world = World::saying("hi").await;
    let (one, two) = (world.session("a").await, world.session("b").await);
    for (session, flag) in [(&one, "Done"), (&two, "Todo")] {
        world.at_rest(session).await;
        world.call("PATCH", &format!("sessions/{session}"), json!({ "flag": flag })).await.expect(200);
    }
    let folder = weft_engine::Home::at(world.home.path()).config;
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("views.json");
    // What a server leaves that ends between the file and the database: two statuses trade their names.
    let left = json!({
        "statuses": [{ "name": "Done" }, { "name": "Todo" }],
        "views": [],
        "renaming": { "id": "0123456789abcdef", "words": { "Done": "Todo", "Todo": "Done" } },
    });
    let start_again = async || {
        std::fs::write(&file, left.to_string()).unwrap();
        world.another().await;
        world.until("views", |_| (!std::fs::read_to_string(&file).unwrap().contains("renaming")).then_some(())).await;
    };
    let flags = async || {
        let flag = async |session: &str| world.get(&format!("sessions/{session}")).await.json()["flag"].clone();
        (flag(&one).await, flag(&two).await)
    };
    start_again().await;
    assert_eq!(flags().await, (json!("Todo"), json!("Done")));
    // And one that ends after the database and before the file: done again, they would trade back.
    start_again().await;
    assert_eq!(flags().await, (json!("Todo"), json!("Done")));
    // The same words under another name are another renaming.
    let again = json!({ "statuses": [{ "name": "Done" }, { "name": "Todo" }], "views": [], "renamed": { "Done": "Todo", "Todo": "Done" } });
    world.call("PUT", "views", again).await.expect(200);
    assert_eq!(flags().await, (json!("Done"), json!("Todo")));
    assert!(!std::fs::read_to_string(&file).unwrap().contains("renaming"));
}

#[tokio::test]
async fn own_texts_and_hooks_that_changed_after_they_were_read_are_not_overwritten() {
    let world = World::saying("hi").await;
    let text = |words: &str| format!("---\ndescription: Looks at changes\n---\n{words}\n");
    let first = world.call("PUT", "agents/reviewer", json!({ "text": text("One."), "new": true })).await.expect(200);
    assert_eq!(world.get("agents/reviewer").await.json()["version"], first["version"]);
    let mine = json!({ "text": text("Two."), "version": first["version"] });
    world.call("PUT", "agents/reviewer", mine.clone()).await.expect(200);
    let late = world.call("PUT", "agents/reviewer", mine.clone()).await;
    assert_eq!((late.status, late.code().as_str()), (409, "changed"), "{late:?}");
    // Nor is one put away that somebody has changed since.
    let remove = async |version: &str| {
        let request = world.request("DELETE", "agents/reviewer").bearer_auth(&world.token);
        world.send(request.header("if-match", format!("\"{version}\""))).await
    };
    let late = remove(first["version"].as_str().unwrap()).await;
    assert_eq!((late.status, late.code().as_str()), (409, "changed"), "{late:?}");
    let read = world.get("agents/reviewer").await.expect(200);
    remove(read["version"].as_str().unwrap()).await.expect(200);
    assert_eq!(remove(read["version"].as_str().unwrap()).await.status, 404);
    assert_eq!(world.call("PUT", "agents/reviewer", mine).await.status, 409, "it was removed meanwhile");
    // This test's settings have no hooks and keep none: a change from them comes as far as being kept.
    let read = world.get("settings").await.json()["hooks_version"].clone();
    let put =
        async |version: &Value| world.call("PUT", "settings/hooks", json!({ "hooks": [], "version": version })).await;
    assert_eq!(put(&read).await.code(), "bad_request");
    assert_eq!(put(&json!("0000000000000000")).await.code(), "changed");
    assert_eq!(world.call("PUT", "settings/hooks", json!({ "hooks": [] })).await.status, 400);
    // One setting, likewise; several have no version together.
    let versions = world.get("settings").await.json()["versions"].clone();
    let patch = async |version: &str, body: Value| {
        let request = world.request("PATCH", "settings").bearer_auth(&world.token).header("if-match", version);
        world.send(request.header("content-type", "application/json").body(body.to_string())).await
    };
    let allow = json!({ "permissions.allow": ["run ls"] });
    let read = versions["permissions.allow"].as_str().unwrap();
    assert_eq!(patch(read, allow.clone()).await.code(), "bad_request", "it comes as far as being kept");
    assert_eq!(patch("0000000000000000", allow.clone()).await.code(), "changed");
    let two = json!({ "permissions.allow": [], "permissions.deny": [] });
    assert!(patch(read, two).await.text.contains("one at a time"));
}

#[tokio::test]
async fn labels_by_what_is_said_are_checked_and_kept_with_the_views() {
    let world = World::saying("hi").await;
    let keep = |rules: Value| {
        let body = json!({ "views": [], "statuses": [], "auto_labels": rules });
        world.call("PUT", "views", body)
    };
    let rule = |pattern: &str, label: &str| json!([{ "pattern": pattern, "label": label }]);
    for wrong in [rule("", "x"), rule(" ** ", "x"), rule("a", ""), rule("a", "two\nlines"), rule(&"a".repeat(201), "x")]
    {
        assert_eq!(keep(wrong.clone()).await.status, 400, "{wrong}");
    }
    let before = world.get("views").await.expect(200)["version"].clone();
    let kept = keep(rule("invoice", " money ")).await.expect(200);
    assert_eq!(kept["auto_labels"][0]["label"], "money");
    assert_ne!(kept["version"], before, "who read the old ones is told");
    let say = |words: &str| world.post("sessions", json!({ "content": [{ "type": "text", "text": words }] }));
    let session = say("The INVOICE is here").await.expect(201);
    let id = session["id"].as_str().unwrap();
    assert_eq!(world.get(&format!("sessions/{id}")).await.json()["labels"], json!(["money"]));
    // More than a session can carry are left out.
    let many: Vec<String> = (0..32).map(|number| format!("label {number}")).collect();
    world.call("PATCH", &format!("sessions/{id}"), json!({ "labels": many })).await.expect(200);
    world
        .post(&format!("sessions/{id}/turns"), json!({ "content": [{ "type": "text", "text": "invoice" }] }))
        .await
        .expect(202);
    assert_eq!(world.get(&format!("sessions/{id}")).await.json()["labels"], json!(many));
}

#[tokio::test]
async fn agents_and_skills_of_a_project_are_shown_as_they_are_written_and_changed_elsewhere() {
    let world = World::saying("hello").await;
    for (place, text) in [("agents/gardener/AGENT.md", "Water them.\n"), ("skills/pruning/SKILL.md", "Cut it.\n")] {
        let file = world.folder.path().join(".weft").join(place);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("---\ndescription: Of the project\n---\n{text}")).unwrap();
    }
    let agent = world.get("agents/gardener").await.expect(200);
    assert_eq!(agent["yours"], false);
    assert!(agent["text"].as_str().unwrap().ends_with("---\nWater them.\n"), "{agent}");
    assert!(agent["file"].as_str().unwrap().ends_with("/.weft/agents/gardener/AGENT.md"));
    assert_eq!(world.get("skills/pruning").await.expect(200)["yours"], false);
    let own = world.get("agents/weft").await.expect(200);
    assert_eq!((&own["file"], &own["yours"]), (&json!(""), &json!(false)), "built in");
    for wrong in ["agents/nobody", "agents/..%2F..%2Fsecret", "skills/..", "skills/gardener"] {
        assert_eq!(world.get(wrong).await.status, 404, "{wrong}");
    }
    // One's own comes first, and only one's own is put away.
    assert_eq!(world.call("DELETE", "agents/gardener", json!(null)).await.status, 404);
    let mine = json!({ "text": "---\ndescription: Mine\n---\nMine.\n", "new": true });
    world.call("PUT", "agents/gardener", mine).await.expect(200);
    assert_eq!(world.get("agents/gardener").await.expect(200)["yours"], true);
}
