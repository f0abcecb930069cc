//! The circuit breaker of one provider: after repeated failures nothing is sent for a while, then
//! one call at a time tries whether it works again. Pure: the time comes in with every call.

use std::time::Duration;

use tokio::time::Instant;

/// This many failures in a row open it.
const FAILURES_IN_A_ROW: u32 = 5;
/// So many latest outcomes are looked at, once there are that many.
const WINDOW: u32 = 20;
/// This many failures among them open it too.
const FAILURES_IN_WINDOW: u32 = WINDOW / 2;
const OPEN_FOR: Duration = Duration::from_secs(30);
/// This many successes in a row close it again.
const SUCCESSES_TO_CLOSE: u32 = 3;

#[derive(Debug)]
pub(super) struct Breaker {
    phase: Phase,
    failures_in_a_row: u32,
    /// The latest outcomes, one bit each, the newest lowest; set means failed.
    window: u32,
    seen: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Open { until: Instant },
    HalfOpen { successes: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Opened(Duration),
    Closed,
}

/// How a provider's breaker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// All is well.
    Closed,
    /// Nothing is sent for so many milliseconds more.
    Open { wait_ms: u64 },
    /// One call at a time tries whether the provider works again.
    HalfOpen,
}

impl Breaker {
    pub(super) const fn new() -> Self {
        Self { phase: Phase::Closed, failures_in_a_row: 0, window: 0, seen: 0 }
    }

    /// How much longer every call is refused, if it is. An open breaker whose time is over becomes
    /// half open here.
    pub(super) fn refuses(&mut self, now: Instant) -> Option<Duration> {
        match self.phase {
            Phase::Closed | Phase::HalfOpen { .. } => None,
            Phase::Open { until } if now < until => Some(until - now),
            Phase::Open { .. } => {
                self.phase = Phase::HalfOpen { successes: 0 };
                None
            }
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    pub(super) const fn is_half_open(&self) -> bool {
        matches!(self.phase, Phase::HalfOpen { .. })
    }

    pub(super) fn succeeded(&mut self) -> Option<Change> {
        match self.phase {
            Phase::Closed => {
                self.remember(false);
                None
            }
            Phase::HalfOpen { successes } if successes + 1 < SUCCESSES_TO_CLOSE => {
                self.phase = Phase::HalfOpen { successes: successes + 1 };
                None
            }
            Phase::HalfOpen { .. } => {
                *self = Self::new();
                Some(Change::Closed)
            }
            Phase::Open { .. } => None,
        }
    }

    pub(super) fn failed(&mut self, now: Instant) -> Option<Change> {
        match self.phase {
            Phase::Closed => {
                self.remember(true);
                let window_full = self.seen >= WINDOW;
                let too_many = self.failures_in_a_row >= FAILURES_IN_A_ROW
                    || (window_full && self.window.count_ones() >= FAILURES_IN_WINDOW);
                too_many.then(|| self.open(now))
            }
            Phase::HalfOpen { .. } => Some(self.open(now)),
            Phase::Open { .. } => None,
        }
    }

    pub(super) fn state(&self, now: Instant) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { until } if now < until => BreakerState::Open { wait_ms: super::millis(until - now) },
            Phase::Open { .. } | Phase::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    fn open(&mut self, now: Instant) -> Change {
        *self = Self { phase: Phase::Open { until: now + OPEN_FOR }, ..Self::new() };
        Change::Opened(OPEN_FOR)
    }

    fn remember(&mut self, failed: bool) {
        self.failures_in_a_row = if failed { self.failures_in_a_row + 1 } else { 0 };
        self.window = ((self.window << 1) | u32::from(failed)) & ((1 << WINDOW) - 1);
        self.seen = (self.seen + 1).min(WINDOW);
    }
}
