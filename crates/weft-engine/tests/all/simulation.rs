//! The whole engine under a fake clock, a fake model and fake tools, with the process killed at
//! chosen boundaries. Every schedule is a function of its seed:
//! `WEFT_SIM_SEED=123 cargo nextest run -p weft-engine simulation` repeats one, and
//! `WEFT_SIM_COUNT=1000000` makes a long run.

use std::sync::Arc;
use std::time::Duration;

use weft_core::event::{Delivery, Event, Outcome};
use weft_core::{Answer, AskKind, Choice, InputId, Mode, Phase, SessionId, State, Timestamp, UserPart};
use weft_engine::{Clock, Config, Engine, Home, Live, NewSession, Setup};
use weft_store::{Commit, Store};

use crate::world::{Random, SimModel, World};

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
        return check(seed);
    }
    let count = number("WEFT_SIM_COUNT").unwrap_or(SCHEDULES);
    (0..count).filter(|seed| seed % PARTS == part).for_each(check);
}

fn check(seed: u64) {
    let outcome = std::panic::catch_unwind(|| Schedule::new(seed).run());
    match outcome {
        Ok(Ok(())) => {}
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
            mode: if random.chance(40) { Mode::Ask } else { Mode::Auto },
            random,
        }
    }

    fn run(mut self) -> Result<(), String> {
        let crashes = self.random.below(4);
        for life in 0..=crashes {
            if life < crashes {
                self.world.crash_after(self.random.below(14));
            } else {
                self.world.no_crash();
            }
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
        let session = match self.session {
            Some(session) => session,
            None => {
                let new = NewSession { workspace: "/".into(), mode: Some(self.mode), ..NewSession::default() };
                engine.create(new).map_err(|error| error.to_string())?
            }
        };
        *self.world.session.lock().unwrap() = Some(session);
        let mut watch = engine.watch(session);
        let mut state = match self.store.load(session) {
            Ok(state) => state,
            Err(_) => State::new(session),
        };
        if state.seq == 0 {
            self.session = Some(session);
            self.say(&engine, session, Delivery::Steer).await?;
        } else if state.turn.is_some() && !state.is_waiting() {
            engine.carry_on(session).await.map_err(|error| format!("carry on: {error}"))?;
        }
        let mut patience = 600;
        while !(state.phase == Phase::Idle && state.seq > 0 && self.to_say == 0) {
            patience -= 1;
            if patience == 0 {
                return Err(format!("it does not come to rest: {:?}", state.phase));
            }
            let pause = Duration::from_millis(self.random.below(400));
            tokio::select! {
                biased;
                live = watch.next() => self.see(&mut state, live)?,
                () = tokio::time::sleep(pause) => self.act(&engine, session, &state).await?,
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Engine {
        let mut setup = Setup::new(Home::at("/nowhere"), Config::default());
        setup.clock = Clock::since(Timestamp(self.now));
        setup.store = Some(self.store.reopened());
        setup.registry = self.world.registry();
        setup.model = Some(Arc::new(SimModel(Arc::clone(&self.world))));
        setup.env = Arc::new(|_| None);
        let ids = std::sync::Mutex::new(Random::new(self.random.next()));
        setup.random = Arc::new(move || ids.lock().unwrap().next());
        Engine::open(setup).unwrap()
    }

    /// What a watcher sees is on disk, complete and in order.
    fn see(&mut self, state: &mut State, live: Option<Live>) -> Result<(), String> {
        match live {
            Some(Live::Event(recorded)) => {
                if recorded.seq <= state.seq {
                    return Ok(());
                }
                if recorded.seq != state.seq + 1 {
                    return Err(format!("event {} came after {}", recorded.seq, state.seq));
                }
                if self.random.chance(20) {
                    let stored = self.store.events(recorded.session, recorded.seq - 1, 1).unwrap();
                    if stored.first() != Some(&*recorded) {
                        return Err(format!("event {} was seen before it was durable", recorded.seq));
                    }
                }
                state.apply(recorded.seq, recorded.at, &recorded.event);
                Ok(())
            }
            Some(Live::Broken(reason)) => Err(format!("the driver broke: {reason}")),
            Some(Live::Lagged) | None => Err("the watch ended".to_owned()),
            Some(_) => Ok(()),
        }
    }

    async fn act(&mut self, engine: &Engine, session: SessionId, state: &State) -> Result<(), String> {
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
                AskKind::Approval { .. } | AskKind::Question { .. } => Answer::Reject { message: None },
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
            engine.stop(session).await.map_err(|error| format!("stop: {error}"))?;
        }
        Ok(())
    }

    async fn say(&mut self, engine: &Engine, session: SessionId, delivery: Delivery) -> Result<(), String> {
        let said = engine.submit(session, vec![UserPart::text("go on")], delivery).await;
        self.said.push(said.map_err(|error| format!("submit: {error}"))?);
        Ok(())
    }

    fn judge(self) -> Result<(), String> {
        if let Some(wrong) = self.world.wrong.lock().unwrap().first() {
            return Err(wrong.clone());
        }
        let Some(session) = self.session else { return Ok(()) };
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
        for input in &self.said {
            let kept = |event: &Event| matches!(event, Event::InputReceived(received) if received.input == *input);
            if !events.iter().any(|recorded| kept(&recorded.event)) {
                return Err(format!("what was said as {input} is lost"));
            }
        }
        self.judge_marks(&events)
    }

    fn judge_marks(&self, events: &[weft_core::Recorded]) -> Result<(), String> {
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
