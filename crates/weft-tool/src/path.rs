//! Where a path really leads: relative to the workspace, symlinks and `..` followed one component
//! at a time, also for files that do not exist yet. Paths are compared by components, never as text.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use weft_sandbox::usual::{SECRET_FILES, SECRET_FOLDERS, STARTUP, SYSTEM_SECRETS};

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// A path, found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// Absolute and free of symlinks.
    pub path: PathBuf,
    /// It lies in the workspace.
    pub inside: bool,
    /// It may hold keys or passwords.
    pub secret: bool,
    /// It decides what runs later, by git, Weft or the shell.
    pub protected: bool,
}

impl Located {
    pub fn new(workspace: &Path, given: &str) -> Result<Self, String> {
        let root = resolve(Path::new("/"), workspace)?;
        let path = resolve(&root, &expanded(given)?)?;
        Ok(Self::of(&root, path))
    }

    /// The same, but a link at the end of it is not followed: it is meant itself.
    pub fn entry(workspace: &Path, given: &str) -> Result<Self, String> {
        let root = resolve(Path::new("/"), workspace)?;
        let path = root.join(expanded(given)?);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(format!("`{given}` is not the name of a file or folder."));
        };
        Ok(Self::of(&root, resolve(Path::new("/"), folder)?.join(name)))
    }

    /// Something that a walk has found, as it is.
    pub fn beneath(workspace: &Path, found: &Path) -> Result<Self, String> {
        Ok(Self::of(&resolve(Path::new("/"), workspace)?, found.to_owned()))
    }

    fn of(root: &Path, path: PathBuf) -> Self {
        let relative = path.strip_prefix(root).ok();
        let judged = relative.unwrap_or(&path);
        Self { inside: relative.is_some(), secret: is_secret(judged), protected: is_protected(judged), path }
    }
}

/// A folder of Weft's own, free of links.
pub(crate) fn found(folder: &Path) -> Result<PathBuf, String> {
    resolve(Path::new("/"), folder)
}

/// Whether something found lies in a folder that is given as it comes.
pub(crate) fn lies_in(found: &Path, folder: &Path) -> bool {
    resolve(Path::new("/"), folder).is_ok_and(|folder| found.starts_with(folder))
}

/// Where a write would go, for showing it to a person. Outside the workspace it goes nowhere.
pub(crate) fn for_writing(workspace: &Path, given: &str) -> Result<PathBuf, String> {
    let located = Located::new(workspace, given)?;
    if located.inside { Ok(located.path) } else { Err(outside(workspace, &located.path)) }
}

pub(crate) fn outside(workspace: &Path, path: &Path) -> String {
    format!(
        "`{}` is outside the workspace `{}`, and files outside are never changed. Choose a path inside it.",
        path.display(),
        workspace.display()
    )
}

/// How a path is shown: relative to the workspace where it can be.
pub(crate) fn shown(workspace: &Path, given: &str) -> String {
    let relative = Path::new(given).strip_prefix(workspace).ok().and_then(Path::to_str);
    match relative.unwrap_or(given) {
        "" => ".".to_owned(),
        path => path.to_owned(),
    }
}

/// Whether files here may hold keys or passwords: what the sandbox hides in the person's home, wherever
/// it is found, and more that lies about in projects. Templates of such files do not.
pub(crate) fn is_secret(path: &Path) -> bool {
    const FILES: [&str; 12] = [
        ".env",
        "credentials",
        "credentials.json",
        "credentials.enc",
        "secrets.yaml",
        "secrets.yml",
        "secrets.json",
        "secrets.toml",
        "id_rsa",
        "id_dsa",
        "id_ed25519",
        "id_ecdsa",
    ];
    const ENDINGS: [&str; 7] = ["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx"];
    const TEMPLATES: [&str; 5] = ["example", "sample", "template", "dist", "defaults"];
    let names: Vec<&OsStr> = names(path).collect();
    // Nearly all of them begin with a dot, and nearly no path in a project has one: a search asks of each.
    let hidden = names.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
    let may_be = |known: &&&str| hidden || !known.starts_with('.');
    // Projects have a folder of that name for other things.
    let known = SECRET_FOLDERS.iter().filter(may_be);
    let known = known.map(|known| if *known == ".docker" { ".docker/config.json" } else { known });
    if known.into_iter().any(|known| holds(&names, known)) || is_of_a_process(path) {
        return true;
    }
    if SYSTEM_SECRETS.iter().any(|known| path.starts_with(known)) {
        return true;
    }
    let Some(name) = path.file_name() else { return false };
    if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))) {
        return true;
    }
    match name.to_str().and_then(|name| name.strip_prefix(".env.")) {
        Some(kind) => !TEMPLATES.contains(&kind),
        None => FILES.iter().chain(&SECRET_FILES).filter(may_be).any(|known| ends(&names, known)),
    }
}

