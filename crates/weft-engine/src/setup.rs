//! What an engine is made of, and what a new session starts with.

use std::path::PathBuf;
use std::sync::Arc;

use weft_core::{Limits, Mode, ModelName, SessionId};
use weft_model::Model;
use weft_store::{Commit, Options, Store};
use weft_tool::discover::Discovery;
use weft_tool::language::{Languages, Patience, with_own};
use weft_tool::toolbox::Toolbox;
use weft_tool::{Registry, Sandbox};

use crate::audit::NetworkLog;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::EngineError;
use crate::flow::{Functions, Packed};
use crate::keys::search_key;
use crate::paths::Home;
use crate::permissions::SharedRules;

/// What an engine is made of. The defaults are the product's; tests put fakes for the model's words
/// and for time.
pub struct Setup {
    pub home: Home,
    pub config: Config,
    pub clock: Clock,
    /// Draws random numbers, for ids.
    pub random: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Looks up environment variables.
    pub env: Env,
    /// Records or replays every model call.
    pub tape: Option<Tape>,
    /// Replaces every provider.
    pub model: Option<Arc<dyn Model>>,
    /// Replaces the database in `home`.
    pub store: Option<Store>,
    pub registry: Registry,
    /// Where more tools come from.
    pub toolbox: Option<Arc<dyn Toolbox>>,
    /// Flows that come with the apps, and what those compute.
    pub flows: Vec<Packed>,
    pub functions: Vec<Arc<dyn Functions>>,
    /// Where sandboxes tell what they reached.
    pub network_log: NetworkLog,
    /// What the commands of the registry's tools run in.
    pub sandbox: Arc<Sandbox>,
    /// The rules of the settings, which sandboxes hold commands to.
    pub rules: SharedRules,
}

/// Opens the log that lies in a home, with what a person should know about how that went. Who only
/// looks at it needs no engine.
pub fn open_store(home: &Home) -> Result<(Store, Option<Arc<str>>), EngineError> {
    for folder in [&home.data, &home.state, &home.config] {
        std::fs::create_dir_all(folder)
            .map_err(|source| EngineError::Home { path: folder.display().to_string(), source })?;
    }
    let opened = Store::open(Options {
        path: home.database(),
        backups: home.backups(),
        locks: home.locks(),
        commit: Commit::Thread,
    })?;
    Ok((opened.store, opened.notice.map(|notice| notice.to_string().into())))
}

/// Looks up an environment variable.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A cassette in the machine.
#[derive(Debug, Clone)]
pub enum Tape {
    Record(PathBuf),
    Replay(PathBuf),
}

impl Setup {
    pub fn new(home: Home, config: Config) -> Self {
        let network_log = NetworkLog::default();
        let rules = SharedRules::from(config.permissions.clone());
        let sandbox = home.sandbox(config.sandbox.clone()).reporting(network_log.report("shell"));
        let sandbox = Arc::new(sandbox.held_to(rules.in_workspaces()));
        let env: Env = Arc::new(|name| std::env::var(name).ok());
        let web_key = search_key(&home, &config, &env);
        let discovery = Discovery::new(config.project_tools.clone());
        let languages = Languages::new(with_own(&config.language_servers), &sandbox, Patience::default());
        let registry = Registry::builtin_with(Arc::clone(&sandbox), discovery, languages);
        let registry = registry.with_web(&config.web, web_key);
        Self {
            home,
            config,
            clock: Clock::System,
            random: Arc::new(|| getrandom::u64().unwrap_or_default()),
            env,
            tape: None,
            model: None,
            store: None,
            registry,
            toolbox: None,
            flows: Vec::new(),
            functions: Vec::new(),
            network_log,
            sandbox,
            rules,
        }
    }
}

/// What a new session starts with; the rest comes from the agent and the settings.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// The folder it works in, absolute.
    pub workspace: PathBuf,
    pub agent: Option<String>,
    pub model: Option<ModelName>,
    pub mode: Option<Mode>,
    pub limits: Option<Limits>,
    /// On whose behalf it runs.
    pub parent: Option<SessionId>,
    /// Ask the model for a title after the first turn.
    pub title: bool,
}
