//! A flow of two stages with a pause and a repair in the whole engine, under a fake clock, with the process killed at every single
//! place where it can die: before and after each write, and within each model call and tool. Whatever
//! the place, the run is finished by the next process, no answer that was on disk is asked for again,
//! and no call whose result was on disk runs again.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use weft_core::event::StopReason;
use weft_core::flow::FlowEnd;
use weft_core::{Answer as Said, Event, ModelName, Part, Phase, SessionId, Timestamp, Usage};
use weft_engine::flow::{NewRun, Packed};
use weft_engine::{Clock, Config, Engine, Home, NewSession, Setup};
use weft_model::{Answer, Chunk, ChunkStream, Model, Request};
use weft_store::{Boundary, Commit, Store};
use weft_tool::{Context, Finished, Need, Permit, Policy, Registry, Tool};

use crate::world::{Random, World};

const FLOW: Packed = Packed {
    name: "two",
    text: r#"
name = "two"
title = "Two stages"
document = "stages.last.text"
[[repairs]]
first = "last"
last = "last"
most = "2"
feedback = "'' if iteration else 'mend it'"
[[stages]]
id = "first"
title = "First"
[[stages.steps]]
id = "asked"
model = "one.md"
[[stages.steps]]
id = "looked"
call = "look_at"
for_each = "[1, 2, 3]"
input = "{'number': item}"
[stages.pause]
text = "So far."
question = "Go on?"
options = ["Go on"]
[[stages]]
id = "last"
title = "Last"
[[stages.steps]]
id = "written"
model = "two.md"
"#,
    prompts: &[("one.md", "Step one."), ("two.md", "Step two.{% if feedback %} Mended: {{ feedback }}.{% endif %}")],
};

/// What a simulated life shares: where to die, and what the log says.
struct Play {
    world: Arc<World>,
    store: Store,
    session: Mutex<Option<SessionId>>,
    calls: Mutex<u32>,
}

impl Play {
    fn log(&self) -> Vec<Event> {
        let Some(session) = *self.session.lock().unwrap() else { return Vec::new() };
        self.store.events(session, 0, usize::MAX).unwrap_or_default().into_iter().map(|one| one.event).collect()
    }

    fn answered(&self) -> usize {
        self.log().iter().filter(|event| matches!(event, Event::RoundAnswered(_))).count()
    }
}

struct PlayModel(Arc<Play>);

impl Model for PlayModel {
    fn stream(&self, request: Request) -> ChunkStream {
        let play = Arc::clone(&self.0);
        let asked = format!("{:?}", request.messages);
        let chunks = stream::once(async move {
            *play.calls.lock().unwrap() += 1;
            // An answer that is on disk is never asked for again.
            let wanted = usize::from(asked.contains("Step two.")) + usize::from(asked.contains("Mended: mend it."));
            if play.answered() != wanted {
                play.world.blame(format!("{asked} was asked with {} answers on disk", play.answered()));
            }
            play.world.boundary().await;
            let text = ["One is done.", "# Two is not done", "# Two is done"][wanted];
            let usage = Usage { input: 10, output: 1, ..Usage::default() };
            let parts = vec![Part::Text { text: text.to_owned() }];
            play.world.boundary().await;
            stream::iter([Chunk::Text(text.to_owned()), Chunk::Done(Answer { parts, stop: StopReason::End, usage })])
        });
        Box::pin(chunks.flatten())
    }
}

struct LookAt {
    play: Arc<Play>,
    schema: Value,
}

impl Tool for LookAt {
    fn name(&self) -> &str {
        "look_at"
    }

    fn description(&self) -> &str {
        "Looks."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        Vec::new()
    }

    fn summary(&self, _: &Value, _: &Path) -> String {
        "Look".to_owned()
    }

    fn detail(&self, _: &Value, _: &Policy<'_>) -> Result<String, String> {
        Ok("Look".to_owned())
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, _: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let done = |event: &Event| matches!(event, Event::ToolFinished(done) if done.call == context.call);
            if self.play.log().iter().any(done) {
                self.play.world.blame(format!("{} had finished and ran again", context.call));
            }
            self.play.world.boundary().await;
            Finished::ok("seen", "Seen")
        })
    }
}

