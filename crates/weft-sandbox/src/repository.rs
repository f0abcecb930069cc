//! Repositories that commands could change: where they are, and what in them has git run something. What a
//! command can write does not decide what is found: beside the list of submodules in the working files
//! counts what git itself has written down, and what an earlier look found.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::git_settings::{self, Settings};
use crate::plain::small_text;
use crate::policy::PolicyError;
use crate::shut;
use crate::trail::{Trail, trail};
use crate::usual::STARTUP;

/// How many folders are looked at for repositories.
const MOST_LOOKED_AT: usize = 100_000;
/// Folders full of what was built or fetched, whose repositories nobody works in.
const NOT_LOOKED_AT: [&str; 6] = ["node_modules", "target", "build", "dist", "__pycache__", "venv"];
/// More than any path that git writes down.
const LONGEST_LINK: u64 = 16 * 1024;

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

/// What `.git` in a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GitFolder {
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
    pub fn of(folder: &Path) -> Self {
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

    /// Where git keeps its things for a folder: also where the folder is such a place itself.
    pub fn stores(&self, folder: &Path) -> Vec<PathBuf> {
        match self {
            Self::None if poses_as_repository(folder) => vec![folder.to_owned()],
            Self::None => Vec::new(),
            Self::Own(git) => vec![git.clone()],
            Self::Foreign(link) => leads_to(folder, link).into_iter().collect(),
            Self::Linked { common, own, .. } => vec![common.clone(), own.clone()],
        }
    }
}

/// Where a `.git` file leads, there or not.
pub(crate) fn leads_to(folder: &Path, link: &Path) -> Option<PathBuf> {
    if fs::symlink_metadata(link).is_ok_and(|found| found.is_symlink()) {
        return Some(trail(link).end);
    }
    let text = small_text(link, LONGEST_LINK)?;
    Some(trail(&folder.join(text.trim().strip_prefix("gitdir:")?.trim())).end)
}

