//! The person's rules for a workspace: from their settings, from what they said yes to for good,
//! and, only to forbid or to ask, from the project.
//!
//! What is allowed for good is kept in the person's own folder, by workspace, never in the project:
//! a project that somebody else made must not bring its own permissions.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use weft_core::ask::Grant;
use weft_tool::sandbox::RulesOf;
use weft_tool::{Decision, Rule, RuleError, Rules};

/// `[permissions]` in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionSettings {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
}

impl PermissionSettings {
    fn read<'a>(&'a self, workspace: &'a Path) -> impl Iterator<Item = Result<Rule, RuleError>> + 'a {
        let lists = [(Decision::Allow, &self.allow), (Decision::Ask, &self.ask), (Decision::Deny, &self.deny)];
        let rules = lists.into_iter().flat_map(|(decision, texts)| texts.iter().map(move |text| (decision, text)));
        rules.map(move |(decision, text)| Rule::parse(decision, text, workspace))
    }

    /// The rules, without those that cannot be read.
    fn readable(&self, workspace: &Path) -> Vec<Rule> {
        self.read(workspace).flatten().collect()
    }

    /// The first rule that cannot be read.
    pub fn check(&self) -> Result<(), RuleError> {
        self.read(Path::new("/")).find_map(Result::err).map_or(Ok(()), Err)
    }

    /// Adds rules that come after these.
    pub(crate) fn extend(&mut self, more: Self) {
        self.allow.extend(more.allow);
        self.ask.extend(more.ask);
        self.deny.extend(more.deny);
    }
}

/// How many workspaces' rules are kept made.
const WORKSPACES: usize = 16;

/// What was allowed for good, by workspace.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Remembered {
    workspaces: BTreeMap<String, Vec<String>>,
}

/// The rules of the settings, for all who hold to them. They can change while Weft runs.
#[derive(Debug, Clone, Default)]
pub struct SharedRules(Arc<RwLock<PermissionSettings>>);

impl SharedRules {
    pub(crate) fn renew(&self, settings: PermissionSettings) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// As a sandbox asks for them: before every command, so the last ones are kept made.
    pub fn in_workspaces(&self) -> RulesOf {
        let (shared, made) = (self.clone(), Mutex::new(None::<Made>));
        Arc::new(move |workspace| {
            let settings = shared.0.read().unwrap_or_else(PoisonError::into_inner);
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            match &*made {
                Some(made) if made.workspace == workspace && made.settings == *settings => made.rules.clone(),
                Some(_) | None => {
                    let rules = Rules::new(settings.readable(workspace));
                    let (workspace, settings) = (workspace.to_owned(), settings.clone());
                    *made = Some(Made { workspace, settings, rules: rules.clone() });
                    rules
                }
            }
        })
    }
}

/// Rules, and what they were made of.
struct Made {
    workspace: PathBuf,
    settings: PermissionSettings,
    rules: Rules,
}

impl From<PermissionSettings> for SharedRules {
    fn from(settings: PermissionSettings) -> Self {
        Self(Arc::new(RwLock::new(settings)))
    }
}

pub(crate) struct Permissions {
    settings: SharedRules,
    file: PathBuf,
    /// Settings, database, audit log. No command sees them, so reading them with a tool is asked for.
    own: Vec<PathBuf>,
    /// What settings and own folders come to in the workspaces of late, made once for all their sessions.
    made: Mutex<VecDeque<(PathBuf, Rules)>>,
    /// Held while the file is read and written.
    writing: Mutex<()>,
}

impl Permissions {
    /// `own`: Weft's own folders.
    pub(crate) fn new(settings: impl Into<SharedRules>, file: PathBuf, own: Vec<PathBuf>) -> Self {
        Self { settings: settings.into(), file, own, made: Mutex::default(), writing: Mutex::new(()) }
    }

    /// The person's settings have changed.
    pub(crate) fn renew(&self, settings: PermissionSettings) {
        let mut current = self.settings.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = settings;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The rules that hold in a session. What cannot be read allows nothing.
    pub(crate) fn rules(&self, workspace: &Path, grants: &[Grant]) -> Rules {
        let remembered = self.load().workspaces.remove(&*workspace.to_string_lossy()).unwrap_or_default();
        let given = grants.iter().flat_map(|grant| match grant {
            Grant::Rules { rules } => rules.clone(),
            Grant::Tool { .. } => vec!["write **".to_owned()],
            Grant::Command { .. } => Vec::new(),
        });
        let allowed = remembered.into_iter().chain(given);
        let allowed = allowed.filter_map(|text| Rule::parse(Decision::Allow, &text, workspace).ok());
        self.settled(workspace).and(allowed)
    }

    /// The rules that hold in every session of a workspace.
    fn settled(&self, workspace: &Path) -> Rules {
        // Held until they are kept, so that none are kept that were made of older settings.
        let settings = self.settings.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rules)) = made.iter().find(|(of, _)| of == workspace) {
            return rules.clone();
        }
        let mut rules = self.about_own(workspace);
        rules.extend(settings.readable(workspace));
        let rules = Rules::new(rules);
        made.truncate(WORKSPACES - 1);
        made.push_front((workspace.to_owned(), rules.clone()));
        rules
    }

    /// Where people work in such a folder, it is theirs.
    fn about_own(&self, workspace: &Path) -> Vec<Rule> {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let folders = self.own.iter().map(real).filter(|own| !workspace.starts_with(own));
        folders.flat_map(|folder| Rule::on_reading(Decision::Ask, &folder)).collect()
    }

    /// Keeps a yes for every later session in this workspace.
    pub(crate) fn remember(&self, workspace: &Path, grant: &Grant) -> std::io::Result<()> {
        let Grant::Rules { rules } = grant else { return Ok(()) };
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // Another Weft may be remembering something too.
        let lock = std::fs::File::create(self.file.with_extension("lock"))?;
        lock.lock()?;
        let mut remembered = self.read_file()?;
        let kept = remembered.workspaces.entry(workspace.to_string_lossy().into_owned()).or_default();
        for rule in rules {
            if !kept.contains(rule) {
                kept.push(rule.clone());
            }
        }
        let text = toml::to_string_pretty(&remembered).map_err(std::io::Error::other)?;
        let beside = self.file.with_extension(format!("{}.new", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        // What the person allows is nobody else's business.
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&beside, &self.file)
    }

    fn load(&self) -> Remembered {
        self.read_file().unwrap_or_default()
    }

    fn read_file(&self) -> std::io::Result<Remembered> {
        match std::fs::read_to_string(&self.file) {
            Ok(text) => toml::from_str(&text).map_err(std::io::Error::other),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Remembered::default()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
#[path = "permissions_tests.rs"]
mod tests;
