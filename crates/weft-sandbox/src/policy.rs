//! What a sandboxed command may do. Everything that is not named is forbidden, but reading: a
//! command may read what its user may read, except what is listed as unreadable.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::named;
use crate::proxy::Domain;
use crate::reserved::Reserved;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Folders in which files may be changed.
    #[serde(with = "named::many")]
    pub writable: Vec<PathBuf>,
    /// Files and folders inside writable ones that stay as they are.
    #[serde(with = "named::many")]
    pub protected: Vec<PathBuf>,
    /// What must not come into being inside writable folders, since git or Weft would heed it. For as
    /// long as a command runs something harmless stands there.
    pub reserved: Vec<Reserved>,
    /// Files and folders that cannot be read.
    #[serde(with = "named::many")]
    pub unreadable: Vec<PathBuf>,
    /// The same for what does not exist yet, as far as that can be held.
    #[serde(with = "named::many")]
    pub unborn: Vec<PathBuf>,
    /// Folders inside writable ones in which a command that lasts changes nothing: files in them are
    /// replaced all the time, and a mount goes with the file under it.
    #[serde(with = "named::many")]
    pub quiet: Vec<PathBuf>,
    /// Folders inside unreadable ones that can be read all the same.
    #[serde(with = "named::many")]
    pub readable: Vec<PathBuf>,
    /// A folder that stands in for `/tmp`.
    #[serde(with = "named")]
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
            processes: Some(usual_processes(std::thread::available_parallelism().map_or(1, usize::from))),
            open_files: Some(8192),
            memory_mb: Some(16 * 1024),
            file_mb: Some(16 * 1024),
            cpu_seconds: None,
        }
    }
}

/// Room for what runs beside a build (a browser, a virtual machine, language servers: a few hundred
/// threads) and for a build that uses every core. As many as run away at once must still leave the
/// machine able to stop them, so fewer cores get less.
fn usual_processes(cores: usize) -> u64 {
    const BESIDE: u64 = 256;
    const EACH_CORE: u64 = 64;
    const MOST: u64 = 2_048;
    let cores = u64::try_from(cores).unwrap_or(MOST);
    cores.saturating_mul(EACH_CORE).saturating_add(BESIDE).min(MOST)
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
    #[error("`{}` is hidden from commands, by its place, a rule or `sandbox.unreadable`, so none can work there", .0.display())]
    Secret(PathBuf),
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
}

impl Policy {
    /// The same policy with every path free of symlinks, and without what does not exist. A link
    /// would lead the sandbox to protect the link and not the thing.
    pub fn resolved(mut self) -> Result<Self, PolicyError> {
        let must_exist = |path: &PathBuf| path.canonicalize().map_err(|_| PolicyError::Missing(path.clone()));
        self.writable = self.writable.iter().map(must_exist).collect::<Result<_, _>>()?;
        self.temp = must_exist(&self.temp)?;
        let mut resolver = Resolver::default();
        self.quiet.retain(|folder| folder.canonicalize().is_ok_and(|real| real == *folder));
        self.readable = self.readable.iter().filter_map(|path| resolver.find(path).ok()).collect();
        self.unborn = self.unborn.iter().filter_map(|path| resolver.find(path).err()?).collect();
        for path in std::mem::take(&mut self.unreadable) {
            match resolver.find(&path) {
                Ok(real) => self.unreadable.push(real),
                Err(place) => self.unborn.extend(place),
            }
        }
        let lists = [&mut self.unreadable, &mut self.unborn, &mut self.readable, &mut self.protected, &mut self.quiet];
        for list in lists.into_iter().chain([&mut self.writable]) {
            list.sort();
            list.dedup();
        }
        // What lies in a folder that is hidden as a whole needs no hiding of its own, unless it lies in
        // something that is laid open there.
        let hidden = self.unreadable.clone();
        let open = |path: &Path, outer: &Path| {
            let mut roots = self.writable.iter().chain(&self.readable);
            roots.any(|root| root.starts_with(outer) && path.starts_with(root))
        };
        let with_another =
            |path: &Path| hidden.iter().any(|outer| outer != path && path.starts_with(outer) && !open(path, outer));
        self.unreadable.retain(|path| !with_another(path));
        for path in &self.writable {
            if system_folders().any(|folder| folder == path) {
                return Err(PolicyError::WholeSystem(path.clone()));
            }
            if self.unreadable.contains(path) {
                return Err(PolicyError::Secret(path.clone()));
            }
        }
        self.reserved.retain(|kept| self.writable.iter().any(|root| *root != kept.path && kept.path.starts_with(root)));
        Ok(self)
    }
}

/// Finds out where many paths lead that lie in few folders, and so looks at each folder once.
#[derive(Default)]
struct Resolver {
    folders: HashMap<PathBuf, Option<PathBuf>>,
}

impl Resolver {
    /// The path without symlinks. An error: it does not exist, and would be there, if that is known.
    fn find(&mut self, path: &Path) -> Result<PathBuf, Option<PathBuf>> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().map_err(|_| None);
        };
        let known = self.folders.entry(folder.to_owned()).or_insert_with(|| folder.canonicalize().ok());
        let place = known.as_ref().ok_or(None)?.join(name);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => place.canonicalize().map_err(|_| Some(place)),
            Ok(_) => Ok(place),
            Err(_) => Err(Some(place)),
        }
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
