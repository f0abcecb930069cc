//! How the settings are read: defaults, then the project's file, the user's, the project's local one, and the
//! environment; later ones win.
//!
//! A file that is not TOML is an error that names the place. A single wrong field is a warning,
//! and that field is left out. A project's files come with other people's code, so they can narrow
//! what agents may do but never widen it: no hooks, no providers, no budgets, no looser mode.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};
use weft_core::{Cost, Limits, Mode, ModelName};
use weft_model::{Catalog, Effort};
use weft_tool::discover::Row;
use weft_tool::language::LanguageServer;
use weft_tool::sandbox::{SandboxSettings, Setting};
use weft_tool::web::WebSettings;

use crate::hooks::HookConfig;
use crate::paths::Home;
use crate::permissions::PermissionSettings;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    pub model: Option<ModelName>,
    pub mode: Mode,
    pub agent: Option<String>,
    /// Whose keys are used.
    pub profile: Option<String>,
    /// New keys are not put into the desktop's keychain.
    pub no_keychain: bool,
    pub effort: Option<Effort>,
    pub limits: Limits,
    pub budget: BudgetSettings,
    pub providers: BTreeMap<String, ProviderSettings>,
    pub hooks: Vec<HookConfig>,
    /// What may be done without asking, what is always asked, what never.
    pub permissions: PermissionSettings,
    /// What commands run in.
    pub sandbox: SandboxSettings,
    pub undo: UndoSettings,
    /// What of the web may be reached, and how it is searched.
    pub web: WebSettings,
    /// What makes texts vectors.
    pub knowledge: KnowledgeSettings,
    /// More commands that test, lint, format, check and build projects.
    pub project_tools: Vec<Row>,
    /// More language servers, or other settings for those that are known.
    pub language_servers: Vec<LanguageServer>,
    /// Programs and APIs whose tools sessions have, by name; see the crate that connects to them.
    pub sources: Table,
    /// More models, or other facts about known ones, by `provider/model`.
    pub models: Table,
}

/// How much may be spent, in US dollars. Absent is unlimited, 0 is none.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// In a calendar month, by everything.
    pub month_usd: Option<f64>,
    /// By one session.
    pub session_usd: Option<f64>,
    /// By one turn.
    pub turn_usd: Option<f64>,
    /// In a calendar month, by provider.
    pub providers: BTreeMap<String, f64>,
}

/// What is kept so that turns can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UndoSettings {
    pub enabled: bool,
    /// How long.
    pub keep_days: u64,
    /// Larger files are not kept.
    pub largest_file_mb: u64,
}

impl Default for UndoSettings {
    fn default() -> Self {
        Self { enabled: true, keep_days: 30, largest_file_mb: 100 }
    }
}

/// What makes texts vectors, for searches by meaning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnowledgeSettings {
    /// Such as `openai/text-embedding-3-small`. What is indexed and asked is sent there; without it nothing
    /// leaves this machine.
    pub embeddings: Option<ModelName>,
    /// How long the vectors of that model are, where it is not a known one or can give shorter ones.
    pub dimension: Option<usize>,
}

/// A provider that is not built in, or other settings for one that is.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// `anthropic`, `responses`, `chat` or `gemini`.
    pub protocol: Option<String>,
    pub base_url: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// Environment variables that may hold the key.
    pub key_env: Vec<String>,
    /// Calls at the same time.
    pub concurrency: Option<usize>,
    /// Seconds of silence after which a stream counts as lost.
    pub idle_seconds: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitSettings {
    rounds: Option<u32>,
    tool_calls: Option<u32>,
    minutes: Option<u64>,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
    failed_rounds: Option<u32>,
    repeats: Option<u32>,
}

/// A configuration with what was noticed while reading it.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    pub config: Config,
    /// One sentence each, for people.
    pub warnings: Vec<String>,
    /// The files that were read.
    pub sources: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}:{line}:{column}: this settings file is not valid TOML: {message}. Mend it, or move it away", path.display())]
    Syntax { path: PathBuf, line: usize, column: usize, message: String },
    #[error("cannot read the settings file {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{variable} is set to `{value}`: {reason}")]
    Environment { variable: &'static str, value: String, reason: String },
}

/// Whose file it is, which decides what it may say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Project,
    User,
}

/// A profile's name is part of the names in the vault.
pub fn check_profile(name: String) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || name.len() > 32 || !name.chars().all(fits) {
        return Err(format!("`{name}` is no name for a profile: use letters, digits, `-` and `_`"));
    }
    Ok(name)
}

