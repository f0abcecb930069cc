//! The policy that the product runs commands under: the workspace and a private temporary folder
//! can be written, secrets cannot be read, and what would run code later stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::policy::{Limits, Network, Policy};

/// Folders with keys, passwords and cookies, from the person's home.
const SECRET_FOLDERS: [&str; 20] = [
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
    ".local/share/keyrings",
    ".local/share/kwalletd",
    "Library/Keychains",
];

const SECRET_FILES: [&str; 13] = [
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
];

/// What a shell, an editor or git runs of itself, wherever a writable folder has it.
const STARTUP: [&str; 22] = [
    ".weft",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".gitconfig",
    ".vimrc",
    ".config/git",
    ".config/fish",
    ".config/nvim",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/bin",
    ".vscode",
];

/// What git and Weft heed wherever it is.
const RESERVED: [&str; 2] = [".git", ".weft"];

/// What in a git folder names commands that git runs, or where it pushes to.
const GIT: [&str; 7] = ["hooks", "config", "config.worktree", "modules", "worktrees", "remotes", "branches"];
/// What in the folder of a linked worktree says where the rest is.
const GIT_WORKTREE: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Where things are for one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub workspace: PathBuf,
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
}

impl Places {
    pub fn policy(&self, network: Network, limits: Limits) -> Policy {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut writable = vec![real(&self.workspace)];
        writable.extend(self.also_writable.iter().filter(|path| path.is_dir()).map(real));
        let (mut protected, mut reserved) = (Vec::new(), Vec::new());
        for folder in writable.clone() {
            protected.extend(STARTUP.iter().map(|name| folder.join(name)));
            reserved.extend(RESERVED.iter().map(|name| folder.join(name)).filter(|path| is_vacant(path)));
            match GitFolder::of(&folder) {
                GitFolder::None => {}
                GitFolder::Own(git) => protected.extend(GIT.iter().map(|name| git.join(name))),
                GitFolder::Foreign(link) => protected.push(link),
                GitFolder::Linked { link, common, own } => {
                    protected.push(link);
                    protected.extend(GIT.iter().map(|name| common.join(name)));
                    protected.extend(GIT_WORKTREE.iter().map(|name| own.join(name)));
                    writable.extend([common, own]);
                }
            }
        }
        let home = |names: &'static [&'static str]| {
            self.user_home.iter().flat_map(move |home| names.iter().map(move |name| home.join(name)))
        };
        let unreadable = home(&SECRET_FOLDERS).chain(home(&SECRET_FILES)).chain(self.weft_home.iter().cloned());
        Policy {
            protected,
            reserved,
            unreadable: unreadable.chain(self.also_unreadable.iter().cloned()).collect(),
            readable: self.outputs.iter().cloned().collect(),
            temp: self.temp.clone(),
            writable,
            network,
            limits,
        }
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
