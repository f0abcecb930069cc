//! Notices when a provider fails again and again. One failure is retried without a word; several
//! within seconds, in whatever sessions, are told to the person, once in a while.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use weft_core::{Failure, FailureKind, Timestamp};

const MANY: usize = 3;
const WITHIN_MS: u64 = 10_000;
const QUIET_MS: u64 = 60_000;

#[derive(Default)]
pub struct Troubles {
    providers: Mutex<HashMap<Arc<str>, Recent>>,
}

#[derive(Default)]
struct Recent {
    failures: VecDeque<Timestamp>,
    told: Option<Timestamp>,
}

impl Troubles {
    /// Counts a failure; says what the person should hear of it.
    pub fn note(&self, provider: &Arc<str>, failure: &Failure, now: Timestamp) -> Option<String> {
        if !is_its_fault(failure.kind) {
            return None;
        }
        let mut providers = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = providers.entry(Arc::clone(provider)).or_default();
        recent.failures.push_back(now);
        while recent.failures.front().is_some_and(|at| now.millis_since(*at) > WITHIN_MS) {
            recent.failures.pop_front();
        }
        let is_quiet = recent.told.is_some_and(|told| now.millis_since(told) < QUIET_MS);
        if recent.failures.len() < MANY || is_quiet {
            return None;
        }
        recent.told = Some(now);
        let times = recent.failures.len();
        Some(format!(
            "{provider} is in trouble: it failed {times} times in the last {} seconds. Last: {} It is tried again; \
             `--model` or `/model` chooses another one.",
            WITHIN_MS / 1000,
            sentence(&failure.message)
        ))
    }
}

/// Being asked to wait is none, and neither is what a person has to mend.
const fn is_its_fault(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Network
        | FailureKind::StreamBroken
        | FailureKind::Idle
        | FailureKind::Protocol
        | FailureKind::Overloaded
        | FailureKind::Server => true,
        FailureKind::RateLimited
        | FailureKind::Auth
        | FailureKind::Forbidden
        | FailureKind::Quota
        | FailureKind::NotFound
        | FailureKind::BadRequest
        | FailureKind::ContextOverflow
        | FailureKind::Preempted
        | FailureKind::Budget
        | FailureKind::CircuitOpen
        | FailureKind::Cancelled
        | FailureKind::Config
        | FailureKind::Crashed
        | FailureKind::NotRecorded
        | FailureKind::Unknown => false,
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;
