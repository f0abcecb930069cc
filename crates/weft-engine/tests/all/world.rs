//! A world for simulations: a model and tools that do as a seed says, and that end the process at a
//! chosen boundary.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use weft_core::event::StopReason;
use weft_core::message::calls_of;
use weft_core::{CallId, Event, Failure, FailureKind, Message, Part, SessionId, ToolCall, Usage};
use weft_model::{Answer, Chunk, ChunkStream, Model, Request};
use weft_store::{Boundary, Side, Store, StoreError};
use weft_tool::{Context, Finished, Need, Permit, Policy, Registry, Tool};

/// SplitMix64: small, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

pub struct World {
    random: Mutex<Random>,
    boundary: AtomicU64,
    crash_at: AtomicU64,
    crashed: AtomicBool,
    bell: Notify,
    calls: AtomicU64,
    logged: AtomicU64,
    /// The disk refused something in this life.
    troubled: AtomicBool,
    /// Model calls and tools of this life that are under way.
    busy: AtomicU64,
    /// The life that is being lived; what belongs to an earlier one is dead.
    life: AtomicU64,
    /// What is on the screen of this life and not in the log yet, with the moment it came.
    screen: Mutex<Vec<(Owed, Instant)>>,
    /// What was on the screen for long enough to be on disk when the life ended.
    pub owed: Mutex<Vec<Owed>>,
    answers: AtomicU64,
    /// How often each call of the tool that must not be repeated has really run.
    pub marks: Mutex<HashMap<CallId, u32>>,
    pub wrong: Mutex<Vec<String>>,
    pub store: Store,
    pub session: Mutex<Option<SessionId>>,
    rounds: u64,
}

impl World {
    pub fn new(seed: u64, store: Store) -> Arc<Self> {
        let mut random = Random::new(seed);
        let rounds = random.below(6);
        Arc::new(Self {
            random: Mutex::new(random),
            boundary: AtomicU64::new(0),
            crash_at: AtomicU64::new(u64::MAX),
            crashed: AtomicBool::new(false),
            bell: Notify::new(),
            calls: AtomicU64::new(0),
            logged: AtomicU64::new(0),
            troubled: AtomicBool::new(false),
            busy: AtomicU64::new(0),
            life: AtomicU64::new(0),
            screen: Mutex::default(),
            owed: Mutex::default(),
            answers: AtomicU64::new(0),
            marks: Mutex::default(),
            wrong: Mutex::default(),
            store,
            session: Mutex::default(),
            rounds,
        })
    }

    pub fn roll<T>(&self, roll: impl FnOnce(&mut Random) -> T) -> T {
        roll(&mut self.random.lock().unwrap())
    }

    /// A process begins. It will die when it has come to `crash_after` boundaries, if any.
    pub fn begin_life(&self, crash_after: Option<u64>) {
        let at = crash_after.map_or(u64::MAX, |ahead| self.boundary.load(Ordering::SeqCst) + ahead);
        self.crashed.store(false, Ordering::SeqCst);
        self.crash_at.store(at, Ordering::SeqCst);
        self.life.fetch_add(1, Ordering::SeqCst);
        self.busy.store(0, Ordering::SeqCst);
        self.troubled.store(false, Ordering::SeqCst);
        self.screen.lock().unwrap().clear();
    }

