//! The sessions that are in memory: their drivers, those who look on, and the timers of those that sleep.
//!
//! A session that waits has a timer at most, and is woken from disk.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use weft_core::event::SessionStarted;
use weft_core::{Event, Input, Recorded, SessionId, State, Timestamp};
use weft_store::{Owner, StoreError};

use crate::clock::Clock;
use crate::driver::{Command, Driver};
use crate::engine::{Engine, Shared};
use crate::error::EngineError;
use crate::watch::{Live, Piece, Watch, Window};

#[derive(Default)]
pub struct Present {
    slots: Mutex<HashMap<SessionId, Slot>>,
    timers: Mutex<Timers>,
    timer_changed: Arc<Notify>,
}

/// A session that is in memory, or watched, or not yet begun.
#[derive(Default)]
struct Slot {
    inbox: Option<mpsc::UnboundedSender<Command>>,
    /// What those who look on see.
    window: Window,
    seed: Option<Seed>,
    /// What the session starts with that a driver is about to put on disk.
    starting: Option<SessionStarted>,
    /// The last event that a driver here has written or is about to.
    ours: u64,
    /// A driver here holds the session, so that nobody else can write.
    at_work: bool,
    /// A task looks out for what other processes write.
    followed: bool,
}

impl Slot {
    /// What the session starts with, for as long as it is not on disk.
    fn unbegun(&self) -> Option<&SessionStarted> {
        self.seed.as_ref().map(|seed| &seed.started).or(self.starting.as_ref())
    }
}

/// A session that nobody has said anything in. It is not on disk.
#[derive(Clone)]
struct Seed {
    started: SessionStarted,
    title: bool,
}

/// Whether to look out for what other processes write.
enum Lookout {
    /// Nobody looks on any more.
    Over,
    AtWork,
    Still {
        shown: u64,
    },
}

#[derive(Default)]
struct Timers {
    due: BinaryHeap<Reverse<(Timestamp, SessionId)>>,
    running: bool,
}

impl Present {
    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn timers(&self) -> MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn with_driver(&self) -> usize {
        self.slots().values().filter(|slot| slot.inbox.is_some()).count()
    }

    /// A session that begins when somebody says something in it.
    pub fn seed(&self, session: SessionId, started: SessionStarted, title: bool) {
        self.slots().entry(session).or_default().seed = Some(Seed { started, title });
    }

    /// Changes what a session will start with; says whether it has not begun.
    pub fn change_seed(&self, session: SessionId, change: impl FnOnce(&mut SessionStarted)) -> bool {
        let mut slots = self.slots();
        let seed = slots.get_mut(&session).and_then(|slot| slot.seed.as_mut());
        seed.map(|seed| change(&mut seed.started)).is_some()
    }

    /// What a session starts with, for as long as it is not on disk.
    pub fn unbegun(&self, session: SessionId) -> Option<SessionStarted> {
        self.slots().get(&session).and_then(Slot::unbegun).cloned()
    }

    /// Forgets a session that nobody has said anything in.
    pub fn forget_unbegun(&self, session: SessionId) {
        let mut slots = self.slots();
        if slots.get(&session).is_some_and(|slot| slot.seed.is_some() && slot.inbox.is_none()) {
            slots.remove(&session);
        }
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.timer_changed.notify_one();
    }
}

impl Shared {
    /// Somebody looks on from event `read` on, also at what other processes do.
    pub fn join(self: &Arc<Self>, session: SessionId, read: u64) -> Watch {
        let mut slots = self.present.slots();
        let slot = slots.entry(session).or_default();
        if !std::mem::replace(&mut slot.followed, true) {
            tokio::spawn(follow(Arc::downgrade(self), session));
        }
        slot.window.join(read)
    }

    /// Gives a command to the session's driver; gives it back if there is none.
    pub fn hand_over(&self, session: SessionId, command: Command) -> Option<Command> {
        let slots = self.present.slots();
        match slots.get(&session).and_then(|slot| slot.inbox.as_ref()) {
            Some(inbox) => inbox.send(command).err().map(|refused| refused.0),
            None => Some(command),
        }
    }