impl Loaded {
    /// Reads all settings that apply in `workspace`. `env` looks up environment variables.
    pub fn read(home: &Home, workspace: &Path, env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut loaded = Self::default();
        let (project, user) = (workspace.join(".weft/config.toml"), home.config_file());
        let local = workspace.join(".weft/local/config.toml");
        let files = [(&project, read_table(&project)?), (&user, read_table(&user)?), (&local, read_table(&local)?)];
        loaded.sources.extend(files.iter().filter(|(_, table)| table.is_some()).map(|(path, _)| (*path).clone()));
        let [mut shared, own, private] = files.map(|(_, table)| table.unwrap_or_default());
        // The project's preferences give way to the user's, but its fences stand after them.
        let mut fences = Table::new();
        for key in ["mode", "limits", "sandbox"] {
            fences.extend(shared.remove(key).map(|value| (key.to_owned(), value)));
        }
        let mut loosest = Mode::default();
        loaded.take(&project, Trust::Project, shared, &mut loosest);
        loaded.take(&user, Trust::User, own, &mut loosest);
        loaded.take(&project, Trust::Project, fences, &mut loosest);
        loosest = loosest.stricter(loaded.config.mode);
        loaded.take(&local, Trust::Project, private, &mut loosest);
        if let Some(text) = env("WEFT_MODEL").filter(|text| !text.is_empty()) {
            loaded.config.model = Some(parse_env("WEFT_MODEL", text)?);
        }
        if let Some(text) = env("WEFT_MODE").filter(|text| !text.is_empty()) {
            loaded.config.mode = parse_env("WEFT_MODE", text)?;
        }
        if let Some(text) = env("WEFT_PROFILE").filter(|text| !text.is_empty()) {
            let checked = check_profile(text.clone());
            let wrong = |reason| ConfigError::Environment { variable: "WEFT_PROFILE", value: text, reason };
            loaded.config.profile = Some(checked.map_err(wrong)?);
        }
        Ok(loaded)
    }

    /// Checks one setting as a file would, so that a wrong one can be refused before it is written.
    pub fn check(key: &str, value: &Value) -> Result<(), String> {
        let mut loaded = Self::default();
        let mut table = Table::new();
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().unwrap_or(key);
        let mut inner = &mut table;
        for part in parts {
            let next = inner.entry(part).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(next) = next else { return Err(format!("`{key}` is not a setting")) };
            inner = next;
        }
        inner.insert(last.to_owned(), value.clone());
        loaded.take(Path::new("config.toml"), Trust::User, table, &mut Mode::default());
        loaded.warnings.pop().map_or(Ok(()), Err)
    }

    fn take(&mut self, path: &Path, trust: Trust, table: Table, loosest: &mut Mode) {
        let names_mode = table.contains_key("mode");
        for (key, value) in table {
            if trust == Trust::Project
                && matches!(
                    key.as_str(),
                    "providers"
                        | "keychain"
                        | "hooks"
                        | "budget"
                        | "models"
                        | "undo"
                        | "sources"
                        | "web"
                        | "knowledge"
                        | "project_tools"
                        | "language_servers"
                )
            {
                self.warn(path, &key, "only your own settings may say this; it is left out");
                continue;
            }
            if let Err(reason) = self.set(&key, value, trust, *loosest) {
                self.warn(path, &key, &reason);
            }
        }
        if trust == Trust::User && names_mode {
            *loosest = self.config.mode;
        }
    }

