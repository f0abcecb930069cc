//! Settings that are changed while the server runs.

use serde_json::json;
use weft_script::{call, text};

use crate::world::World;

#[tokio::test]
async fn the_sandbox_that_is_told_of_is_the_one_that_commands_run_in() {
    let world = World::new(|seen| match seen.round_in_turn {
        0 => call("shell", json!({ "command": "echo ran" })),
        _ => text("Done."),
    })
    .await;
    let off = world.call("PATCH", "settings", json!({ "sandbox.mode": "off" })).await.expect(200);
    assert_eq!(off["waiting"], json!([]), "it holds at once");
    let told = world.get("sandbox").await.json();
    assert_eq!(told["mode"], "off");
    let holds = told["holds"].as_array().unwrap();
    assert!(!holds.is_empty() && holds.iter().all(|one| one["held"] == false), "{told}");
    assert!(told["notice"].as_str().unwrap().contains("without a sandbox"), "{told}");
    let free = world.session("run it").await;
    world.at_rest(&free).await;
    let log = serde_json::to_string(&world.log(&free)).unwrap();
    assert!(log.contains("ran") && !log.contains("must run in a sandbox"), "{log}");

    // This test has no helper that could make a sandbox: where one is required nothing runs.
    world.call("PATCH", "settings", json!({ "sandbox.mode": "required" })).await.expect(200);
    assert_eq!(world.get("sandbox").await.json()["mode"], "required");
    let held = world.session("run it").await;
    world.at_rest(&held).await;
    let log = serde_json::to_string(&world.log(&held)).unwrap();
    assert!(log.contains("must run in a sandbox"), "{log}");
}

#[tokio::test]
async fn a_budget_holds_from_the_next_call_on_and_what_waits_for_a_restart_is_named() {
    let world = World::saying("hi").await;
    let session = world.session("hello").await;
    assert_eq!(world.at_rest(&session).await["last_end"]["reason"], "completed");
    let saved = world.call("PATCH", "settings", json!({ "budget.month_usd": 0 })).await.expect(200);
    assert_eq!(saved["waiting"], json!([]));
    let refused = world.session("hello again").await;
    let state = world.at_rest(&refused).await;
    assert!(state["last_end"]["text"].as_str().unwrap().contains("The overall budget is $0.00"), "{state}");
    let saved = world.call("PATCH", "settings", json!({ "undo.keep_days": 3 })).await.expect(200);
    assert_eq!(saved["waiting"], json!(["undo.keep_days"]));
    assert_eq!(world.get("settings").await.json()["waiting"], json!(["undo.keep_days"]));
}