/// The git folders of a linked worktree. A `.git` file can name any folder, so what it names must
/// look like git's own and point back.
fn linked(folder: &Path, link: &Path) -> Option<(PathBuf, PathBuf)> {
    let named = |text: String, prefix: &str| Some(PathBuf::from(text.trim().strip_prefix(prefix)?.trim()));
    let own = folder.join(named(small_text(link, LONGEST_LINK)?, "gitdir:")?).canonicalize().ok()?;
    let back = named(small_text(&own.join("gitdir"), LONGEST_LINK)?, "")?;
    if own.join(back).canonicalize().ok()? != link.canonicalize().ok()? {
        return None;
    }
    let common = own.join(named(small_text(&own.join("commondir"), LONGEST_LINK)?, "")?).canonicalize().ok()?;
    let is_git = own.starts_with(common.join("worktrees")) && common.join("HEAD").is_file();
    (is_git && common.join("objects").is_dir()).then_some((common, own))
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
pub(crate) fn is_vacant(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
        Ok(_) => false,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The settings that git reads of its own folder.
pub(crate) fn settings_in(git: &Path) -> [PathBuf; 2] {
    [git.join("config"), git.join("config.worktree")]
}

/// What of a place for hooks is to be left alone: all of it, or where commands work in that very folder,
/// what git would run there.
pub(crate) fn as_hooks(place: PathBuf, is_work_place: bool) -> Vec<PathBuf> {
    if is_work_place { HOOKS.iter().map(|name| place.join(name)).collect() } else { vec![place] }
}

/// What git heeds for a folder by all settings that it reads there: files of settings, and hooks. `roots` are
/// where commands work.
pub(crate) fn heeded_of(
    folder: &Path,
    roots: &[PathBuf],
    person: &Settings,
    home: Option<&Path>,
) -> Result<Vec<PathBuf>, PolicyError> {
    let mut stores = GitFolder::of(folder).stores(folder);
    if stores.is_empty() {
        return Ok(Vec::new());
    }
    // Also of a worktree that does not lead back.
    let common = |git: &PathBuf| Some(trail(&git.join(small_text(&git.join("commondir"), LONGEST_LINK)?.trim())).end);
    stores.extend(stores.iter().filter_map(common).collect::<Vec<_>>());
    let settings = Settings::of(stores.iter().flat_map(|git| settings_in(git)), home)?;
    let hooks = settings.hooks_in(folder).chain(person.hooks_in(folder));
    let mut heeded: Vec<PathBuf> = hooks.flat_map(|place| as_hooks(place.clone(), roots.contains(&place))).collect();
    heeded.extend(settings.files);
    Ok(heeded)
}

/// What the person's own settings are kept in, and what at home is a link: people keep such files in a
/// repository.
pub(crate) fn of_home(person: &Settings, home: Option<&Path>) -> Vec<PathBuf> {
    let trails = home.into_iter().flat_map(|home| STARTUP.iter().map(|name| trail(&home.join(name))));
    let linked = trails.filter(|trail| !trail.links.is_empty());
    let linked = linked.flat_map(|Trail { links, end }| links.into_iter().chain([end]));
    person.files.iter().cloned().chain(linked).collect()
}

/// Everything in a workspace, and of the repository around it, by which git is told what to run: its
/// folders, the files that it reads as settings, the hooks.
pub fn heeded(workspace: &Path, home: Option<&Path>) -> Result<Vec<PathBuf>, PolicyError> {
    let person = Settings::of_person(home)?;
    let mut heeded = of_home(&person, home);
    let roots = [workspace.to_owned()];
    for folder in around(workspace).into_iter().chain([workspace]) {
        heeded.extend(heeded_of(folder, &roots, &person, home)?);
        heeded.extend(GitFolder::of(folder).stores(folder));
    }
    for folder in nested(workspace)? {
        match heeded_of(&folder, &roots, &person, home) {
            Ok(more) => heeded.extend(more),
            // What cannot be looked through is held as a whole, as in the sandbox.
            Err(_) => heeded.push(folder.clone()),
        }
        heeded.extend(GitFolder::of(&folder).stores(&folder));
    }
    // In a folder that is a repository by itself there may be other things; what counts in it is known.
    if poses_as_repository(workspace) {
        heeded.extend(["hooks", "modules", "worktrees"].map(|name| workspace.join(name)));
    }
    heeded.retain(|place| !workspace.starts_with(place));
    heeded.sort();
    heeded.dedup();
    Ok(heeded)
}

/// The folder above a workspace whose repository it is a part of.
pub(crate) fn around(workspace: &Path) -> Option<&Path> {
    workspace.ancestors().skip(1).find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())
}

/// Folders in a workspace that are repositories of their own: those that it or another one knows as
/// submodules, and what a look two folders deep finds, and folders there that nobody can look into. A large
/// tree is not walked; where there are too many folders even so that is said, since one that was left out
/// would not be held.
pub fn nested(workspace: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    Ok(Look::at(workspace, MOST_LOOKED_AT)?.found.into_iter().collect())
}

/// The same, and those that an earlier look has found by a list that commands can change. `known` is the
/// file in which they are kept, where no command writes.
pub fn nested_and_known(workspace: &Path, known: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    let Look { mut found, listed, .. } = Look::at(workspace, MOST_LOOKED_AT)?;
    let unkept = |error: io::Error| PolicyError::Unkept { file: known.to_owned(), why: error.to_string() };
    found.extend(kept(workspace, known, &listed).map_err(unkept)?);
    Ok(found.into_iter().collect())
}

/// Adds to the list of what is known what is new, and gives what of it is still there.
fn kept(workspace: &Path, known: &Path, listed: &BTreeSet<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let mut file = match File::options().read(true).append(true).create(!listed.is_empty()).open(known) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && listed.is_empty() => return Ok(Vec::new()),
        opened => opened?,
    };
    flock(&file, FlockOperation::LockExclusive)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let before: BTreeSet<PathBuf> = text
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())))
        .collect();
    let mut added = Vec::new();
    for path in listed.difference(&before) {
        added.extend_from_slice(path.as_os_str().as_bytes());
        added.push(0);
    }
    if !added.is_empty() {
        file.write_all(&added)?;
    }
    let is_there = |path: &PathBuf| {
        path.starts_with(workspace) && (shut::is_shut(path) || fs::symlink_metadata(path.join(".git")).is_ok())
    };
    Ok(before.into_iter().filter(is_there).collect())
}

/// A look for repositories.
struct Look<'a> {
    workspace: &'a Path,
    found: BTreeSet<PathBuf>,
    /// Those of them of which only a list in the working files tells.
    listed: BTreeSet<PathBuf>,
    looked_at: usize,
    most: usize,
}