    fn set(&mut self, key: &str, value: Value, trust: Trust, loosest: Mode) -> Result<(), String> {
        let config = &mut self.config;
        match key {
            "model" => config.model = Some(typed(value)?),
            "mode" => {
                let mode: Mode = typed(value)?;
                if trust == Trust::Project && mode.stricter(loosest) != mode {
                    return Err(format!("a project may not loosen the mode to `{mode}`; it is left out"));
                }
                config.mode = mode;
            }
            "agent" => config.agent = Some(typed(value)?),
            "profile" => config.profile = Some(check_profile(typed(value)?)?),
            "keychain" => config.no_keychain = !typed::<bool>(value)?,
            "effort" => config.effort = Some(typed(value)?),
            "limits" => apply_limits(&mut config.limits, typed(value)?, trust == Trust::Project),
            "budget" => config.budget = typed(value)?,
            "providers" => config.providers.extend(typed::<BTreeMap<String, ProviderSettings>>(value)?),
            "hooks" => config.hooks = typed(value)?,
            "permissions" => {
                let rules: PermissionSettings = typed(value)?;
                if trust == Trust::Project && !rules.allow.is_empty() {
                    return Err("a project may forbid and ask, but not allow; its rules are left out".to_owned());
                }
                // The others hold all the same.
                let wrong = rules.check().map_err(|error| error.to_string());
                config.permissions.extend(rules);
                wrong?;
            }
            "sandbox" => match (trust, typed::<SandboxSettings>(value)?) {
                (Trust::User, settings) => config.sandbox = settings,
                (Trust::Project, settings) if settings.mode == Setting::Required => {
                    config.sandbox.mode = Setting::Required;
                }
                (Trust::Project, _) => {
                    return Err("a project may only say `sandbox = \"required\"`; it is left out".to_owned());
                }
            },
            "undo" => config.undo = typed(value)?,
            "web" => {
                let web: WebSettings = typed(value)?;
                if let Some(search) = &web.search {
                    search.place()?;
                }
                config.web = web;
            }
            "knowledge" => config.knowledge = typed(value)?,
            "project_tools" => {
                let rows: Vec<Row> = typed(value)?;
                rows.iter().try_for_each(Row::check)?;
                config.project_tools = rows;
            }
            "language_servers" => config.language_servers = language_servers(typed(value)?)?,
            "sources" => config.sources = typed(value)?,
            "models" => {
                let models: Table = typed(value)?;
                Catalog::with_user_models(&models).map_err(|error| error.to_string())?;
                config.models = models;
            }
            _ => return Err("there is no such setting; it is left out".to_owned()),
        }
        Ok(())
    }

    fn warn(&mut self, path: &Path, key: &str, reason: &str) {
        self.warnings.push(format!("{}: `{key}`: {}", path.display(), reason.trim()));
    }
}

pub(crate) trait Looseness {
    /// The one of the two that allows less.
    fn stricter(self, other: Self) -> Self;
}

impl Looseness for Mode {
    fn stricter(self, other: Self) -> Self {
        let rank = |mode| Self::ALL.iter().position(|known| *known == mode);
        if rank(self) <= rank(other) { self } else { other }
    }
}

/// Sets a limit; with `narrow` only if that allows less.
pub(crate) fn limit<T: Copy + Ord>(limit: &mut Option<T>, set: Option<T>, narrow: bool) {
    let Some(set) = set else { return };
    *limit = Some(limit.filter(|_| narrow).map_or(set, |already| set.min(already)));
}

fn apply_limits(limits: &mut Limits, set: LimitSettings, narrow: bool) {
    limit(&mut limits.rounds, set.rounds, narrow);
    limit(&mut limits.tool_calls, set.tool_calls, narrow);
    limit(&mut limits.wall_clock_ms, set.minutes.map(|minutes| minutes.saturating_mul(60_000)), narrow);
    limit(&mut limits.tokens, set.tokens, narrow);
    limit(&mut limits.cost, set.cost_usd.map(Cost::from_usd), narrow);
    limit(&mut limits.failed_rounds, set.failed_rounds, narrow);
    limit(&mut limits.repeats, set.repeats, narrow);
}

fn language_servers(named: BTreeMap<String, LanguageServer>) -> Result<Vec<LanguageServer>, String> {
    let servers: Vec<_> = named.into_iter().map(|(name, server)| LanguageServer { name, ..server }).collect();
    servers.iter().try_for_each(LanguageServer::check)?;
    Ok(servers)
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    value.try_into().map_err(|error: toml::de::Error| format!("{}; it is left out", error.message().trim()))
}

fn parse_env<T: std::str::FromStr<Err = String>>(variable: &'static str, value: String) -> Result<T, ConfigError> {
    value.parse().map_err(|reason| ConfigError::Environment { variable, value, reason })
}

/// No settings are larger than this. A project's file can be a link to anything.
const LARGEST: u64 = 1024 * 1024;

fn read_text(path: &Path) -> std::io::Result<String> {
    // Looked at before it is opened: opening a pipe would wait for its other end.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a regular file. Move it away"));
    }
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if read as u64 > LARGEST {
        return Err(std::io::Error::other("it is larger than 1 MB, which no settings are. Move it away"));
    }
    Ok(text)
}

fn read_table(path: &Path) -> Result<Option<Table>, ConfigError> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(source) if matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    text.parse::<Table>().map(Some).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..offset).unwrap_or_default();
        ConfigError::Syntax {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|letter| *letter != '\n').count() + 1,
            message: error.message().trim().to_owned(),
        }
    })
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