/// Opens the engine and behaves like a person until the run has ended.
async fn live(play: &Arc<Play>, now: i64, seed: u64) {
    let world = Arc::clone(&play.world);
    let disk: Boundary = Arc::new(move |_| {
        let world = Arc::clone(&world);
        Box::pin(async move {
            tokio::task::yield_now().await;
            world.boundary().await;
            Ok(())
        })
    });
    let mut setup = Setup::new(Home::at("/nowhere"), Config::default());
    setup.clock = Clock::since(Timestamp(now));
    setup.store = Some(play.store.reopened_with(disk));
    setup.registry = Registry::builtin().with(Arc::new(LookAt {
        play: Arc::clone(play),
        schema: json!({"type": "object", "properties": {"number": {"type": "integer"}}}),
    }));
    setup.model = Some(Arc::new(PlayModel(Arc::clone(play))));
    setup.flows = vec![FLOW];
    setup.env = Arc::new(|_| None);
    let ids = Mutex::new(Random::new(seed));
    setup.random = Arc::new(move || ids.lock().unwrap().next());
    let engine = Engine::open(setup).unwrap();
    let known = *play.session.lock().unwrap();
    let session = match known.filter(|session| play.store.load(*session).is_ok_and(|state| state.run.is_some())) {
        Some(session) => session,
        None => {
            let model = Some(ModelName::new("sim", "small"));
            let session = engine.create(NewSession { workspace: "/".into(), model, ..NewSession::default() }).unwrap();
            *play.session.lock().unwrap() = Some(session);
            let new = NewRun { flow: "two".to_owned(), question: "q".to_owned(), ..NewRun::default() };
            engine.start_flow(session, new).await.unwrap();
            session
        }
    };
    for _ in 0..2_000 {
        let Ok(state) = play.store.load(session) else { continue };
        if state.phase == Phase::Idle && state.run.as_ref().is_some_and(|run| run.ended.is_some()) {
            return;
        }
        if let Some(ask) = state.open_asks().next() {
            let _ = engine.answer(session, ask.id, Said::Text { text: "Go on".to_owned() }, "simulation").await;
        } else if known == Some(session) && state.turn.is_some() {
            let _ = engine.carry_on(session).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let state = play.store.load(session).map(|state| (state.phase, state.last_end));
    play.world.blame(format!("it does not come to its end: {state:?}"));
}

/// Plays a run that dies at the given place; how many places there were, and how many model calls.
fn check(crash_at: u64) -> (bool, u32) {
    let store = Store::in_memory(Commit::Inline).unwrap();
    let world = World::new(crash_at, store.clone());
    let play = Arc::new(Play { world: Arc::clone(&world), store, session: Mutex::default(), calls: Mutex::default() });
    let mut died = false;
    for (life, crash) in [Some(crash_at), None].into_iter().enumerate() {
        world.begin_life(crash);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let ended = runtime.block_on(async {
            tokio::select! {
                biased;
                () = world.died() => false,
                () = live(&play, 1_700_000_000_000 + life as i64 * 10_000_000, crash_at * 2 + life as u64) => true,
            }
        });
        drop(runtime);
        died |= !ended;
        if ended {
            break;
        }
    }
    let wrong = world.wrong.lock().unwrap().clone();
    assert!(wrong.is_empty(), "killed at {crash_at}: {wrong:?}");
    let log = play.log();
    let ends: Vec<_> =
        log.iter().filter_map(|event| if let Event::FlowEnded(ended) = event { Some(ended) } else { None }).collect();
    assert_eq!(ends.len(), 1, "killed at {crash_at}");
    assert_eq!(
        (&ends[0].reason, ends[0].document.as_deref()),
        (&FlowEnd::Completed, Some("# Two is done")),
        "killed at {crash_at}"
    );
    assert_eq!(play.answered(), 3, "killed at {crash_at}");
    let repairs = log.iter().filter(|event| matches!(event, Event::RepairStarted(_))).count();
    assert_eq!(repairs, 1, "killed at {crash_at}");
    let calls = *play.calls.lock().unwrap();
    (died, calls)
}

#[test]
fn a_run_killed_at_every_place_repeats_nothing_that_had_finished() {
    let mut places = 0;
    for crash_at in 0.. {
        let (died, calls) = check(crash_at);
        if !died {
            break;
        }
        places += 1;
        assert!(
            calls <= 4,
            "killed at {crash_at}: {calls} calls, of which at most the one that was cut off is made again"
        );
    }
    assert!(places > 15, "there must be many places to die: {places}");
}
