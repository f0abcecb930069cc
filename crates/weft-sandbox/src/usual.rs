//! The policy that the product runs commands under: the workspace and a private temporary folder
//! can be written, secrets cannot be read, and what would run code later stays as it is.

use std::collections::VecDeque;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::policy::{Limits, Network, Policy};
use crate::reserved::Reserved;
use crate::{PolicyError, shut};

/// Folders with keys, passwords and cookies, from the person's home.
pub const SECRET_FOLDERS: [&str; 23] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".docker",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/1Password",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/containers",
    ".config/rclone",
    ".config/sops",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    "Library/Keychains",
];

/// The same of files.
pub const SECRET_FILES: [&str; 24] = [
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".gem/credentials",
    ".boto",
    ".s3cfg",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gradle/gradle.properties",
    ".cache/huggingface/token",
];

/// Passwords and keys of the machine, which only root can read anyway, and who works as root should
/// not show to a model.
pub const SYSTEM_SECRETS: [&str; 6] =
    ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers"];

/// What a shell, an editor, git or another agent runs or heeds of itself, at the top of a writable
/// folder. What is there stays as it is; what a command makes of it is put aside after the command.
pub const STARTUP: [&str; 35] = [
    ".weft",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".inputrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".gitconfig",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".exrc",
    ".gdbinit",
    ".lldbinit",
    ".mcp.json",
    ".claude",
    ".cursor",
    ".devcontainer",
    ".devcontainer.json",
    ".vscode",
    ".idea",
    ".zed",
    ".config/git",
    ".config/fish",
    ".config/nvim",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/bin",
];

/// What git and Weft heed wherever it is.
const RESERVED: [&str; 2] = [".git", ".weft"];

/// What in a git folder names commands that git runs, or where it pushes to.
const GIT_FOLDERS: [&str; 5] = ["hooks", "modules", "worktrees", "remotes", "branches"];
/// The same of files, with what stands in for an absent one and means the same to git.
const GIT_FILES: [(&str, &str); 3] = [("config", REMARK), ("config.worktree", REMARK), ("commondir", ".\n")];
const REMARK: &str = "# Stands here while a command runs in Weft's sandbox.\n";
/// What in the folder of a linked worktree says where the rest is.
const GIT_WORKTREE: [&str; 2] = ["commondir", "gitdir"];

/// So many nested repositories can be committed to; of the others nothing in `.git` can be changed.
const MOST_NESTED: usize = 8;
/// How many folders are looked at for them.
const MOST_LOOKED_AT: usize = 100_000;
/// Folders full of what was built or fetched, whose repositories nobody works in.
const NOT_LOOKED_AT: [&str; 6] = ["node_modules", "target", "build", "dist", "__pycache__", "venv"];
/// More is not git's.
const LONGEST_SETTINGS: u64 = 1 << 20;

/// Where things are for one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub workspace: PathBuf,
    /// Repositories inside the workspace, as [`nested`] finds them.
    pub nested: Vec<PathBuf>,
    /// The session's own temporary folder.
    pub temp: PathBuf,
    /// The person's home.
    pub user_home: Option<PathBuf>,
    /// Weft's own folders: settings, vault, database, state.
    pub weft_home: Vec<PathBuf>,
    /// The session's saved outputs, which may be read though they lie in Weft's own folders.
    pub outputs: Option<PathBuf>,
    /// More folders that the person lets commands write in.
    pub also_writable: Vec<PathBuf>,
    /// More files and folders that the person hides.
    pub also_unreadable: Vec<PathBuf>,
    /// Files and folders that stay as they are, wherever commands could change them.
    pub also_protected: Vec<PathBuf>,
}

