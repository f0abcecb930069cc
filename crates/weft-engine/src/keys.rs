//! Where the keys for tools come from: the environment, then the vault. What becomes of each is
//! recorded.

use std::sync::Arc;

use weft_core::Timestamp;
use weft_store::Vault;
use weft_store::audit::{Audit, Category, Entry, Outcome, Severity};
use weft_tool::broker::{Broker, Credential, CredentialAct, CredentialUse, Keys, Scopes};

use crate::clock::Clock;
use crate::config::Config;
use crate::engine::Env;
use crate::paths::Home;

/// The person's vault, with the keys of the chosen profile.
pub fn vault(home: &Home, config: &Config) -> Vault {
    Vault::open(&home.config).with_profile(config.profile.as_deref())
}

struct Kept {
    env: Env,
    vault: Vault,
}

impl Kept {
    /// `GITHUB_TOKEN` or `GITHUB_API_KEY` for `github`.
    fn in_environment(&self, provider: &str) -> Option<String> {
        let name = provider.to_ascii_uppercase().replace('-', "_");
        let found = ["TOKEN", "API_KEY"].iter().find_map(|end| (self.env)(&format!("{name}_{end}")));
        found.filter(|value| !value.trim().is_empty())
    }
}

impl Keys for Kept {
    fn has(&self, provider: &str) -> bool {
        self.in_environment(provider).is_some()
            || self.vault.names().is_ok_and(|names| names.iter().any(|name| name == provider))
    }

    fn get(&self, provider: &str) -> Result<Option<Credential>, String> {
        if let Some(value) = self.in_environment(provider) {
            return Ok(Some(Credential::new(value)));
        }
        let secret = self.vault.get(provider).map_err(|error| error.to_string())?;
        Ok(secret.map(|secret| Credential::new(secret.expose())))
    }
}

/// The broker of an engine.
pub(crate) fn broker(home: &Home, config: &Config, env: Env, audit: Audit, clock: Clock) -> Broker {
    let keys = Kept { env, vault: vault(home, config) };
    let listener = move |used: &CredentialUse| audit.record(entry(used, clock.now()));
    Broker::new(Arc::new(keys), Scopes::default(), Arc::new(listener))
}

fn entry(used: &CredentialUse, at: Timestamp) -> Entry {
    let (event, outcome, severity) = match used.act {
        CredentialAct::Granted => ("credential.granted", Outcome::Allowed, Severity::Info),
        CredentialAct::Resolved => ("credential.resolved", Outcome::Allowed, Severity::Info),
        CredentialAct::Pending => ("credential.pending", Outcome::Denied, Severity::Info),
        CredentialAct::Denied => ("credential.denied", Outcome::Denied, Severity::Security),
        CredentialAct::Revoked => ("credential.revoked", Outcome::Denied, Severity::Info),
        CredentialAct::Expired => ("credential.expired", Outcome::Denied, Severity::Info),
    };
    Entry {
        severity,
        outcome,
        agent: Some(used.agent.clone()),
        target: Some(used.provider.clone()),
        details: Some(serde_json::json!({ "call": used.call, "reason": used.reason })),
        ..Entry::new(at, Category::Credential, event, "broker")
    }
}
