//! One provider's lane: who runs, who waits, in which order, and when nobody may.
//!
//! Pure but for waking the task whose turn it is: the time comes in with every call, and every
//! call is made under the provider's lock and takes O(log n).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::time::Instant;

use super::breaker::{Breaker, Change};
use super::{Priority, ProviderStatus};

/// A waiting call gains one class per this much waiting.
const AGEING: Duration = Duration::from_secs(30);
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// A call's place in the queue; the smallest is next. People come first. All others are ordered by
/// when they arrived less a head start of [`AGEING`] per class, which is the same as gaining a
/// class per [`AGEING`] waited, and does not change while they wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    background: bool,
    micros: i64,
    number: u64,
}

/// One call's stake in a lane. Its standing changes only under the lane's lock.
#[derive(Debug)]
pub(super) struct Ticket {
    priority: Priority,
    tokens: u64,
    place: Place,
    /// Counts the lane's starts; zero before its own.
    started: AtomicU64,
    standing: AtomicU8,
    waker: AtomicWaker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Standing {
    Waiting = 0,
    Running = 1,
    /// Must let go: a person needs the slot.
    Preempted = 2,
    /// Sent away from the queue because the breaker opened.
    Dismissed = 3,
    Left = 4,
}

impl Ticket {
    pub(super) fn standing(&self) -> Standing {
        match self.standing.load(Ordering::Acquire) {
            0 => Standing::Waiting,
            1 => Standing::Running,
            2 => Standing::Preempted,
            3 => Standing::Dismissed,
            _ => Standing::Left,
        }
    }

    /// Asks for `waker` to be woken when the standing changes.
    pub(super) fn watch(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    fn set(&self, standing: Standing) {
        self.standing.store(standing as u8, Ordering::Release);
        self.waker.wake();
    }

    fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Its place among those that can be preempted: lowest priority first, newest first.
    fn victim(&self) -> Victim {
        (self.priority, Reverse(self.started()))
    }
}

type Victim = (Priority, Reverse<u64>);

/// How a call ended, as far as its provider's lane cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Answered,
    /// The provider wants to be left alone for a while.
    Busy {
        retry_after: Option<Duration>,
        is_failure: bool,
    },
    Broken,
    /// Says nothing about the provider's health: refused, cancelled, preempted.
    Neutral,
}

/// What an ending changed for the whole lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Consequence {
    pub(super) paused_until: Option<Instant>,
    pub(super) circuit: Option<Change>,
}

#[derive(Debug)]
pub(super) struct Lane {
    limit: usize,
    epoch: Instant,
    arrivals: u64,
    starts: u64,
    waiting: BTreeMap<Place, Arc<Ticket>>,
    people_waiting: usize,
    /// All that hold a slot, those told to leave included.
    running: usize,
    leaving: usize,
    tokens: u64,
    preemptible: BTreeMap<Victim, Arc<Ticket>>,
    paused_until: Option<Instant>,
    /// How often in a row the provider was busy; sets the next backoff.
    busy_in_a_row: u32,
    /// Calls started up to this one were under way when the last pause began, so their being
    /// refused too is no news.
    busy_known_upto: u64,
    breaker: Breaker,
    /// Calls started up to this one began before the breaker last changed; they no longer count.
    breaker_known_upto: u64,
    /// The one call let through while the breaker is half open.
    probe: Option<Arc<Ticket>>,
}

impl Lane {
    pub(super) fn new(limit: usize, now: Instant) -> Self {
        Self {
            limit: limit.max(1),
            epoch: now,
            arrivals: 0,
            starts: 0,
            waiting: BTreeMap::new(),
            people_waiting: 0,
            running: 0,
            leaving: 0,
            tokens: 0,
            preemptible: BTreeMap::new(),
            paused_until: None,
            busy_in_a_row: 0,
            busy_known_upto: 0,
            breaker: Breaker::new(),
            breaker_known_upto: 0,
            probe: None,
        }
    }

    /// Joins the queue, and starts at once if there is room. Refused for so long if the breaker is
    /// open.
    pub(super) fn arrive(&mut self, priority: Priority, tokens: u64, now: Instant) -> Result<Arc<Ticket>, Duration> {
        if let Some(left) = self.breaker.refuses(now) {
            return Err(left);
        }
        self.arrivals += 1;
        let ticket = Arc::new(Ticket {
            priority,
            tokens,
            place: self.place(priority, now),
            started: AtomicU64::new(0),
            standing: AtomicU8::new(Standing::Waiting as u8),
            waker: AtomicWaker::new(),
        });
        self.people_waiting += usize::from(priority == Priority::User);
        self.waiting.insert(ticket.place, Arc::clone(&ticket));
        self.dispatch(now);
        Ok(ticket)
    }

    /// Gives back whatever the call holds, and learns from how it ended.
    pub(super) fn leave(&mut self, ticket: &Arc<Ticket>, ending: Ending, now: Instant) -> Consequence {
        match ticket.standing() {
            Standing::Waiting => self.forget_waiting(ticket),
            Standing::Running => {
                self.preemptible.remove(&ticket.victim());
                self.let_go(ticket);
            }
            Standing::Preempted => {
                self.leaving -= 1;
                self.let_go(ticket);
            }
            Standing::Dismissed | Standing::Left => {}
        }
        ticket.standing.store(Standing::Left as u8, Ordering::Release);
        let consequence = self.learn(ticket.started(), ending, now);
        self.dispatch(now);
        consequence
    }

