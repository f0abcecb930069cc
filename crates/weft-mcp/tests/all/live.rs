//! The project's own reference server as a peer: everything that MCP has, for real.

use std::time::Duration;

use serde_json::json;
use weft_core::event::Outcome;
use weft_mcp::Limits;
use weft_mcp::config::SourceTable;

use crate::peers::{node, peer};
use crate::world::World;

fn limits() -> Limits {
    Limits { connect: Duration::from_secs(60), turn_wait: Duration::from_secs(60), ..Limits::default() }
}

fn everything(limits: Limits) -> World {
    let server = peer("@modelcontextprotocol/server-everything/dist/index.js");
    let table = SourceTable {
        command: Some(node().to_string_lossy().into_owned()),
        args: vec![server.to_string_lossy().into_owned(), "stdio".to_owned()],
        ..SourceTable::default()
    };
    World::new(table, limits, Some("Ann"))
}

/// Some of its tools come a moment after it is there, with word that the list has changed.
async fn with_all_tools() -> World {
    let world = everything(limits());
    for _ in 0..200 {
        let notices = world.ready().await;
        assert!(notices.is_empty(), "{notices:?}");
        if world.tool_names().iter().any(|name| name == "mcp__it__trigger-elicitation-request") {
            return world;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never said that its list has changed: {:?}", world.tool_names());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_works_with_a_real_peer() {
    let world = with_all_tools().await;
    let said = |tool: &'static str, input| {
        let world = &world;
        async move {
            let finished = world.call(&format!("mcp__it__{tool}"), input).await;
            assert_eq!(finished.outcome, Outcome::Ok, "{tool}: {}", finished.output.text);
            finished.output.text
        }
    };
    // Tools, with text, pictures, links, and results of a shape.
    assert!(said("echo", json!({"message": "hello"})).await.contains("\nEcho: hello\n"));
    assert!(said("get-sum", json!({"a": 2, "b": 3})).await.contains('5'));
    assert!(said("get-tiny-image", json!({})).await.contains("[An image (image/png, about"));
    assert!(said("get-structured-content", json!({"location": "Chicago"})).await.contains("Light rain"));
    let wrong = world.call("mcp__it__get-sum", json!({"a": "two", "b": 3})).await;
    assert_eq!(wrong.outcome, Outcome::Invalid, "{}", wrong.output.text);
    assert!(wrong.output.text.contains("`a` must be number"), "{}", wrong.output.text);
    // Roots are the workspace.
    let roots = said("get-roots-list", json!({})).await;
    assert!(roots.contains(world.path().to_str().unwrap()), "{roots}");
    // Elicitation asks the person, sampling the model.
    let elicited = said("trigger-elicitation-request", json!({})).await;
    assert!(elicited.contains("Ann") && elicited.contains("It was a dark and stormy night."), "{elicited}");
    assert!(world.asked.lock().unwrap()[0].text.starts_with("The source `it` asks: Please provide inputs"));
    let sampled = said("trigger-sampling-request", json!({"prompt": "sing"})).await;
    assert!(sampled.contains("it said: ") && sampled.contains("sing"), "{sampled}");
    // Progress is shown as it comes; the last of it may come with the result.
    said("trigger-long-running-operation", json!({"duration": 0.2, "steps": 4})).await;
    assert!(world.live.lock().unwrap().contains("(3/4)"), "{}", world.live.lock().unwrap());
    // Resources and prompts.
    let listed = said("resources", json!({})).await;
    let uri = listed.lines().nth(1).and_then(|line| line.split(' ').next()).unwrap().to_owned();
    assert!(!said("resources", json!({ "uri": uri })).await.is_empty());
    let connection = world.source().connection().await.unwrap();
    assert!(connection.prompts().await.unwrap().iter().any(|prompt| prompt.name == "args-prompt"));
    let arguments = json!({"city": "Oslo"}).as_object().cloned().unwrap();
    let prompt = serde_json::to_string(&connection.prompt("args-prompt", arguments).await.unwrap()).unwrap();
    assert!(prompt.contains("Oslo"), "{prompt}");
    drop(connection);
    // One process did all of it.
    assert_eq!(world.source().starts(), 1);
    world.sources.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_come_and_go_while_others_stay_connected() {
    let world = everything(limits());
    world.ready().await;
    assert!(!world.tool_names().is_empty());
    let (it, mut other) = (world.source().config.clone(), world.source().config.clone());
    other.name = "other".to_owned();
    assert!(world.sources.replace(vec![other.clone(), it.clone()]).is_empty(), "one that stays was given up");
    assert_eq!((world.sources.all().len(), world.source().starts()), (2, 1));
    // One that says something else is another one, and the old one is given back to be closed.
    let changed = weft_mcp::config::SourceConfig { timeout_seconds: Some(5), ..it };
    let gone = world.sources.replace(vec![changed]);
    assert_eq!(gone.iter().map(|source| source.config.name.as_str()).collect::<Vec<_>>(), ["other", "it"]);
    assert_eq!((world.source().timeout(), world.source().starts()), (Duration::from_secs(5), 0));
    for source in gone {
        source.close().await;
        assert!(!source.is_connected().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_gives_a_real_peer_more_time_and_a_stop_ends_it() {
    let world = everything(Limits { call: Duration::from_secs(30), ..limits() });
    world.ready().await;
    let cancel = world.cancel.clone();
    let live = std::sync::Arc::clone(&world.live);
    let stop = tokio::spawn(async move {
        while live.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    });
    let input = json!({"duration": 300, "steps": 3000});
    let finished = world.call("mcp__it__trigger-long-running-operation", input).await;
    assert_eq!(finished.outcome, Outcome::Interrupted, "{}", finished.output.text);
    stop.await.unwrap();
    world.sources.close().await;
}
