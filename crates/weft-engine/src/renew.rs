//! Settings that take effect while Weft runs: what new sessions start with, the person's rules and
//! their hooks. The rest (providers, budgets, the sandbox) is settled when the engine is opened.

use std::sync::{PoisonError, RwLock};

use weft_core::{Limits, Mode};

use crate::config::Config;
use crate::engine::Engine;

/// What a new session starts with where nobody says otherwise.
#[derive(Debug, Clone)]
pub struct Usual {
    pub agent: Option<String>,
    pub mode: Mode,
    pub limits: Limits,
}

impl Usual {
    fn of(config: &Config) -> Self {
        Self { agent: config.agent.clone(), mode: config.mode, limits: config.limits.clone() }
    }
}

pub struct Renewed(RwLock<Usual>);

impl Renewed {
    pub fn new(config: &Config) -> Self {
        Self(RwLock::new(Usual::of(config)))
    }

    pub fn get(&self) -> Usual {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Engine {
    /// The settings have changed on disk: what can take effect now does.
    pub fn renew(&self, config: &Config) {
        *self.shared.usual.0.write().unwrap_or_else(PoisonError::into_inner) = Usual::of(config);
        self.shared.permissions.renew(config.permissions.clone());
        self.shared.hooks.renew(config.hooks.clone());
    }
}
