//! Numbers with a meaning: moments, money, tokens.

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub const fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add_unsigned(millis))
    }
    /// Milliseconds from `earlier` to `self`; zero if the clock went backwards.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

/// Money, in billionths of a US dollar, so that single tokens can be counted exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub u64);

impl Cost {
    pub const ZERO: Self = Self(0);

    pub fn from_usd(usd: f64) -> Self {
        if usd.is_finite() && usd > 0.0 { Self((usd * 1e9).round() as u64) } else { Self::ZERO }
    }
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e9
    }
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    pub const fn percent(self, share: u64) -> Self {
        Self(self.0 / 100 * share + self.0 % 100 * share / 100)
    }
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Cost {
    /// Cents when it is cents, more digits when it is less than that.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usd = self.usd();
        if self.0 == 0 || usd >= 0.095 { write!(f, "${usd:.2}") } else { write!(f, "${usd:.4}") }
    }
}

/// What one model call used. `input` counts everything sent, cached or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    /// The part of `input` that the provider read from its cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    /// The part of `input` that the provider wrote to its cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// The part of `output` that was reasoning.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// A cautious guess at how many tokens a text has, for when nobody has counted: four bytes each.
pub const fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
