//! The policy that the product runs commands under: the workspace and a private temporary folder
//! can be written, secrets cannot be read, and what would run code later stays as it is.

use std::path::{Path, PathBuf};

use crate::git_settings::Settings;
use crate::policy::{Limits, Network, Policy};
use crate::repository::{GitFolder, around, heeded_of, is_vacant, leads_to, of_home};
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
        let home = self.user_home.as_deref();
        let person = Settings::of_person(home)?;
        let mut kept = Kept {
            writable: roots.clone(),
            roots: roots.clone(),
            home,
            person: &person,
            protected: Vec::new(),
            reserved: Vec::new(),
            quiet: Vec::new(),
            heeded: Vec::new(),
        };
        for folder in &roots {
            if shut::is_shut(folder) {
                return Err(PolicyError::Shut(folder.clone()));
            }
            kept.protected.extend(STARTUP.iter().map(|name| folder.join(name)));
            let vacant = RESERVED.iter().map(|name| folder.join(name)).filter(|path| is_vacant(path));
            kept.reserved.extend(vacant.map(Reserved::folder));
            kept.keep_repository(folder, true)?;
            // A part of a repository is worked in by the settings of the whole.
            for folder in around(folder).into_iter().chain([folder.as_path()]) {
                kept.heed(folder)?;
            }
        }
        for (number, folder) in self.nested.iter().enumerate() {
            if let Some(shut) = shut::by_itself(folder).or_else(|| shut::is_shut(folder).then(|| folder.clone())) {
                // Whatever there is in it: nothing, until its owner opens it again.
                kept.protected.push(shut);
                continue;
            }
            // Settings that cannot be looked through may name anything in it.
            if kept.heed(folder).is_err() {
                kept.protected.push(folder.clone());
                continue;
            }
            if number >= MOST_NESTED {
                kept.keep_whole(folder);
                continue;
            }
            let mut with_it = kept.clone();
            match with_it.keep_repository(folder, false) {
                Ok(()) => kept = with_it,
                Err(_) => kept.protected.push(folder.clone()),
            }
        }
        kept.heeded.extend(of_home(&person, home));
        let Kept { mut protected, reserved, quiet, writable, heeded, .. } = kept;
        let also = self.also_protected.iter().map(real).flat_map(|path| within(&path, &writable));
        protected.extend(also);
        protected.extend(
            heeded.into_iter().filter(|path| writable.iter().any(|root| root != path && path.starts_with(root))),
        );
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
#[derive(Clone)]
struct Kept<'a> {
    /// Where commands work.
    roots: Vec<PathBuf>,
    home: Option<&'a Path>,
    person: &'a Settings,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    reserved: Vec<Reserved>,
    quiet: Vec<PathBuf>,
    /// What git reads as settings or runs, wherever it is.
    heeded: Vec<PathBuf>,
}

impl Kept<'_> {
    /// What of a folder's repository, if it has one, runs commands or names others. `for_it`: the work is in
    /// that folder, so its commits may go elsewhere.
    fn keep_repository(&mut self, folder: &Path, for_it: bool) -> Result<(), PolicyError> {
        let kind = GitFolder::of(folder);
        match &kind {
            // One without working files may be an example that is committed with the rest, so nothing stands in
            // it, unless it has worktrees.
            GitFolder::None if !for_it && !folder.join("worktrees").is_dir() => self.keep_whole(folder),
            GitFolder::None | GitFolder::Own(_) => {
                for git in kind.stores(folder) {
                    self.keep_git(&git)?;
                }
            }
            GitFolder::Foreign(link) => {
                self.protected.push(link.clone());
                // What it leads to may lie where commands work, as in a folder of worktrees.
                match leads_to(folder, link).filter(|git| self.is_within(git)) {
                    Some(git) if git.join("HEAD").exists() => self.keep_git(&git)?,
                    Some(git) => self.protected.push(git),
                    None => {}
                }
            }
            GitFolder::Linked { link, common, own } => {
                self.protected.push(link.clone());
                if for_it || self.is_within(own) {
                    self.keep_git(common)?;
                    self.protected.extend(GIT_WORKTREE.iter().map(|name| own.join(name)));
                    self.keep_file(own.join("config.worktree"), REMARK);
                    // Git removes no worktree that has this folder, so nothing stands in for it where others may work;
                    // one that a command makes there is noticed after it.
                    match own.join(GIT_MODULES) {
                        modules if for_it => self.keep(Reserved::folder(modules)),
                        modules => self.protected.push(modules),
                    }
                    self.quiet.push(own.clone());
                    self.writable.extend(for_it.then(|| common.clone()).into_iter().chain([own.clone()]));
                }
            }
        }
        Ok(())
    }

    /// Of a repository inside nothing that is git's can be changed.
    fn keep_whole(&mut self, folder: &Path) {
        let kind = GitFolder::of(folder);
        let mut stores = kind.stores(folder);
        stores.retain(|git| self.is_within(git));
        self.protected.append(&mut stores);
        match kind {
            GitFolder::None | GitFolder::Own(_) => {}
            GitFolder::Foreign(link) | GitFolder::Linked { link, .. } => self.protected.push(link),
        }
    }

    /// In a folder where commands work, and not one that holds it: any command can make a `.git` file that
    /// leads there.
    fn is_within(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root)) && !self.roots.iter().any(|root| root.starts_with(path))
    }

    fn heed(&mut self, folder: &Path) -> Result<(), PolicyError> {
        self.heeded.extend(heeded_of(folder, &self.roots, self.person, self.home)?);
        Ok(())
    }

    /// What in a git folder runs commands or names others.
    fn keep_git(&mut self, git: &Path) -> Result<(), PolicyError> {
        open_to_a_look(git)?;
        // As those of submodules are, with all that they hold.
        let is_held = self.protected.iter().any(|held| git != held && git.starts_with(held));
        if !is_held {
            for name in GIT_FOLDERS {
                self.keep(Reserved::folder(git.join(name)));
            }
            for (name, stand_in) in GIT_FILES {
                self.keep_file(git.join(name), stand_in);
            }
            self.quiet.push(git.to_owned());
        }
        Ok(())
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

#[cfg(test)]
#[path = "usual_tests.rs"]
mod tests;
