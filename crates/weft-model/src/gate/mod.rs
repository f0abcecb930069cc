//! The gate: the only way to a model.
//!
//! Every call waits here for a slot of its provider (people first, then by class and age), is
//! checked against the budgets, and is watched to its end: what it cost is settled, a busy provider
//! is left alone for a while, a broken one is cut off. The gate never changes a request or an
//! answer, and never tries a call again; that is the engine's decision.
//!
//! [`call`] is a call's way through, [`lane`] the queue of one provider, [`breaker`] its circuit breaker, [`budget`] the money.

mod breaker;
mod budget;
mod call;
mod lane;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use weft_core::{Cost, SessionId, Usage};

pub use breaker::BreakerState;
use breaker::Change;
use budget::Accounts;
pub use budget::{Budgets, Ledger, Scope};
pub use call::unpriced;
use lane::{Consequence, Ending, Lane, Ticket};

use crate::model::{ChunkStream, Model, Request};

/// How urgent a call is. A consultation has the priority of whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    Knowledge = 20,
    Check = 40,
    Worker = 60,
    Architect = 80,
    User = 100,
}

impl Priority {
    /// Counts the classes from the lowest, which is 0.
    const fn class(self) -> u8 {
        self as u8 / 20 - 1
    }
}

/// Who asks for a call, and what it may take.
#[derive(Debug, Clone)]
pub struct Admission {
    pub provider: Arc<str>,
    pub priority: Priority,
    pub session: SessionId,
    /// The turn within the session, for its budget.
    pub task: Option<u64>,
    pub estimate: Estimate,
    /// Ends the call wherever it is. Its last item then says what it is known to have used.
    pub cancel: CancellationToken,
}

/// What a call is expected to use at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    pub tokens: u64,
    /// How many of them are sent.
    pub input: u64,
    pub cost: Cost,
    /// Nobody knows what the model costs, so no budget can be kept with it.
    pub unpriced: bool,
}

/// What so much use of a provider's model costs.
pub type Price = Arc<dyn Fn(&str, &str, &Usage) -> Cost + Send + Sync>;

#[derive(Clone)]
pub struct GateConfig {
    /// How many calls a provider gets at once, unless `concurrency_of` says otherwise.
    pub concurrency: usize,
    pub concurrency_of: HashMap<Arc<str>, usize>,
    pub budgets: Budgets,
    pub price: Price,
    pub spent: Ledger,
}

impl Default for GateConfig {
    /// No budgets, nothing spent, everything free.
    fn default() -> Self {
        Self {
            concurrency: 64,
            concurrency_of: HashMap::new(),
            budgets: Budgets::default(),
            price: Arc::new(|_, _, _| Cost::ZERO),
            spent: Arc::new(|_| Cost::ZERO),
        }
    }
}

/// Something that people who wait may want to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateNotice {
    /// The provider is busy; its calls wait for so many milliseconds.
    Paused {
        provider: Arc<str>,
        wait_ms: u64,
    },
    Resumed {
        provider: Arc<str>,
    },
    /// The provider failed repeatedly; its calls are refused for so many milliseconds.
    CircuitOpened {
        provider: Arc<str>,
        wait_ms: u64,
    },
    CircuitClosed {
        provider: Arc<str>,
    },
    /// A call of this session gave way to a person's.
    Preempted {
        provider: Arc<str>,
        session: SessionId,
    },
    /// Most of a budget is used. Told once; work goes on until it is used up.
    BudgetLow {
        scope: Scope,
        used: Cost,
        limit: Cost,
    },
}

/// How one provider stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderStatus {
    pub provider: Arc<str>,
    pub limit: usize,
    pub running: usize,
    pub waiting: usize,
    /// What the running calls are expected to use.
    pub tokens: u64,
    /// How much longer calls wait because the provider is busy.
    pub paused_ms: Option<u64>,
    pub breaker: BreakerState,
}

/// The gate itself. Clones are the same gate.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
}

struct Shared {
    concurrency: usize,
    concurrency_of: HashMap<Arc<str>, usize>,
    price: Price,
    accounts: Arc<Accounts>,
    providers: Mutex<BTreeMap<Arc<str>, Arc<Provider>>>,
    notices: broadcast::Sender<GateNotice>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("providers", &self.status()).finish()
    }
}

