//! What sources ask of people and models while their calls run: the official reference server asks.

use std::process::Child;

use serde_json::{Value, json};
use weft_script::{Reply, call, text};

use crate::world::{World, finish, signal, types, wait_until};

/// The server has so many tools that the model has to ask for them first.
fn world(mut replies: Vec<Reply>) -> World {
    replies.insert(0, call("request_tools", json!({"source": "every"})));
    let world = World::new(replies);
    let [node, server, transport] = crate::peers::everything();
    world.weft(&["sources", "add", "every", "--", &node, &server, &transport]).expect(0);
    // From here on its tools are known, however slowly it starts.
    world.weft(&["sources", "test", "every"]).expect(0);
    world
}

fn start(world: &World) -> Child {
    world.command(&["run", "--json", "--mode", "auto", "--wait", "600", "go"]).spawn().unwrap()
}

fn open_ask(world: &World) -> (String, Value) {
    wait_until("a question", || {
        let asks = world.weft(&["asks", "--json"]).expect(0).events();
        let ask = asks.first()?["ask"].clone();
        Some((ask["id"].as_str().unwrap().to_owned(), ask))
    })
}

#[test]
fn a_form_is_answered_from_another_terminal() {
    let world = world(vec![call("mcp__every__trigger-elicitation-request", json!({})), text("Done.")]);
    let child = start(&world);
    let (first, ask) = open_ask(&world);
    let question = ask["question"].as_str().unwrap();
    assert!(question.starts_with("The source `every` asks:") && question.contains("legal name"), "{question}");
    world.weft(&["answer", &first, "Ada"]).expect(0).says("goes on with it");
    let (second, ask) = open_ask(&world);
    assert_eq!(ask["kind"]["options"], json!(["Yes", "No"]));
    world.weft(&["answer", &second, "decline"]).expect(0);
    let ran = finish(child).expect(0);
    assert!(types(&ran.events()).contains(&"ask_answered"));
    assert!(world.server.requests()[2].last_results[0].contains("decline"), "{:?}", world.server.requests()[2]);
    world.weft(&["asks"]).expect(0).says("No question waits");
}

#[test]
fn an_answer_that_is_lost_on_its_way_is_not_called_recorded() {
    let world = world(vec![call("mcp__every__trigger-elicitation-request", json!({}))]);
    let child = start(&world);
    let (ask, _) = open_ask(&world);
    signal(&child, rustix::process::Signal::STOP);
    let answering = world.command(&["answer", &ask, "Ada"]).spawn().unwrap();
    // Taken by somebody who does not live to write it down.
    let letter = world.home.path().join("weft/answers").join(world.session()).join(format!("{ask}.json"));
    wait_until("the letter", || std::fs::remove_file(&letter).ok());
    finish(answering).expect(1).says("is at work in another Weft process");
    signal(&child, rustix::process::Signal::KILL);
    finish(child);
}

#[test]
fn an_address_is_shown_and_opened_by_the_person_alone() {
    let address = "https://sign-in.example/code?x=1";
    let arguments = json!({"url": address, "message": "Sign in, please."});
    let world = world(vec![call("mcp__every__trigger-url-elicitation", arguments), text("Done.")]);
    let child = start(&world);
    let (id, ask) = open_ask(&world);
    let question = ask["question"].as_str().unwrap();
    assert!(question.contains(address) && question.contains("if you trust sign-in.example"), "{question}");
    world.weft(&["answer", &id, "Yes"]).expect(0);
    finish(child).expect(0);
    assert!(world.server.requests()[2].last_results[0].contains("accept"));
}