    /// Whether an effect of this life is under way.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst) > 0
    }

    fn begin_effect(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::SeqCst);
        Busy { world: Arc::clone(self), life: self.life.load(Ordering::SeqCst) }
    }

    /// What happens around every write: time passes, the disk refuses, the process dies.
    pub fn disk(self: &Arc<Self>) -> Boundary {
        let world = Arc::clone(self);
        Arc::new(move |side| {
            let world = Arc::clone(&world);
            Box::pin(async move {
                // Others go on meanwhile, as they do while a disk is synced.
                let (slow, trouble) = world.roll(|random| (random.chance(30), random.below(200)));
                if slow {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                } else {
                    tokio::task::yield_now().await;
                }
                world.boundary().await;
                let refused = match (side, trouble) {
                    (Side::Before, 0..=3) => StoreError::Full,
                    (Side::Before, 4..=5) => StoreError::Locked,
                    (Side::Before, 6) => StoreError::Unexpected { detail: "the disk fell off".to_owned() },
                    (Side::Before | Side::After, _) => return Ok(()),
                };
                world.troubled.store(true, Ordering::SeqCst);
                Err(refused)
            })
        })
    }

    pub async fn died(&self) {
        while !self.crashed.load(Ordering::SeqCst) {
            self.bell.notified().await;
        }
    }

    /// A place where a process can die: never returns if this is the one.
    pub async fn boundary(&self) {
        let here = self.boundary.fetch_add(1, Ordering::SeqCst);
        if here >= self.crash_at.load(Ordering::SeqCst) {
            self.note_owed();
            self.crashed.store(true, Ordering::SeqCst);
            self.bell.notify_waiters();
            self.bell.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// The process dies: what came more than this long ago must be on disk.
    fn note_owed(&self) {
        const SURELY_SAVED: Duration = Duration::from_millis(300);
        if self.troubled.load(Ordering::SeqCst) {
            return;
        }
        let screen = self.screen.lock().unwrap();
        let saved = screen.iter().filter(|(_, at)| at.elapsed() > SURELY_SAVED);
        *self.owed.lock().unwrap() = saved.map(|(owed, _)| owed.clone()).collect();
    }

    fn show(&self, owed: Owed) {
        self.screen.lock().unwrap().push((owed, Instant::now()));
    }

    fn unshow(&self, over: impl Fn(&Owed) -> bool) {
        self.screen.lock().unwrap().retain(|(owed, _)| !over(owed));
    }

    async fn dawdle(&self) {
        let millis = self.roll(|random| if random.chance(60) { random.below(3) } else { random.below(700) });
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    pub fn blame(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }

    /// The end of the log as it is on disk.
    fn log(&self) -> Vec<Event> {
        const ENOUGH: u64 = 30;
        let session = self.session.lock().unwrap().unwrap();
        let from = self.logged.load(Ordering::SeqCst).saturating_sub(ENOUGH);
        let events = self.store.events(session, from, usize::MAX).unwrap_or_default();
        self.logged.store(events.last().map_or(0, |last| last.seq), Ordering::SeqCst);
        events.into_iter().map(|recorded| recorded.event).collect()
    }

    /// An effect begins: the event that announces it must be on disk.
    fn expect_announced(&self, what: &str, announced: impl Fn(&Event) -> bool) {
        if !self.log().iter().any(announced) {
            self.blame(format!("{what} began before it was announced"));
        }
    }

    pub fn registry(self: &Arc<Self>) -> Registry {
        ["mark", "look"].into_iter().fold(Registry::builtin(), |registry, name| {
            registry.with(Arc::new(SimTool { name, schema: json!({"type": "object"}), world: Arc::clone(self) }))
        })
    }
}

/// Panics without a word on standard error: it is part of the play.
fn fall_over() {
    std::panic::resume_unwind(Box::new("part of the simulation"));
}

/// Something a person has seen and that a crash must not take away.
#[derive(Debug, Clone, PartialEq)]
pub enum Owed {
    /// The beginning of a model's answer.
    Answer { text: String },
    /// What a tool has printed.
    Output { call: CallId, text: String },
}

/// An effect under way. It ends with its life, or when it is dropped.
struct Busy {
    world: Arc<World>,
    life: u64,
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.life == self.world.life.load(Ordering::SeqCst) {
            self.world.busy.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

struct SimTool {
    name: &'static str,
    schema: Value,
    world: Arc<World>,
}

impl Tool for SimTool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "A tool of the simulation."
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn needs(&self, _input: &Value) -> Vec<Need> {
        let run = Need::Run { line: "mark".to_owned(), outside: false };
        if self.name == "mark" { vec![run] } else { Vec::new() }
    }

    fn summary(&self, _input: &Value, _workspace: &Path) -> String {
        self.name.to_owned()
    }

    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.name.to_owned())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, _input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let world = &self.world;
            let _busy = world.begin_effect();
            world.expect_announced(
                "a tool",
                |event| matches!(event, Event::ToolStarted(started) if started.call == context.call),
            );
            world.boundary().await;
            if self.name == "mark" {
                *world.marks.lock().unwrap().entry(context.call.clone()).or_default() += 1;
            }
            world.boundary().await;
            if world.roll(|random| random.chance(2)) {
                fall_over();
            }
            (context.live)("working\n");
            if self.name == "mark" {
                world.show(Owed::Output { call: context.call.clone(), text: "working".to_owned() });
            }
            tokio::select! {
                biased;
                () = world.dawdle() => {}
                () = context.cancel.cancelled() => {
                    world.unshow(|owed| matches!(owed, Owed::Output { call, .. } if *call == context.call));
                    return Finished::interrupted("stopped", "Stopped");
                }
            }
            world.boundary().await;
            world.unshow(|owed| matches!(owed, Owed::Output { call, .. } if *call == context.call));
            if world.roll(|random| random.chance(15)) {
                Finished::failed("it did not work", "Failed")
            } else {
                Finished::ok(format!("done {}", context.call), "Done")
            }
        })
    }
}

