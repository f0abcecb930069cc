//! Every key that this installation knows, wherever it comes from, so that none of them leaves
//! through a tool or a hook. The vault's keys are opened only when something is about to be scrubbed,
//! and again when the vault has changed: `weft auth` may have been run meanwhile.

use std::sync::{Arc, Mutex, PoisonError};

use weft_model::provider::ProviderConfig;
use weft_store::{Vault, VaultVersion};
use weft_tool::{Redaction, Secrets};

use crate::setup::Env;

struct Known {
    version: Option<VaultVersion>,
    /// What was a key once stays one: it may still work.
    values: Vec<String>,
    redaction: Redaction,
}

/// `more` names variables that hold keys of others than providers.
pub fn secrets(providers: &[ProviderConfig], more: &[String], env: &Env, vault: &Arc<Vault>) -> Secrets {
    let names = providers.iter().flat_map(|provider| &provider.key_env).chain(more);
    let variables = names.filter_map(|name| env(name));
    let headers = providers.iter().flat_map(|provider| &provider.headers).filter(|(name, _)| holds_a_key(name));
    let bare = |value: &str| value.split_whitespace().next_back().unwrap_or_default().to_owned();
    let values: Vec<String> = variables.chain(headers.map(|(_, value)| bare(value))).collect();
    let known = Mutex::new(Known { version: None, redaction: Redaction::new(values.clone()), values });
    let vault = Arc::clone(vault);
    Arc::new(move || {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let version = vault.version();
        if version != known.version {
            known.learn(&vault);
            known.version = version;
        }
        known.redaction.clone()
    })
}

impl Known {
    /// A key that does not open here is no key here.
    fn learn(&mut self, vault: &Vault) {
        for name in vault.names().unwrap_or_default() {
            if let Ok(Some(key)) = vault.get(&name)
                && !self.values.iter().any(|value| value == key.expose())
            {
                self.values.push(key.expose().to_owned());
            }
        }
        self.redaction = Redaction::new(self.values.clone());
    }
}

fn holds_a_key(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "cookie"].iter().any(|word| header.contains(word))
}
