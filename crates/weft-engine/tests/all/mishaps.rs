//! What goes wrong inside Weft or beside it is told to whoever waits, lets nothing through, and the
//! session goes on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream;
use serde_json::{Value, json};
use weft_core::event::{Delivery, EndReason, Event, Outcome, StopReason, ToolFinished};
use weft_core::{CallId, Mode, Part, SessionId, State, ToolCall, Usage, UserPart};
use weft_engine::{Config, Engine, Home, Live, Loaded, NewSession, Setup, Watch};
use weft_model::{Answer, Chunk, ChunkStream, Model, Request};
use weft_store::{Secret, Vault};
use weft_tool::{Context, Finished, Need, Permit, Policy, Registry, Tool};

/// A model that answers its first request with one call, always of the same name, and then is done.
#[derive(Default)]
struct Caller {
    tool: &'static str,
    input: Value,
    asked: Mutex<Vec<Request>>,
}

impl Model for Caller {
    fn stream(&self, request: Request) -> ChunkStream {
        let after_tools =
            matches!(request.messages.last().map(|entry| &entry.message), Some(weft_core::Message::Tool(_)));
        self.asked.lock().unwrap().push(request);
        let (parts, stop) = if after_tools {
            (vec![Part::Text { text: "Done.".to_owned() }], StopReason::End)
        } else {
            let call = ToolCall {
                id: CallId::new("call-1"),
                name: self.tool.to_owned(),
                input: self.input.clone(),
                signature: None,
            };
            (vec![Part::ToolCall(call)], StopReason::ToolCalls)
        };
        Box::pin(stream::iter([Chunk::Done(Answer { parts, stop, usage: Usage::default() })]))
    }
}

/// A tool that falls over while it is looked at.
struct Brittle(Value);

impl Tool for Brittle {
    fn name(&self) -> &str {
        "brittle"
    }
    fn description(&self) -> &str {
        "Falls over."
    }
    fn schema(&self) -> &Value {
        &self.0
    }
    fn needs(&self, _input: &Value) -> Vec<Need> {
        vec![Need::Run { line: "fall over".to_owned(), outside: false }]
    }
    fn summary(&self, _input: &Value, _workspace: &Path) -> String {
        "Fall over".to_owned()
    }
    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        std::panic::resume_unwind(Box::new("as told"))
    }
    fn run<'a>(&'a self, _permit: Permit, _context: &'a Context, _input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async { Finished::ok("ran", "Ran") })
    }
}

struct Place {
    dir: tempfile::TempDir,
    model: Arc<Caller>,
    config: Config,
}

impl Place {
    fn new(tool: &'static str, input: Value, settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(home.join("config.toml"), settings).unwrap();
        let loaded = Loaded::read(&Home::at(home), &project, |_| None).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new());
        let model = Caller { tool, input, asked: Mutex::default() };
        Self { dir, model: Arc::new(model), config: loaded.config }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn open(&self, change: impl FnOnce(&mut Setup)) -> Engine {
        let mut setup = Setup::new(Home::at(self.dir.path().join("home")), self.config.clone());
        setup.env = Arc::new(|_| None);
        setup.model = Some(Arc::clone(&self.model) as Arc<dyn Model>);
        setup.registry = Registry::builtin().with(Arc::new(Brittle(json!({"type": "object"}))));
        change(&mut setup);
        Engine::open(setup).unwrap()
    }

    fn session(&self, engine: &Engine, mode: Mode) -> SessionId {
        engine.create(NewSession { workspace: self.project(), mode: Some(mode), ..NewSession::default() }).unwrap()
    }
}

async fn say(engine: &Engine, session: SessionId) {
    engine.submit(session, vec![UserPart::text("go")], Delivery::Steer).await.unwrap();
}

