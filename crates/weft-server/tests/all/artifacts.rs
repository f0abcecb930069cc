//! What sessions make, its versions, and single files taken back.

use serde_json::{Value, json};
use weft_script::{call, text};

use crate::world::World;

/// Writes a plan and a page in the first turn, another plan in the second.
async fn with_plan() -> (World, String) {
    let world = World::new(|seen| match (seen.last_user.contains("again"), seen.round_in_turn) {
        (false, 0) => call("write", json!({ "path": "plan.md", "content": "# One\n" }))
            .then(call("write", json!({ "path": "docs/page.html", "content": "<script>alert(1)</script>\n" }))),
        (true, 0) => call("read", json!({ "path": "plan.md" })),
        (true, 1) => call("write", json!({ "path": "plan.md", "content": "# Two\n" })),
        _ => text("Done."),
    })
    .await;
    let session = world.session("write it").await;
    world.at_rest(&session).await;
    let say = json!({ "content": [{ "type": "text", "text": "again" }] });
    world.post(&format!("sessions/{session}/turns"), say).await;
    world
        .until(&format!("sessions/{session}"), |state| (state["turn"].is_null() && state["turns"] == 2).then_some(()))
        .await;
    (world, session)
}

fn file(world: &World, name: &str) -> Option<String> {
    std::fs::read_to_string(world.folder.path().join(name)).ok()
}

#[tokio::test]
async fn what_a_session_made_is_listed_with_versions_and_can_be_had() {
    let (world, session) = with_plan().await;
    let path = format!("sessions/{session}/artifacts");
    let list = world
        .until(&path, |list| (list["artifacts"][0]["versions"].as_array()?.len() == 2).then(|| list.clone()))
        .await;
    let plan = &list["artifacts"][0];
    assert_eq!((plan["path"].as_str(), plan["kind"].as_str()), (Some("plan.md"), Some("document")));
    assert_eq!(plan["versions"][0]["change"], "created");
    assert_eq!((&plan["versions"][1]["change"], &plan["versions"][1]["size"]), (&json!("changed"), &json!(6)));
    assert_eq!(list["artifacts"][1]["path"], "docs/page.html");
    for (query, expected) in
        [("path=plan.md&turn=1", "# One\n"), ("path=plan.md&turn=2", "# Two\n"), ("path=plan.md", "# Two\n")]
    {
        let got = world.get(&format!("{path}/content?{query}")).await;
        assert_eq!((got.status, got.text.as_str()), (200, expected), "{query}");
    }
    // Whatever a model wrote is not a page of this server.
    let page = world.get(&format!("{path}/content?path=docs/page.html")).await;
    assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    assert!(page.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    for wrong in ["path=../etc/passwd", "path=/etc/passwd", "path=plan.md&turn=7", "path="] {
        assert_eq!(world.get(&format!("{path}/content?{wrong}")).await.status, 404, "{wrong}");
    }
}

#[tokio::test]
async fn a_single_file_goes_back_to_before_the_session_and_forward_again() {
    let (world, session) = with_plan().await;
    let diff =
        |world: &World| world.request("GET", &format!("sessions/{session}/diff?turn=all")).bearer_auth(&world.token);
    let undo = format!("sessions/{session}/undo");
    let taken = world.post(&undo, json!({ "file": "plan.md" })).await.expect(200);
    assert_eq!((taken["turns"].as_array().unwrap().len(), taken["files"][0]["path"].as_str()), (0, Some("plan.md")));
    assert_eq!((file(&world, "plan.md"), file(&world, "docs/page.html").is_some()), (None, true));
    let shown = world.send(diff(&world)).await.json()["diff"].as_str().unwrap().to_owned();
    assert!(!shown.contains("plan.md") && shown.contains("page.html"), "{shown}");
    let list = world.get(&format!("sessions/{session}/artifacts")).await.json();
    let undone = |path: &str| {
        let found = list["artifacts"].as_array().unwrap().iter().find(|one| one["path"] == path).unwrap();
        found["versions"].as_array().unwrap().iter().all(|version| version["undone"] == Value::Bool(true))
    };
    assert!(undone("plan.md") && !undone("docs/page.html"));
    assert_eq!(world.post(&undo, json!({ "file": "plan.md" })).await.status, 409, "there is nothing more to take back");
    assert_eq!(world.post(&undo, json!({ "file": "../other" })).await.status, 409);

    world.post(&format!("sessions/{session}/redo"), json!({})).await.expect(200);
    assert_eq!(file(&world, "plan.md").as_deref(), Some("# Two\n"));
    // What a person has changed since stays, unless they insist.
    std::fs::write(world.folder.path().join("plan.md"), "mine\n").unwrap();
    let kept = world.post(&undo, json!({ "file": "plan.md" })).await.expect(200);
    assert_eq!((kept["files"].as_array().unwrap().len(), kept["kept"][0]["path"].as_str()), (0, Some("plan.md")));
    assert_eq!(file(&world, "plan.md").as_deref(), Some("mine\n"));
    world.post(&undo, json!({ "file": "plan.md", "force": true })).await.expect(200);
    assert_eq!(file(&world, "plan.md"), None);
}
