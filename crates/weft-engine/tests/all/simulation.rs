//! The whole engine under a fake clock, a fake model and fake tools, with the process killed at
//! chosen boundaries, a disk that refuses, tools and models that fall over, and a second process
//! that meddles. Every schedule is a function of its seed:
//! `WEFT_SIM_SEED=123 cargo nextest run -p weft-engine simulation` repeats one, and
//! `WEFT_SIM_COUNT=1000000` makes a long run.

use std::sync::Arc;
use std::time::Duration;

use weft_core::event::{Delivery, EndReason, Event, Outcome};
use weft_core::{
    Answer, AskId, AskKind, Choice, InputId, Mode, ModelName, Phase, Recorded, SessionId, State, Timestamp, UserPart,
};
use weft_engine::{Clock, Config, Engine, EngineError, Home, Live, NewSession, Setup, Watch};
use weft_store::{Commit, Store, StoreError};

use crate::world::{Owed, Random, SimModel, World};

const SCHEDULES: u64 = 10_000;
const PARTS: u64 = 4;

#[test]
fn schedules_1() {
    run_part(0);
}

#[test]
fn schedules_2() {
    run_part(1);
}

#[test]
fn schedules_3() {
    run_part(2);
}

#[test]
fn schedules_4() {
    run_part(3);
}

fn run_part(part: u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("WEFT_SIM_SEED") {
        check(seed);
        return;
    }
    let count = number("WEFT_SIM_COUNT").unwrap_or(SCHEDULES);
    (0..count).filter(|seed| seed % PARTS == part).for_each(|seed| drop(check(seed)));
}

/// Without this a seed that fails cannot be looked at.
#[test]
fn a_schedule_is_a_function_of_its_seed() {
    for seed in 0..100 {
        assert_eq!(check(seed), check(seed), "WEFT_SIM_SEED={seed}");
    }
}

/// The log that the schedule comes to.
fn check(seed: u64) -> Vec<Recorded> {
    let outcome = std::panic::catch_unwind(|| Schedule::new(seed).run());
    match outcome {
        Ok(Ok(log)) => log,
        Ok(Err(wrong)) => panic!("WEFT_SIM_SEED={seed}: {wrong}"),
        Err(_) => panic!("WEFT_SIM_SEED={seed} panicked"),
    }
}

/// One life after another of one session.
struct Schedule {
    world: Arc<World>,
    store: Store,
    random: Random,
    session: Option<SessionId>,
    said: Vec<InputId>,
    to_say: u64,
    to_stop: u64,
    now: i64,
    mode: Mode,
    owed: Vec<Owed>,
    /// Nobody watches: sessions with nothing to do leave memory, and wake from disk.
    unseen: bool,
    /// The person asked for something that the disk refused, and knows.
    refused: bool,
}

