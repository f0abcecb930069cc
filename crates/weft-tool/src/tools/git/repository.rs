//! Finds the repository that a workspace lies in, and makes sure that it is that: a `.git` that
//! somebody else made can point anywhere.

use std::path::{Path, PathBuf};

use weft_sandbox::plain::small_text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder that `.git` is in.
    pub top: PathBuf,
    /// Where git keeps its things.
    pub git_dir: PathBuf,
}

/// More than any path that git writes down.
const LONGEST_LINK: u64 = 16 * 1024;

/// Entries that git writes and through which a link would lead it elsewhere.
const WRITTEN: [&str; 8] = ["HEAD", "index", "objects", "refs", "logs", "packed-refs", "ORIG_HEAD", "worktrees"];

impl Repository {
    pub fn find(workspace: &Path) -> Result<Self, String> {
        let start = workspace.canonicalize().map_err(|error| format!("The workspace cannot be found: {error}."))?;
        for folder in start.ancestors() {
            let entry = folder.join(".git");
            let Ok(found) = entry.symlink_metadata() else { continue };
            let git_dir = if found.is_dir() {
                entry
            } else if found.is_file() {
                linked(folder, &entry)?
            } else {
                return Err(format!("`{}` is a link or something odd; git tools do not follow it.", entry.display()));
            };
            return Ok(Self { top: folder.to_owned(), git_dir });
        }
        Err("There is no git repository here.".to_owned())
    }

    /// How paths in `folder` begin when they are said from the top; nothing for the top itself.
    pub fn prefix(&self, folder: &Path) -> String {
        let folder = folder.canonicalize().unwrap_or_default();
        let beneath = folder.strip_prefix(&self.top).unwrap_or(Path::new(""));
        if beneath.as_os_str().is_empty() { String::new() } else { format!("{}/", beneath.to_string_lossy()) }
    }

    /// Refuses to change a repository whose parts are links to elsewhere.
    pub fn check_for_changes(&self) -> Result<(), String> {
        let common = small_text(&self.git_dir.join("commondir"), LONGEST_LINK);
        let common = common.map(|path| self.git_dir.join(path.trim_end()));
        for folder in [Some(self.git_dir.clone()), common].into_iter().flatten() {
            let linked = |name: &&&str| folder.join(**name).symlink_metadata().is_ok_and(|found| found.is_symlink());
            if let Some(name) = WRITTEN.iter().find(linked) {
                let path = folder.join(name);
                return Err(format!("`{}` is a link, and git would write where it leads. Not done.", path.display()));
            }
        }
        Ok(())
    }
}

/// Where a `.git` file leads, if what is there leads back: so it is in worktrees and submodules, and
/// a stranger's repository does not do it.
fn linked(folder: &Path, entry: &Path) -> Result<PathBuf, String> {
    let broken = || format!("`{}` is not a file that git has made.", entry.display());
    let named = small_text(entry, LONGEST_LINK).ok_or_else(broken)?;
    let named = named.trim_end().strip_prefix("gitdir: ").ok_or_else(broken)?;
    let git_dir = folder.join(named).canonicalize().map_err(|_| broken())?;
    let back = small_text(&git_dir.join("gitdir"), LONGEST_LINK);
    let back = back.and_then(|path| git_dir.join(path.trim_end()).canonicalize().ok());
    let is_worktree = back.is_some_and(|back| entry.canonicalize().is_ok_and(|entry| entry == back));
    let above = folder.ancestors().skip(1);
    let is_submodule = above.into_iter().any(|above| git_dir.starts_with(above.join(".git/modules")));
    if is_worktree || is_submodule {
        return Ok(git_dir);
    }
    Err(format!(
        "`{}` leads to `{}`, which does not lead back: it is the repository of something else. Not done.",
        entry.display(),
        git_dir.display()
    ))
}
