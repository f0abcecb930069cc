//! Where Weft keeps its things.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use weft_core::SessionId;
use weft_tool::{Sandbox, SandboxPlaces, SandboxSettings};

/// The four directories of an installation. With `WEFT_HOME` set they are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Settings, agents, skills and the vault.
    pub config: PathBuf,
    /// The database, its backups and whole tool outputs.
    pub data: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
    /// Locks and the input history.
    pub state: PathBuf,
}

impl Home {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { config: root.clone(), data: root.clone(), cache: root.join("cache"), state: root }
    }

    /// `WEFT_HOME`, or the XDG directories.
    pub fn from_env() -> Self {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(root) = var("WEFT_HOME") {
            return Self::at(std::path::absolute(&root).unwrap_or(root));
        }
        // Also where nobody says it: the system's own list of users knows.
        let user = std::env::home_dir().filter(|home| home.is_absolute()).unwrap_or_else(|| PathBuf::from("/"));
        let xdg = |name: &str, fallback: &str| var(name).unwrap_or_else(|| user.join(fallback)).join("weft");
        Self {
            config: xdg("XDG_CONFIG_HOME", ".config"),
            data: xdg("XDG_DATA_HOME", ".local/share"),
            cache: xdg("XDG_CACHE_HOME", ".cache"),
            state: xdg("XDG_STATE_HOME", ".local/state"),
        }
    }

    pub fn database(&self) -> PathBuf {
        self.data.join("weft.db")
    }

    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    pub fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// Answers on their way to a process that is at work.
    pub fn mail(&self) -> PathBuf {
        self.state.join("answers")
    }

    /// What the person has allowed for good.
    pub fn permissions(&self) -> PathBuf {
        self.config.join("permissions.toml")
    }

    /// The audit log.
    pub fn audit(&self) -> PathBuf {
        self.state.join("audit")
    }

    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// What commands run in. No command sees these folders.
    pub fn sandbox(&self, settings: SandboxSettings) -> Sandbox {
        Sandbox::new(settings, SandboxPlaces { weft_home: self.folders(), temporary: self.state.join("tmp") })
    }

    /// All of Weft's own.
    pub fn folders(&self) -> Vec<PathBuf> {
        vec![self.config.clone(), self.data.clone(), self.cache.clone(), self.state.clone()]
    }

    /// Whole outputs of a session's tools.
    pub fn outputs(&self, session: SessionId) -> PathBuf {
        self.data.join("outputs").join(session.to_string())
    }
}

/// The beginning of a file of a project, at most `cap` bytes. Other people's links may lead anywhere,
/// so one that leads out of `root`, or to something that is not a file, counts as no file.
pub fn read_within(root: &Path, file: &Path, cap: u64) -> std::io::Result<Vec<u8>> {
    let (real_root, real_file) = (root.canonicalize()?, file.canonicalize()?);
    if !real_file.starts_with(&real_root) || !real_file.metadata()?.is_file() {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    // What was looked at may be exchanged for a link or a pipe by now: neither is followed or waited for.
    let mut bytes = Vec::new();
    weft_tool::reading::open(&real_file)?.take(cap).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