/// What a watcher sees until `wanted` finds what it looks for.
async fn until<T>(watch: &mut Watch, wanted: impl Fn(&Live) -> Option<T>) -> T {
    let follow = async {
        loop {
            let live = watch.next().await.expect("the engine is gone");
            if let Some(found) = wanted(&live) {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), follow).await.expect("nothing is told")
}

fn ended(live: &Live) -> Option<EndReason> {
    match live {
        Live::Event(recorded) => match &recorded.event {
            Event::TurnEnded(ended) => Some(ended.reason.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn finished(live: &Live) -> Option<ToolFinished> {
    match live {
        Live::Event(recorded) => match &recorded.event {
            Event::ToolFinished(finished) => Some(finished.clone()),
            _ => None,
        },
        _ => None,
    }
}

#[tokio::test]
async fn a_tool_that_falls_over_while_it_is_looked_at_has_failed() {
    let place = Place::new("brittle", json!({}), "");
    let engine = place.open(|_| {});
    let session = place.session(&engine, Mode::Ask);
    let mut watch = engine.watch(session);
    say(&engine, session).await;
    assert_eq!(until(&mut watch, finished).await.outcome, Outcome::Failed);
    assert_eq!(until(&mut watch, ended).await, EndReason::Completed);
}

#[tokio::test]
async fn a_driver_that_falls_over_says_so_and_the_session_opens_again() {
    let place = Place::new("shell", json!({"command": "touch x"}), "");
    let drawn = AtomicU64::new(0);
    let engine = place.open(|setup| {
        // The session, what is said, and then, in the driver, the question to the person.
        setup.random = Arc::new(move || match drawn.fetch_add(1, Ordering::SeqCst) {
            2 => std::panic::resume_unwind(Box::new("as told")),
            number => number,
        });
    });
    let session = place.session(&engine, Mode::Ask);
    let mut watch = engine.watch(session);
    say(&engine, session).await;
    let reason = until(&mut watch, |live| match live {
        Live::Broken(reason) => Some(reason.to_string()),
        _ => None,
    })
    .await;
    assert!(reason.contains("weft resume"), "{reason}");
    engine.carry_on(session).await.unwrap();
    until(&mut watch, |live| {
        matches!(live, Live::Event(recorded) if matches!(recorded.event, Event::AskRaised(_))).then_some(())
    })
    .await;
    let state: State = engine.state(session).unwrap();
    assert!(state.is_waiting());
}

#[tokio::test]
async fn no_key_leaves_wherever_it_is_kept() {
    let settings = "[providers.mine]\nbase_url = \"http://localhost\"\nheaders = { Authorization = \"Bearer hdr-0123456789\" }\n\
        [[hooks]]\non = \"after_tool\"\ncommand = \"echo hook saw vault-0123456789\"\n";
    // Put together only when it runs: a call that holds a key is not made.
    let command = "n=0123456789; echo env-$n vault-$n late-$n hdr-$n";
    let place = Place::new("shell", json!({ "command": command }), settings);
    let vault = Vault::open(place.dir.path().join("home"));
    vault.set("openai", &Secret::new("vault-0123456789")).unwrap();
    let engine = place.open(|setup| {
        setup.env = Arc::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "env-0123456789".to_owned()));
    });
    let session = place.session(&engine, Mode::Auto);
    let mut watch = engine.watch(session);
    say(&engine, session).await;
    let first = until(&mut watch, finished).await.output.text;
    assert!(first.contains("[REDACTED] [REDACTED] late-0123456789 [REDACTED]"), "{first}");
    assert!(first.contains("hook saw [REDACTED]"), "{first}");
    until(&mut watch, ended).await;
    vault.set("gemini", &Secret::new("late-0123456789")).unwrap();
    say(&engine, session).await;
    let later = until(&mut watch, finished).await.output.text;
    assert!(later.contains("[REDACTED] [REDACTED] [REDACTED] [REDACTED]"), "{later}");
}

#[tokio::test]
async fn a_hook_before_a_tool_that_does_not_work_refuses() {
    for (command, says) in
        [("./missing-hook", "missing-hook"), ("sleep 60", "longer than 0 s"), ("kill -9 $$", "killed")]
    {
        let hook = format!("[[hooks]]\non = \"before_tool\"\ncommand = \"{command}\"\ntimeout_seconds = 0\n");
        let slow = hook.replace("timeout_seconds = 0", "timeout_seconds = 30");
        let settings = if command.starts_with("sleep") { &hook } else { &slow };
        let place = Place::new("shell", json!({"command": "touch ran"}), settings);
        let engine = place.open(|_| {});
        let session = place.session(&engine, Mode::Auto);
        let mut watch = engine.watch(session);
        say(&engine, session).await;
        let refused = until(&mut watch, finished).await;
        assert_eq!(refused.outcome, Outcome::Denied, "{command}");
        let text = refused.output.text;
        assert!(text.contains(command) && text.contains(says) && text.contains("on_error"), "{text}");
        assert!(!place.project().join("ran").exists(), "{command}");
    }
}

#[tokio::test]
async fn a_broken_hook_can_be_ignored_and_one_after_a_tool_is_told() {
    let settings = "[[hooks]]\non = \"before_tool\"\ncommand = \"./missing-fence\"\non_error = \"ignore\"\n\
        [[hooks]]\non = \"after_tool\"\ncommand = \"./missing-check\"\n";
    let place = Place::new("shell", json!({"command": "touch ran"}), settings);
    let engine = place.open(|_| {});
    let session = place.session(&engine, Mode::Auto);
    let mut watch = engine.watch(session);
    say(&engine, session).await;
    for hook in ["missing-fence", "missing-check"] {
        until(&mut watch, |live| matches!(live, Live::Notice(text) if text.contains(hook)).then_some(())).await;
    }
    assert_eq!(until(&mut watch, ended).await, EndReason::Completed);
    assert!(place.project().join("ran").exists());
}

#[tokio::test]
async fn a_hook_before_a_prompt_that_does_not_work_refuses() {
    let place = Place::new("shell", json!({}), "[[hooks]]\non = \"before_prompt\"\ncommand = \"./missing-hook\"\n");
    let engine = place.open(|_| {});
    let session = place.session(&engine, Mode::Auto);
    let refused = engine.submit(session, vec![UserPart::text("go")], Delivery::Steer).await.unwrap_err().to_string();
    assert!(refused.contains("./missing-hook") && refused.contains("on_error"), "{refused}");
    assert!(place.model.asked.lock().unwrap().is_empty());
}
