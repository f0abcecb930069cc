//! Which providers there are and whether they have a key, without opening the vault's secrets.

use weft_engine::Home;
use weft_engine::config::Config;
use weft_model::provider::ProviderConfig;
use weft_store::Kept;

pub struct Provider {
    pub config: ProviderConfig,
    pub key: KeySource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The variable that holds it.
    Environment(String),
    Vault(Kept),
    NotNeeded,
    Missing,
}

impl KeySource {
    /// A remote provider can be asked. Whether a local one runs is not known here.
    pub const fn is_ready(&self) -> bool {
        match self {
            Self::Environment(_) | Self::Vault(_) => true,
            Self::NotNeeded | Self::Missing => false,
        }
    }
}

pub fn all(home: &Home, config: &Config) -> Vec<Provider> {
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let vault = weft_engine::vault(home, config);
    let provider = |config: ProviderConfig| {
        let variable = config.key_env.iter().find(|name| env(name).is_some());
        let key = match variable {
            Some(variable) => KeySource::Environment(variable.clone()),
            None => match vault.place(&config.name).ok().flatten() {
                Some(kept) => KeySource::Vault(kept),
                None if config.needs_key => KeySource::Missing,
                None => KeySource::NotNeeded,
            },
        };
        Provider { config, key }
    };
    weft_engine::providers(config, &env).into_iter().map(provider).collect()
}