impl<'a> Look<'a> {
    fn at(workspace: &'a Path, most: usize) -> Result<Self, PolicyError> {
        let mut look = Self { workspace, found: BTreeSet::new(), listed: BTreeSet::new(), looked_at: 0, most };
        look.two_deep()?;
        let mut asked: Vec<PathBuf> = look.found.iter().cloned().collect();
        asked.extend(around(workspace).into_iter().chain([workspace]).map(Path::to_owned));
        while let Some(repository) = asked.pop() {
            match look.ask(&repository) {
                Ok(more) => asked.extend(more),
                // One inside that is shut is held as a whole.
                Err(PolicyError::Shut(_) | PolicyError::TooManySettings(_)) if look.found.contains(&repository) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(look)
    }

    /// Which others a repository knows, as far as they are new.
    fn ask(&mut self, repository: &Path) -> Result<Vec<PathBuf>, PolicyError> {
        let mut known = Vec::new();
        for git in GitFolder::of(repository).stores(repository) {
            self.submodules(&git, &mut known)?;
        }
        let mut new = self.find(known);
        let listed = git_settings::read(&repository.join(".gitmodules"))?.into_iter();
        let listed = listed.filter(|entry| entry.name == "submodule.path");
        let listed = listed.map(|entry| repository.join(std::ffi::OsStr::from_bytes(&entry.value)));
        let more = self.find(listed.collect());
        self.listed.extend(more.iter().cloned());
        new.extend(more);
        Ok(new)
    }

    fn count(&mut self) -> Result<(), PolicyError> {
        self.looked_at += 1;
        if self.looked_at <= self.most {
            return Ok(());
        }
        Err(PolicyError::TooManyFolders { folder: self.workspace.to_owned(), most: self.most })
    }

    fn two_deep(&mut self) -> Result<(), PolicyError> {
        let mut ahead: VecDeque<(PathBuf, usize)> = [(self.workspace.to_owned(), 0)].into();
        while let Some((folder, depth)) = ahead.pop_front() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let skipped =
                    name.as_encoded_bytes().starts_with(b".") || NOT_LOOKED_AT.iter().any(|known| name == *known);
                if !is_folder || skipped {
                    continue;
                }
                self.count()?;
                let path = entry.path();
                let is_repository = fs::symlink_metadata(path.join(".git")).is_ok() || poses_as_repository(&path);
                if is_repository || shut::is_shut(&path) {
                    self.found.insert(path.clone());
                }
                if depth == 0 {
                    ahead.push_back((path, 1));
                }
            }
        }
        Ok(())
    }

    /// Where the submodules and worktrees of a repository are, by what its own git folder says, which no command changes.
    fn submodules(&mut self, git: &Path, known: &mut Vec<PathBuf>) -> Result<(), PolicyError> {
        for entry in fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten() {
            let back = small_text(&entry.path().join("gitdir"), LONGEST_LINK);
            let link = back.map(|back| entry.path().join(back.trim()));
            known.extend(link.and_then(|link| link.parent().map(Path::to_owned)));
        }
        let mut ahead = vec![git.join("modules")];
        while let Some(folder) = ahead.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                self.count()?;
                let own = entry.path();
                // Their names may have slashes in them.
                if fs::symlink_metadata(own.join("HEAD")).is_err() {
                    ahead.push(own);
                    continue;
                }
                for file in settings_in(&own) {
                    let entries = git_settings::read(&file)?.into_iter();
                    let places = entries.filter(|entry| entry.name == "core.worktree");
                    known.extend(places.map(|entry| own.join(std::ffi::OsStr::from_bytes(&entry.value))));
                }
                ahead.push(own.join("modules"));
            }
        }
        Ok(())
    }

    /// Takes those of these that are repositories in the workspace, and says which are new.
    fn find(&mut self, named: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut new = Vec::new();
        for path in named {
            let inside = |place: &Path| place != self.workspace && place.starts_with(self.workspace);
            let shut = path.canonicalize().err().and_then(|error| shut::because(&path, &error));
            let end = trail(&path).end;
            let is_repository = fs::symlink_metadata(end.join(".git")).is_ok();
            let places = shut.into_iter().chain(is_repository.then_some(end)).filter(|place| inside(place));
            for place in places.collect::<Vec<_>>() {
                if self.found.insert(place.clone()) {
                    new.push(place);
                }
            }
        }
        new
    }
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