    /// Starts a driver from the seed or from disk.
    pub fn start(self: &Arc<Self>, session: SessionId) -> Result<(), EngineError> {
        let seed = self.present.slots().get(&session).and_then(|slot| slot.seed.clone());
        let state = match &seed {
            Some(_) => State::new(session),
            None => {
                if let Owner::Alive { pid } = self.store.owner(session)? {
                    return Err(EngineError::InUse { session, pid });
                }
                self.store.load(session)?
            }
        };
        let mut slots = self.present.slots();
        let slot = slots.entry(session).or_default();
        if slot.inbox.as_ref().is_some_and(|inbox| !inbox.is_closed()) {
            return Ok(());
        }
        let (sender, inbox) = mpsc::unbounded_channel();
        slot.inbox = Some(sender);
        slot.seed = None;
        slot.starting = seed.as_ref().map(|seed| seed.started.clone());
        let title = seed.as_ref().is_some_and(|seed| seed.title);
        let mut driver = Driver::new(Arc::clone(self), state, inbox, seed.map(|seed| seed.started), title);
        tokio::spawn(async move { driver.run().await });
        Ok(())
    }

    /// Lets a driver leave if nobody has sent anything and nobody looks on. Decided under the lock,
    /// so that no command is lost.
    pub fn leave_if_idle(
        self: &Arc<Self>,
        session: SessionId,
        inbox: &mpsc::UnboundedReceiver<Command>,
        wake_at: Option<Timestamp>,
    ) -> bool {
        let mut slots = self.present.slots();
        let Some(slot) = slots.get_mut(&session) else { return true };
        // Retired: the place belongs to another driver, or to none.
        if inbox.is_closed() {
            return inbox.is_empty();
        }
        if !inbox.is_empty() || slot.window.is_watched() {
            return false;
        }
        slots.remove(&session);
        drop(slots);
        if let Some(at) = wake_at {
            self.wake_later(session, at);
        }
        true
    }

    /// Retires the driver: it does what it has been sent, and ends. Watchers stay. A session that
    /// did not get onto the disk can be begun again.
    pub fn retire(&self, session: SessionId, unborn: Option<(SessionStarted, bool)>) {
        if let Some(slot) = self.present.slots().get_mut(&session) {
            slot.inbox = None;
            slot.at_work = false;
            slot.starting = None;
            slot.seed = unborn.map(|(started, title)| Seed { started, title });
        }
    }

    /// Shows something to everybody who looks on. A watcher that is too slow is dropped, and
    /// notices.
    pub fn publish(&self, session: SessionId, live: &Live) {
        if let Some(slot) = self.present.slots().get_mut(&session) {
            slot.window.show(live);
        }
    }

    /// Shows what a driver here has committed.
    pub fn publish_events(&self, session: SessionId, first: u64, at: Timestamp, events: &[Event]) {
        if let Some(slot) = self.present.slots().get_mut(&session) {
            slot.starting = None;
            slot.window.committed(session, first, at, events);
        }
    }

    /// Shows a piece of an answer or of a tool's output, and keeps it for who joins later.
    pub fn stream(&self, session: SessionId, piece: Piece<'_>) {
        self.start.give_back();
        if let Some(slot) = self.present.slots().get_mut(&session) {
            slot.window.stream(piece);
        }
    }

    /// Tells whoever looks on of what did not work and did not matter.
    pub fn tell_of(&self, session: SessionId, troubles: &[String]) {
        for trouble in troubles {
            self.publish(session, &Live::Notice(trouble.as_str().into()));
        }
    }

    fn lookout(&self, session: SessionId) -> Lookout {
        let mut slots = self.present.slots();
        let Some(slot) = slots.get_mut(&session) else { return Lookout::Over };
        if !slot.window.is_watched() {
            slot.followed = false;
            return Lookout::Over;
        }
        if slot.at_work { Lookout::AtWork } else { Lookout::Still { shown: slot.window.shown.max(slot.ours) } }
    }

    /// A driver here is about to write up to this event, and to show it.
    pub fn announce(&self, session: SessionId, seq: u64, at_work: bool) {
        if let Some(slot) = self.present.slots().get_mut(&session) {
            slot.ours = seq;
            slot.at_work = at_work;
        }
    }

