//! How far a turn may go. `None` is unlimited; zero is none at all.

use serde::{Deserialize, Serialize};

use crate::units::Cost;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub rounds: Option<u32>,
    pub tool_calls: Option<u32>,
    pub wall_clock_ms: Option<u64>,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
    /// This many rounds in a row in which every tool failed end the turn.
    pub failed_rounds: Option<u32>,
    /// This many rounds in a row with the same calls and the same results end the turn.
    pub repeats: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: Some(200),
            tool_calls: Some(1_000),
            wall_clock_ms: Some(6 * 3_600_000),
            tokens: None,
            cost: None,
            failed_rounds: Some(3),
            repeats: Some(3),
        }
    }
}
