//! Reasoning that a provider will not take back.
//!
//! Providers tie reasoning to the model, and some to the exact conversation, that it came from. After
//! a switch of models or a compaction they may refuse it. Which ones do cannot be known beforehand,
//! so the refusal is taken as the sign, and remembered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use weft_core::{Failure, FailureKind, SessionId};

use super::wire;
use crate::model::Request;

/// Up to which message of a session reasoning is no longer sent.
#[derive(Default)]
pub(super) struct Forgotten(Mutex<HashMap<SessionId, u64>>);

impl Forgotten {
    /// More sessions than this in such a state are not expected; forgetting them costs one refusal.
    const MOST: usize = 10_000;

    pub(super) fn upto(&self, session: SessionId) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session).copied()
    }

    /// Takes note of a refusal. Says whether sending the request again can help.
    pub(super) fn learn(&self, request: &Request, failure: &Failure) -> bool {
        let words = failure.message.to_lowercase();
        let about_reasoning = words.contains("signature") || words.contains("encrypted");
        let Some(last) = request.messages.last().filter(|_| failure.kind == FailureKind::BadRequest && about_reasoning)
        else {
            return false;
        };
        let known = self.upto(request.session);
        let still_sent = request.messages.iter().filter(|entry| known.is_none_or(|upto| entry.seq > upto));
        if !still_sent.into_iter().any(|entry| wire::without_reasoning(&entry.message).is_some()) {
            return false;
        }
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= Self::MOST {
            sessions.clear();
        }
        sessions.insert(request.session, last.seq);
        true
    }
}
