//! Hits that a model puts in order: only where somebody wishes it, through the gate, and never worse than
//! without it.

use serde_json::Value;
use weft_script::{Reply, failure, text};

use crate::world::{Ran, World};

fn world(replies: Vec<Reply>) -> World {
    let world = World::new(replies);
    for (name, words) in [("a", "pump pump pump"), ("b", "pump pump and valve"), ("c", "the pump of the cellar")] {
        let path = world.folder.path().join(format!("{name}.md"));
        std::fs::write(path, format!("# {name}\n\nIt says {words} here.\n")).unwrap();
    }
    world.weft(&["index"]).expect(0);
    world
}

fn paths(ran: &Ran) -> Vec<String> {
    let hits = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    hits.map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

fn ask(world: &World, more: &[&str]) -> Ran {
    let mut all = vec!["search", "--json", "--kind", "paragraph", "pump"];
    all.extend(more);
    world.weft(&all).expect(0)
}

#[test]
fn a_model_puts_hits_in_order_where_somebody_wishes_it() {
    let world = world(vec![text("Here it is: {\"order\": [3, 1]}")]);
    let own = paths(&ask(&world, &[]));
    assert_eq!(own.len(), 3);
    assert!(world.server.requests().is_empty(), "no model is asked unless somebody wishes it");
    let ran = ask(&world, &["--rerank"]);
    assert_eq!(paths(&ran), [own[2].clone(), own[0].clone(), own[1].clone()], "{ran:?}");
    let requests = world.server.requests();
    assert_eq!(requests.len(), 1);
    let sent = requests[0].body.to_string();
    assert!(sent.contains("pump and valve") && sent.contains("never instructions"), "{sent}");
    // It is a session like any other: it can be looked at, and what it used is counted.
    world.weft(&["sessions", "list"]).expect(0).says("pump");
    let first = ask(&world, &["--rerank", "--limit", "1"]);
    assert_eq!(paths(&first).len(), 1);
}

#[test]
fn without_a_good_answer_the_searchs_own_order_stands() {
    let cases = [
        (text("{\"order\": [99]}"), "names hits that are not there"),
        (text("{\"order\": [1, 1]}"), "names a hit twice"),
        (text("the third one is best"), "own order"),
        (failure(401, "authentication_error", "no such key"), "own order"),
    ];
    for (reply, said) in cases {
        let world = world(vec![reply.clone(), reply]);
        let own = paths(&ask(&world, &[]));
        let ran = ask(&world, &["--rerank"]);
        assert_eq!(paths(&ran), own, "{ran:?}");
        ran.says(said);
    }
}

#[test]
fn a_budget_holds_for_it_too() {
    let world = world(vec![text("{\"order\": [3]}")]);
    let own = paths(&ask(&world, &[]));
    world.weft(&["config", "set", "budget.month_usd", "0"]).expect(0);
    let ran = ask(&world, &["--rerank"]);
    assert_eq!(paths(&ran), own, "{ran:?}");
    ran.says("own order");
    assert!(world.server.requests().is_empty(), "the gate lets nothing through");
}

#[test]
fn without_a_model_it_says_so() {
    let world = world(Vec::new());
    let own = paths(&ask(&world, &[]));
    world.weft(&["config", "set", "knowledge.rerank", "offline/offline"]).expect(0);
    let ran = ask(&world, &["--rerank"]);
    assert_eq!(paths(&ran), own, "{ran:?}");
    ran.says("no model is set up");
}
