//! What is known of a folder, over HTTP: indexed, searched, asked, watched.

use serde_json::json;

use crate::world::World;

fn write(world: &World, path: &str, text: &str) {
    let path = world.folder.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

async fn indexed(world: &World) {
    world.post("knowledge/index", json!({})).await.expect(202);
    world.until("knowledge/status", |status| (status["work"]["running"] == false).then_some(())).await;
}

#[tokio::test]
async fn a_folder_is_indexed_and_asked() {
    let world = World::saying("hello").await;
    let status = world.get("knowledge/status").await.expect(200);
    assert_eq!((&status["known"], &status["work"]), (&json!(false), &json!(null)));
    let got = world.get("knowledge/search?q=x").await;
    assert_eq!((got.status, got.code().as_str()), (409, "not_indexed"));

    write(&world, "src/store.py", "def check(x):\n    return x\n");
    write(&world, "src/api.py", "from store import check as verify\n\ndef handle():\n    return verify(2)\n");
    write(&world, "docs/guide.md", "# Guide\n\nThe function `handle` answers requests.\n");
    indexed(&world).await;
    let status = world.get("knowledge/status").await.expect(200);
    assert_eq!((&status["known"], &status["files"], &status["up_to_date"]), (&json!(true), &json!(3), &json!(true)));
    assert_eq!(status["work"]["report"]["changed"], 3);

    let found = world.get("knowledge/search?q=handle&domain=code&limit=3").await.expect(200);
    assert_eq!((&found["hits"][0]["path"], &found["hits"][0]["line"]), (&json!("src/api.py"), &json!(3)));
    assert!(found["took_ms"].as_f64().unwrap() > 0.0);
    let paths = async |more: &str| -> Vec<String> {
        let found = world.get(&format!("knowledge/search?q=handle%20requests&{more}")).await.expect(200);
        found["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
    };
    assert!(paths("since=1000").await.len() >= 3);
    assert!(paths("until=1000").await.is_empty(), "nothing is as old");
    assert_eq!(paths("language=markdown&kind=paragraph").await, ["docs/guide.md"]);
    assert!(paths("path=src/").await.iter().all(|path| path.starts_with("src/")));
    let callers = world.get("knowledge/graph/callers?symbol=check").await.expect(200);
    assert_eq!(callers["neighbours"][0]["name"], "handle");
    let way = world.get("knowledge/graph/link?from=check&to=handle").await.expect(200);
    assert_eq!((&way["found"], &way["back"], way["steps"].as_array().unwrap().len()), (&json!(true), &json!(true), 2));
    let around = world.get("knowledge/graph/around?symbol=handle").await.expect(200);
    assert_eq!(around["after"][0]["name"], "check");
    assert_eq!(around["before"][0]["path"], "docs/guide.md");
    let passage = world.get("knowledge/passage?path=src/api.py&line=3&around=1").await.expect(200);
    assert_eq!((&passage["first"], &passage["lines"][1]), (&json!(2), &json!("def handle():")));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let world = World::saying("hello").await;
    write(&world, "a.py", "def one():\n    pass\n");
    write(&world, ".env", "KEY=hello\n");
    indexed(&world).await;
    world.get("knowledge/search?q=x&limit=0").await.expect(400);
    world.get("knowledge/search?q=x&kind=nonsense").await.expect(400);
    world.get("knowledge/graph/nonsense?symbol=one").await.expect(404);
    world.get("knowledge/graph/callers?symbol=one&depth=9").await.expect(400);
    let missing = world.get("knowledge/graph/callers?symbol=onee").await;
    assert_eq!((missing.status, missing.json()["error"]["similar"][0].as_str()), (404, Some("one")));
    // Only what is known is shown, wherever a path leads.
    for path in [".env", "../../etc/passwd", "/etc/passwd", "b.py"] {
        world.get(&format!("knowledge/passage?path={path}&line=1")).await.expect(404);
    }
    world.get("knowledge/search?q=x&workspace=relative").await.expect(400);
    world.send(world.request("GET", "knowledge/search?q=x")).await.expect(401);
}

#[tokio::test]
async fn changes_are_seen_when_they_are_watched_and_after_a_rebuild() {
    let world = World::saying("hello").await;
    write(&world, "a.py", "def one():\n    pass\n");
    indexed(&world).await;
    world.get("knowledge/search?q=one").await.expect(200);
    world.post("knowledge/watch", json!({"on": true})).await.expect(202);
    world.until("knowledge/status", |status| status["watch"]["report"].is_object().then_some(())).await;
    write(&world, "b.py", "def brand_new_thing():\n    pass\n");
    let hit = |found: &serde_json::Value| (found["hits"][0]["path"] == "b.py").then_some(());
    world.until("knowledge/search?q=brand_new_thing", hit).await;
    world.post("knowledge/watch", json!({"on": false})).await.expect(202);
    world.until("knowledge/status", |status| (status["watch"]["running"] == false).then_some(())).await;
    world.post("knowledge/rebuild", json!({})).await.expect(202);
    world.until("knowledge/status", |status| (status["work"]["running"] == false).then_some(())).await;
    let status = world.get("knowledge/status").await.expect(200);
    assert_eq!((&status["work"]["kind"], &status["work"]["error"]), (&json!("rebuild"), &json!(null)));
    world.until("knowledge/search?q=brand_new_thing", hit).await;
    world.post("knowledge/stop", json!({})).await.expect(202);
}

#[tokio::test]
async fn documents_are_read_by_paragraph_and_answers_checked() {
    let world = World::saying("hello").await;
    write(
        &world,
        "contract.md",
        "# Contract\n\n4.1 The buyer shall pay within 30 days, see 4.2.\n\n4.2 The rate is 5%.\n",
    );
    indexed(&world).await;
    let documents = world.get("knowledge/documents").await.expect(200);
    assert_eq!(
        (&documents["documents"][0]["title"], &documents["documents"][0]["paragraphs"]),
        (&json!("Contract"), &json!(2))
    );
    let found = world.get("knowledge/paragraph?id=4.1&depth=1").await.expect(200);
    assert_eq!(found["paragraphs"][0]["text"], "4.1 The buyer shall pay within 30 days, see 4.2.");
    assert_eq!(found["hops"][0]["way"], json!(["contract.md#4.1", "contract.md#4.2"]));
    world.get("knowledge/paragraph?id=9.9").await.expect(404);
    world.get("knowledge/paragraph?id=4.1&depth=9").await.expect(400);
    let claims = json!({"claims": [
        {"text": "The buyer must pay within 30 days.", "cites": ["4.1"]},
        {"text": "The buyer may pay within 60 days.", "cites": ["4.1"]}]});
    let report = world.post("knowledge/verify", claims).await.expect(200);
    let failed: Vec<(&str, u64)> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["holds"] == false)
        .map(|check| (check["axis"].as_str().unwrap(), check["claim"].as_u64().unwrap()))
        .collect();
    assert!(failed.contains(&("entity", 1)) && failed.contains(&("relation", 1)), "{report}");
    assert!(failed.iter().all(|(_, claim)| *claim == 1), "{report}");
    assert!(report["contradictions"].as_u64().unwrap() > 0);
    write(&world, "a.py", "# FIXME: soon\ndef one():\n    pass\n");
    indexed(&world).await;
    let health = world.get("knowledge/health?path=a.py").await.expect(200);
    assert_eq!(
        (&health["areas"][0]["maturity"], &health["areas"][0]["debt"][0]["line"]),
        (&json!("GREENFIELD"), &json!(1))
    );
}
