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
    ran.says(
        "For longer than once it allows `exactly touch made`: `session` in this session, `always` in this project",
    );
    assert_eq!(ran.stderr.matches("touch made").count(), 2, "{ran:?}");
    let asks = world.weft(&["asks"]).expect(0);
    asks.says("it allows `exactly touch made`");
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
    assert!(!ran.stderr.contains("interrupted"), "an answer is no interruption: {ran:?}");
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

#[test]
fn questions_say_where_they_were_raised_and_take_what_they_offer() {
    let write = |path: &str| call("write", json!({"path": path, "content": "one\ntwo\n"}));
    let world = World::new(vec![write("docs/a.md"), text("Done."), write("docs/b.md"), write("c.md"), text("Done.")]);
    std::fs::create_dir(world.folder.path().join("docs")).unwrap();
    world.weft(&["run", "go"]).expect(3).says("For longer than once it allows `write docs/**`:");
    let ask = open_ask(&world);
    let here = world.weft(&["asks"]).expect(0);
    let rows: Vec<&str> = here.stdout.lines().collect();
    assert!(rows[0].contains("folder") && rows[1].contains("  here  "), "{rows:?}");
    assert!(rows[1].ends_with("Write `docs/a.md`?"), "no diff in the table: {rows:?}");
    let folder = world.folder.path().file_name().unwrap().to_str().unwrap();
    let elsewhere = world.command(&["asks"]).current_dir(world.home.path()).output().unwrap();
    let elsewhere = String::from_utf8(elsewhere.stdout).unwrap();
    assert!(elsewhere.contains(folder), "{elsewhere}");

    // What was agreed to is the folder, for good, and nothing beside it.
    world.weft(&["answer", &ask, "always", "--resume"]).expect(0);
    let next = world.weft(&["run", "again"]).expect(3);
    assert_eq!(world.file("docs/b.md"), "one\ntwo\n");
    next.says("Write `c.md`?").says("it allows `write c.md`:");
}

#[test]
fn what_cannot_be_allowed_for_longer_is_not_offered_so() {
    let world = World::new(vec![call("shell", json!({"command": "git push"})), text("Finished.")]);
    let ran = world.weft(&["run", "go"]).expect(3);
    let ask = open_ask(&world);
    ran.says(&format!("`weft answer {ask} yes|no`"));
    world.weft(&["asks"]).expect(0).says(&format!("`weft answer {ask} yes|no`"));
    world.weft(&["answer", &ask, "always"]).expect(2).says("answer yes or no");
    world.weft(&["answer", &ask, "perhaps"]).expect(2).says("say yes, or no with what to do instead");
    world.weft(&["answer", "--help"]).expect(0).says("always");
}

#[test]
fn words_instead_of_an_answer_withdraw_the_question_and_are_worked_on() {
    let touch = |name: &str| call("shell", json!({"command": format!("touch {name}")}));
    let world = World::new(vec![touch("made"), text("Something else, then.")]);
    world.weft(&["run", "go"]).expect(3);
    let ran = world.weft(&["run", "--continue", "never mind, say something else"]).expect(0);
    assert_eq!(ran.stdout, "Something else, then.\n", "{ran:?}");
    assert!(!ran.stderr.contains("weft answer"), "{ran:?}");
    world.weft(&["asks"]).expect(0).says("No question waits");
    assert!(!world.folder.path().join("made").exists());
    // A question that is raised after it is asked as ever.
    let world = World::new(vec![touch("one"), touch("two")]);
    world.weft(&["run", "go"]).expect(3);
    world.weft(&["run", "--continue", "two instead"]).expect(3).says("touch two");
}
