//! Where the settings are read, and in which order: defaults, the project's file, the user's, the project's
//! local one, the environment; later ones win.
//!
//! A file that is not TOML is an error with its line, and so is a wrong value in what holds agents back
//! ([`PROTECTS`]). Any other wrong setting is a warning, and is left out. A project's files come with other
//! people's code, so they narrow what agents may do and never widen it.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Table, Value};
use weft_core::{Cost, Limits, Mode, ModelName};
use weft_model::provider::Protocol;
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
    /// The model that puts the hits of `weft search --rerank` in order; the usual one if none is named.
    pub rerank: Option<ModelName>,
}

/// A provider that is not built in, or other settings for one that is.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// `anthropic`, `responses`, `chat` or `gemini`.
    pub protocol: Option<Protocol>,
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
    #[error("{}:{line}:{column}: `{key}`: {reason}. Weft does not go on without it, because it limits what agents may do: mend it, or take it out", path.display())]
    Unreadable { path: PathBuf, line: usize, column: usize, key: String, reason: String },
    #[error("cannot read the settings file {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{variable} is set to `{value}`: {reason}")]
    Environment { variable: &'static str, value: String, reason: String },
}

/// What holds agents back. One of these that cannot be read must not count as not there.
const PROTECTS: [&str; 6] = ["mode", "limits", "budget", "hooks", "permissions", "sandbox"];

/// What projects cannot say at all.
const ONLY_THE_USERS: [&str; 11] = [
    "providers",
    "keychain",
    "hooks",
    "budget",
    "models",
    "undo",
    "sources",
    "web",
    "knowledge",
    "project_tools",
    "language_servers",
];

/// What a project says of these stands after what the user says.
const FENCES: [&str; 3] = ["mode", "limits", "sandbox"];

/// Why a setting is not taken.
enum Wrong {
    /// It says nothing that is understood, at this place in the file if that is known.
    Unreadable { reason: String, at: Option<usize> },
    /// It is understood, and not for this file to say.
    NotHere(String),
}

impl From<String> for Wrong {
    fn from(reason: String) -> Self {
        Self::Unreadable { reason, at: None }
    }
}

/// A settings file as it was read.
struct File {
    path: PathBuf,
    text: String,
}

