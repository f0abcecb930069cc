//! Hands keys to tools without letting anybody see them. An agent names a provider, never a value;
//! what it may ask for is a table, what is not in it is refused. What it gets is a handle that works
//! once and for half a minute; the value is taken from the vault only when the tool resolves the
//! handle, and wiped when the tool drops it.
//!
//! The first use of an agent and a provider may need a person's yes ([`Requested::NeedsConsent`]);
//! the guard asks and says what came of it with [`Broker::settle`].

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weft_core::CallId;
use zeroize::Zeroizing;

/// How long a handle works.
pub const HANDLE_LIFE: Duration = Duration::from_secs(30);

/// A value. It is wiped from memory when it is dropped.
pub struct Credential(Zeroizing<String>);

impl Credential {
    pub fn new(value: impl Into<String>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

/// Where values come from.
pub trait Keys: Send + Sync {
    /// Whether there is a value, without looking at it.
    fn has(&self, provider: &str) -> bool;
    fn get(&self, provider: &str) -> Result<Option<Credential>, String>;
}

/// What an agent may ask for. `*` is everything; what is denied is denied whatever is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
    /// Whether the first use of anything but a model's key needs a person's yes.
    pub asks: bool,
}

/// The scopes of the built-in agents: agent, allowed, denied, asks.
const SCOPES: [(&str, &[&str], &[&str], bool); 10] = [
    ("librarian", &["openai", "anthropic", "voyage"], &["github", "aws"], false),
    ("academic", &["openai", "anthropic", "google", "serpapi"], &["github", "aws"], false),
    ("archivalist", &["openai", "anthropic"], &["github", "aws"], false),
    ("tester", &["openai", "anthropic"], &["github", "aws"], false),
    ("architect", &["openai", "anthropic"], &["github", "aws"], false),
    ("inspector", &["openai", "anthropic"], &["github", "aws", "figma"], false),
    ("guide", &["openai", "anthropic"], &["github", "aws", "figma"], false),
    ("engineer", &["openai", "anthropic", "github"], &[], true),
    ("designer", &["openai", "anthropic", "figma"], &[], true),
    ("orchestrator", &[], &["*"], false),
];

/// Whoever runs has been given these already, to think with.
const MODEL_PROVIDERS: [&str; 4] = ["openai", "anthropic", "google", "gemini"];

/// The scopes of all agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(BTreeMap<String, Scope>);

impl Default for Scopes {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let scope = |(agent, allowed, denied, asks): &(&str, &[&str], &[&str], bool)| {
            ((*agent).to_owned(), Scope { allowed: owned(allowed), denied: owned(denied), asks: *asks })
        };
        Self(SCOPES.iter().map(scope).collect())
    }
}

impl Scopes {
    /// The person's own word on an agent. It takes the place of what was there.
    pub fn set(&mut self, agent: &str, scope: Scope) {
        self.0.insert(agent.to_owned(), scope);
    }

    /// A project's word on an agent. It can forbid more and ask more often, never less: it may have
    /// been written by somebody else.
    pub fn narrow(&mut self, agent: &str, by: &Scope) {
        let scope = self.0.entry(agent.to_owned()).or_default();
        if !by.allowed.iter().any(|name| name == "*") {
            let wanted = |name: &String| by.allowed.contains(name);
            if scope.allowed.iter().any(|name| name == "*") {
                scope.allowed.clone_from(&by.allowed);
            } else {
                scope.allowed.retain(wanted);
            }
        }
        scope.denied.extend(by.denied.iter().cloned());
        scope.asks |= by.asks;
    }
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the agent `{agent}` may not use the key for `{provider}`")]
    Scope { agent: String, provider: String },
    #[error("there is no key for `{provider}`: the person can add it with `weft auth {provider}`")]
    NotFound { provider: String },
    #[error("the person does not want `{agent}` to use the key for `{provider}`")]
    ByPerson { agent: String, provider: String },
}

/// Why a handle no longer works.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("this permission to use a key has expired; ask for it again")]
    Expired,
    #[error("this permission to use a key was used or taken back; ask for it again")]
    Gone,
    #[error("the key could not be read: {0}")]
    Unreadable(String),
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Requested {
    Granted(Handle),
    /// A person has to say yes first.
    NeedsConsent,
    Denied(Refused),
}

/// Works once. It says nothing about the value.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Handle(u64);

/// What a person says to the first use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    Allowed,
    Denied,
}

/// What happened to a credential, for the record. There is never a value in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialUse {
    pub act: CredentialAct,
    pub agent: String,
    pub provider: String,
    pub call: Option<CallId>,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialAct {
    Granted,
    Denied,
    Pending,
    Resolved,
    Revoked,
    Expired,
}

struct Issued {
    agent: String,
    provider: String,
    call: CallId,
    expires: Instant,
}

#[derive(Default)]
struct Desk {
    consents: HashMap<(String, String), Consent>,
    issued: HashMap<u64, Issued>,
    last: u64,
}

