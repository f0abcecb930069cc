//! Settings that take effect while Weft runs: what new sessions start with, the person's rules, their
//! hooks, budgets and the sandbox. The rest (providers, undo, the web) is settled when the engine is opened.

use std::sync::{PoisonError, RwLock};

use weft_core::{Limits, Mode};
use weft_model::Effort;
use weft_tool::Sandbox;

use crate::config::Config;
use crate::engine::Engine;
use crate::models;
use crate::settings::SETTINGS;

/// What a new session starts with where nobody says otherwise.
#[derive(Debug, Clone)]
pub struct Usual {
    pub agent: Option<String>,
    pub mode: Mode,
    pub limits: Limits,
    /// How hard models think, in every session.
    pub effort: Option<Effort>,
}

impl Usual {
    fn of(config: &Config) -> Self {
        Self { agent: config.agent.clone(), mode: config.mode, limits: config.limits.clone(), effort: config.effort }
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
        self.shared.gate.renew(models::budgets(config));
        self.shared.sandbox.renew(config.sandbox.clone());
    }

    /// What commands run in, as it holds now.
    pub fn sandbox(&self) -> &Sandbox {
        &self.shared.sandbox
    }

    /// The settings among these that hold when Weft starts again, and until then as they were.
    pub fn waiting(&self, config: &Config) -> Vec<&'static str> {
        let differs = |value: fn(&Config) -> _| value(config) != value(&self.shared.config);
        let waits = SETTINGS.iter().filter(|setting| !setting.is_renewed() && setting.value.is_some_and(differs));
        waits.map(|setting| setting.name).collect()
    }
}
