//! Opens the sources that apply in a folder, with the vault and the environment behind them.

use std::path::Path;
use std::sync::Arc;

use weft_engine::{Config, Home, NetworkLog, SharedRules};
use weft_mcp::confine::Fencing;
use weft_mcp::oauth::Tokens;
use weft_mcp::sources::Surroundings;
use weft_mcp::trust::Trust;
use weft_mcp::{Limits, Sources, files};
use weft_store::{Secret, Vault};
use weft_tool::{Redaction, Sandbox};

pub struct Opened {
    pub sources: Arc<Sources>,
    pub warnings: Vec<String>,
}

/// `sandbox`: what commands run in, and so the processes of sources, but for what each may reach.
pub fn open(home: &Home, config: &Config, workspace: &Path, network: &NetworkLog, sandbox: Arc<Sandbox>) -> Opened {
    let found = files::find(&config.sources, workspace);
    let vault = Arc::new(weft_engine::vault_of_all(home, config));
    let lookup = Arc::clone(&vault);
    let around = Surroundings {
        limits: Limits::default(),
        env: Arc::new(|name| std::env::var(name).ok()),
        vault: Arc::new(move |name| lookup.get(name).ok().flatten().map(|secret| secret.expose().to_owned())),
        taken: Some(network.credentials()),
        redaction: Redaction::default(),
        cache: Some(home.cache.clone()),
        trust: Trust::open(&home.config),
        tokens: Some(Arc::new(VaultTokens { vault })),
        fencing: Some(fencing(sandbox, network)),
        client_metadata_url: None,
    };
    Opened { sources: Arc::new(Sources::new(found.sources, workspace, around)), warnings: found.warnings }
}

/// The same without an engine, whose sandbox they would share.
pub fn open_to_look(home: &Home, config: &Config, workspace: &Path) -> Opened {
    let rules = SharedRules::from(config.permissions.clone()).in_workspaces();
    let sandbox = home.sandbox(config.sandbox.clone()).held_to(rules);
    open(home, config, workspace, &NetworkLog::default(), Arc::new(sandbox))
}

fn fencing(sandbox: Arc<Sandbox>, log: &NetworkLog) -> Fencing {
    let log = log.clone();
    Arc::new(move |source, network| sandbox.reaching(network.clone()).reporting(log.report(source)))
}

/// Tokens of signed-in sources, in the vault.
struct VaultTokens {
    vault: Arc<Vault>,
}

fn key_of(source: &str) -> String {
    format!("oauth:{source}")
}

impl Tokens for VaultTokens {
    fn load(&self, source: &str) -> Result<Option<String>, String> {
        let key = key_of(source);
        // Names are known without opening the vault, which takes a while.
        if !self.vault.names().map_err(|error| error.to_string())?.contains(&key) {
            return Ok(None);
        }
        let secret = self.vault.get(&key).map_err(|error| error.to_string())?;
        Ok(secret.map(|secret| secret.expose().to_owned()))
    }

    fn save(&self, source: &str, text: &str) -> Result<(), String> {
        self.vault.set(&key_of(source), &Secret::new(text)).map(drop).map_err(|error| error.to_string())
    }

    fn clear(&self, source: &str) -> Result<(), String> {
        self.vault.remove(&key_of(source)).map(drop).map_err(|error| error.to_string())
    }
}
