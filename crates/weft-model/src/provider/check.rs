//! Whether a key is any good, asked in a way that costs nothing: a list that only its owner gets.

use std::sync::Arc;
use std::time::Duration;

use weft_core::{Failure, FailureKind};

use super::http::{Endpoint, drain};
use super::{ProviderConfig, Secret};

/// Somebody is looking at the screen.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the provider for its list of models with this key. [`FailureKind::Auth`] means that the key
/// is wrong; any other failure says nothing about the key.
pub async fn check_key(config: &ProviderConfig, key: Secret) -> Result<(), Failure> {
    let protocol = config.protocol;
    let auth = protocol.auth(&config.name, &key)?;
    let endpoint = Endpoint::new(Arc::clone(&config.name), &config.base_url, &config.headers, Some(key), PATIENCE)?;
    let asked = endpoint.get(path(config), Some(auth), protocol.headers());
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(answer) => answer.map(drain),
        Err(_) => {
            let message = format!("{} did not answer within {} s.", config.name, PATIENCE.as_secs());
            Err(Failure::new(FailureKind::Idle, message))
        }
    }
}

/// OpenRouter shows its models to everybody, but a key only to its owner.
fn path(config: &ProviderConfig) -> &'static str {
    if config.base_url.contains("://openrouter.ai/") { "/key" } else { "/models" }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
