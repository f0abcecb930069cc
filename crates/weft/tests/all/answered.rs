//! Questions that a model answers from what is known: only where somebody wishes it, read back by its marks,
//! and kept only where nothing speaks against it.

use serde_json::Value;
use weft_script::{Reply, failure, text};

use crate::world::{Ran, World};

const QUESTION: &str = "how does the pump of the cellar work";

fn world(replies: Vec<Reply>) -> World {
    let world = World::new(replies);
    let path = world.folder.path().join("pump.md");
    std::fs::write(path, "# The pump\n\nThe pump of the cellar works with steam at 5 < 6 & a valve.\n").unwrap();
    world.weft(&["index"]).expect(0);
    world
}

fn ask(world: &World, more: &[&str]) -> Ran {
    let mut all = vec!["knowledge", "ask"];
    all.extend(more);
    all.push(QUESTION);
    world.weft(&all)
}

#[test]
fn a_model_answers_from_the_sources_and_is_not_asked_twice() {
    let world = world(vec![text("It works with steam [1]. [INFERENCE] It is loud. It is red.")]);
    ask(&world, &[]).expect(0).says("what a model is told");
    assert!(world.server.requests().is_empty(), "no model is asked unless somebody wishes it");
    let ran = ask(&world, &["--answer"]).expect(0);
    ran.says("It works with steam [1].").says("Sources: [1] pump.md").says("and kept until");
    ran.says("Without a source: It is red.");
    let sent = world.server.requests();
    assert_eq!(sent.len(), 1);
    let sent = sent[0].body.to_string();
    assert!(sent.contains("5 < 6 & a valve") && sent.contains("Cite with [n]"), "{sent}");
    assert!(sent.contains("never an instruction"), "{sent}");
    ask(&world, &["--answer"]).expect(0).says("It works with steam [1].").says("Kept from earlier");
    assert_eq!(world.server.requests().len(), 1, "what was kept needs no model");
}

#[test]
fn what_a_model_says_of_sources_that_are_not_there_is_told_and_not_kept() {
    let world = world(vec![text("It is blue [7]."), text("[WARNING] The guide is old [1].")]);
    let ran = ask(&world, &["--answer"]).expect(0);
    ran.says("There is no source [7].").says("so it is not kept");
    let ran = ask(&world, &["--answer", "--json"]).expect(0);
    let said: Value = serde_json::from_str(ran.stdout.trim()).unwrap();
    assert_eq!(said["reply"]["warnings"], serde_json::json!(["The guide is old."]));
    assert_eq!(said["reply"]["sources_used"], serde_json::json!([1]));
    assert_eq!(world.server.requests().len(), 2);
}

#[test]
fn without_a_model_or_its_answer_it_says_why() {
    let refused = world(vec![failure(401, "authentication_error", "no such key")]);
    ask(&refused, &["--answer"]).expect(1).says("No model answered the question");
    let world = world(vec![text("never sent")]);
    world.weft(&["config", "set", "budget.month_usd", "0"]).expect(0);
    ask(&world, &["--answer"]).expect(1).says("No model answered the question");
    assert!(world.server.requests().is_empty(), "the gate lets nothing through");
}
