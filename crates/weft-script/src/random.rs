//! Faults by chance, the same for the same seed.

use std::str::FromStr;

use crate::reply::{Fault, Reply, failure, status};

/// With probability `rate` a request meets a fault that a good client survives by trying again or
/// by waiting a little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomFaults {
    pub seed: u64,
    pub rate: f64,
}

#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not a fault setting; write seed=NUMBER,rate=NUMBER with a rate from 0 to 1")]
pub struct ParseFaultsError(String);

impl RandomFaults {
    /// Whether the request with this number goes wrong.
    pub(crate) fn strikes(&self, number: usize) -> bool {
        let draw = mix(self.seed ^ number as u64);
        // 53 bits fit a float exactly.
        let fraction = (draw >> 11) as f64 / (1_u64 << 53) as f64;
        fraction < self.rate
    }

    /// The reply as it goes wrong.
    pub(crate) fn spoil(&self, reply: Reply, number: usize) -> Reply {
        let draw = mix(mix(self.seed ^ number as u64));
        let pieces = (draw >> 8) as usize % (reply.pieces.len() + 1);
        match draw % 10 {
            0 => failure(500, "api_error", "Internal server error"),
            1 => failure(529, "overloaded_error", "Overloaded"),
            2 => failure(429, "rate_limit_error", "Too many requests").header("retry-after", "0"),
            3 => status(502, "<html><body>Bad gateway</body></html>"),
            4 => reply.fault(Fault::ResetBefore),
            5 => reply.fault(Fault::ResetAfter { pieces }),
            6 => reply.fault(Fault::CutAfter { pieces }),
            7 => reply.fault(Fault::SplitBytes),
            8 => reply.fault(Fault::SlowChunks { ms: 3 }),
            _ => reply.fault(Fault::Delay { ms: 50 }),
        }
    }
}

impl FromStr for RandomFaults {
    type Err = ParseFaultsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseFaultsError(text.to_owned());
        let mut faults = Self { seed: 1, rate: 0.1 };
        for setting in text.split(',') {
            match setting.split_once('=').ok_or_else(wrong)? {
                ("seed", seed) => faults.seed = seed.parse().map_err(|_| wrong())?,
                ("rate", rate) => faults.rate = rate.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        if (0.0..=1.0).contains(&faults.rate) { Ok(faults) } else { Err(wrong()) }
    }
}

/// SplitMix64: every input gives a well-mixed output, so no state is needed.
fn mix(input: u64) -> u64 {
    let mut mixed = input.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