pub struct SimModel(pub Arc<World>);

impl Model for SimModel {
    fn stream(&self, request: Request) -> ChunkStream {
        let world = Arc::clone(&self.0);
        let plan = stream::once(async move {
            let busy = world.begin_effect();
            world.check_request(&request);
            world.boundary().await;
            world.dawdle().await;
            if world.roll(|random| random.chance(1)) {
                fall_over();
            }
            let summary = request.tools.is_empty();
            world.unshow(|owed| matches!(owed, Owed::Answer { .. }));
            let chunks = world.answer();
            stream::iter(chunks).then(move |chunk| {
                let world = Arc::clone(&world);
                let _ = &busy;
                async move {
                    world.boundary().await;
                    world.dawdle().await;
                    if !summary {
                        world.note_chunk(&chunk);
                    }
                    chunk
                }
            })
        });
        Box::pin(plan.flatten())
    }
}

impl World {
    /// What a provider would insist on: every call has its result, right after it and in order.
    fn check_request(&self, request: &Request) {
        self.expect_announced("a model call", |event| {
            matches!(event, Event::RoundStarted(_) | Event::CompactionStarted(_) | Event::TurnEnded(_))
        });
        let mut open: Vec<CallId> = Vec::new();
        for entry in &request.messages {
            let fits = match &entry.message {
                Message::Assistant(parts) => {
                    let fits = open.is_empty();
                    open = calls_of(parts).map(|call| call.id.clone()).collect();
                    fits
                }
                Message::Tool(results) => {
                    let ids: Vec<CallId> = results.iter().map(|result| result.call.clone()).collect();
                    let fits = ids == open;
                    open.clear();
                    fits
                }
                Message::User(_) => open.is_empty(),
            };
            if !fits {
                self.blame(format!("a conversation no provider takes: {:?}", request.messages));
                return;
            }
        }
        if !open.is_empty() {
            self.blame("the last call has no result".to_owned());
        }
    }

    fn note_chunk(&self, chunk: &Chunk) {
        match chunk {
            // The first piece names its answer, so it is enough.
            Chunk::Text(text) if text.contains(':') => self.show(Owed::Answer { text: text.clone() }),
            Chunk::Done(_) | Chunk::Failed { .. } => self.unshow(|owed| matches!(owed, Owed::Answer { .. })),
            Chunk::Text(_) | Chunk::Thinking(_) | Chunk::ToolStart { .. } | Chunk::ToolDelta { .. } => {}
        }
    }

    fn answer(&self) -> Vec<Chunk> {
        let number = self.answers.fetch_add(1, Ordering::SeqCst);
        let words = [format!("{number}: Let me "), "see.".to_owned()];
        let mut chunks: Vec<Chunk> = words.iter().cloned().map(Chunk::Text).collect();
        if self.roll(|random| random.chance(20)) {
            chunks.truncate(self.roll(|random| random.below(3)) as usize);
            let kinds = [
                FailureKind::Network,
                FailureKind::StreamBroken,
                FailureKind::Server,
                FailureKind::RateLimited,
                FailureKind::Idle,
                FailureKind::ContextOverflow,
                FailureKind::Auth,
            ];
            let kind = kinds[self.roll(|random| random.below(kinds.len() as u64)) as usize];
            chunks.push(Chunk::Failed { failure: Failure::new(kind, "trouble"), usage: None });
            return chunks;
        }
        let mut parts = vec![Part::Text { text: words.concat() }];
        if number < self.rounds {
            for _ in 0..=self.roll(|random| random.below(3)) {
                parts.push(Part::ToolCall(self.call()));
            }
        }
        let usage = Usage { input: 10, output: 1, ..Usage::default() };
        let stop = if parts.len() > 1 { StopReason::ToolCalls } else { StopReason::End };
        chunks.push(Chunk::Done(Answer { parts, stop, usage }));
        chunks
    }

    fn call(&self) -> ToolCall {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let (name, input) = match self.roll(|random| random.below(10)) {
            0..=4 => ("mark", json!({})),
            5..=7 => ("look", json!({})),
            8 => ("ask_user", json!({"question": "Which?", "options": ["a", "b"]})),
            _ => ("nonsense", json!("{not json")),
        };
        ToolCall { id: CallId::new(format!("c{number}")), name: name.to_owned(), input, signature: None }
    }
}
