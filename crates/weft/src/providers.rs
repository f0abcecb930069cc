//! Which providers there are and whether they have a key, without opening the vault's secrets.

use weft_engine::Home;
use weft_engine::config::{Config, ProviderSettings};
use weft_model::provider::{Protocol, ProviderConfig, builtin_providers};
use weft_store::Vault;

pub struct Provider {
    pub config: ProviderConfig,
    pub key: KeySource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The variable that holds it.
    Environment(String),
    Vault,
    NotNeeded,
    Missing,
}

impl KeySource {
    /// A remote provider can be asked. Whether a local one runs is not known here.
    pub const fn is_ready(&self) -> bool {
        match self {
            Self::Environment(_) | Self::Vault => true,
            Self::NotNeeded | Self::Missing => false,
        }
    }
}

pub fn all(home: &Home, config: &Config) -> Vec<Provider> {
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let mut configs: Vec<ProviderConfig> = builtin_providers().map(|provider| provider.with_env(&env)).collect();
    for (name, settings) in &config.providers {
        match configs.iter_mut().find(|known| *known.name == **name) {
            Some(known) => apply(known, settings),
            None => {
                let mut own = ProviderConfig::new(name.as_str(), Protocol::Chat, "");
                apply(&mut own, settings);
                configs.push(own);
            }
        }
    }
    let kept = Vault::open(&home.config).names().unwrap_or_default();
    let provider = |config: ProviderConfig| {
        let variable = config.key_env.iter().find(|name| env(name).is_some());
        let key = match variable {
            Some(variable) => KeySource::Environment(variable.clone()),
            None if kept.iter().any(|name| **name == *config.name) => KeySource::Vault,
            None if config.needs_key => KeySource::Missing,
            None => KeySource::NotNeeded,
        };
        Provider { config, key }
    };
    configs.into_iter().map(provider).collect()
}

fn apply(provider: &mut ProviderConfig, settings: &ProviderSettings) {
    let protocol = settings.protocol.as_deref();
    if let Some(protocol) = Protocol::ALL.into_iter().find(|known| Some(known.name()) == protocol) {
        provider.protocol = protocol;
    }
    if let Some(base_url) = &settings.base_url {
        provider.base_url.clone_from(base_url);
    }
    provider.headers.extend(settings.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    provider.key_env.splice(0..0, settings.key_env.iter().cloned());
}
