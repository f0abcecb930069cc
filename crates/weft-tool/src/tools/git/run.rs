//! Runs git: without a shell, with settings under which it starts nothing else, in the sandbox
//! wherever that lets it do its work.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::guard::Permit;
use crate::process::{self, Ended, Program, Ran, Spec, Spill, Timing};
use crate::sandbox::{Plan, Sandbox};
use crate::tool::Context;

use super::repository::Repository;
use super::settings::Settings;

/// A list that git makes for us may not be longer.
const LONGEST_LIST: usize = 4 * 1024 * 1024;

/// What is inherited and would lead git elsewhere, or make it start something.
pub(super) const NOT_INHERITED: [&str; 22] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_QUARANTINE_PATH",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_TRACE",
];

/// How far a run may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Look,
    Change,
    /// Makes or removes worktrees, which the sandbox does not let commands do.
    Worktrees,
    /// Talk to a remote, and so cannot be in the sandbox.
    Fetch,
    Push,
}

impl Reach {
    pub const fn is_network(self) -> bool {
        match self {
            Self::Fetch | Self::Push => true,
            Self::Look | Self::Change | Self::Worktrees => false,
        }
    }
}

/// Git in one repository, for one call.
pub(super) struct Git<'a> {
    pub permit: &'a Permit,
    pub context: &'a Context,
    pub sandbox: &'a Arc<Sandbox>,
    pub repository: Repository,
    pub settings: Settings,
    pub reach: Reach,
}

impl<'a> Git<'a> {
    /// Finds the repository and what its settings would start.
    pub async fn open(
        permit: &'a Permit,
        context: &'a Context,
        sandbox: &'a Arc<Sandbox>,
        reach: Reach,
    ) -> Result<Self, String> {
        let workspace = context.workspace.clone();
        let found = tokio::task::spawn_blocking(move || {
            let repository = Repository::find(&workspace)?;
            if reach != Reach::Look {
                repository.check_for_changes()?;
            }
            Ok::<_, String>(repository)
        });
        let repository = found.await.unwrap_or_else(|_| Err("The repository could not be looked at.".to_owned()))?;
        let mut git = Self { permit, context, sandbox, repository, settings: Settings::fixed(), reach };
        let listed = git.list(["config", "--list", "--show-scope", "-z"].map(str::to_owned).into()).await?;
        git.settings = Settings::harmless(&listed)?;
        if let Some(key) = git.settings.leads_astray.as_deref().filter(|_| reach.is_network()) {
            return Err(format!(
                "This repository's own settings change how remotes are reached (`{key}`). Not done. If it is meant, \
                 a person puts it into their own settings, with `git config --global`."
            ));
        }
        Ok(git)
    }

    /// A run for its effect, or for what it shows.
    pub async fn run(&self, words: Vec<String>) -> Result<Ran, String> {
        self.attempt(words, None).await
    }

    /// A run whose whole output is wanted, with nothing else in it.
    pub async fn list(&self, words: Vec<String>) -> Result<String, String> {
        let heard = Arc::new(Mutex::new(String::new()));
        let told = words.first().cloned().unwrap_or_default();
        let ran = self.attempt(words, Some(Arc::clone(&heard))).await?;
        if ran.ended.exit_code() != Some(0) {
            return Err(format!("`git {told}` failed here. Is this a sound repository, with a commit?"));
        }
        let text = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
        if text.len() >= LONGEST_LIST {
            return Err("There are too many files. Name the paths you want.".to_owned());
        }
        Ok(text)
    }

    #[allow(clippy::disallowed_methods, reason = "what a model chose runs here, after the guard")]
    async fn attempt(&self, words: Vec<String>, heard: Option<Arc<Mutex<String>>>) -> Result<Ran, String> {
        let fence = match self.plan().await? {
            Plan::Fenced(fence) => Some(fence),
            Plan::Plain { .. } => None,
        };
        let live = heard.clone().map(|heard| -> crate::tool::LiveSink {
            Arc::new(move |text: &str| {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                if heard.len() < LONGEST_LIST {
                    heard.push_str(text);
                }
            })
        });
        let spill = Spill { folder: self.context.outputs.clone(), name: self.context.call.as_str().to_owned() };
        let args = ["--no-pager".to_owned()].into_iter().chain(words.clone()).map(OsString::from).collect();
        let spec = Spec {
            env: self.variables(),
            without: NOT_INHERITED.map(OsString::from).into(),
            timing: timing(self.reach),
            cancel: self.context.cancel.clone(),
            redaction: self.permit.redaction().clone(),
            spill: heard.is_none().then_some(spill),
            quiet: heard.is_some(),
            live,
            fence,
            ..Spec::new(Program::Exec { program: "git".into(), args }, &self.context.workspace)
        };
        process::run(spec).await.map_err(|error| format!("Git was not run: {error}."))
    }

