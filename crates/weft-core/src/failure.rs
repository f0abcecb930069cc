//! What can go wrong with a model call, whether trying again helps, and what to tell a person.

use serde::{Deserialize, Serialize};

/// A failed model call. One type from the provider's client to the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    /// What happened, in a sentence for people. Never contains a key.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the provider asked us to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 429: too many requests or tokens for now.
    RateLimited,
    /// 529 or its like: the provider is busy.
    Overloaded,
    /// 5xx.
    Server,
    /// The connection could not be made or was lost before an answer began.
    Network,
    /// The stream ended or broke before the answer was complete.
    StreamBroken,
    /// The stream went silent for too long.
    Idle,
    /// The key is missing or wrong.
    Auth,
    /// The key may not do this.
    Forbidden,
    /// Out of credit.
    Quota,
    /// No such model, or no such address.
    NotFound,
    /// The provider understood the request and will not take it.
    BadRequest,
    /// The conversation does not fit the model's window.
    ContextOverflow,
    /// The provider sent something that is not its protocol.
    Protocol,
    /// A person's turn needed the slot. Tried again at once, at no charge to the retry count.
    Preempted,
    /// A budget would be exceeded; nothing was sent.
    Budget,
    /// The breaker is open after repeated failures; nothing was sent.
    CircuitOpen,
    /// Weft stopped while the call was under way.
    Crashed,
    /// Stopped on request.
    Cancelled,
    /// A cassette has no recording of this request.
    NotRecorded,
    /// Set up wrongly on this machine: no such provider, a bad address.
    Config,
    #[serde(other)]
    Unknown,
}

/// How a failure is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Tried again silently.
    Transient,
    /// Tried again when the provider says so.
    RateLimit,
    /// The provider is in trouble; tried a few times, slowly.
    Degrading,
    /// Only the person can fix it.
    UserFixable,
    /// Trying again gives the same.
    Permanent,
}

impl FailureKind {
    pub const fn tier(self) -> Tier {
        match self {
            Self::Network | Self::StreamBroken | Self::Idle | Self::Protocol | Self::Preempted | Self::Crashed => {
                Tier::Transient
            }
            Self::RateLimited => Tier::RateLimit,
            Self::Overloaded | Self::Server | Self::CircuitOpen => Tier::Degrading,
            Self::Auth | Self::Forbidden | Self::Quota | Self::NotFound | Self::Budget | Self::Config => {
                Tier::UserFixable
            }
            Self::BadRequest | Self::ContextOverflow | Self::Cancelled | Self::NotRecorded | Self::Unknown => {
                Tier::Permanent
            }
        }
    }
}

/// How often and how slowly a tier is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    pub attempts: u32,
    pub first_ms: u64,
    pub longest_ms: u64,
}

impl Tier {
    pub const fn retry(self) -> Option<Retry> {
        match self {
            Self::Transient => Some(Retry { attempts: 5, first_ms: 100, longest_ms: 5_000 }),
            Self::RateLimit => Some(Retry { attempts: 10, first_ms: 1_000, longest_ms: 60_000 }),
            Self::Degrading => Some(Retry { attempts: 3, first_ms: 5_000, longest_ms: 30_000 }),
            Self::UserFixable | Self::Permanent => None,
        }
    }
}

/// Longest wait a provider can impose through `Retry-After`.
const LONGEST_RETRY_AFTER_MS: u64 = 5 * 60_000;

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, retry_after_ms: None }
    }

    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    pub fn with_retry_after(mut self, millis: Option<u64>) -> Self {
        self.retry_after_ms = millis;
        self
    }

    /// How long to wait before try number `attempt + 1`, or `None` if another try is pointless.
    /// `attempt` counts from 1.
    pub fn retry_delay_ms(&self, attempt: u32) -> Option<u64> {
        if matches!(self.kind, FailureKind::Preempted | FailureKind::Crashed) {
            return Some(0);
        }
        let retry = self.kind.tier().retry()?;
        if attempt > retry.attempts {
            return None;
        }
        let doubling = retry.first_ms.saturating_mul(1 << attempt.saturating_sub(1).min(20));
        let backoff = doubling.min(retry.longest_ms);
        Some(self.retry_after_ms.map_or(backoff, |asked| asked.min(LONGEST_RETRY_AFTER_MS)))
    }

    /// What the person can do about it.
    pub fn advice(&self) -> &'static str {
        match self.kind {
            // The message names the provider, and the command with it.
            FailureKind::Auth if self.message.contains("`weft auth ") => "Then `weft resume` goes on.",
            FailureKind::Auth => "Set a valid key with `weft auth PROVIDER`, then `weft resume`.",
            FailureKind::Forbidden => "This key may not use this model. Choose another with `--model`, or another key.",
            FailureKind::Quota => "The account has no credit left. Top it up, or choose another model with `--model`.",
            FailureKind::NotFound => {
                "Check the model's name and the provider's address; `weft models` lists the known ones."
            }
            FailureKind::Budget => "Raise or remove the budget with `weft config`, then `weft resume`.",
            FailureKind::Config => "Check the settings with `weft config` and `weft doctor`.",
            FailureKind::RateLimited | FailureKind::Overloaded | FailureKind::Server | FailureKind::CircuitOpen => {
                "The provider is busy or in trouble. Try `weft resume` later, or choose another model."
            }
            FailureKind::Network | FailureKind::StreamBroken | FailureKind::Idle => {
                "Check the network and the provider's address, then `weft resume`."
            }
            FailureKind::ContextOverflow => {
                "The conversation is too long for this model. Use one with a larger window."
            }
            FailureKind::BadRequest | FailureKind::Protocol => {
                "The provider refused or garbled this request. Try another model, or start a new session."
            }
            FailureKind::NotRecorded => "Record this conversation again: the cassette does not hold it.",
            FailureKind::Preempted | FailureKind::Crashed | FailureKind::Cancelled | FailureKind::Unknown => {
                "Try `weft resume`."
            }
        }
    }
}
