//! Whole turns against the scripted model server, with the real store, gate, guard and tools.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use weft_core::event::{Delivery, EndReason, Event, Method, Outcome};
use weft_core::{Answer, Choice, Mode, ModelName, Phase, Recorded, SessionId, State, Status, UserPart};
use weft_engine::{Config, Engine, EngineError, Home, Live, Loaded, NewSession, Setup, Watch};
use weft_script::{Behaviour, Fault, Protocol, Reply, Server, call, failure, raw_call, text};

/// A home, a project folder and a scripted model.
struct Place {
    server: Server,
    dir: tempfile::TempDir,
    config: Config,
}

impl Place {
    fn new(behaviour: Behaviour) -> Self {
        Self::with_settings(behaviour, "")
    }

    fn with_settings(behaviour: Behaviour, settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(dir.path().join("project")).unwrap();
        std::fs::write(home.join("config.toml"), settings).unwrap();
        let loaded = Loaded::read(&Home::at(home), &dir.path().join("project"), |_| None).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new());
        Self { server: Server::start(behaviour).unwrap(), dir, config: loaded.config }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn open(&self) -> Engine {
        self.open_with(|_| {})
    }

    fn open_with(&self, change: impl FnOnce(&mut Setup)) -> Engine {
        let mut setup = Setup::new(Home::at(self.dir.path().join("home")), self.config.clone());
        let url = self.server.url(Protocol::Anthropic);
        setup.env = Arc::new(move |name| match name {
            "ANTHROPIC_BASE_URL" => Some(url.clone()),
            "ANTHROPIC_API_KEY" => Some("sk-test-0123456789".to_owned()),
            _ => None,
        });
        change(&mut setup);
        Engine::open(setup).unwrap()
    }

    fn session(&self, engine: &Engine, mode: Mode) -> SessionId {
        let model = Some(ModelName::new("anthropic", "claude-sonnet-4-5"));
        engine
            .create(NewSession { workspace: self.project(), model, mode: Some(mode), ..NewSession::default() })
            .unwrap()
    }
}

async fn say(engine: &Engine, session: SessionId, text: &str) {
    engine.submit(session, vec![UserPart::text(text)], Delivery::Steer).await.unwrap();
}