impl File {
    /// A line and a column, for people.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset.min(self.text.len())).unwrap_or_default();
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        (before.matches('\n').count() + 1, column)
    }

    fn settings(&self) -> Result<DeTable<'_>, ConfigError> {
        DeTable::parse(&self.text).map(Spanned::into_inner).map_err(|error| {
            let (line, column) = self.place(error.span().map_or(0, |span| span.start));
            ConfigError::Syntax { path: self.path.clone(), line, column, message: error.message().trim().to_owned() }
        })
    }
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
        let [project, user, local] =
            [workspace.join(".weft/config.toml"), home.config_file(), workspace.join(".weft/local/config.toml")]
                .map(read_file);
        let [project, user, local] = [project?, user?, local?];
        loaded.sources.extend([&project, &user, &local].into_iter().flatten().map(|file| file.path.clone()));
        let mut loosest = Mode::default();
        let is_fence = |key: &str| FENCES.contains(&key);
        // The project's preferences give way to the user's, but its fences stand after them.
        loaded.take(project.as_ref(), Trust::Project, |key| !is_fence(key), &mut loosest)?;
        loaded.take(user.as_ref(), Trust::User, |_| true, &mut loosest)?;
        loaded.take(project.as_ref(), Trust::Project, is_fence, &mut loosest)?;
        loosest = loosest.stricter(loaded.config.mode);
        loaded.take(local.as_ref(), Trust::Project, |_| true, &mut loosest)?;
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
        let file = File { path: "config.toml".into(), text: table.to_string() };
        let taken = loaded.take(Some(&file), Trust::User, |_| true, &mut Mode::default());
        match (taken, loaded.warnings.pop()) {
            (Err(ConfigError::Unreadable { reason, .. }), _) => Err(format!("`{key}`: {reason}")),
            (Err(error), _) => Err(error.to_string()),
            (Ok(()), Some(warning)) => Err(warning),
            (Ok(()), None) => Ok(()),
        }
    }

    /// Takes the settings of one file whose names are `wanted`.
    fn take(
        &mut self,
        file: Option<&File>,
        trust: Trust,
        wanted: impl Fn(&str) -> bool,
        loosest: &mut Mode,
    ) -> Result<(), ConfigError> {
        let Some(file) = file else { return Ok(()) };
        let mut names_mode = false;
        for (key, value) in file.settings()? {
            let (start, key) = (key.span().start, key.into_inner());
            if !wanted(&key) {
                continue;
            }
            names_mode |= key == "mode";
            let taken = match trust {
                Trust::Project if ONLY_THE_USERS.contains(&&*key) => {
                    Err(Wrong::NotHere("only your own settings may say this; it is left out".to_owned()))
                }
                Trust::Project | Trust::User => self.set(&key, value, trust, *loosest),
            };
            match taken {
                Ok(()) => {}
                Err(Wrong::NotHere(reason)) => self.warn(file, start, &key, &reason),
                Err(Wrong::Unreadable { reason, at }) if PROTECTS.contains(&&*key) => {
                    let (line, column) = file.place(at.unwrap_or(start));
                    let (path, key) = (file.path.clone(), key.into_owned());
                    return Err(ConfigError::Unreadable { path, line, column, key, reason });
                }
                Err(Wrong::Unreadable { reason, at }) => {
                    self.warn(file, at.unwrap_or(start), &key, &format!("{reason}; it is left out"));
                }
            }
        }
        if trust == Trust::User && names_mode {
            *loosest = self.config.mode;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: Spanned<DeValue<'_>>, trust: Trust, loosest: Mode) -> Result<(), Wrong> {
        let config = &mut self.config;
        match key {
            "model" => config.model = Some(typed(value)?),
            "mode" => {
                let mode: Mode = typed(value)?;
                if trust == Trust::Project && mode.stricter(loosest) != mode {
                    return Err(Wrong::NotHere(format!(
                        "a project may not loosen the mode to `{mode}`; it is left out"
                    )));
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
                    let why = "a project may forbid and ask, but not allow; its rules are left out";
                    return Err(Wrong::NotHere(why.to_owned()));
                }
                rules.check().map_err(|error| error.to_string())?;
                config.permissions.extend(rules);
            }
            "sandbox" => match (trust, typed::<SandboxSettings>(value)?) {
                (Trust::User, settings) => config.sandbox = settings,
                (Trust::Project, settings) if settings.mode == Setting::Required => {
                    config.sandbox.mode = Setting::Required;
                }
                (Trust::Project, _) => {
                    let why = "a project may only say `sandbox = \"required\"`; it is left out";
                    return Err(Wrong::NotHere(why.to_owned()));
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
            _ => return Err(Wrong::NotHere("there is no such setting; it is left out".to_owned())),
        }
        Ok(())
    }

    fn warn(&mut self, file: &File, offset: usize, key: &str, reason: &str) {
        let (line, _) = file.place(offset);
        self.warnings.push(format!("{}:{line}: `{key}`: {}", file.path.display(), reason.trim()));
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

fn typed<T: DeserializeOwned>(value: Spanned<DeValue<'_>>) -> Result<T, Wrong> {
    T::deserialize(ValueDeserializer::from(value)).map_err(|error: toml::de::Error| Wrong::Unreadable {
        reason: error.message().trim().to_owned(),
        at: error.span().map(|span| span.start),
    })
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
    let mut bytes = Vec::new();
    // By then it may have been exchanged for one.
    let file = weft_tool::reading::open(&path.canonicalize()?)?;
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if read as u64 > LARGEST {
        return Err(std::io::Error::other("it is larger than 1 MB, which no settings are. Move it away"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        std::io::Error::other(format!("line {line} is not UTF-8. Save it as UTF-8, or move it away"))
    })
}

fn read_file(path: PathBuf) -> Result<Option<File>, ConfigError> {
    match read_text(&path) {
        Ok(text) => Ok(Some(File { path, text })),
        Err(source) if matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(ConfigError::Read { path, source }),
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