impl Gate {
    pub fn new(config: GateConfig) -> Self {
        const NOTICES_KEPT: usize = 64;
        let (notices, _) = broadcast::channel(NOTICES_KEPT);
        let shared = Shared {
            concurrency: config.concurrency,
            concurrency_of: config.concurrency_of,
            price: config.price,
            accounts: Arc::new(Accounts::new(config.budgets, config.spent, notices.clone())),
            providers: Mutex::default(),
            notices,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Asks `model`, when its turn comes. The call joins the queue when the stream is first polled;
    /// dropping the stream at any time gives everything back.
    pub fn stream(&self, model: Arc<dyn Model>, request: Request, admission: Admission) -> ChunkStream {
        call::stream(self.clone(), model, request, admission)
    }

    /// Other budgets, which hold from the next call on.
    pub fn renew(&self, budgets: Budgets) {
        self.shared.accounts.renew(budgets);
    }

    /// How every provider that was ever asked stands, by name.
    pub fn status(&self) -> Vec<ProviderStatus> {
        let providers: Vec<_> = lock(&self.shared.providers).values().cloned().collect();
        let now = Instant::now();
        providers.iter().map(|provider| lock(&provider.lane).status(&provider.name, now)).collect()
    }

    /// How much longer calls to this provider wait because it is busy.
    pub fn paused_ms(&self, provider: &str) -> Option<u64> {
        let provider = lock(&self.shared.providers).get(provider).cloned()?;
        let status = lock(&provider.lane).status(&provider.name, Instant::now());
        status.paused_ms
    }

    /// Forgets a provider's pause and closes its breaker, because a person says it works again.
    pub fn reset(&self, provider: &str) {
        let Some(provider) = lock(&self.shared.providers).get(provider).cloned() else { return };
        lock(&provider.lane).reset(Instant::now());
        provider.tell(GateNotice::Resumed { provider: Arc::clone(&provider.name) });
        provider.tell(GateNotice::CircuitClosed { provider: Arc::clone(&provider.name) });
    }

    /// What happens from now on. A subscriber that lags misses the oldest notices.
    pub fn subscribe(&self) -> broadcast::Receiver<GateNotice> {
        self.shared.notices.subscribe()
    }

    fn provider(&self, name: &Arc<str>) -> Arc<Provider> {
        let mut providers = lock(&self.shared.providers);
        if let Some(provider) = providers.get(name) {
            return Arc::clone(provider);
        }
        let limit = self.shared.concurrency_of.get(name).copied().unwrap_or(self.shared.concurrency);
        let provider = Arc::new(Provider {
            name: Arc::clone(name),
            lane: Mutex::new(Lane::new(limit, Instant::now())),
            last_failure: Mutex::default(),
            notices: self.shared.notices.clone(),
        });
        providers.insert(Arc::clone(name), Arc::clone(&provider));
        provider
    }
}

struct Provider {
    name: Arc<str>,
    lane: Mutex<Lane>,
    /// Why a call last failed by the provider's fault, for whoever is refused because of it.
    last_failure: Mutex<Option<String>>,
    notices: broadcast::Sender<GateNotice>,
}

impl Provider {
    fn tell(&self, notice: GateNotice) {
        // Nobody listening is fine: notices are for showing only.
        let _ = self.notices.send(notice);
    }

    fn leave(self: &Arc<Self>, ticket: &Arc<Ticket>, ending: Ending) {
        let now = Instant::now();
        let Consequence { paused_until, circuit } = lock(&self.lane).leave(ticket, ending, now);
        let provider = || Arc::clone(&self.name);
        if let Some(until) = paused_until {
            self.resume_at(until);
            self.tell(GateNotice::Paused { provider: provider(), wait_ms: millis(until - now) });
        }
        match circuit {
            Some(Change::Opened(wait)) => {
                self.tell(GateNotice::CircuitOpened { provider: provider(), wait_ms: millis(wait) });
            }
            Some(Change::Closed) => self.tell(GateNotice::CircuitClosed { provider: provider() }),
            None => {}
        }
    }

    /// One timer per pause wakes the lane, however many calls wait in it.
    fn resume_at(self: &Arc<Self>, until: Instant) {
        let provider = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            let Some(provider) = provider.upgrade() else { return };
            let resumed = lock(&provider.lane).resume(Instant::now());
            if resumed {
                provider.tell(GateNotice::Resumed { provider: Arc::clone(&provider.name) });
            }
        });
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