    /// Whether somebody else wrote this, and watchers have not seen it.
    fn is_foreign(&self, recorded: &Recorded) -> bool {
        self.present.slots().get(&recorded.session).is_some_and(|slot| recorded.seq > slot.window.shown.max(slot.ours))
    }

    /// Remembers to wake a session that has left memory.
    fn wake_later(self: &Arc<Self>, session: SessionId, at: Timestamp) {
        let mut timers = self.present.timers();
        timers.due.push(Reverse((at, session)));
        self.present.timer_changed.notify_one();
        if !timers.running {
            timers.running = true;
            tokio::spawn(ring(Arc::downgrade(self), Arc::clone(&self.present.timer_changed), self.clock));
        }
    }

    fn next_timer(&self) -> Option<(Timestamp, SessionId)> {
        let timers = self.present.timers();
        timers.due.peek().map(|Reverse(next)| *next)
    }

    async fn wake(self: &Arc<Self>, session: SessionId, at: Timestamp) {
        {
            let mut timers = self.present.timers();
            if timers.due.peek() == Some(&Reverse((at, session))) {
                timers.due.pop();
            }
        }
        let engine = Engine::of(Arc::clone(self));
        // Somebody else may have it by now; then there is nothing to wake. But where the disk refused,
        // it would sleep for ever without another try.
        let woken = engine.send(session, Input::Wake).await;
        if let Err(EngineError::Stopped(_) | EngineError::Store(StoreError::Full | StoreError::Locked)) = woken {
            self.wake_later(session, self.clock.now().plus_millis(WAKE_AGAIN_MS));
        }
    }
}

/// Wakes sessions when their time has come, for as long as there is an engine. Keeps none alive.
async fn ring(engine: Weak<Shared>, changed: Arc<Notify>, clock: Clock) {
    while let Some(next) = engine.upgrade().map(|shared| shared.next_timer()) {
        let Some((at, session)) = next else {
            changed.notified().await;
            continue;
        };
        tokio::select! {
            biased;
            () = clock.sleep_until(at) => {
                let Some(shared) = engine.upgrade() else { return };
                shared.wake(session, at).await;
            }
            () = changed.notified() => {}
        }
    }
}

/// How long a session sleeps on when it could not be woken.
const WAKE_AGAIN_MS: u64 = 30_000;

/// How often a watched session that lies still is looked at for what other processes write.
const LOOK_OUT_EVERY: Duration = Duration::from_secs(1);

/// Shows watchers what other processes write, and goes on with a turn that one of them answered for.
/// Costs nothing while a driver here is at work, for then nobody else can be. Ends when nobody looks
/// on any more.
async fn follow(engine: Weak<Shared>, session: SessionId) {
    let mut from = None;
    loop {
        tokio::time::sleep(LOOK_OUT_EVERY).await;
        let Some(shared) = engine.upgrade() else { return };
        let shown = match shared.lookout(session) {
            Lookout::Over => return,
            Lookout::AtWork => continue,
            Lookout::Still { shown } => shown,
        };
        // What was there before, watchers read themselves.
        let there = || if shown > 0 { shown } else { shared.store.last_seq(session).unwrap_or(0) };
        let start = from.unwrap_or_else(there).max(shown);
        let mut tail = shared.store.tail(session, start);
        from = Some(start);
        drop(shared);
        // Nothing for a while: look whether anybody is still there. An error: the session is not on
        // disk yet, or not any more.
        while let Ok(Ok(events)) = tokio::time::timeout(LOOK_OUT_EVERY, tail.next()).await {
            let Some(shared) = engine.upgrade() else { return };
            from = events.last().map(|last| last.seq).or(from);
            let foreign: Vec<Recorded> = events.into_iter().filter(|recorded| shared.is_foreign(recorded)).collect();
            if !foreign.is_empty() {
                // What a driver here knows is out of date.
                shared.retire(session, None);
            }
            let answered = foreign.iter().any(|recorded| matches!(recorded.event, Event::AskAnswered(_)));
            for recorded in foreign {
                shared.publish(session, &Live::Event(Arc::new(recorded)));
            }
            if answered && matches!(shared.store.owner(session), Ok(Owner::Nobody)) {
                // Somebody else may be quicker; then it is in good hands.
                let _ = Engine::of(shared).carry_on(session).await;
            }
        }
    }
}
