//! Budgets: what may still be spent. An estimate is reserved before a call and replaced by the
//! true cost after it, so that calls under way cannot together overrun what each of them fits in.
//!
//! The store's ledger is the truth. It is asked when a scope is first used and again when what is
//! known is older than [`FRESH_FOR`], so that two processes on one home converge. The ledger is
//! never asked under the lock.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::Instant;
use weft_core::{Cost, Failure, FailureKind, SessionId};

use super::{Admission, GateNotice};

const FRESH_FOR: Duration = Duration::from_secs(5);
/// When so much of a budget is used, in percent, people hear of it once.
const LOW_AT: u64 = 80;
/// Accounts nobody has used for a while are dropped when there are more than this many.
const MANY_ACCOUNTS: usize = 4_096;

/// How much may be spent. Absent is unlimited; zero is nothing left.
#[derive(Debug, Clone, Default)]
pub struct Budgets {
    pub global: Option<Cost>,
    pub session: Option<Cost>,
    pub task: Option<Cost>,
    pub provider: HashMap<Arc<str>, Cost>,
}

/// What a budget is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    Global,
    Session(SessionId),
    /// One turn of a session.
    Task(SessionId, u64),
    Provider(Arc<str>),
}

/// Looks up what has been spent in a scope according to the store's ledger.
pub type Ledger = Arc<dyn Fn(&Scope) -> Cost + Send + Sync>;

pub(super) struct Accounts {
    budgets: RwLock<Budgets>,
    ledger: Ledger,
    accounts: Mutex<HashMap<Scope, Account>>,
    notices: broadcast::Sender<GateNotice>,
}

#[derive(Debug)]
struct Account {
    used: Cost,
    reserved: Cost,
    /// What the ledger said when it was last asked.
    ledger: Cost,
    asked: Instant,
}

impl Accounts {
    pub(super) fn new(budgets: Budgets, ledger: Ledger, notices: broadcast::Sender<GateNotice>) -> Self {
        Self { budgets: RwLock::new(budgets), ledger, accounts: Mutex::default(), notices }
    }

    /// Other budgets from the next call on. What a scope has spent until then, the ledger knows.
    pub(super) fn renew(&self, budgets: Budgets) {
        *self.budgets.write().unwrap_or_else(PoisonError::into_inner) = budgets;
    }

    /// Whether any budget applies to the call.
    pub(super) fn apply_to(&self, admission: &Admission) -> bool {
        !self.limits(admission).is_empty()
    }

    /// Whether the call can ever fit: what is already used, without what others have reserved.
    pub(super) fn check(&self, admission: &Admission) -> Result<(), Failure> {
        let limits = self.limits(admission);
        self.refresh(&limits, admission);
        self.fits(&self.lock(), &limits, admission.estimate.cost, false)
    }

    /// Sets the estimate aside until the reservation is settled or dropped.
    pub(super) fn reserve(self: &Arc<Self>, admission: &Admission) -> Result<Reservation, Failure> {
        let limits = self.limits(admission);
        self.refresh(&limits, admission);
        let estimate = admission.estimate.cost;
        let mut accounts = self.lock();
        self.fits(&accounts, &limits, estimate, true)?;
        for (scope, _) in &limits {
            if let Some(account) = accounts.get_mut(scope) {
                account.reserved += estimate;
            }
        }
        drop(accounts);
        Ok(Reservation { accounts: Arc::clone(self), limits, estimate, cost: Cost::ZERO })
    }

    /// The budgets that apply, in the order in which they are checked.
    fn limits(&self, admission: &Admission) -> Vec<(Scope, Cost)> {
        let budgets = self.budgets.read().unwrap_or_else(PoisonError::into_inner);
        let task = admission.task.map(|task| Scope::Task(admission.session, task));
        let provider = budgets.provider.get(&admission.provider).copied();
        [
            (Some(Scope::Global), budgets.global),
            (Some(Scope::Session(admission.session)), budgets.session),
            (task, budgets.task),
            (Some(Scope::Provider(Arc::clone(&admission.provider))), provider),
        ]
        .into_iter()
        .filter_map(|(scope, limit)| scope.zip(limit))
        .collect()
    }