/// Whether these names stand in a row in a path.
fn holds(names: &[&OsStr], known: &str) -> bool {
    (1..=names.len()).any(|end| names.get(..end).is_some_and(|names| ends(names, known)))
}

/// Whether a path ends with these names. Some file systems take capitals for small letters.
fn ends(names: &[&OsStr], known: &str) -> bool {
    let mut names = names.iter().rev();
    known.rsplit('/').all(|known| names.next().is_some_and(|name| name.eq_ignore_ascii_case(known)))
}

/// Whether it shows the inside of a running program: its environment, its memory, its open files.
fn is_of_a_process(path: &Path) -> bool {
    let mut names = names(path);
    path.is_absolute()
        && names.next().is_some_and(|name| name == "proc")
        && names.next().is_some_and(|name| {
            let name = name.as_encoded_bytes();
            name.iter().all(u8::is_ascii_digit) || matches!(name, b"self" | b"thread-self" | b"kcore")
        })
}

/// Whether something here decides what runs later: git's and Weft's own files, and what shells and
/// programs start with. The sandbox holds commands to the same list.
pub(crate) fn is_protected(relative: &Path) -> bool {
    const OTHERS: [&str; 3] = [".git", ".ssh", ".gitmodules"];
    let names: Vec<&OsStr> = names(relative).collect();
    OTHERS.iter().chain(&STARTUP).any(|known| holds(&names, known))
}

fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    })
}

fn expanded(given: &str) -> Result<PathBuf, String> {
    if given.trim().is_empty() {
        return Err("The path is empty.".to_owned());
    }
    if given.contains('\0') {
        return Err("The path contains a NUL character.".to_owned());
    }
    let rest = if given == "~" { Some("") } else { given.strip_prefix("~/") };
    match (rest, std::env::home_dir()) {
        (Some(rest), Some(home)) => Ok(home.join(rest)),
        (Some(_), None) => Err("`~` cannot be resolved: no home folder is known. Give the full path.".to_owned()),
        (None, _) => Ok(PathBuf::from(given)),
    }
}

/// Controls, and marks that turn the direction of what follows: in a name that a person is asked about they
/// would let it look like something else.
pub(crate) fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

enum Step {
    Root,
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> impl DoubleEndedIterator<Item = Step> {
    path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::RootDir => Some(Step::Root),
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
    })
}

fn resolve(base: &Path, path: &Path) -> Result<PathBuf, String> {
    let mut reached = base.to_owned();
    let mut ahead: VecDeque<Step> = steps(path).collect();
    let mut links = 0;
    while let Some(step) = ahead.pop_front() {
        match step {
            Step::Root => reached = PathBuf::from("/"),
            Step::Up => {
                reached.pop();
            }
            Step::Down(name) => {
                let next = reached.join(name);
                let Ok(target) = std::fs::read_link(&next) else {
                    reached = next;
                    continue;
                };
                links += 1;
                if links > MOST_LINKS {
                    return Err(format!("`{}` leads through too many symlinks.", path.display()));
                }
                for step in steps(&target).rev() {
                    ahead.push_front(step);
                }
            }
        }
    }
    Ok(reached)
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
