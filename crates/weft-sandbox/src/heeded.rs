//! What git reads as settings or runs, for whoever works in some folders. There is one list: the sandbox holds
//! commands to it, and the file tools ask before they change what is on it.

use std::path::{Path, PathBuf};

use crate::git_settings::Settings;
use crate::policy::PolicyError;
use crate::repository::{self, GitFolder};
use crate::shut;
use crate::trail::{Trail, trail};
use crate::usual::STARTUP;

/// What git runs of itself, if it finds it where hooks are.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
];

/// What in a git folder is git's alone, where commands also work in that folder or further inside.
const ALWAYS_GITS: [&str; 3] = ["hooks", "modules", "worktrees"];

/// A repository whose settings could be read.
#[derive(Debug)]
pub(crate) struct Repository {
    pub kind: GitFolder,
    /// Its git folders, but those that commands could make up to have everything held.
    pub stores: Vec<PathBuf>,
}

/// What git heeds.
#[derive(Debug, Default)]
pub struct Heeded {
    /// Files and folders, wherever they are: settings, hooks, what home has links to, and repositories inside
    /// that cannot be looked at.
    pub(crate) places: Vec<PathBuf>,
    /// The repositories of the folders where somebody works.
    pub(crate) worked_in: Vec<Repository>,
    /// Those around them and inside.
    pub(crate) others: Vec<Repository>,
}

impl Heeded {
    /// `nested`: repositories inside. An error: nobody knows what git would heed.
    pub fn of(roots: &[PathBuf], nested: &[PathBuf], home: Option<&Path>) -> Result<Self, PolicyError> {
        let person = Settings::of_person(home)?;
        let mut heeded = Self { places: person.files.clone(), ..Self::default() };
        // People keep what is at home in a repository, and link it there.
        let startup = home.into_iter().flat_map(|home| STARTUP.iter().map(|name| trail(&home.join(name))));
        heeded.places.extend(startup.flat_map(|Trail { links, end }| links.into_iter().chain([end])));
        let look = Look { roots, nested, home, person: &person };
        for root in roots {
            let (repository, places) = look.at(root)?;
            heeded.worked_in.push(repository);
            heeded.places.extend(places);
        }
        for folder in nested {
            // Whatever there is in one that cannot be looked at: nothing, until its owner opens it again.
            let found = repository::listed(folder).and_then(|_| look.at(folder));
            let Ok((repository, places)) = found else {
                heeded.places.push(shut::by_itself(folder).unwrap_or_else(|| folder.clone()));
                continue;
            };
            heeded.others.push(repository);
            heeded.places.extend(places);
        }
        for folder in roots.iter().flat_map(|root| repository::around(root)) {
            let (repository, places) = look.at(folder)?;
            heeded.others.push(repository);
            heeded.places.extend(places);
        }
        let is_root = |place: &PathBuf| roots.iter().any(|root| root.starts_with(place));
        heeded.places.retain(|place| !is_root(place));
        heeded.places.sort();
        heeded.places.dedup();
        Ok(heeded)
    }

    /// All of it, with the git folders as wholes.
    pub fn into_places(self, roots: &[PathBuf]) -> Vec<PathBuf> {
        let mut places = self.places;
        for git in self.worked_in.into_iter().chain(self.others).flat_map(|repository| repository.stores) {
            // In a folder that is a repository by itself there are other things too.
            if roots.iter().any(|root| root.starts_with(&git)) {
                places.extend(ALWAYS_GITS.map(|name| git.join(name)));
            } else {
                places.push(git);
            }
        }
        places.sort();
        places.dedup();
        places
    }
}

struct Look<'a> {
    roots: &'a [PathBuf],
    nested: &'a [PathBuf],
    home: Option<&'a Path>,
    person: &'a Settings,
}

impl Look<'_> {
    /// A folder's repository, if it has one, and what it has git read and run.
    fn at(&self, folder: &Path) -> Result<(Repository, Vec<PathBuf>), PolicyError> {
        let kind = GitFolder::of(folder);
        let mut stores = kind.stores(folder);
        // What they say of hooks counts, so it must be to be seen.
        let shut = stores.iter().flat_map(|git| [git.clone(), git.join("config")]);
        if let Some(shut) = [folder.to_owned()].into_iter().chain(shut).find(|path| shut::is_shut(path)) {
            return Err(PolicyError::Shut(shut));
        }
        let settings = Settings::of(stores.iter().flat_map(|git| repository::settings_in(git)), self.home)?;
        let mut places = settings.files.clone();
        // Most hooks run where the working files are, some in the git folder.
        let work = stores.iter().flat_map(|git| settings.work.iter().map(|work| git.join(work)));
        for place in work.chain(stores.iter().cloned()).chain([folder.to_owned()]) {
            let hooks = settings.hooks_in(&place).chain(self.person.hooks_in(&place));
            places.extend(hooks.flat_map(|hooks| self.as_hooks(hooks, &stores)));
        }
        // Any command can have a `.git` file lead here.
        if matches!(kind, GitFolder::Foreign(_)) {
            stores.retain(|git| !self.roots.iter().any(|root| root.starts_with(git)));
        }
        Ok((Repository { kind, stores }, places))
    }

    /// What of a place for hooks is to be left alone: all of it, or where somebody works in that very folder or
    /// further inside, what git would run there.
    fn as_hooks(&self, place: PathBuf, stores: &[PathBuf]) -> Vec<PathBuf> {
        let mut worked_in = self.roots.iter().chain(self.nested).chain(stores);
        match worked_in.any(|folder| folder.starts_with(&place)) {
            true => HOOKS.iter().map(|name| place.join(name)).collect(),
            false => vec![place],
        }
    }
}

#[cfg(test)]
#[path = "heeded_tests.rs"]
mod tests;
