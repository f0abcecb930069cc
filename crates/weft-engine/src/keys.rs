//! Where the person's keys are kept.

use std::sync::Arc;

use weft_store::{Keychain, Vault};
use weft_tool::web::SearchKey;

use crate::config::Config;
use crate::paths::Home;
use crate::setup::Env;

/// The person's vault, with the keys of the chosen profile.
pub fn vault(home: &Home, config: &Config) -> Vault {
    vault_of_all(home, config).with_profile(config.profile.as_deref())
}

/// The same vault with the keys that belong to no profile in particular, such as those of sources.
pub fn vault_of_all(home: &Home, config: &Config) -> Vault {
    let keychain = if config.no_keychain { None } else { Keychain::find(|name| std::env::var(name).ok()) };
    Vault::open(&home.config).with_keychain(keychain)
}

/// The search engine's key: from the environment, or else from the vault, which is opened only then.
pub(crate) fn search_key(home: &Home, config: &Config, env: &Env) -> SearchKey {
    let Some(search) = config.web.search.clone() else { return Arc::new(|| None) };
    let (vault, env) = (vault(home, config), Arc::clone(env));
    Arc::new(move || {
        let variables = search.variables();
        let set = variables.iter().find_map(|name| env(name).filter(|value| !value.trim().is_empty()));
        let name = search.provider.name();
        let kept = || {
            let known = vault.names().ok()?.iter().any(|known| **known == *name);
            known.then(|| vault.get(name).ok().flatten().map(|key| key.expose().to_owned())).flatten()
        };
        set.or_else(kept)
    })
}