    /// The sandbox lets git write only to a repository in the workspace, and hides keys. What changes
    /// a worktree's repository, which lies elsewhere, signs, or talks to a remote is held by its
    /// settings alone.
    async fn plan(&self) -> Result<Plan, String> {
        let workspace = self.context.workspace.canonicalize().unwrap_or_else(|_| self.context.workspace.clone());
        let fits = match self.reach {
            Reach::Look => true,
            Reach::Change => !self.settings.signs && self.repository.git_dir.starts_with(workspace),
            Reach::Worktrees | Reach::Fetch | Reach::Push => false,
        };
        if !fits {
            return Ok(Plan::Plain { notice: None });
        }
        let sandbox = Arc::clone(self.sandbox);
        let (session, workspace) = (self.context.session, self.context.workspace.clone());
        let outputs = self.context.outputs.clone();
        let planned = tokio::task::spawn_blocking(move || sandbox.plan(session, &workspace, &outputs)).await;
        planned.unwrap_or_else(|_| Err("its sandbox could not be planned".to_owned()))
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let ceiling = self.repository.top.parent().unwrap_or(&self.repository.top);
        let protocols = match self.reach {
            Reach::Look | Reach::Change | Reach::Worktrees => "none",
            Reach::Fetch => "https:http:ssh:file",
            // A push into a folder would run the hooks that are there, on this machine.
            Reach::Push => "https:http:ssh",
        };
        let locks = if self.reach == Reach::Look { "0" } else { "1" };
        let fixed: [(&str, OsString); 11] = [
            ("GIT_WORK_TREE", self.repository.top.clone().into()),
            ("GIT_CEILING_DIRECTORIES", ceiling.into()),
            ("GIT_ALLOW_PROTOCOL", protocols.into()),
            ("GIT_PROTOCOL_FROM_USER", "0".into()),
            ("GIT_NO_LAZY_FETCH", "1".into()),
            ("GIT_NO_REPLACE_OBJECTS", "1".into()),
            ("GIT_OPTIONAL_LOCKS", locks.into()),
            ("GIT_EDITOR", ":".into()),
            ("GIT_SEQUENCE_EDITOR", ":".into()),
            ("GIT_MERGE_AUTOEDIT", "no".into()),
            ("LC_ALL", "C.UTF-8".into()),
        ];
        let fixed = fixed.into_iter().map(|(name, value)| (OsString::from(name), value));
        let settings = self.settings.variables().into_iter().map(|(key, value)| (key.into(), value.into()));
        fixed.chain(settings).collect()
    }

    /// Sessions that share a repository share its index: one change at a time.
    pub async fn lock(&self) -> tokio::sync::OwnedMutexGuard<()> {
        static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>> = LazyLock::new(Mutex::default);
        let lock = {
            let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(self.repository.git_dir.clone()).or_default())
        };
        lock.lock_owned().await
    }
}

fn timing(reach: Reach) -> Timing {
    let seconds = match reach {
        Reach::Look | Reach::Change | Reach::Worktrees => 30,
        Reach::Fetch | Reach::Push => 120,
    };
    Timing { base: Duration::from_secs(seconds), ..Timing::default() }
}

/// How a run ended, if not well.
pub(super) fn trouble(ran: &Ran) -> Option<String> {
    match ran.ended {
        Ended::Exited { code: 0 } => None,
        Ended::Exited { .. } => Some(ran.output.text.trim().to_owned()),
        Ended::Killed { signal } => Some(format!("Git was killed by signal {signal}.")),
        Ended::TimedOut { after } => Some(format!("Git took longer than {} s and was stopped.", after.as_secs())),
        Ended::Cancelled => Some("Stopped.".to_owned()),
    }
}
