use serde_json::json;
use weft_script::{call, text};

use crate::world::World;

fn asking() -> World {
    World::new(vec![call("shell", json!({"command": "touch made"})), text("Finished.")])
}

fn open_ask(world: &World) -> String {
    let asks = world.weft(&["asks", "--json"]).expect(0).events();
    assert_eq!(asks.len(), 1, "{asks:?}");
    asks[0]["ask"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_open_question_is_three_and_waits_for_days() {
    let world = asking();
    let ran = world.weft(&["run", "go"]).expect(3);
    let ask = open_ask(&world);
    ran.says("touch made").says(&format!("weft answer {ask} yes|session|always|no")).says("weft resume");
    // What a yes for longer would allow is spelt out.
    ran.says("`session` allows `exactly touch made` in this session, `always` in this project");
    assert_eq!(ran.stderr.matches("touch made").count(), 2, "{ran:?}");
    let asks = world.weft(&["asks"]).expect(0);
    asks.says("`session` allows `exactly touch made`");
    assert_eq!(asks.stdout.matches("touch made").count(), 1, "{asks:?}");
    world.weft(&["resume"]).expect(0).says("waits for an answer: see `weft asks`");
    assert!(!world.folder.path().join("made").exists());

    world.weft(&["answer", &ask[..6], "perhaps"]).expect(2).says("is not an answer here");
    world.weft(&["answer", &ask[..6], "yes"]).expect(0).says("yes, once").says("weft resume");
    assert!(!world.folder.path().join("made").exists(), "only recorded");
    world.weft(&["answer", &ask, "yes"]).expect(1).says("no open question");
    world.weft(&["asks"]).expect(0).says("No question waits");

    let ran = world.weft(&["resume"]).expect(0);
    assert_eq!(ran.stdout, "Finished.\n");
    assert!(world.folder.path().join("made").exists());
}

#[test]
fn an_answer_can_go_on_at_once() {
    let world = asking();
    world.weft(&["run", "go"]).expect(3);
    let ran = world.weft(&["answer", &open_ask(&world), "no", "use", "mkdir", "--resume"]).expect(0);
    ran.says("no: use mkdir").says("Finished.");
    assert!(!world.folder.path().join("made").exists());
    assert!(world.server.requests()[1].last_results[0].contains("use mkdir"));
}

#[test]
fn a_question_is_answered_by_number_or_in_words() {
    for (words, expected) in [("2", "blue"), ("green", "green")] {
        let question = json!({"question": "Which colour?", "options": ["red", "blue"]});
        let world = World::new(vec![call("ask_user", question), text("Thanks.")]);
        world.weft(&["run", "go"]).expect(3).says("Which colour?").says("2. blue");
        world.weft(&["answer", &open_ask(&world), words, "--resume"]).expect(0);
        assert!(world.server.requests()[1].last_results[0].contains(expected));
    }
}

#[test]
fn resuming_an_unanswered_question_says_what_is_asked() {
    let world = asking();
    world.weft(&["run", "go"]).expect(3);
    let session = world.session();
    world.weft(&["resume", &session]).expect(3).says("touch made");
}
