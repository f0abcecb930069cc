//! Research with the web: a search engine on this machine that answers as SearXNG does, asked through
//! the real tool, the guard and the flow.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use weft_script::{Behaviour, Reply, Seen, text};

use crate::world::{Ran, World};

/// Answers searches until the test ends; those with `broken` in them with an error.
struct Engine {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Engine {
    fn start(results: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut bytes = vec![0; 8192];
                let read = stream.read(&mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..read]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                heard.lock().unwrap().push(path.clone());
                let (status, body) = if path.contains("broken") {
                    ("500 Internal Server Error", "out of order".to_owned())
                } else {
                    ("200 OK", json!({ "results": results }).to_string())
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn pages() -> Value {
    json!([
        { "url": "https://law.example/files", "title": "Deleting records | periods", "content": "Records of employees are deleted after the keeping period." },
        { "url": "https://other.example/x", "title": "Something else", "content": "Nothing about it." },
    ])
}

/// Plans these searches; claims five of them and a page that nobody found.
fn analyst(searches: Vec<&'static str>) -> Behaviour {
    Behaviour::matching(move |seen: &Seen| -> Reply {
        let asked = &seen.last_user;
        if asked.contains("plan how to research") {
            let plan = json!({"query_plan": {"clarity_score": 0.9,
                "sub_queries": [{"query": "delete records after the keeping period", "role": "primary"}],
                "authority_sources": {"search_queries": searches}}});
            return text(plan.to_string());
        }
        if asked.contains("what the web says about it") {
            let answer = json!({"websearch_calibration": {
                "web_research_context": "I have made 5 searches with 50 results.",
                "web_sources": [
                    {"url": "https://made.up/page", "title": "Made up", "relevance_note": "never found"},
                    {"url": "https://law.example/files", "title": "Deleting records | periods", "relevance_note": "the model's own note"}],
                "intent_changes": {"sub_queries_added": [{"query": "keeping period of employee files", "role": "related", "reason": "periods"}]}}});
            return text(answer.to_string());
        }
        if asked.contains("Answer the question from the sources") {
            let words = "## Deleting\n\nThe records owner shall delete records within 60 days after the end of the keeping period (HHS 3.12). \
                         It is usual elsewhere [W1]. A secret page says so [W2]. See https://made.up/page (HHS 3.12).";
            return text(json!({"synthesis": words, "confidence": 0.9}).to_string());
        }
        text("It is sunny.")
    })
}

fn world(engine: &Engine, searches: Vec<&'static str>) -> World {
    let world = World::behaving(analyst(searches));
    let home = world.home.path().join("weft");
    std::fs::create_dir_all(&home).unwrap();
    let settings = format!(
        "[web]\nallow_private = [\"127.0.0.1\"]\n[web.search]\nprovider = \"searxng\"\nurl = \"http://127.0.0.1:{}\"\n[permissions]\nallow = [\"reach 127.0.0.1\"]\n",
        engine.port
    );
    std::fs::write(home.join("config.toml"), settings).unwrap();
    world
}

const QUESTION: &str = "When are records deleted?";

fn answer(world: &World, words: &str) -> Ran {
    let ask = world.weft(&["asks", "--json"]).expect(0).events()[0]["ask"]["id"].as_str().unwrap().to_owned();
    world.weft(&["answer", &ask, words, "--resume"])
}

/// The text of the last pause in a log.
fn last_pause(log: &str) -> String {
    let mut events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let paused = events.rfind(|event| event["type"] == "flow_paused");
    paused.map(|event| event["text"].to_string()).unwrap_or_default()
}

fn prompts(world: &World, with: &str) -> usize {
    world.server.requests().iter().filter(|request| request.last_user.contains(with)).count()
}

#[test]
fn the_web_calibrates_a_plan_and_only_what_was_found_is_told() {
    let engine = Engine::start(pages());
    let world = world(&engine, vec!["deleting records law", "keeping periods broken"]);
    world.weft(&["research", QUESTION]).expect(3).says("A. Yes, search the web first");
    let ran = answer(&world, "A").expect(3);
    // What happened counts, not what the model says of it: one of two searches failed.
    ran.says("1 of 2 searches, 2 results")
        .says("The web has changed the plan")
        .says("keeping period of employee files");
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!shown.contains("5 searches") && !shown.contains("50 results"), "{shown}");
    let paused = world.weft(&["sessions", "show", &world.session(), "--json"]).expect(0).stdout;
    assert!(last_pause(&paused).contains("1 of 2 searches") && !last_pause(&paused).contains("5 searches"), "{paused}");
    assert_eq!(engine.asked().len(), 2);
    let session = world.session();
    let log = world.weft(&["sessions", "show", &session, "--json"]).expect(0).events();
    let searches: Vec<&Value> =
        log.iter().filter(|event| event["type"] == "tool_finished" && event["tool"] == "web_search").collect();
    let failed = searches.iter().filter(|event| event["outcome"] == "failed").count();
    assert_eq!((searches.len(), failed), (2, 1), "each search is there to be seen, also the one that failed");
    // Behind this pause there is no search left to leave out.
    let ran = answer(&world, "No web search").expect(0);
    ran.says("within 60 days")
        .says("It is usual elsewhere [W1]. [not checked]")
        .says("[W1] [Deleting records \\| periods](https://law.example/files)");
    assert!(
        !ran.stdout.contains("made.up") && !ran.stdout.contains("[W2]") && !ran.stdout.contains("secret page"),
        "{ran:?}"
    );
    // The page's words stand in quotation marks; what a model noted does not.
    ran.says("\u{201c}Records of employees are deleted after the keeping period.\u{201d}");
    assert!(!ran.stdout.contains("own note"), "{ran:?}");
}

#[test]
fn a_search_that_fails_or_finds_nothing_is_called_that_and_costs_no_call() {
    for (results, searches, said) in [
        (pages(), vec!["first broken", "second broken"], "The web search did not work"),
        (json!([]), vec!["first", "second"], "The web search found nothing of use"),
    ] {
        let engine = Engine::start(results);
        let world = world(&engine, searches);
        world.weft(&["research", QUESTION]).expect(3);
        answer(&world, "Yes search").expect(3).says(said);
        assert_eq!(engine.asked().len(), 2);
        let ran = answer(&world, "Go on").expect(0);
        assert_eq!(prompts(&world, "what the web says about it"), 0, "there is nothing to calibrate by");
        assert!(!ran.stdout.contains("## Web sources") && !ran.stdout.contains("[W1]"), "{ran:?}");
    }
}

#[test]
fn who_does_not_want_the_web_searched_is_not_searched_for() {
    for reply in ["b", "B. No", "no web search please", "skip the web search"] {
        let engine = Engine::start(pages());
        let world = world(&engine, vec!["anything"]);
        world.weft(&["research", QUESTION]).expect(3);
        answer(&world, reply).expect(0).says("within 60 days");
        assert!(engine.asked().is_empty(), "{reply}");
    }
    // Without pauses it is searched, and a quick answer never is.
    let engine = Engine::start(pages());
    let world = world(&engine, vec!["anything"]);
    world.weft(&["research", "--yes", "--depth", "quick", QUESTION]).expect(0);
    assert!(engine.asked().is_empty());
    world.weft(&["research", "--yes", QUESTION]).expect(0);
    assert_eq!(engine.asked().len(), 1);
}

#[test]
fn a_plan_can_be_changed_after_the_web_was_searched() {
    let engine = Engine::start(pages());
    let world = world(&engine, vec!["deleting records law"]);
    world.weft(&["research", QUESTION]).expect(3);
    answer(&world, "A").expect(3).says("Change the plan");
    answer(&world, "2").expect(3).says("What should be different?");
    answer(&world, "look at suppliers first").expect(3).says("Go on with this plan");
    let planned = world.server.requests();
    let planned = planned.iter().rfind(|request| request.last_user.contains("plan how to research")).unwrap();
    assert!(planned.last_user.contains("look at suppliers first"), "{}", planned.last_user);
    assert_eq!(prompts(&world, "plan how to research"), 2);
    answer(&world, "B").expect(0).says("within 60 days");
    assert_eq!(engine.asked().len(), 1, "the second time nobody wanted the web");
}