#[test]
fn a_model_is_asked_after_the_person_agreed_and_paid_by_the_session() {
    let ask_model = || call("mcp__every__trigger-sampling-request", json!({"prompt": "the weather", "maxTokens": 50}));
    let world = world(vec![ask_model(), text("Rain."), ask_model(), text("Sun."), text("Done.")]);
    let child = start(&world);
    let (id, ask) = open_ask(&world);
    assert_eq!(ask["question"], "Let the source `every` ask the model `anthropic/claude-sonnet-4-5`?");
    assert!(ask["kind"]["detail"].as_str().unwrap().contains("the weather"), "{ask}");
    world.weft(&["asks"]).expect(0).says("it allows `use sample__every`");
    // For the session: the second time nobody is asked.
    world.weft(&["answer", &id, "session"]).expect(0);
    let ran = finish(child).expect(0);
    let requests = world.server.requests();
    assert!(requests[3].last_results[0].contains("Rain.") && requests[5].last_results[0].contains("Sun."));
    assert!(requests[2].body.get("tools").is_none_or(|tools| tools.as_array().unwrap().is_empty()), "no tools");
    let events = ran.events();
    assert_eq!(types(&events).iter().filter(|kind| **kind == "sampled").count(), 2);
    assert_eq!(types(&events).iter().filter(|kind| **kind == "ask_raised").count(), 1);
    let usage = world.weft(&["usage", "--json"]).expect(0).events();
    assert_eq!(usage[0]["calls"], 6, "{usage:?}");
}

#[test]
fn a_question_ends_with_the_process_that_asked_it() {
    let world = world(vec![call("mcp__every__trigger-elicitation-request", json!({})), text("Never mind.")]);
    let child = start(&world);
    let (id, _) = open_ask(&world);
    signal(&child, rustix::process::Signal::KILL);
    finish(child);
    world.weft(&["resume"]).expect(0).says("Never mind.");
    assert!(world.server.requests()[2].last_results[0].contains("Interrupted"));
    world.weft(&["asks"]).expect(0).says("No question waits");
    world.weft(&["answer", &id, "Ada"]).expect(1).says("no open question");
}

#[test]
fn where_nobody_can_answer_a_question_is_declined_at_once() {
    let ask_model = call("mcp__every__trigger-sampling-request", json!({"prompt": "the weather", "maxTokens": 50}));
    let world = world(vec![call("mcp__every__trigger-elicitation-request", json!({})), ask_model, text("Done.")]);
    let ran = world.weft(&["run", "--mode", "auto", "go"]).expect(0);
    ran.says("legal name").says("Let the source `every` ask the model").says("Declined, since nobody answers here.");
    let requests = world.server.requests();
    assert!(requests[2].last_results[0].contains("decline"), "{:?}", requests[2].last_results);
    assert!(requests[3].last_results[0].contains("did not agree"), "{:?}", requests[3].last_results);
    assert_eq!(requests.len(), 4, "the model was not asked by the source");
    world.weft(&["asks"]).expect(0).says("No question waits");
}

#[test]
fn a_question_waits_no_longer_than_it_was_told_to() {
    let world = world(vec![call("mcp__every__trigger-elicitation-request", json!({})), text("Done.")]);
    let began = std::time::Instant::now();
    let ran = world.weft(&["run", "--mode", "auto", "--wait", "1", "go"]).expect(0);
    ran.says("Waiting for an answer from another terminal, for 1 s; then it is declined.");
    assert!(began.elapsed() >= std::time::Duration::from_secs(1));
    assert!(world.server.requests()[2].last_results[0].contains("decline"));
}

#[test]
fn stopping_takes_the_question_back() {
    let world = world(vec![call("mcp__every__trigger-elicitation-request", json!({}))]);
    let child = start(&world);
    open_ask(&world);
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(finish(child).code, Some(130));
    world.weft(&["asks"]).expect(0).says("No question waits");
}

#[test]
fn many_tools_of_sources_are_had_on_request() {
    let world = world(vec![call("mcp__every__echo", json!({"message": "hello there"})), text("Done.")]);
    world.weft(&["run", "--mode", "auto", "go"]).expect(0).says("Done.");
    let requests = world.server.requests();
    let names = |index: usize| -> Vec<String> {
        let tools = requests[index].body["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(0).iter().any(|name| name.starts_with("mcp__")), "{:?}", names(0));
    let told = requests[0].body["tools"].as_array().unwrap();
    let told = told.iter().find(|tool| tool["name"] == "request_tools").unwrap();
    assert!(told["description"].as_str().unwrap().contains("\nevery: "), "{told}");
    // What comes later stands behind what was there, for the provider's cache.
    assert_eq!(names(0), names(1)[..names(0).len()]);
    assert!(names(1).contains(&"mcp__every__echo".to_owned()));
    assert!(requests[2].last_results[0].contains("hello there"));
}
