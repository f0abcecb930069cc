//! A step of several calls that is stopped half-way: when the run goes on, only what had not finished is
//! called again, and the results stand in the order of the items.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream;
use serde_json::{Value, json};
use weft_core::flow::{FlowEnd, Run};
use weft_core::{Event, ModelName, Phase, SessionId, Timestamp};
use weft_engine::flow::{NewRun, Packed};
use weft_engine::{Clock, Config, Engine, Home, NewSession, Setup};
use weft_model::{ChunkStream, Model, Request};
use weft_store::{Commit, Store};
use weft_tool::{Context, Finished, Need, Permit, Policy, Registry, Tool};

const FLOW: Packed = Packed {
    name: "many",
    text: r#"
name = "many"
title = "Many calls"
document = "stages.only"
[[stages]]
id = "only"
title = "Only"
output = "steps.looked | map(attribute='text') | join(' ')"
[[stages.steps]]
id = "looked"
call = "look_at"
for_each = "[1, 2, 3, 4]"
input = "{'number': item}"
"#,
    prompts: &[],
};

struct Silent;

impl Model for Silent {
    fn stream(&self, _: Request) -> ChunkStream {
        Box::pin(stream::empty())
    }
}

/// What a call is to do, by its number, each time it is made; else it is answered at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Hang,
    Fail,
}

struct LookAt {
    schema: Value,
    made: Arc<Mutex<Vec<u64>>>,
    does: Vec<(u64, Does)>,
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

    fn run<'a>(&'a self, _: Permit, _: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        let number = input["number"].as_u64().unwrap();
        let times = {
            let mut made = self.made.lock().unwrap();
            made.push(number);
            made.iter().filter(|one| **one == number).count()
        };
        let does = self.does.iter().filter(|(one, _)| *one == number).nth(times - 1).map(|(_, does)| *does);
        Box::pin(async move {
            match does {
                Some(Does::Hang) => std::future::pending().await,
                Some(Does::Fail) => Finished::failed("It is away.", "Look"),
                None => Finished::ok(format!("seen{number}"), "Seen"),
            }
        })
    }
}

struct Play {
    engine: Engine,
    session: SessionId,
    made: Arc<Mutex<Vec<u64>>>,
    /// How many of them were asked for.
    told: Mutex<usize>,
}

impl Play {
    async fn start(does: &[(u64, Does)]) -> Self {
        let made = Arc::new(Mutex::new(Vec::new()));
        let mut setup = Setup::new(Home::at("/nowhere"), Config::default());
        setup.clock = Clock::since(Timestamp(1_700_000_000_000));
        setup.store = Some(Store::in_memory(Commit::Inline).unwrap());
        setup.registry = Registry::builtin().with(Arc::new(LookAt {
            schema: json!({"type": "object", "properties": {"number": {"type": "integer"}}}),
            made: Arc::clone(&made),
            does: does.to_vec(),
        }));
        setup.model = Some(Arc::new(Silent));
        setup.flows = vec![FLOW];
        setup.env = Arc::new(|_| None);
        let engine = Engine::open(setup).unwrap();
        let model = Some(ModelName::new("sim", "small"));
        let session = engine.create(NewSession { workspace: "/".into(), model, ..NewSession::default() }).unwrap();
        let new = NewRun { flow: "many".to_owned(), question: "q".to_owned(), ..NewRun::default() };
        engine.start_flow(session, new).await.unwrap();
        Self { engine, session, made, told: Mutex::default() }
    }

    async fn until(&self, wanted: impl Fn(&weft_core::State) -> bool) -> Run {
        for _ in 0..2_000 {
            let state = self.engine.state(self.session).unwrap();
            if wanted(&state) {
                return state.run.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it does not come to that: {:?}", self.engine.state(self.session).unwrap());
    }

    async fn until_results(&self, count: usize) {
        self.until(|state| state.run.as_ref().is_some_and(|run| run.results.len() == count)).await;
    }

    async fn stop(&self) {
        self.engine.stop(self.session).await.unwrap();
        self.until(|state| state.phase == Phase::Idle).await;
    }

    /// The calls that were made since this was asked last.
    fn made(&self) -> Vec<u64> {
        let (all, mut told) = (self.made.lock().unwrap(), self.told.lock().unwrap());
        let mut made = all[*told..].to_vec();
        *told = all.len();
        made.sort_unstable();
        made
    }

    /// The document, and that each call has a name of its own.
    async fn document(&self) -> String {
        let run = self.until(|state| state.run.as_ref().is_some_and(|run| run.ended.is_some())).await;
        assert_eq!(run.ended, Some(FlowEnd::Completed));
        let log = self.engine.store().events(self.session, 0, usize::MAX).unwrap();
        let mut names = Vec::new();
        let mut document = None;
        for one in log {
            match one.event {
                Event::StageCalls(made) => names.extend(made.calls.into_iter().map(|call| call.id)),
                Event::FlowEnded(ended) => document = ended.document,
                _ => {}
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        document.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_had_finished_before_a_stop_are_not_made_again() {
    let play = Play::start(&[(2, Does::Hang), (3, Does::Hang), (3, Does::Hang)]).await;
    play.until_results(2).await;
    play.stop().await;
    assert_eq!(play.made(), [1, 2, 3, 4]);

    // Stopped once more, after one of the two has come.
    play.engine.carry_on(play.session).await.unwrap();
    play.until_results(3).await;
    play.stop().await;
    assert_eq!(play.made(), [2, 3]);

    play.engine.carry_on(play.session).await.unwrap();
    assert_eq!(play.document().await, "seen1 seen2 seen3 seen4");
    assert_eq!(play.made(), [3], "only what never came");
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_only_the_call_that_failed_is_made_again() {
    let play = Play::start(&[(3, Does::Fail)]).await;
    play.until(|state| state.phase == Phase::Idle).await;
    assert_eq!(play.made(), [1, 2, 3, 4]);
    play.engine.carry_on(play.session).await.unwrap();
    assert_eq!(play.document().await, "seen1 seen2 seen3 seen4");
    assert_eq!(play.made(), [3]);
}
