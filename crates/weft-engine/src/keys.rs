//! Where the person's keys are kept.

use weft_store::Vault;

use crate::config::Config;
use crate::paths::Home;

/// The person's vault, with the keys of the chosen profile.
pub fn vault(home: &Home, config: &Config) -> Vault {
    Vault::open(&home.config).with_profile(config.profile.as_deref())
}