    /// Asks the ledger about scopes that are new or stale. A free call fits anyway.
    fn refresh(&self, limits: &[(Scope, Cost)], admission: &Admission) {
        if admission.estimate.cost.is_zero() {
            return;
        }
        for (scope, _) in limits {
            let now = Instant::now();
            if !self.claim(scope, now) {
                continue;
            }
            let spent = (self.ledger)(scope);
            let mut accounts = self.lock();
            if accounts.len() > MANY_ACCOUNTS {
                accounts.retain(|_, account| !account.reserved.is_zero() || now - account.asked < FRESH_FOR);
            }
            accounts.entry(scope.clone()).and_modify(|account| account.learn(spent)).or_insert(Account {
                used: spent,
                reserved: Cost::ZERO,
                ledger: spent,
                asked: now,
            });
        }
    }

    /// Whether the caller shall ask the ledger. Of many callers with a stale account only the first
    /// asks; the others go by what is known.
    fn claim(&self, scope: &Scope, now: Instant) -> bool {
        match self.lock().get_mut(scope) {
            None => true,
            Some(account) if now - account.asked >= FRESH_FOR => {
                account.asked = now;
                true
            }
            Some(_) => false,
        }
    }

    fn fits(
        &self,
        accounts: &HashMap<Scope, Account>,
        limits: &[(Scope, Cost)],
        estimate: Cost,
        with_reserved: bool,
    ) -> Result<(), Failure> {
        if estimate.is_zero() {
            return Ok(());
        }
        for (scope, limit) in limits {
            let Some(account) = accounts.get(scope) else { continue };
            let reserved = if with_reserved { account.reserved } else { Cost::ZERO };
            if account.used + reserved + estimate > *limit {
                return Err(exceeded(scope, *limit, account.used, reserved, estimate));
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    /// Takes over the ledger's total. What was settled here a moment ago may not be in it yet, so
    /// a total that only lags changes nothing; one that went down was reset.
    fn learn(&mut self, spent: Cost) {
        self.used = if spent < self.ledger { spent } else { spent.max(self.used) };
        self.ledger = spent;
    }

    /// Whether booking `cost` makes a budget of `limit` run low. It does so only once.
    fn runs_low(&self, cost: Cost, limit: Cost) -> bool {
        let mark = limit.percent(LOW_AT);
        self.used < mark && self.used + cost >= mark
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("The overall budget"),
            Self::Session(_) => f.write_str("This session's budget"),
            Self::Task(..) => f.write_str("This turn's budget"),
            Self::Provider(provider) => write!(f, "The budget for {provider}"),
        }
    }
}

fn exceeded(scope: &Scope, limit: Cost, used: Cost, reserved: Cost, estimate: Cost) -> Failure {
    let under_way =
        if reserved.is_zero() { String::new() } else { format!(", {reserved} more is set aside for calls under way") };
    let message =
        format!("{scope} is {limit}: {used} is used{under_way}, and this call may cost {estimate}. Nothing was sent.");
    Failure::new(FailureKind::Budget, message)
}

/// Money set aside for one call. Dropping it frees the money and books what was settled.
pub(super) struct Reservation {
    accounts: Arc<Accounts>,
    limits: Vec<(Scope, Cost)>,
    estimate: Cost,
    cost: Cost,
}

impl Reservation {
    /// Books the true cost instead of the estimate.
    pub(super) fn settle(mut self, cost: Cost) {
        self.cost = cost;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.limits.is_empty() {
            return;
        }
        let mut accounts = self.accounts.lock();
        for (scope, limit) in &self.limits {
            let Some(account) = accounts.get_mut(scope) else { continue };
            account.reserved = account.reserved.saturating_sub(self.estimate);
            let runs_low = account.runs_low(self.cost, *limit);
            account.used += self.cost;
            if runs_low {
                let notice = GateNotice::BudgetLow { scope: scope.clone(), used: account.used, limit: *limit };
                // Nobody listening is fine: notices are for showing only.
                let _ = self.accounts.notices.send(notice);
            }
        }
    }
}
