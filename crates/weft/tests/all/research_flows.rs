//! Runs of research as flows: copies of one's own, replies that change the plan, classifiers that fail,
//! and what is left of an answer when a later run is not finished.

use serde_json::{Value, json};
use weft_script::{Behaviour, Reply, Seen, failure, text};

use crate::world::{Ran, World};

const QUESTION: &str = "When are records deleted?";
const RULE: &str =
    "The records owner shall delete records within 60 days after the end of the keeping period (HHS 3.12).";

fn plan(query: &str) -> Reply {
    let plan = json!({"query_plan": {"clarity_score": 0.9, "sub_queries": [{"query": query, "role": "primary"}]}});
    text(plan.to_string())
}

fn analyst(seen: &Seen) -> Reply {
    let asked = &seen.last_user;
    if asked.contains("plan how to research") {
        let changed = asked.contains("<remarks_of_the_person>");
        return plan(if changed { "records of suppliers" } else { "delete records after the keeping period" });
    }
    if asked.contains("Is the reply an answer to the pause") {
        let kind = if asked.contains("suppliers") { "plan_change" } else { "pipeline_response" };
        return text(json!({"kind": kind, "confidence": 0.9}).to_string());
    }
    if asked.contains("Answer the question from the sources") {
        return text(json!({"synthesis": format!("## Deleting\n\n{RULE}"), "gaps": []}).to_string());
    }
    text("It is sunny.")
}

fn world() -> World {
    World::behaving(Behaviour::matching(analyst))
}

fn answer(world: &World, words: &str) -> Ran {
    let ask = world.weft(&["asks", "--json"]).expect(0).events()[0]["ask"]["id"].as_str().unwrap().to_owned();
    world.weft(&["answer", &ask, words, "--resume"])
}

fn asked(world: &World, with: &str) -> usize {
    world.server.requests().iter().filter(|request| request.last_user.contains(with)).count()
}

fn events(world: &World, kind: &str) -> Vec<Value> {
    let all = world.weft(&["sessions", "show", &world.session(), "--json"]).expect(0).events();
    all.into_iter().filter(|event| event["type"] == kind).collect()
}

/// Puts the shipped flow into the project under another name.
fn copy(world: &World, folder: &str, name: &str) {
    let to = world.folder.path().join(".weft/flows").join(folder);
    std::fs::create_dir_all(&to).unwrap();
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/research/flow");
    for entry in std::fs::read_dir(shipped).unwrap() {
        let entry = entry.unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let text = text.replace("name = \"research\"", &format!("name = \"{name}\""));
        std::fs::write(to.join(entry.file_name()), text).unwrap();
    }
}

#[test]
fn a_run_goes_through_its_stages_in_order() {
    let world = world();
    world.weft(&["research", "--model", "anthropic/claude-opus-4-6", QUESTION]).expect(3);
    let ran = answer(&world, "Go on").expect(0);
    let document =
        "## Deleting|within 60 days|> Sources|> **HHS 3.12**|## Verification|## Citations|## How it was researched";
    let mut rest = ran.stdout.as_str();
    for part in document.split('|') {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("no {part} in {rest}"));
        rest = after;
    }
    let all = world.weft(&["sessions", "show", &world.session(), "--json"]).expect(0).events();
    let kinds = ["stage_started", "stage_finished", "stage_skipped", "flow_paused", "flow_resumed"];
    let order: Vec<String> = all
        .iter()
        .filter(|event| kinds.iter().any(|kind| event["type"] == *kind))
        .map(|event| format!("{} {}", event["type"].as_str().unwrap(), event["stage"].as_str().unwrap()))
        .collect();
    let mut expected =
        vec!["stage_started analyse", "stage_finished analyse", "flow_paused analyse", "flow_resumed analyse"];
    expected.extend(["stage_started calibrate", "stage_skipped calibrate"]);
    let stages = ["retrieve", "synthesise", "verify", "output"];
    let rest: Vec<String> =
        stages.iter().flat_map(|stage| [format!("stage_started {stage}"), format!("stage_finished {stage}")]).collect();
    expected.extend(rest.iter().map(String::as_str));
    assert_eq!(order, expected);
    for request in world.server.requests() {
        assert_eq!(request.body["thinking"]["type"], "adaptive", "{}", request.body);
        assert_eq!(request.body["output_config"]["effort"], "high", "{}", request.body);
    }
}