impl Places {
    /// An error: something of git's cannot be looked at, so that nobody knows what to hold.
    pub fn policy(&self, network: Network, limits: Limits) -> Result<Policy, PolicyError> {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut writable = vec![real(&self.workspace)];
        writable.extend(self.also_writable.iter().filter(|path| path.is_dir()).map(real));
        let mut kept = Kept::default();
        for folder in writable.clone() {
            if shut::is_shut(&folder) {
                return Err(PolicyError::Shut(folder));
            }
            kept.protected.extend(STARTUP.iter().map(|name| folder.join(name)));
            let vacant = RESERVED.iter().map(|name| folder.join(name)).filter(|path| is_vacant(path));
            kept.reserved.extend(vacant.map(Reserved::folder));
            match GitFolder::of(&folder) {
                GitFolder::None => {}
                GitFolder::Own(git) => {
                    open_to_a_look(&git)?;
                    kept.keep_git(git, &folder);
                }
                GitFolder::Foreign(link) => kept.protected.push(link),
                GitFolder::Linked { link, common, own } => {
                    open_to_a_look(&common)?;
                    kept.protected.push(link);
                    kept.keep_git(common.clone(), &folder);
                    kept.protected.extend(GIT_WORKTREE.iter().map(|name| own.join(name)));
                    kept.keep_file(own.join("config.worktree"), REMARK);
                    kept.quiet.push(own.clone());
                    writable.extend([common, own]);
                }
            }
        }
        for (number, folder) in self.nested.iter().enumerate() {
            if let Some(shut) = shut::by_itself(folder).or_else(|| shut::is_shut(folder).then(|| folder.clone())) {
                // Whatever there is in it: nothing, until its owner opens it again.
                kept.protected.push(shut);
                continue;
            }
            match GitFolder::of(folder) {
                GitFolder::None => {}
                GitFolder::Own(git) if open_to_a_look(&git).is_err() => kept.protected.push(folder.clone()),
                GitFolder::Own(git) if number < MOST_NESTED => kept.keep_git(git, folder),
                GitFolder::Own(link) | GitFolder::Foreign(link) | GitFolder::Linked { link, .. } => {
                    kept.protected.push(link);
                }
            }
        }
        kept.protected.extend(self.also_protected.iter().flat_map(|path| within(&real(path), &writable)));
        let Kept { protected, reserved, quiet } = kept;
        let home = |names: &'static [&'static str]| {
            self.user_home.iter().flat_map(move |home| names.iter().map(move |name| home.join(name)))
        };
        // Others are kept from them by the system, and need no mounts for it.
        let system = SYSTEM_SECRETS.iter().map(PathBuf::from).filter(|_| rustix::process::geteuid().is_root());
        let unreadable =
            home(&SECRET_FOLDERS).chain(home(&SECRET_FILES)).chain(self.weft_home.iter().cloned()).chain(system);
        Ok(Policy {
            protected,
            reserved,
            quiet,
            unborn: Vec::new(),
            unreadable: unreadable.chain(self.also_unreadable.iter().cloned()).collect(),
            readable: self.outputs.iter().cloned().collect(),
            temp: self.temp.clone(),
            writable,
            network,
            limits,
        })
    }
}

/// What a git folder says of hooks counts, so it must be to be seen.
fn open_to_a_look(git: &Path) -> Result<(), PolicyError> {
    let shut = [git.to_owned(), git.join("config")].into_iter().find(|path| shut::is_shut(path));
    shut.map_or(Ok(()), |shut| Err(PolicyError::Shut(shut)))
}

/// What of a place lies in writable folders: itself, or those of them that lie in it.
fn within(place: &Path, writable: &[PathBuf]) -> Vec<PathBuf> {
    if writable.iter().any(|root| place != root && place.starts_with(root)) {
        return vec![place.to_owned()];
    }
    writable.iter().filter(|root| root.starts_with(place)).cloned().collect()
}

/// What stays as it is in writable folders.
#[derive(Default)]
struct Kept {
    protected: Vec<PathBuf>,
    reserved: Vec<Reserved>,
    quiet: Vec<PathBuf>,
}

impl Kept {
    /// What in a git folder, whose working files are in `folder`, runs commands or names others.
    fn keep_git(&mut self, git: PathBuf, folder: &Path) {
        for name in GIT_FOLDERS {
            self.keep(Reserved::folder(git.join(name)));
        }
        for (name, stand_in) in GIT_FILES {
            self.keep_file(git.join(name), stand_in);
        }
        self.protected.extend(hooks_elsewhere(&git, folder));
        self.quiet.push(git);
    }

    fn keep_file(&mut self, path: PathBuf, stand_in: &str) {
        self.keep(Reserved::file(path, stand_in));
    }

    fn keep(&mut self, thing: Reserved) {
        self.protected.push(thing.path.clone());
        if thing.is_free() {
            self.reserved.push(thing);
        }
    }
}

/// Where git finds hooks by a repository's own settings, if that is among its files, there or not.
fn hooks_elsewhere(git: &Path, folder: &Path) -> Option<PathBuf> {
    let text = read_settings(&git.join("config"))?;
    let value = text.lines().rev().find_map(|line| {
        let (name, value) = line.trim().split_once('=')?;
        name.trim().eq_ignore_ascii_case("hookspath").then(|| value.trim().trim_matches('"').to_owned())
    })?;
    let named = folder.join(value);
    let climbs = named.components().any(|part| part == Component::ParentDir);
    let path = named.canonicalize().ok().or_else(|| (!climbs).then_some(named))?;
    (path.starts_with(folder) && path != folder).then_some(path)
}

