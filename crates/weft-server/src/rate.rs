//! How often one client may ask.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// So many requests at once, and so many per second after that.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    burst: f64,
    per_second: f64,
}

/// A person's own pages ask a lot when they open.
const KNOWN: Allowance = Allowance { burst: 600.0, per_second: 200.0 };
/// Whoever has no token has little to ask.
const STRANGER: Allowance = Allowance { burst: 60.0, per_second: 5.0 };

/// More clients than this are not remembered; strangers beyond it wait.
const MOST_CLIENTS: usize = 4_096;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Client {
    /// Whoever has the token of this name.
    Known(String),
    /// Whoever asks from here without one.
    Stranger(IpAddr),
}

impl Client {
    /// One machine of the newer protocol has many addresses, which all begin alike.
    pub fn stranger(address: IpAddr) -> Self {
        Self::Stranger(match address.to_canonical() {
            IpAddr::V6(long) => IpAddr::V6((u128::from(long) & !u128::from(u64::MAX)).into()),
            short @ IpAddr::V4(_) => short,
        })
    }

    const fn allowance(&self) -> Allowance {
        match self {
            Self::Known(_) => KNOWN,
            Self::Stranger(_) => STRANGER,
        }
    }
}

#[derive(Default)]
pub struct Rates {
    clients: Mutex<HashMap<Client, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Whether this client may ask now.
    pub fn take(&self, client: Client, now: Instant) -> bool {
        let allowance = client.allowance();
        self.take_of(client, allowance, now)
    }

    fn take_of(&self, client: Client, allowance: Allowance, now: Instant) -> bool {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= MOST_CLIENTS && !clients.contains_key(&client) {
            // Who has waited long enough has all of it back, and is as good as new.
            clients.retain(|_, bucket| now.duration_since(bucket.at).as_secs() < 60);
            // Of those with a token there are few; they are let in however many others ask.
            if clients.len() >= MOST_CLIENTS && matches!(client, Client::Stranger(_)) {
                return false;
            }
        }
        let bucket = clients.entry(client).or_insert(Bucket { left: allowance.burst, at: now });
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