/// Tells the time; tests tell it what they like.
pub type Now = Arc<dyn Fn() -> Instant + Send + Sync>;
pub type Listener = Arc<dyn Fn(&CredentialUse) + Send + Sync>;

pub struct Broker {
    keys: Arc<dyn Keys>,
    scopes: Scopes,
    now: Now,
    listener: Listener,
    desk: Mutex<Desk>,
}

impl Broker {
    pub fn new(keys: Arc<dyn Keys>, scopes: Scopes, listener: Listener) -> Self {
        Self { keys, scopes, now: Arc::new(Instant::now), listener, desk: Mutex::default() }
    }

    #[must_use]
    pub fn with_clock(self, now: Now) -> Self {
        Self { now, ..self }
    }

    /// Asks for the use of a provider's key in one call.
    pub fn request(&self, agent: &str, provider: &str, call: &CallId) -> Requested {
        let mut desk = self.swept();
        let (act, requested) = match self.judge(&desk, agent, provider) {
            Err(refused) => (CredentialAct::Denied, Requested::Denied(refused)),
            Ok(false) => (CredentialAct::Pending, Requested::NeedsConsent),
            Ok(true) => {
                desk.last += 1;
                let number = desk.last;
                let expires = (self.now)() + HANDLE_LIFE;
                let issued =
                    Issued { agent: agent.to_owned(), provider: provider.to_owned(), call: call.clone(), expires };
                desk.issued.insert(number, issued);
                (CredentialAct::Granted, Requested::Granted(Handle(number)))
            }
        };
        drop(desk);
        let reason = match &requested {
            Requested::Denied(refused) => Some(refused.to_string()),
            Requested::Granted(_) | Requested::NeedsConsent => None,
        };
        self.tell(act, agent, provider, Some(call), reason);
        requested
    }

    /// What a person said to the first use of a provider's key by an agent.
    pub fn settle(&self, agent: &str, provider: &str, consent: Consent) {
        self.desk().consents.insert((agent.to_owned(), provider.to_owned()), consent);
    }

    /// The value, once and in time.
    pub fn resolve(&self, handle: Handle) -> Result<Credential, Unresolved> {
        let issued = self.desk().issued.remove(&handle.0).ok_or(Unresolved::Gone)?;
        let (agent, provider) = (issued.agent.as_str(), issued.provider.as_str());
        if (self.now)() >= issued.expires {
            self.tell(CredentialAct::Expired, agent, provider, Some(&issued.call), None);
            return Err(Unresolved::Expired);
        }
        let value = self.keys.get(provider).map_err(Unresolved::Unreadable)?;
        let value = value.ok_or_else(|| Unresolved::Unreadable("it was removed".to_owned()))?;
        self.tell(CredentialAct::Resolved, agent, provider, Some(&issued.call), None);
        Ok(value)
    }

    /// Takes back what a call asked for and did not use.
    pub fn end_call(&self, call: &CallId) {
        let unused: Vec<Issued> =
            self.desk().issued.extract_if(|_, issued| issued.call == *call).map(|(_, issued)| issued).collect();
        for issued in unused {
            self.tell(CredentialAct::Revoked, &issued.agent, &issued.provider, Some(call), None);
        }
    }

    /// Whether a key may be used at once. `false`: after a person's yes.
    fn judge(&self, desk: &Desk, agent: &str, provider: &str) -> Result<bool, Refused> {
        let (agent, provider) = (agent.to_owned(), provider.to_owned());
        let named = |names: &[String]| names.iter().any(|name| *name == provider || name == "*");
        // Agents that nobody knows may use nothing.
        let scope = self.scopes.0.get(&agent).filter(|scope| !named(&scope.denied) && named(&scope.allowed));
        let Some(scope) = scope else { return Err(Refused::Scope { agent, provider }) };
        if !self.keys.has(&provider) {
            return Err(Refused::NotFound { provider });
        }
        if !scope.asks || MODEL_PROVIDERS.contains(&provider.as_str()) {
            return Ok(true);
        }
        match desk.consents.get(&(agent.clone(), provider.clone())) {
            Some(Consent::Allowed) => Ok(true),
            Some(Consent::Denied) => Err(Refused::ByPerson { agent, provider }),
            None => Ok(false),
        }
    }

    /// The desk without what has expired.
    fn swept(&self) -> MutexGuard<'_, Desk> {
        let now = (self.now)();
        let mut desk = self.desk();
        for (_, issued) in desk.issued.extract_if(|_, issued| now >= issued.expires) {
            self.tell(CredentialAct::Expired, &issued.agent, &issued.provider, Some(&issued.call), None);
        }
        desk
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, act: CredentialAct, agent: &str, provider: &str, call: Option<&CallId>, reason: Option<String>) {
        let (agent, provider) = (agent.to_owned(), provider.to_owned());
        (self.listener)(&CredentialUse { act, agent, provider, call: call.cloned(), reason });
    }
}

#[cfg(test)]
#[path = "broker_tests.rs"]
mod tests;
