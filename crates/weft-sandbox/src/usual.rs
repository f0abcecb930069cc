//! The policy that the product runs commands under: the workspace and a private temporary folder
//! can be written, secrets cannot be read, and what would run code later stays as it is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::PolicyError;
use crate::heeded::{Heeded, Repository};
use crate::policy::{Limits, Network, Policy};
use crate::repository::{GitFolder, is_vacant};
use crate::reserved::Reserved;

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
/// The submodules of a linked worktree.
const GIT_MODULES: &str = "modules";

/// So many nested repositories can be committed to; of the others nothing in `.git` can be changed.
const MOST_NESTED: usize = 8;

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
        let mut roots = vec![real(&self.workspace)];
        roots.extend(self.also_writable.iter().filter(|path| path.is_dir()).map(real));
        let heeded = Heeded::of(&roots, &self.nested, self.user_home.as_deref())?;
        let mut kept = Kept { writable: roots.clone(), roots, ..Kept::default() };
        for folder in &kept.roots {
            kept.protected.extend(STARTUP.iter().map(|name| folder.join(name)));
            let vacant = RESERVED.iter().map(|name| folder.join(name)).filter(|path| is_vacant(path));
            kept.reserved.extend(vacant.map(Reserved::folder));
        }
        heeded.worked_in.iter().for_each(|repository| kept.keep_repository(repository, Work::Here));
        for (number, repository) in heeded.others.iter().enumerate() {
            kept.keep_repository(repository, if number < MOST_NESTED { Work::Beside } else { Work::Elsewhere });
        }
        let Kept { mut protected, reserved, quiet, writable, whole, .. } = kept;
        let also = self.also_protected.iter().map(real).flat_map(|path| within(&path, &writable));
        protected.extend(also);
        let is_within = |path: &PathBuf| writable.iter().any(|root| root != path && path.starts_with(root));
        // What is held as a whole needs no mount for each file in it.
        let is_held = |path: &PathBuf| path.ancestors().skip(1).any(|folder| whole.contains(folder));
        protected.extend(heeded.places.into_iter().filter(|path| is_within(path) && !is_held(path)));
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

/// What of a place lies in writable folders: itself, or those of them that lie in it.
fn within(place: &Path, writable: &[PathBuf]) -> Vec<PathBuf> {
    if writable.iter().any(|root| place != root && place.starts_with(root)) {
        return vec![place.to_owned()];
    }
    writable.iter().filter(|root| root.starts_with(place)).cloned().collect()
}

/// What is done in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// All, so its commits may go elsewhere.
    Here,
    /// Commits, where they stay in the folders where commands work.
    Beside,
    /// Nothing of git's.
    Elsewhere,
}

/// What stays as it is in writable folders.
#[derive(Default)]
struct Kept {
    /// Where commands work.
    roots: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    reserved: Vec<Reserved>,
    quiet: Vec<PathBuf>,
    /// Git folders in which nothing can be changed.
    whole: HashSet<PathBuf>,
}

impl Kept {
    /// What of a repository's git folders runs commands or names others.
    fn keep_repository(&mut self, repository: &Repository, work: Work) {
        match &repository.kind {
            GitFolder::Linked { link, common, own } => {
                self.protect(link.clone());
                if work == Work::Here || self.is_within(own) {
                    self.keep_linked(common, own, work);
                }
            }
            kind => {
                if let GitFolder::Foreign(link) = kind {
                    self.protect(link.clone());
                }
                for git in &repository.stores {
                    self.keep_store(git, kind, work);
                }
            }
        }
    }

    fn keep_linked(&mut self, common: &Path, own: &Path, work: Work) {
        self.keep_git(common, true);
        self.protected.extend(GIT_WORKTREE.iter().map(|name| own.join(name)));
        self.keep(Reserved::file(own.join("config.worktree"), REMARK), work != Work::Elsewhere);
        // Git removes no worktree that has this folder, so nothing stands in for it where others may work; one that
        // a command makes there is noticed after it.
        self.keep(Reserved::folder(own.join(GIT_MODULES)), work == Work::Here);
        self.quiet.push(own.to_owned());
        self.writable.extend((work == Work::Here).then(|| common.to_owned()).into_iter().chain([own.to_owned()]));
    }

    /// What a `.git` file leads to may lie where commands work, as in a folder of worktrees.
    fn keep_store(&mut self, git: &Path, kind: &GitFolder, work: Work) {
        let is_whole = work == Work::Elsewhere || matches!(kind, GitFolder::Foreign(_)) && !git.join("HEAD").exists();
        if !self.is_within(git) {
            return;
        }
        if !is_whole {
            // One without working files may be a file among those of another repository, whose commits would take
            // in what stands in.
            self.keep_git(git, work == Work::Here || *kind != GitFolder::None);
        } else if !self.quiet.iter().any(|kept| git.starts_with(kept)) {
            self.protected.push(git.to_owned());
            self.whole.insert(git.to_owned());
        }
    }

    fn is_within(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// What in a git folder runs commands or names others.
    fn keep_git(&mut self, git: &Path, stands_in: bool) {
        // As those of submodules are, with all that they hold.
        let is_held = self.protected.iter().any(|held| git != held && git.starts_with(held));
        if is_held || self.quiet.iter().any(|kept| kept == git) {
            return;
        }
        for name in GIT_FOLDERS {
            self.keep(Reserved::folder(git.join(name)), true);
        }
        for (name, stand_in) in GIT_FILES {
            self.keep(Reserved::file(git.join(name), stand_in), stands_in);
        }
        self.quiet.push(git.to_owned());
    }

    fn protect(&mut self, path: PathBuf) {
        if self.is_within(&path) {
            self.protected.push(path);
        }
    }

    fn keep(&mut self, thing: Reserved, stands_in: bool) {
        self.protected.push(thing.path.clone());
        if stands_in && thing.is_free() {
            self.reserved.push(thing);
        }
    }
}

#[cfg(test)]
#[path = "usual_tests.rs"]
mod tests;
