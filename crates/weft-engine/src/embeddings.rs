//! The model that the person chose for vectors, with its key: from the environment, or else from the
//! vault, which is opened only then.

use weft_model::provider::{Embeddings, Secret};

use crate::config::Config;
use crate::error::EngineError;
use crate::paths::Home;

/// The client for what the settings name.
pub fn embeddings(
    home: &Home,
    config: &Config,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Embeddings>, EngineError> {
    let Some(model) = &config.knowledge.embeddings else { return Ok(None) };
    let providers = crate::models::providers(config, env);
    let Some(provider) = providers.into_iter().find(|provider| provider.name == model.provider) else {
        return Err(EngineError::Model(format!(
            "there is no provider `{}`, which `knowledge.embeddings` names: add it under [providers] in the settings",
            model.provider
        )));
    };
    let kept = || -> Result<Option<Secret>, EngineError> {
        let vault = crate::keys::vault(home, config);
        if !vault.names().unwrap_or_default().iter().any(|kept| **kept == *provider.name) {
            return Ok(None);
        }
        let key = vault.get(&provider.name).map_err(|error| EngineError::Model(error.to_string()))?;
        Ok(key.map(|key| Secret::new(key.expose())))
    };
    let key = match provider.key_from_env(env) {
        Some(key) => Some(key),
        None => kept()?,
    };
    Embeddings::new(provider, key, &model.model, config.knowledge.dimension)
        .map(Some)
        .map_err(|failure| EngineError::Model(failure.message))
}