async fn next(watch: &mut Option<Watch>) -> Option<Live> {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

/// What a watcher learned.
enum Seen {
    InOrder,
    /// The log must be read again.
    Lagged,
    /// Nothing goes on by itself any more.
    Broken,
}

enum End {
    Finished,
    Died,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let store = Store::in_memory(Commit::Inline).unwrap();
        let mut random = Random::new(seed ^ 0x5eed);
        Self {
            world: World::new(seed, store.clone()),
            store,
            session: None,
            said: Vec::new(),
            to_say: random.below(3),
            to_stop: random.below(2),
            now: 1_700_000_000_000,
            owed: Vec::new(),
            unseen: random.chance(20),
            refused: false,
            mode: if random.chance(40) { Mode::Ask } else { Mode::Auto },
            random,
        }
    }

    fn run(mut self) -> Result<Vec<Recorded>, String> {
        let crashes = self.random.below(4);
        for life in 0..=crashes {
            self.world.begin_life((life < crashes).then(|| self.random.below(50)));
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            let world = Arc::clone(&self.world);
            let end = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = world.died() => Ok(End::Died),
                    end = self.live() => end.map(|()| End::Finished),
                }
            });
            drop(runtime);
            self.owed.extend(self.world.owed.lock().unwrap().drain(..));
            self.now += 10_000_000;
            match end? {
                End::Finished => break,
                End::Died => {}
            }
        }
        self.judge()
    }

    /// One process: opens the engine, carries on what it finds, and behaves like a person.
    async fn live(&mut self) -> Result<(), String> {
        let engine = self.open();
        let session = match self.session.filter(|session| self.store.load(*session).is_ok()) {
            Some(session) => session,
            None => {
                let model = Some(ModelName::new("sim", "small"));
                let new = NewSession { workspace: "/".into(), mode: Some(self.mode), model, ..NewSession::default() };
                engine.create(new).map_err(|error| error.to_string())?
            }
        };
        *self.world.session.lock().unwrap() = Some(session);
        let mut watch = (!self.unseen).then(|| engine.watch(session));
        let mut state = match self.store.load(session) {
            Ok(state) => state,
            Err(_) => State::new(session),
        };
        if state.seq == 0 {
            self.session = Some(session);
            self.say(&engine, session, Delivery::Steer).await?;
        } else if state.turn.is_some() && !state.is_waiting() {
            let carried_on = engine.carry_on(session).await;
            self.tried(carried_on, "carry on")?;
        }
        let mut patience = 600;
        while !self.is_over(session, &state) {
            patience -= 1;
            if patience == 0 {
                let unseen = if self.unseen { ", unseen" } else { "" };
                return Err(format!("it does not come to rest{unseen}: {:?}", state.phase));
            }
            let pause = Duration::from_millis(self.random.below(400));
            tokio::select! {
                biased;
                live = next(&mut watch) => match self.see(&mut state, live)? {
                    Seen::InOrder => {}
                    Seen::Lagged => state = self.reload(session),
                    Seen::Broken => {
                        state = self.reload(session);
                        self.after_a_break(&engine, session, &state).await?;
                    }
                },
                () = tokio::time::sleep(pause) => {
                    if self.unseen {
                        state = self.reload(session);
                        self.look_after(&engine, session, &state).await?;
                    }
                    self.act(&engine, session, &state).await?;
                }
            }
        }
        Ok(())
    }

    /// All is said and done, on the screen and on disk. An idle moment between two events is neither.
    fn is_over(&self, session: SessionId, seen: &State) -> bool {
        let rests = |state: &State| state.phase == Phase::Idle && state.turns > 0;
        self.to_say == 0 && rests(seen) && rests(&self.reload(session))
    }

    fn reload(&self, session: SessionId) -> State {
        self.store.load(session).unwrap_or_else(|_| State::new(session))
    }

    /// Nobody looks on, so nobody is told of a break. A timer needs no looking after.
    async fn look_after(&mut self, engine: &Engine, session: SessionId, state: &State) -> Result<(), String> {
        let due = match state.phase {
            Phase::Idle => state.seq == 0,
            Phase::Retrying { .. } => std::mem::take(&mut self.refused),
            Phase::Ready | Phase::Calling | Phase::Tools | Phase::Compacting => true,
        };
        if due && engine.in_memory() == 0 { self.after_a_break(engine, session, state).await } else { Ok(()) }
    }

    /// The disk refused for good: a person says what was lost again, or carries on.
    async fn after_a_break(&mut self, engine: &Engine, session: SessionId, state: &State) -> Result<(), String> {
        if state.seq == 0 {
            return self.say(engine, session, Delivery::Steer).await;
        }
        if state.turn.is_some() && !state.is_waiting() {
            return self.tried(engine.carry_on(session).await, "carry on");
        }
        Ok(())
    }

    /// What the disk refused is not done, and whoever asked for it is told; nothing else may fail.
    fn tried(&mut self, result: Result<(), EngineError>, what: &str) -> Result<(), String> {
        match result {
            Ok(()) => Ok(()),
            Err(EngineError::Stopped(_)) => {
                self.refused = true;
                Ok(())
            }
            Err(error) => Err(format!("{what}: {error}")),
        }
    }

    fn open(&mut self) -> Engine {
        let store = self.store.reopened_with(self.world.disk());
        self.engine_on(store)
    }

    fn engine_on(&mut self, store: Store) -> Engine {
        // A window so small that most sessions are compacted.
        let models: toml::Table = toml::from_str("[\"sim/small\"]\nwindow = 200\noutput = 40\n").unwrap();
        assert_eq!(weft_model::Catalog::with_user_models(&models).unwrap().find("sim", "small").window, 200);
        let mut setup = Setup::new(Home::at("/nowhere"), Config { models, ..Config::default() });
        setup.clock = Clock::since(Timestamp(self.now));
        setup.store = Some(store);
        setup.registry = self.world.registry();
        setup.model = Some(Arc::new(SimModel(Arc::clone(&self.world))));
        setup.env = Arc::new(|_| None);
        let ids = std::sync::Mutex::new(Random::new(self.random.next()));
        setup.random = Arc::new(move || ids.lock().unwrap().next());
        Engine::open(setup).unwrap()
    }

    /// What a watcher sees is on disk, complete and in order.
    fn see(&mut self, state: &mut State, live: Option<Live>) -> Result<Seen, String> {
        match live {
            Some(Live::Event(recorded)) => {
                if recorded.seq <= state.seq {
                    return Ok(Seen::InOrder);
                }
                if recorded.seq != state.seq + 1 {
                    return Err(format!("event {} came after {}", recorded.seq, state.seq));
                }
                if self.random.chance(50) {
                    let stored = self.store.events(recorded.session, recorded.seq - 1, 1).unwrap();
                    if stored.first() != Some(&*recorded) {
                        return Err(format!("event {} was seen before it was durable", recorded.seq));
                    }
                }
                state.apply(recorded.seq, recorded.at, &recorded.event);
                Ok(Seen::InOrder)
            }
            Some(Live::Broken(reason)) if reason.contains("the disk fell off") => Ok(Seen::Broken),
            Some(Live::Broken(reason)) => Err(format!("the driver broke: {reason}")),
            Some(Live::Lagged) => Ok(Seen::Lagged),
            None => Err("the watch ended".to_owned()),
            Some(_) => Ok(Seen::InOrder),
        }
    }

    async fn act(&mut self, engine: &Engine, session: SessionId, state: &State) -> Result<(), String> {
        if self.random.chance(4) {
            return self.meddle(session, state).await;
        }
        if let Some(ask) = state.open_asks().next() {
            if self.to_say > 0 && self.random.chance(10) {
                self.to_say -= 1;
                return self.say(engine, session, Delivery::FollowUp).await;
            }
            let answer = match &ask.kind {
                AskKind::Approval { .. } if self.random.chance(70) => {
                    Answer::Approve { scope: if self.random.chance(50) { Choice::Once } else { Choice::Session } }
                }
                AskKind::Question { .. } if self.random.chance(80) => Answer::Text { text: "a".to_owned() },
                AskKind::Approval { .. } | AskKind::Question { .. } | AskKind::Form { .. } => {
                    Answer::Reject { message: None }
                }
            };
            // It may have been closed meanwhile; a refusal is an answer too.
            let _ = engine.answer(session, ask.id, answer, "simulation").await;
            return Ok(());
        }
        if self.to_say > 0 && self.random.chance(30) {
            self.to_say -= 1;
            let delivery = if self.random.chance(50) { Delivery::Steer } else { Delivery::FollowUp };
            return self.say(engine, session, delivery).await;
        }
        if self.to_stop > 0 && self.random.chance(10) {
            self.to_stop -= 1;
            let stopped = engine.stop(session).await;
            self.tried(stopped, "stop")?;
        }
        Ok(())
    }

    /// A second process on the same home: it may write only while nobody works on the session.
    async fn meddle(&mut self, session: SessionId, state: &State) -> Result<(), String> {
        let rival = self.engine_on(self.store.beside());
        let busy = self.world.is_busy();
        let ask = state.open_asks().next().filter(|_| self.random.chance(50));
        let result = match ask {
            Some(ask) => {
                rival.record_answer(session, ask.id, Answer::Reject { message: None }, "rival").await.map(drop)
            }
            None => rival.set_mode(session, if state.mode == Mode::Ask { Mode::Auto } else { Mode::Ask }).await,
        };
        match result {
            Ok(()) if busy => Err("two processes wrote to one session".to_owned()),
            Ok(()) | Err(EngineError::InUse { .. } | EngineError::Rejected(_)) => Ok(()),
            Err(EngineError::Store(StoreError::NoSuchSession { .. })) if state.seq == 0 => Ok(()),
            Err(error) => Err(format!("the rival: {error}")),
        }
    }

    async fn say(&mut self, engine: &Engine, session: SessionId, delivery: Delivery) -> Result<(), String> {
        match engine.submit(session, vec![UserPart::text("go on")], delivery).await {
            Ok(said) => self.said.push(said),
            Err(EngineError::Stopped(_)) => self.to_say += 1,
            Err(error) => return Err(format!("submit: {error}")),
        }
        Ok(())
    }

    fn judge(self) -> Result<Vec<Recorded>, String> {
        if let Some(wrong) = self.world.wrong.lock().unwrap().first() {
            return Err(wrong.clone());
        }
        let session = self.session.ok_or("nothing was ever begun")?;
        let events = self.store.events(session, 0, usize::MAX).map_err(|error| error.to_string())?;
        let mut state = State::new(session);
        for (index, recorded) in events.iter().enumerate() {
            if recorded.seq != index as u64 + 1 {
                return Err(format!("a hole in the log at {index}"));
            }
            state.apply(recorded.seq, recorded.at, &recorded.event);
        }
        if self.store.load(session).map_err(|error| error.to_string())? != state {
            return Err("a snapshot differs from the replay".to_owned());
        }
        if state.turn.is_some() {
            return Err(format!("it ended in the middle of a turn: {:?}", state.phase));
        }
        let open: Vec<AskId> = state.open_asks().map(|ask| ask.id).collect();
        let listed = self.store.open_asks().map_err(|error| error.to_string())?;
        if listed.iter().map(|row| row.ask.id).ne(open) {
            return Err("the list of open questions is wrong".to_owned());
        }
        // Only a model that failed leaves something unsaid.
        let failed = matches!(state.last_end, Some(EndReason::ModelFailed { .. }));
        if !failed && !state.conversation.queue.is_empty() {
            return Err("something that was said never reached the model".to_owned());
        }
        for input in &self.said {
            let kept = |event: &Event| matches!(event, Event::InputReceived(received) if received.input == *input);
            if !events.iter().any(|recorded| kept(&recorded.event)) {
                return Err(format!("what was said as {input} is lost"));
            }
            let taken = events.iter().filter(|recorded| takes(&recorded.event, *input)).count();
            let waits = state.conversation.queue.iter().any(|queued| queued.id == *input);
            if taken + usize::from(waits) != 1 {
                return Err(format!("what was said as {input} reached the model {taken} times"));
            }
        }
        judge_stops(&events)?;
        self.judge_owed(&events)?;
        self.judge_marks(&events)?;
        Ok(events)
    }

    /// What was on the screen for a while when a process died is in the log.
    fn judge_owed(&self, events: &[Recorded]) -> Result<(), String> {
        let kept = |event: &Event, owed: &Owed| match (event, owed) {
            (Event::RoundFailed(failed), Owed::Answer { text }) => failed.partial.starts_with(text),
            (Event::ToolFinished(finished), Owed::Output { call, text }) => {
                finished.call == *call && finished.output.text.contains(text)
            }
            _ => false,
        };
        for owed in &self.owed {
            if !events.iter().any(|recorded| kept(&recorded.event, owed)) {
                return Err(format!("lost in a crash: {owed:?}"));
            }
        }
        Ok(())
    }

    fn judge_marks(&self, events: &[Recorded]) -> Result<(), String> {
        let marks = self.world.marks.lock().unwrap();
        for (call, times) in marks.iter() {
            if *times > 1 {
                return Err(format!("{call} took effect {times} times"));
            }
        }
        for recorded in events {
            let Event::ToolFinished(finished) = &recorded.event else { continue };
            let ran = marks.get(&finished.call).copied().unwrap_or(0);
            let fits = match finished.outcome {
                Outcome::Ok | Outcome::Failed if finished.tool == "mark" => ran == 1,
                Outcome::Denied | Outcome::Invalid => ran == 0,
                Outcome::Ok | Outcome::Failed | Outcome::Interrupted => true,
            };
            if !fits {
                return Err(format!(
                    "{} is said to be {:?} but took effect {ran} times",
                    finished.call, finished.outcome
                ));
            }
        }
        Ok(())
    }
}

fn takes(event: &Event, input: InputId) -> bool {
    match event {
        Event::TurnStarted(started) => started.inputs.contains(&input),
        Event::RoundStarted(started) => started.steered.contains(&input),
        _ => false,
    }
}

/// After a stop nothing begins any more in that turn, whatever happens in between.
fn judge_stops(events: &[Recorded]) -> Result<(), String> {
    let mut stopping = false;
    for recorded in events {
        match &recorded.event {
            Event::StopRequested(_) => stopping = true,
            Event::TurnEnded(_) => stopping = false,
            Event::ToolStarted(_) | Event::RoundStarted(_) | Event::AskRaised(_) if stopping => {
                return Err(format!("event {} begins something after a stop", recorded.seq));
            }
            _ => {}
        }
    }
    Ok(())
}
