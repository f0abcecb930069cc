//! What a sandboxed command may do. Everything that is not named is forbidden, but reading: a
//! command may read what its user may read, except what is listed as unreadable.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::proxy::Domain;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Folders in which files may be changed.
    pub writable: Vec<PathBuf>,
    /// Files and folders inside writable ones that stay as they are.
    pub protected: Vec<PathBuf>,
    /// Folders that must not come into being inside writable ones, since git or Weft would heed
    /// them. For as long as a command runs an empty one stands there.
    pub reserved: Vec<PathBuf>,
    /// Files and folders that cannot be read.
    pub unreadable: Vec<PathBuf>,
    /// Folders inside unreadable ones that can be read all the same.
    pub readable: Vec<PathBuf>,
    /// A folder that stands in for `/tmp`.
    pub temp: PathBuf,
    pub network: Network,
    pub limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nothing but the sandbox's own loopback.
    #[default]
    Off,
    /// HTTP and HTTPS to these domains, through Weft.
    Proxy { allowed: Vec<Domain> },
    /// Everything.
    Open,
}

/// For each process, except `processes`. Absent is unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Processes and threads of the whole sandbox.
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    pub memory_mb: Option<u64>,
    pub file_mb: Option<u64>,
    pub cpu_seconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: Some(2048),
            open_files: Some(8192),
            memory_mb: Some(16 * 1024),
            file_mb: Some(16 * 1024),
            cpu_seconds: None,
        }
    }
}

/// Whether commands run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Where the machine can, as well as it can; where it cannot is said.
    #[default]
    On,
    Off,
    /// Where the machine cannot hold everything, nothing is run.
    Required,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PolicyError {
    #[error("`{}` cannot be the place where commands may write: it holds the whole system", .0.display())]
    WholeSystem(PathBuf),
    #[error("`{}` holds secrets and cannot be worked in from the sandbox", .0.display())]
    Secret(PathBuf),
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    #[error("`{}` is not valid Unicode, which the sandbox needs", .0.display())]
    NotUnicode(PathBuf),
}

impl Policy {
    /// The same policy with every path free of symlinks, and without what does not exist. A link
    /// would lead the sandbox to protect the link and not the thing.
    pub fn resolved(mut self) -> Result<Self, PolicyError> {
        let must_exist = |path: &PathBuf| path.canonicalize().map_err(|_| PolicyError::Missing(path.clone()));
        self.writable = self.writable.iter().map(must_exist).collect::<Result<_, _>>()?;
        self.temp = must_exist(&self.temp)?;
        for list in [&mut self.unreadable, &mut self.readable] {
            *list = list.iter().filter_map(|path| path.canonicalize().ok()).collect();
        }
        for list in [&mut self.writable, &mut self.unreadable, &mut self.readable, &mut self.protected] {
            list.sort();
            list.dedup();
        }
        // What lies in a folder that is hidden as a whole needs no hiding of its own.
        let hidden = self.unreadable.clone();
        self.unreadable.retain(|path| !hidden.iter().any(|outer| outer != path && path.starts_with(outer)));
        for path in &self.writable {
            if system_folders().any(|folder| folder == path) {
                return Err(PolicyError::WholeSystem(path.clone()));
            }
            if self.unreadable.contains(path) {
                return Err(PolicyError::Secret(path.clone()));
            }
        }
        self.reserved
            .retain(|path| path.parent().is_some_and(|folder| self.writable.iter().any(|root| root == folder)));
        let all = self
            .writable
            .iter()
            .chain(&self.unreadable)
            .chain(&self.readable)
            .chain(&self.protected)
            .chain(&self.reserved);
        let unnameable = all.chain([&self.temp]).find(|path| path.to_str().is_none()).cloned();
        unnameable.map_or(Ok(self), |path| Err(PolicyError::NotUnicode(path)))
    }
}

fn system_folders() -> impl Iterator<Item = &'static Path> {
    ["/", "/dev", "/proc", "/sys", "/run", "/tmp", "/var", "/var/tmp", "/etc", "/usr", "/home"]
        .into_iter()
        .map(Path::new)
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
