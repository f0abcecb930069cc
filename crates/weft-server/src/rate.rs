//! How often one client may ask.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// So many requests at once, and so many per second after that.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    pub burst: f64,
    pub per_second: f64,
}

/// A person's own pages ask a lot when they open.
pub const KNOWN: Allowance = Allowance { burst: 600.0, per_second: 200.0 };
/// Whoever has no token has little to ask.
pub const STRANGER: Allowance = Allowance { burst: 60.0, per_second: 5.0 };

/// More clients than this are forgotten, the full ones first.
const MOST_CLIENTS: usize = 4_096;

#[derive(Default)]
pub struct Rates {
    clients: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Whether this client may ask now.
    pub fn take(&self, client: &str, allowance: Allowance, now: Instant) -> bool {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MOST_CLIENTS && !clients.contains_key(client) {
            // Who has waited long enough has all of it back, and is as good as new.
            clients.retain(|_, bucket| now.duration_since(bucket.at).as_secs() < 60);
        }
        let bucket = clients.entry(client.to_owned()).or_insert(Bucket { left: allowance.burst, at: now });
        let earned = now.duration_since(bucket.at).as_secs_f64() * allowance.per_second;
        bucket.left = (bucket.left + earned).min(allowance.burst);
        bucket.at = now;
        if bucket.left < 1.0 {
            return false;
        }
        bucket.left -= 1.0;
        true
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
