//! Opens the sources that apply in a folder, with the vault and the environment behind them.

use std::path::Path;
use std::sync::Arc;

use weft_engine::{Config, Home};
use weft_mcp::oauth::Tokens;
use weft_mcp::sources::Surroundings;
use weft_mcp::trust::Trust;
use weft_mcp::{Limits, Sources, files};
use weft_store::{Secret, Vault};
use weft_tool::Redaction;

pub struct Opened {
    pub sources: Arc<Sources>,
    pub warnings: Vec<String>,
}

pub fn open(home: &Home, config: &Config, workspace: &Path) -> Opened {
    let found = files::find(&config.sources, workspace);
    let vault = Arc::new(Vault::open(&home.config));
    let lookup = Arc::clone(&vault);
    let around = Surroundings {
        limits: Limits::default(),
        env: Arc::new(|name| std::env::var(name).ok()),
        vault: Arc::new(move |name| lookup.get(name).ok().flatten().map(|secret| secret.expose().to_owned())),
        redaction: Redaction::default(),
        cache: Some(home.cache.clone()),
        trust: Trust::open(&home.config),
        tokens: Some(Arc::new(VaultTokens { vault })),
        client_metadata_url: None,
    };
    Opened { sources: Arc::new(Sources::new(found.sources, workspace, around)), warnings: found.warnings }
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
        self.vault.set(&key_of(source), &Secret::new(text)).map_err(|error| error.to_string())
    }

    fn clear(&self, source: &str) -> Result<(), String> {
        self.vault.remove(&key_of(source)).map(drop).map_err(|error| error.to_string())
    }
}
