//! The one place that reads the time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use weft_core::Timestamp;

#[derive(Debug, Clone, Copy)]
pub enum Clock {
    /// The machine's.
    System,
    /// A moment plus tokio's time since, so that a paused runtime can simulate days.
    Since { base: Timestamp, start: Instant },
}

impl Clock {
    pub fn since(base: Timestamp) -> Self {
        Self::Since { base, start: Instant::now() }
    }

    #[allow(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> Timestamp {
        let elapsed = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        match self {
            Self::System => Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, elapsed)),
            Self::Since { base, start } => Timestamp(base.0.saturating_add(elapsed(start.elapsed()))),
        }
    }

    /// Waits until that moment; returns at once if it has passed.
    pub async fn sleep_until(&self, at: Timestamp) {
        tokio::time::sleep(Duration::from_millis(at.millis_since(self.now()))).await;
    }
}