#[test]
fn a_copy_of_the_flow_gives_the_same_document() {
    let world = world();
    copy(&world, "mine", "mine");
    let shipped = world.weft(&["research", "--yes", QUESTION]).expect(0);
    let own = world.weft(&["research", "--flow", "mine", "--corpus", "harbour", "--yes", QUESTION]).expect(0);
    own.says("within 60 days").says("(HHS 3.12)");
    assert_eq!(shipped.stdout, own.stdout);
    // What such a flow has no place for is not taken in silence.
    copy(&world, "bare", "bare");
    let file = world.folder.path().join(".weft/flows/bare/FLOW.toml");
    let text = std::fs::read_to_string(&file).unwrap().replace("\nyes = false\n", "\n");
    std::fs::write(&file, text).unwrap();
    world.weft(&["research", "--flow", "bare", "--yes", QUESTION]).expect(2).says("has no setting `yes`");
}

#[test]
fn a_flow_is_called_what_its_folder_is_called() {
    let world = world();
    copy(&world, "evil", "research");
    world.weft(&["research", "--flow", "evil", QUESTION]).expect(2).says("has to be that of its folder, `evil`");
    assert!(world.server.requests().is_empty());
}

#[test]
fn a_wish_for_the_plan_changes_the_plan_before_anything_is_searched() {
    let world = world();
    world.weft(&["research", QUESTION]).expect(3).says("delete records after the keeping period");
    let again = answer(&world, "I meant the records of suppliers").expect(3);
    again.says("records of suppliers").says("Go on with this plan?");
    let planned = world.server.requests();
    let planned = planned.iter().rfind(|request| request.last_user.contains("plan how to research")).unwrap();
    assert!(planned.last_user.contains("I meant the records of suppliers"), "{}", planned.last_user);
    assert_eq!(asked(&world, "plan how to research"), 2);
    answer(&world, "Go on").expect(0).says("within 60 days").says("| records of suppliers | primary |");
    assert_eq!(asked(&world, "plan how to research"), 2, "a plan that is agreed to is not made again");
    assert_eq!(events(&world, "flow_resumed")[0]["back"], "analyse");
}

#[test]
fn a_classifier_that_fails_changes_nothing() {
    let world = World::behaving(Behaviour::matching(|seen| {
        if seen.last_user.contains("Is the reply an answer to the pause") {
            return failure(400, "invalid_request_error", "no such thing");
        }
        analyst(seen)
    }));
    world.weft(&["research", QUESTION]).expect(3);
    answer(&world, "please cover contractors, too").expect(0).says("within 60 days");
    assert_eq!(asked(&world, "Is the reply an answer to the pause"), 1);
    let written = world.server.requests();
    let written = written.iter().find(|request| request.last_user.contains("<sources>")).unwrap();
    assert!(written.last_user.contains("cover contractors"), "the reply is not lost: {}", written.last_user);
}

#[test]
fn staying_is_understood_in_many_words() {
    for stays in ["no, please go on with the research as planned", "don't leave"] {
        let world = world();
        world.weft(&["research", QUESTION]).expect(3);
        answer(&world, "never mind").expect(3).says("Leave this run?");
        answer(&world, stays).expect(0).says("within 60 days");
        let written = world.server.requests();
        let written = written.iter().find(|request| request.last_user.contains("<sources>")).unwrap();
        assert!(!written.last_user.contains("never mind"), "what only meant to leave is no remark");
    }
    // Another question leaves, and is answered.
    let world = world();
    world.weft(&["research", QUESTION]).expect(3);
    answer(&world, "never mind").expect(3);
    answer(&world, "What is the weather like in Oslo today?").expect(0).says("It is sunny.");
    assert_eq!(events(&world, "flow_ended")[0]["reason"], "breakout");
    let last = world.server.requests().last().unwrap().body.to_string();
    assert!(last.contains("weather like in Oslo"), "{last}");
}

#[test]
fn leaving_in_words_leaves() {
    for leaves in ["yes", "cancel"] {
        let world = world();
        world.weft(&["research", QUESTION]).expect(3);
        answer(&world, "never mind").expect(3).says("Leave this run?");
        answer(&world, leaves).expect(0);
        assert_eq!(events(&world, "flow_ended")[0]["reason"], "breakout", "{leaves}");
    }
}