    /// Ends a pause whose time has come. True if it ended now.
    pub(super) fn resume(&mut self, now: Instant) -> bool {
        let over = self.paused_until.is_some_and(|until| now >= until);
        if over {
            self.paused_until = None;
            self.dispatch(now);
        }
        over
    }

    /// Forgets all trouble.
    pub(super) fn reset(&mut self, now: Instant) {
        self.paused_until = None;
        self.busy_in_a_row = 0;
        self.busy_known_upto = self.starts;
        self.breaker = Breaker::new();
        self.breaker_known_upto = self.starts;
        self.probe = None;
        self.dispatch(now);
    }

    pub(super) fn status(&self, provider: &Arc<str>, now: Instant) -> ProviderStatus {
        ProviderStatus {
            provider: Arc::clone(provider),
            limit: self.limit,
            running: self.running,
            waiting: self.waiting.len(),
            tokens: self.tokens,
            paused_ms: self.paused_until.and_then(|until| until.checked_duration_since(now)).map(super::millis),
            breaker: self.breaker.state(now),
        }
    }

    fn place(&self, priority: Priority, now: Instant) -> Place {
        let arrived = i64::try_from(now.duration_since(self.epoch).as_micros()).unwrap_or(i64::MAX);
        let head_start = i64::from(priority.class()) * AGEING.as_micros() as i64;
        let background = priority != Priority::User;
        Place { background, micros: arrived.saturating_sub(head_start), number: self.arrivals }
    }

    /// Starts whoever may start, best first; if a person still waits for a slot, takes one from
    /// background work.
    fn dispatch(&mut self, now: Instant) {
        if self.paused_until.is_some_and(|until| now < until) || self.breaker.is_open() {
            return;
        }
        while self.running < self.limit && self.probe.is_none() {
            let Some((_, ticket)) = self.waiting.pop_first() else { return };
            self.start(ticket);
        }
        self.make_room();
    }

    fn start(&mut self, ticket: Arc<Ticket>) {
        self.starts += 1;
        self.running += 1;
        self.tokens = self.tokens.saturating_add(ticket.tokens);
        ticket.started.store(self.starts, Ordering::Relaxed);
        if self.breaker.is_half_open() {
            self.probe = Some(Arc::clone(&ticket));
        }
        if ticket.priority == Priority::User {
            self.people_waiting -= 1;
        } else {
            self.preemptible.insert(ticket.victim(), Arc::clone(&ticket));
        }
        ticket.set(Standing::Running);
    }

    fn make_room(&mut self) {
        let wanted = if self.breaker.is_half_open() { self.people_waiting.min(1) } else { self.people_waiting };
        while self.leaving < wanted {
            let victim = match &self.probe {
                Some(probe) => self.preemptible.remove(&probe.victim()),
                None => self.preemptible.pop_first().map(|(_, ticket)| ticket),
            };
            let Some(victim) = victim else { return };
            self.leaving += 1;
            victim.set(Standing::Preempted);
        }
    }

    fn forget_waiting(&mut self, ticket: &Ticket) {
        self.waiting.remove(&ticket.place);
        self.people_waiting -= usize::from(ticket.priority == Priority::User);
    }

    fn let_go(&mut self, ticket: &Arc<Ticket>) {
        self.running -= 1;
        self.tokens = self.tokens.saturating_sub(ticket.tokens);
        if self.probe.as_ref().is_some_and(|probe| Arc::ptr_eq(probe, ticket)) {
            self.probe = None;
        }
    }

    fn learn(&mut self, started: u64, ending: Ending, now: Instant) -> Consequence {
        if ending == Ending::Answered && started > self.busy_known_upto {
            self.busy_in_a_row = 0;
        }
        let paused_until = match ending {
            Ending::Busy { retry_after, .. } => self.pause(started, retry_after, now),
            Ending::Answered | Ending::Broken | Ending::Neutral => None,
        };
        Consequence { paused_until, circuit: self.judge(started, ending, now) }
    }

    /// Tells the breaker, and empties the queue if that opens it.
    fn judge(&mut self, started: u64, ending: Ending, now: Instant) -> Option<Change> {
        if started <= self.breaker_known_upto {
            return None;
        }
        let change = match ending {
            Ending::Answered => self.breaker.succeeded(),
            Ending::Broken | Ending::Busy { is_failure: true, .. } => self.breaker.failed(now),
            Ending::Busy { is_failure: false, .. } | Ending::Neutral => None,
        };
        if let Some(Change::Opened(_)) = change {
            self.breaker_known_upto = self.starts;
            self.probe = None;
            self.dismiss_all();
        }
        change
    }

    fn pause(&mut self, started: u64, retry_after: Option<Duration>, now: Instant) -> Option<Instant> {
        let news = started > self.busy_known_upto;
        if news {
            self.busy_in_a_row = self.busy_in_a_row.saturating_add(1);
            self.busy_known_upto = self.starts;
        } else if retry_after.is_none() {
            return None;
        }
        let backoff = FIRST_BACKOFF * (1 << self.busy_in_a_row.saturating_sub(1).min(16));
        let until = now + retry_after.unwrap_or(backoff).min(LONGEST_PAUSE);
        if self.paused_until.is_some_and(|already| already >= until) {
            return None;
        }
        self.paused_until = Some(until);
        Some(until)
    }

    fn dismiss_all(&mut self) {
        self.people_waiting = 0;
        while let Some((_, ticket)) = self.waiting.pop_first() {
            ticket.set(Standing::Dismissed);
        }
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