/// Follows until nothing more happens by itself.
async fn settle(engine: &Engine, session: SessionId, watch: &mut Watch) -> State {
    let follow = async {
        loop {
            let state = engine.state(session).unwrap();
            if matches!(state.status(), Status::Idle | Status::Waiting | Status::Failed) {
                return state;
            }
            match watch.next().await {
                Some(Live::Broken(reason)) => panic!("{reason}"),
                None => panic!("the engine is gone"),
                Some(_) => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), follow).await.expect("the turn does not end")
}

async fn turn(engine: &Engine, session: SessionId, words: &str) -> State {
    let mut watch = engine.watch(session);
    say(engine, session, words).await;
    settle(engine, session, &mut watch).await
}

fn log(engine: &Engine, session: SessionId) -> Vec<Recorded> {
    engine.store().events(session, 0, usize::MAX).unwrap()
}

fn replies(replies: Vec<Reply>) -> Behaviour {
    Behaviour::SequenceOnce(replies)
}

#[tokio::test]
async fn a_turn_with_tools_leaves_its_marks_and_its_log() {
    let place = Place::new(replies(vec![
        call("write", json!({"path": "a.txt", "content": "hello\n"}))
            .then(call("shell", json!({"command": "cat a.txt"}))),
        text("Written."),
    ]));
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    assert!(engine.store().list(&Default::default()).unwrap().is_empty(), "nothing on disk before the first word");
    let state = turn(&engine, session, "write it").await;
    assert_eq!(state.last_end, Some(EndReason::Completed));
    assert_eq!(std::fs::read_to_string(place.project().join("a.txt")).unwrap(), "hello\n");
    let seen = place.server.requests();
    assert_eq!(seen.len(), 2);
    assert!(seen[1].last_results.iter().any(|result| result.contains("hello")), "{:?}", seen[1].last_results);
    let kinds: Vec<u16> = log(&engine, session).iter().map(|recorded| recorded.event.kind()).collect();
    assert_eq!(kinds, [1, 5, 7, 8, 9, 11, 12, 11, 12, 8, 9, 30, 18], "the write ends before the command begins");
}

#[tokio::test]
async fn broken_calls_go_back_to_the_model() {
    let place = Place::new(replies(vec![
        raw_call("read", "{\"path\": ").then(call("fly", json!({}))).then(call("read", json!({"where": 3}))),
        text("Sorry."),
    ]));
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    let state = turn(&engine, session, "try").await;
    assert_eq!(state.last_end, Some(EndReason::Completed));
    let results = &place.server.requests()[1].last_results;
    assert_eq!(results.len(), 3);
    assert!(results[0].contains("JSON"), "{}", results[0]);
    assert!(results[1].contains("fly"), "{}", results[1]);
    assert!(results[2].contains("path"), "{}", results[2]);
}

#[tokio::test]
async fn an_ask_waits_on_disk_and_another_process_answers_it() {
    let place = Place::new(replies(vec![call("shell", json!({"command": "echo hi > b.txt"})), text("Done.")]));
    let first = place.open();
    let session = place.session(&first, Mode::Ask);
    let state = turn(&first, session, "run it").await;
    assert_eq!(state.status(), Status::Waiting);
    assert!(!place.project().join("b.txt").exists());
    drop(first);
    let second = place.open();
    let asks = second.store().open_asks().unwrap();
    assert_eq!(asks.len(), 1);
    let ask = asks[0].ask.id;
    let yes = Answer::Approve { scope: Choice::Once };
    second.record_answer(session, ask, yes.clone(), "test").await.unwrap();
    assert!(second.record_answer(session, ask, yes, "test").await.is_err(), "answered once");
    assert!(!place.project().join("b.txt").exists(), "recorded, not acted on");
    drop(second);
    let third = place.open();
    let mut watch = third.watch(session);
    third.carry_on(session).await.unwrap();
    let state = settle(&third, session, &mut watch).await;
    assert_eq!(state.last_end, Some(EndReason::Completed));
    assert_eq!(std::fs::read_to_string(place.project().join("b.txt")).unwrap(), "hi\n");
}

#[tokio::test]
async fn a_waiting_session_holds_no_memory() {
    let place = Place::new(replies(vec![call("shell", json!({"command": "touch x"})), text("Done.")]));
    let engine = place.open();
    let session = place.session(&engine, Mode::Ask);
    turn(&engine, session, "run it").await;
    tokio::time::timeout(Duration::from_secs(5), async {
        while engine.in_memory() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it stays in memory");
    let ask = engine.store().open_asks().unwrap()[0].ask.id;
    let mut watch = engine.watch(session);
    engine.answer(session, ask, Answer::Approve { scope: Choice::Once }, "test").await.unwrap();
    assert_eq!(settle(&engine, session, &mut watch).await.last_end, Some(EndReason::Completed));
}

#[tokio::test]
async fn failures_are_survived_or_explained() {
    let place = Place::new(replies(vec![
        failure(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
        text("never seen").fault(Fault::CutAfter { pieces: 0 }),
        text("Here."),
    ]));
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    let state = turn(&engine, session, "hello").await;
    assert_eq!(state.last_end, Some(EndReason::Completed));
    let failed =
        log(&engine, session).iter().filter(|recorded| matches!(recorded.event, Event::RoundFailed(_))).count();
    assert_eq!(failed, 2);

    let place = Place::new(replies(vec![failure(401, "authentication_error", "invalid x-api-key")]));
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    let state = turn(&engine, session, "hello").await;
    let Some(EndReason::ModelFailed { failure }) = &state.last_end else { panic!("{:?}", state.last_end) };
    let told = format!("{} {}", failure.message, failure.advice());
    assert!(told.contains("`weft auth anthropic`") && told.contains("`weft resume`"), "{told}");
    assert!(!format!("{:?}", log(&engine, session)).contains("sk-test"), "no key in the log");
}

#[tokio::test]
async fn who_waits_for_a_busy_provider_is_told_and_choosing_its_model_again_ends_the_wait() {
    let busy = failure(429, "rate_limit_error", "slow down").header("retry-after", "600");
    let place = Place::new(replies(vec![busy, text("Here.")]));
    let engine = place.open();
    let (first, second) = (place.session(&engine, Mode::Auto), place.session(&engine, Mode::Auto));
    let mut watch = engine.watch(first);
    say(&engine, first, "hello").await;
    until(&mut watch, |live| matches!(live, Live::Event(recorded) if matches!(recorded.event, Event::RoundFailed(_))))
        .await;

    let mut watch = engine.watch(second);
    say(&engine, second, "hello").await;
    until(&mut watch, |live| matches!(live, Live::Notice(words) if words.contains("is busy; this waits for"))).await;
    let model = engine.state(second).unwrap().model;
    engine.set_model(second, model).await.unwrap();
    let state = settle(&engine, second, &mut watch).await;
    assert_eq!(state.last_end, Some(EndReason::Completed));
}

async fn until(watch: &mut Watch, wanted: impl Fn(&Live) -> bool) {
    while let Some(live) = watch.next().await {
        if wanted(&live) {
            return;
        }
    }
    panic!("it was never shown");
}

#[tokio::test]
async fn stopping_keeps_what_was_said() {
    let place = Place::new(replies(vec![text("I was saying something long").fault(Fault::Silent { after: 1 })]));
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    let mut watch = engine.watch(session);
    say(&engine, session, "talk").await;
    loop {
        match watch.next().await {
            Some(Live::Text(_)) => break,
            Some(_) => {}
            None => panic!("no text"),
        }
    }
    engine.stop(session).await.unwrap();
    let state = settle(&engine, session, &mut watch).await;
    assert_eq!(state.last_end, Some(EndReason::Interrupted));
    let kept = log(&engine, session)
        .iter()
        .any(|recorded| matches!(&recorded.event, Event::RoundFailed(failed) if failed.partial.contains("saying")));
    assert!(kept, "the partial answer is kept");
}

#[tokio::test]
async fn hooks_add_refuse_and_are_recorded() {
    let settings = r#"
[[hooks]]
on = "before_prompt"
command = "echo remember the milk"
[[hooks]]
on = "before_tool"
tool = "write, shell"
command = "grep -q forbidden && { echo not that; exit 2; } || exit 0"
[[hooks]]
on = "after_tool"
command = "echo checked"
[[hooks]]
on = "after_tool"
command = "echo once more"
[[hooks]]
on = "after_tool"
tool = "write,read"
command = "echo of another tool"
"#;
    let place = Place::with_settings(
        replies(vec![
            call("shell", json!({"command": "echo forbidden"})).then(call("shell", json!({"command": "echo fine"}))),
            text("Done."),
        ]),
        settings,
    );
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    turn(&engine, session, "go").await;
    let seen = place.server.requests();
    assert!(seen[0].body.to_string().contains("remember the milk"));
    let results = &seen[1].last_results;
    assert!(results[0].contains("not that"), "{results:?}");
    assert!(results[1].contains("fine") && !results[1].contains("of another tool"), "{results:?}");
    let (first, second) = (results[1].find("checked").unwrap(), results[1].find("once more").unwrap());
    assert!(first < second, "in the order of the settings: {results:?}");
    let hooks = log(&engine, session).iter().filter(|recorded| matches!(recorded.event, Event::HookRan(_))).count();
    assert_eq!(hooks, 4);
}

#[tokio::test]
async fn a_session_at_work_elsewhere_is_left_alone() {
    let place = Place::new(replies(vec![text("slow").fault(Fault::Silent { after: 0 })]));
    let first = place.open();
    let session = place.session(&first, Mode::Auto);
    say(&first, session, "hello").await;
    let second = place.open();
    let refused = second.submit(session, vec![UserPart::text("me too")], Delivery::Steer).await;
    assert!(matches!(refused, Err(EngineError::InUse { .. })), "{refused:?}");
}

#[tokio::test]
async fn two_processes_take_turns_in_one_session() {
    let place = Place::new(Behaviour::Sequence(vec![text("ok")]));
    let (first, second) = (place.open(), place.open());
    let session = place.session(&first, Mode::Auto);
    let mut watch = first.watch(session);
    say(&first, session, "one").await;
    settle(&first, session, &mut watch).await;
    turn(&second, session, "two").await;
    say(&first, session, "three").await;
    let state = settle(&first, session, &mut watch).await;
    assert_eq!(state.turns, 3);
    assert_eq!(place.server.requests()[2].turn, 3, "the first process saw what the second one did");
}

#[tokio::test]
async fn long_conversations_are_compacted_and_go_on() {
    let settings = "[models.\"anthropic/claude-sonnet-4-5\"]\nwindow = 4000\noutput = 500\n";
    let behaviour = Behaviour::matching(|seen| {
        if seen.body["system"].to_string().contains("Summarise:") {
            return text("They said big things.");
        }
        let big = "x".repeat(3_000);
        if seen.last_results.is_empty() {
            call("shell", json!({"command": format!("echo {big}")}))
        } else {
            text("Done.")
        }
    });
    let place = Place::with_settings(behaviour, settings);
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    for number in 0..6 {
        let state = turn(&engine, session, &format!("number {number}")).await;
        assert_eq!(state.last_end, Some(EndReason::Completed), "turn {number}");
    }
    let methods: Vec<Method> = log(&engine, session)
        .iter()
        .filter_map(|recorded| match &recorded.event {
            Event::Compacted(compacted) => Some(compacted.method),
            _ => None,
        })
        .collect();
    assert!(methods.contains(&Method::Model), "{methods:?}");
    let state = engine.state(session).unwrap();
    assert!(state.context_from > 1);
    assert_eq!(state.phase, Phase::Idle);
    let last = place.server.requests().last().unwrap().body.to_string();
    assert!(last.contains("They said big things"), "the summary is sent");
}

#[tokio::test]
async fn an_answer_given_elsewhere_reaches_whoever_looks_on() {
    let place = Place::new(replies(vec![call("shell", json!({"command": "echo hi > c.txt"})), text("Done.")]));
    let chat = place.open();
    let session = place.session(&chat, Mode::Ask);
    let mut watch = chat.watch(session);
    say(&chat, session, "run it").await;
    assert_eq!(settle(&chat, session, &mut watch).await.status(), Status::Waiting);
    let other = place.open();
    let ask = other.store().open_asks().unwrap()[0].ask.id;
    other.record_answer(session, ask, Answer::Approve { scope: Choice::Once }, "cli").await.unwrap();
    let mut seen = Vec::new();
    let follow = async {
        while !matches!(seen.last(), Some(18)) {
            if let Some(Live::Event(recorded)) = watch.next().await {
                seen.push(recorded.event.kind());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), follow).await.expect("the chat goes on");
    assert!(seen.contains(&14), "the answer itself is shown: {seen:?}");
    assert!(place.project().join("c.txt").exists());
    let mut once = seen.clone();
    once.dedup();
    assert_eq!(seen.iter().filter(|kind| **kind == 11).count(), 1, "nothing is shown twice: {seen:?}");
}

#[tokio::test]
async fn tools_that_are_asked_for_are_there_in_the_next_round_and_after_a_restart() {
    let place = Place::new(replies(vec![
        call("move", json!({"from": "a.txt", "to": "b.txt"})),
        call("request_tools", json!({"names": ["move"]})),
        call("move", json!({"from": "a.txt", "to": "b.txt"})),
        text("Moved."),
        call("move", json!({"from": "b.txt", "to": "c.txt"})),
        text("Moved again."),
    ]));
    std::fs::write(place.project().join("a.txt"), "hi").unwrap();
    let engine = place.open();
    let session = place.session(&engine, Mode::Auto);
    let state = turn(&engine, session, "move it").await;
    assert_eq!(state.last_end, Some(EndReason::Completed));
    assert_eq!(state.loaded, ["move"]);
    let outcomes: Vec<Outcome> = log(&engine, session)
        .into_iter()
        .filter_map(|recorded| match recorded.event {
            Event::ToolFinished(finished) => Some(finished.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [Outcome::Invalid, Outcome::Ok, Outcome::Ok], "not before it was asked for");
    drop(engine);
    let engine = place.open();
    turn(&engine, session, "once more").await;
    assert!(place.project().join("c.txt").exists());
}