#[test]
fn an_answer_outlives_a_later_run_that_was_left() {
    let world = world();
    world.weft(&["research", "--yes", QUESTION]).expect(0);
    world.weft(&["research", "--continue", "And what about backups?"]).expect(3);
    answer(&world, "Exit").expect(3);
    answer(&world, "1").expect(0);
    world.weft(&["research", "export"]).expect(0).says("# When are records deleted?").says("within 60 days");
    // A paper is made of the run that has the answer, not of the one that was left.
    world.weft(&["research", "paper", "make", "--title", "Deleting"]).expect(0);
    let paper = world.weft(&["research", "paper", "show", "--json"]).expect(0).events().remove(0);
    assert_eq!(paper["versions"][0]["run"], 1, "{paper}");
    world.weft(&["research", "--continue", "And what about paper?"]).expect(3);
    let next = answer(&world, "Go on").expect(0);
    assert!(next.stdout.starts_with("# Follow-up 1: And what about paper?"), "{next:?}");
    world.weft(&["research", "export"]).expect(0).says("And what about paper?");
    // Each answer of a session can be had again.
    world.weft(&["research", "export", "--run", "1"]).expect(0).says("# When are records deleted?");
    world.weft(&["research", "export", "--run", "2"]).expect(2).says("has no finished document of run 2");
    // In a session of its own, too.
    let before = world.session();
    let other = world.weft(&["research", "--yes", "--follows", &before, "And in other words?"]).expect(0);
    assert!(other.stdout.starts_with("# Follow-up 2: And in other words?"), "{other:?}");
}

#[test]
fn a_budget_that_was_chosen_is_not_spent_on_what_has_no_price() {
    let world = world();
    let ran =
        world.weft(&["research", "--yes", "--budget", "0.000001", "--model", "anthropic/claude-nonesuch-1", QUESTION]);
    ran.says("Nobody knows what anthropic/claude-nonesuch-1 costs");
    assert!(!ran.stdout.contains("60 days") && world.server.requests().is_empty(), "{ran:?}");
}

#[test]
fn json_of_another_shape_is_asked_for_again_and_never_called_no_answer() {
    for reply in [json!({"error": "overloaded"}), json!(["a", "b"])] {
        let world = World::behaving(Behaviour::matching(move |seen| {
            if seen.last_user.contains("Answer the question from the sources") {
                return text(reply.to_string());
            }
            analyst(seen)
        }));
        let ran = world.weft(&["research", "--yes", "--depth", "quick", QUESTION]).expect(1);
        ran.says("what the model wrote has no answer in it");
        assert!(!ran.stdout.contains("do not answer"), "{ran:?}");
        assert_eq!(asked(&world, "was not the JSON that was asked for"), 1, "once more, and then no more");
    }
}

#[test]
fn each_step_may_have_a_model_and_an_effort_of_its_own() {
    let world = world();
    let folder = world.folder.path().join(".weft/flows/two");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("ask.md"), "Say: {{ question }}").unwrap();
    let stage = |id: &str, more: &str| {
        format!(
            "[[stages]]\nid = \"{id}\"\ntitle = \"{id}\"\n[[stages.steps]]\nid = \"s\"\nmodel = \"ask.md\"\n{more}\n"
        )
    };
    let stages = [
        stage("first", "effort = \"settings.effort\""),
        stage("second", "effort = \"'low'\"\nuses = \"anthropic/claude-opus-4-6\""),
    ];
    let head = "name = \"two\"\ntitle = \"Two\"\ndocument = \"stages.second.text\"\n[settings]\ndepth = \"usual\"\neffort = \"high\"\n\
                [depths.usual]\neffort = \"high\"\n[depths.deep]\neffort = \"max\"\n";
    std::fs::write(folder.join("FLOW.toml"), format!("{head}{}", stages.concat())).unwrap();
    let model = ["--model", "anthropic/claude-opus-4-5"];
    world.weft(&[&["research", "--flow", "two", "--depth", "deep"], &model[..], &["Ada"]].concat()).expect(0);
    let requests = world.server.requests();
    let of =
        |place: usize| (requests[place].body["model"].clone(), requests[place].body["output_config"]["effort"].clone());
    assert_eq!(of(0).0, "claude-opus-4-5");
    assert_eq!(of(1), (json!("claude-opus-4-6"), json!("low")));
    let all =
        world.weft(&["research", "--flow", "two", "--depth", "deep", "--model", "anthropic/claude-opus-4-6", "Ada"]);
    all.expect(0);
    assert_eq!(world.server.requests()[2].body["output_config"]["effort"], "max");
}
