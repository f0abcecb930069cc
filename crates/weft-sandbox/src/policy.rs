//! What a sandboxed command may do. Everything that is not named is forbidden, but reading: a
//! command may read what its user may read, except what is listed as unreadable.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::named;
use crate::proxy::Domain;
use crate::reserved::Reserved;
use crate::shut;
use crate::trail::{Trail, Trails};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Folders in which files may be changed.
    #[serde(with = "named::many")]
    pub writable: Vec<PathBuf>,
    /// Files and folders inside writable ones that stay as they are, and links that lead to such.
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

#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum PolicyError {
    #[error("`{}` cannot be the place where commands may write: it holds the whole system", .0.display())]
    WholeSystem(PathBuf),
    #[error("`{}` is hidden from commands, by its place, a rule or `sandbox.unreadable`, so none can work there", .0.display())]
    Secret(PathBuf),
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    #[error(
        "nobody can look into `{}`, so it cannot be told what commands must leave alone there. Open it again: \
         `chmod u+rwX '{}'`", .0.display(), .0.display()
    )]
    Shut(PathBuf),
    #[error(
        "`{}` has more than {} folders at its top and one level below, too many to look for repositories among them, \
         whose hooks commands must leave alone. Work in one of the folders, or move some of them further in",
        .folder.display(), .most
    )]
    TooManyFolders { folder: PathBuf, most: usize },
    #[error(
        "`{}` is too long for git's settings, or one too many of them, so nobody knows what commands must leave alone. \
         Shorten it, or take out the `include` that leads to it", .0.display()
    )]
    TooManySettings(PathBuf),
    #[error(
        "`{}` is too long for a list of submodules, so nobody knows which repositories commands must leave alone. \
         Shorten it, or move it away", .0.display()
    )]
    TooLongList(PathBuf),
    #[error("which repositories are in the workspace could not be kept in `{}`: {why}", .file.display())]
    Unkept { file: PathBuf, why: String },
}

impl Policy {
    /// The same policy with every path free of symlinks, and without what does not exist. A link
    /// would lead the sandbox to protect the link and not the thing. What lies in a folder that nobody can
    /// look into is held with that folder as a whole.
    pub fn resolved(mut self) -> Result<Self, PolicyError> {
        let must_exist = |path: &PathBuf| path.canonicalize().map_err(|_| PolicyError::Missing(path.clone()));
        self.writable = self.writable.iter().map(must_exist).collect::<Result<_, _>>()?;
        self.temp = must_exist(&self.temp)?;
        let mut resolver = Resolver::default();
        self.quiet.retain(|folder| folder.canonicalize().is_ok_and(|real| real == *folder));
        self.readable = self.readable.iter().filter_map(|path| resolver.find(path).ok()).collect();
        let was_unborn = std::mem::take(&mut self.unborn).into_iter().map(|path| (path, false));
        let hidden = std::mem::take(&mut self.unreadable).into_iter().map(|path| (path, true));
        for (path, is_hidden) in was_unborn.chain(hidden) {
            match resolver.find(&path) {
                Ok(real) if is_hidden => self.unreadable.push(real),
                Ok(_) => {}
                Err(Unfound::Shut(folder)) => self.unreadable.push(folder),
                Err(Unfound::Absent(place)) => self.unborn.extend(place),
            }
        }
        for path in &mut self.protected {
            if let Some(folder) = fs::symlink_metadata(&*path).err().and_then(|error| shut::because(path, &error)) {
                *path = folder;
            }
        }
        let mut trails = Trails::default();
        let trails = std::mem::take(&mut self.protected).into_iter().map(|path| trails.of(&path));
        self.protected = trails.flat_map(|Trail { links, end }| links.into_iter().chain([end])).collect();
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
    folders: HashMap<PathBuf, Result<PathBuf, Unfound>>,
}

#[derive(Clone)]
enum Unfound {
    /// It does not exist, and would be there, if that is known.
    Absent(Option<PathBuf>),
    /// It is behind this folder, which nobody can look into until its owner opens it.
    Shut(PathBuf),
}

impl Unfound {
    fn because(path: &Path, error: &io::Error, place: Option<PathBuf>) -> Self {
        shut::because(path, error).map_or(Self::Absent(place), Self::Shut)
    }
}

impl Resolver {
    /// The path without symlinks.
    fn find(&mut self, path: &Path) -> Result<PathBuf, Unfound> {
        let real = |path: &Path| path.canonicalize().map_err(|error| Unfound::because(path, &error, None));
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return real(path) };
        let known = self.folders.entry(folder.to_owned()).or_insert_with(|| real(folder));
        let place = known.clone()?.join(name);
        let found = fs::symlink_metadata(&place)
            .and_then(|found| if found.is_symlink() { place.canonicalize() } else { Ok(place.clone()) });
        found.map_err(|error| Unfound::because(&place, &error, Some(place.clone())))
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