/// A file of git's own, or of a person's for git.
fn read_settings(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.len() <= LONGEST_SETTINGS).then(|| fs::read_to_string(path).ok())?
}

/// Folders in a workspace that are repositories of their own: those that it names as submodules, and
/// what a look two folders deep finds, and folders there that nobody can look into. A large tree is not
/// walked; where there are too many folders even so that is said, since one that was left out would not be
/// held.
pub fn nested(workspace: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    nested_among(workspace, MOST_LOOKED_AT)
}

fn nested_among(workspace: &Path, most: usize) -> Result<Vec<PathBuf>, PolicyError> {
    let mut found = Vec::new();
    let mut ahead: VecDeque<(PathBuf, usize)> = [(workspace.to_owned(), 0)].into();
    let mut looked_at = 0;
    while let Some((folder, depth)) = ahead.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let skipped = name.as_encoded_bytes().starts_with(b".") || NOT_LOOKED_AT.iter().any(|known| name == *known);
            if !is_folder || skipped {
                continue;
            }
            looked_at += 1;
            if looked_at > most {
                return Err(PolicyError::TooManyFolders { folder: workspace.to_owned(), most });
            }
            let path = entry.path();
            if fs::symlink_metadata(path.join(".git")).is_ok() || shut::is_shut(&path) {
                found.push(path.clone());
            }
            if depth == 0 {
                ahead.push_back((path, 1));
            }
        }
    }
    let named = read_settings(&workspace.join(".gitmodules")).unwrap_or_default();
    let named = named.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim_start().strip_prefix('='));
    for path in named.map(|path| workspace.join(path.trim())) {
        let shut = path.canonicalize().err().and_then(|error| shut::because(&path, &error));
        found.extend(shut.filter(|shut| shut != workspace && shut.starts_with(workspace)));
        let real = path.canonicalize().is_ok_and(|real| real == path && real.starts_with(workspace));
        if real && path != workspace && fs::symlink_metadata(path.join(".git")).is_ok() {
            found.push(path);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether git would take a folder itself for a repository, as one without working files.
pub fn poses_as_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join("HEAD")).is_ok() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// Names the repository that a workspace belongs to, or the workspace itself. Commands in the worktrees
/// of one repository share it, and with it what is reserved there.
pub fn common_ground(workspace: &Path) -> PathBuf {
    match GitFolder::of(workspace) {
        GitFolder::Linked { common, .. } => common,
        GitFolder::Own(git) => git,
        GitFolder::None | GitFolder::Foreign(_) => workspace.join(".git"),
    }
}

/// Nothing is there, or an empty folder, which may be another command's reservation.
fn is_vacant(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
        Ok(_) => false,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

enum GitFolder {
    None,
    Own(PathBuf),
    /// A `.git` that leads somewhere else, where nothing is allowed for its sake.
    Foreign(PathBuf),
    /// A linked worktree, whose commits go to the folder it has in common with others.
    Linked {
        link: PathBuf,
        common: PathBuf,
        own: PathBuf,
    },
}

impl GitFolder {
    fn of(folder: &Path) -> Self {
        let git = folder.join(".git");
        match fs::symlink_metadata(&git) {
            Ok(_) if is_vacant(&git) => Self::None,
            Ok(found) if found.is_dir() => Self::Own(git),
            Ok(found) if found.is_file() => match linked(folder, &git) {
                Some((common, own)) => Self::Linked { link: git, common, own },
                None => Self::Foreign(git),
            },
            Ok(_) => Self::Foreign(git),
            Err(_) => Self::None,
        }
    }
}

/// The git folders of a linked worktree. A `.git` file can name any folder, so what it names must
/// look like git's own and point back.
fn linked(folder: &Path, link: &Path) -> Option<(PathBuf, PathBuf)> {
    let named = |text: String, prefix: &str| Some(PathBuf::from(text.trim().strip_prefix(prefix)?.trim()));
    let own = folder.join(named(fs::read_to_string(link).ok()?, "gitdir:")?).canonicalize().ok()?;
    let back = named(fs::read_to_string(own.join("gitdir")).ok()?, "")?;
    if own.join(back).canonicalize().ok()? != link.canonicalize().ok()? {
        return None;
    }
    let common = own.join(named(fs::read_to_string(own.join("commondir")).ok()?, "")?).canonicalize().ok()?;
    let is_git = own.starts_with(common.join("worktrees")) && common.join("HEAD").is_file();
    (is_git && common.join("objects").is_dir()).then_some((common, own))
}

#[cfg(test)]
#[path = "usual_tests.rs"]
mod tests;
