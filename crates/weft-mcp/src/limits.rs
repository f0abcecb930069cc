//! How much a source may send, and how long it may take. A source that goes beyond is cut off; none
//! of these can be raised by the source itself.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// One message, as it comes over the wire.
    pub message_bytes: usize,
    /// Everything that comes in between two answers: notifications, rubbish, answers to nothing.
    pub unasked_bytes: u64,
    /// What is kept of one result's text.
    pub kept_bytes: usize,
    pub tools: usize,
    /// Pages of a list, each of which may be empty.
    pub pages: usize,
    pub name_chars: usize,
    pub description_chars: usize,
    pub schema_bytes: usize,
    /// To start and introduce itself.
    pub connect: Duration,
    /// For one call, without a sign of progress.
    pub call: Duration,
    /// For one call in any case.
    pub call_with_progress: Duration,
    /// After this without use it is stopped.
    pub idle: Duration,
    /// How long a turn waits for a list that is not known yet.
    pub turn_wait: Duration,
    /// The pause after the first failed start; it doubles with each one.
    pub backoff: Duration,
    pub longest_backoff: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 8 * 1024 * 1024,
            unasked_bytes: 64 * 1024 * 1024,
            kept_bytes: 1024 * 1024,
            tools: 200,
            pages: 50,
            name_chars: 48,
            description_chars: 1_500,
            schema_bytes: 32 * 1024,
            connect: Duration::from_secs(30),
            call: Duration::from_secs(60),
            call_with_progress: Duration::from_secs(30 * 60),
            idle: Duration::from_secs(5 * 60),
            turn_wait: Duration::from_secs(2),
            backoff: Duration::from_secs(1),
            longest_backoff: Duration::from_secs(60),
        }
    }
}
