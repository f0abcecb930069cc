//! Reads git's settings as git does, for two questions only: which further files git reads as settings, and
//! where it looks for hooks. Conditions under which git includes a file are taken as met, since a command can
//! meet most of them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::plain::{Unread, small_file};
use crate::policy::PolicyError;
use crate::shut;
use crate::trail::{Trail, Trails, trail};

/// More is not git's.
const LONGEST: u64 = 1 << 20;
/// More files than anybody includes.
const MOST: usize = 200;
/// Where git looks for the settings of a machine.
const OF_THE_MACHINE: &str = "/etc/gitconfig";

/// One setting: `section.key` in small letters, without what stands between them in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: String,
    pub value: Vec<u8>,
}

/// What some files of settings, and all that they include, have git heed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// These files themselves, there or not, and the links that lead to them.
    pub files: Vec<PathBuf>,
    hooks: Vec<PathBuf>,
    /// Where working files are, as seen from the git folder.
    pub work: Vec<PathBuf>,
}

impl Settings {
    /// An error: one of them cannot be looked through, so nobody knows what git would heed.
    pub fn of(named: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> Result<Self, PolicyError> {
        let mut settings = Self::default();
        let mut ahead: Vec<PathBuf> = named.into_iter().collect();
        let mut trails = Trails::default();
        while let Some(path) = ahead.pop() {
            let Trail { links, end: file } = trails.of(&path);
            settings.files.extend(links);
            if settings.files.contains(&file) {
                continue;
            }
            if settings.files.len() >= MOST {
                return Err(PolicyError::TooManySettings(path));
            }
            for Entry { name, value } in read(&file)? {
                let value = expanded(&value, home);
                match name.as_str() {
                    // As git has it: beside the file under the name that it was found by.
                    "include.path" | "includeif.path" => {
                        ahead.push(path.parent().map_or_else(|| value.clone(), |folder| folder.join(&value)));
                    }
                    "core.hookspath" => settings.hooks.push(value),
                    "core.worktree" => settings.work.push(value),
                    _ => {}
                }
            }
            settings.files.push(file);
        }
        Ok(settings)
    }

    /// Those of the machine and of the person, whose home this is.
    pub fn of_person(home: Option<&Path>) -> Result<Self, PolicyError> {
        let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let beside = named("XDG_CONFIG_HOME").map(|folder| folder.join("git/config"));
        let at_home = home.into_iter().flat_map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
        let variables = ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"].into_iter().filter_map(named);
        Self::of([PathBuf::from(OF_THE_MACHINE)].into_iter().chain(beside).chain(at_home).chain(variables), home)
    }

    /// Where git looks for hooks by them when it works in this folder, and the links that lead there.
    pub fn hooks_in(&self, folder: &Path) -> impl Iterator<Item = PathBuf> {
        let trails = self.hooks.iter().map(|named| trail(&folder.join(named)));
        trails.flat_map(|Trail { links, end }| links.into_iter().chain([end]))
    }
}

/// The entries of one file; none if it is not there, or is something that git would not read either.
pub(crate) fn read(file: &Path) -> Result<Vec<Entry>, PolicyError> {
    match small_file(file, LONGEST) {
        Ok(text) => Ok(entries(&text)),
        Err(Unread::Nothing) => Ok(Vec::new()),
        // What others have shut to this user git does not read either.
        Err(Unread::Shut) => match shut::by_itself(file).or_else(|| shut::is_shut(file).then(|| file.to_owned())) {
            Some(shut) => Err(PolicyError::Shut(shut)),
            None => Ok(Vec::new()),
        },
        Err(Unread::TooLong) => Err(PolicyError::TooManySettings(file.to_owned())),
    }
}

/// A path as git takes it: `~` is a home.
fn expanded(value: &[u8], home: Option<&Path>) -> PathBuf {
    let value = value.strip_prefix(b":(optional)").unwrap_or(value);
    let path = Path::new(OsStr::from_bytes(value));
    let (Some(first), rest) = (path.iter().next(), path.iter().skip(1).collect::<PathBuf>()) else {
        return path.to_owned();
    };
    match first.as_bytes().strip_prefix(b"~") {
        Some(b"") => home.map_or_else(|| path.to_owned(), |home| home.join(rest)),
        Some(user) => home_of(user).map_or_else(|| path.to_owned(), |home| home.join(rest)),
        None => path.to_owned(),
    }
}

/// Where the list of users says that somebody is at home.
fn home_of(user: &[u8]) -> Option<PathBuf> {
    let users = fs::read("/etc/passwd").ok()?;
    let fields = users.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':'));
    let home = fields.into_iter().find_map(|mut fields| (fields.next()? == user).then(|| fields.nth(4)).flatten())?;
    Some(PathBuf::from(OsStr::from_bytes(home)))
}

/// All entries, in order. Where git would give up over a mistake, this goes on with the next line.
pub(crate) fn entries(text: &[u8]) -> Vec<Entry> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut reader = Reader { left: text };
    let (mut found, mut section) = (Vec::new(), String::new());
    while let Some(byte) = reader.next() {
        match byte {
            b'[' => section = reader.section(),
            b'#' | b';' => reader.skip_line(),
            byte if byte.is_ascii_alphabetic() => {
                let mut key = String::from(char::from(byte.to_ascii_lowercase()));
                key.push_str(&reader.word(b"-"));
                while reader.take_if(|byte| matches!(byte, b' ' | b'\t')).is_some() {}
                if reader.take_if(|byte| byte == b'=').is_some() {
                    found.push(Entry { name: format!("{section}.{key}"), value: reader.value() });
                }
            }
            _ => {}
        }
    }
    found
}

struct Reader<'a> {
    left: &'a [u8],
}

impl Reader<'_> {
    /// A line may end as on Windows.
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.left.split_first()?;
        let (byte, rest) = match (first, rest) {
            (b'\r', [b'\n', rest @ ..]) => (b'\n', rest),
            (first, rest) => (*first, rest),
        };
        self.left = rest;
        Some(byte)
    }

    fn take_if(&mut self, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        let byte = self.left.first().copied().filter(|byte| wanted(*byte))?;
        self.left = self.left.get(1..)?;
        Some(byte)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    fn word(&mut self, also: &[u8]) -> String {
        let mut word = String::new();
        while let Some(byte) = self.take_if(|byte| byte.is_ascii_alphanumeric() || also.contains(&byte)) {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        word
    }

    /// The name of a section, behind its bracket. An older spelling has what stands in quotes behind a point.
    fn section(&mut self) -> String {
        let name = self.word(b"-.");
        while let Some(byte) = self.next() {
            match byte {
                b']' | b'\n' => break,
                b'"' => self.quoted(),
                _ => {}
            }
        }
        name.split('.').next().unwrap_or_default().to_owned()
    }

    fn quoted(&mut self) {
        while let Some(byte) = self.next() {
            match byte {
                b'"' | b'\n' => return,
                b'\\' => drop(self.next()),
                _ => {}
            }
        }
    }

    /// What stands behind `=`, to the end of the line or of those that go on.
    fn value(&mut self) -> Vec<u8> {
        let (mut value, mut spaces, mut is_quoted) = (Vec::new(), Vec::new(), false);
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => break,
                b'#' | b';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                // At the beginning and the end they do not count.
                byte if byte.is_ascii_whitespace() && !is_quoted => {
                    if !value.is_empty() {
                        spaces.push(byte);
                    }
                }
                b'"' => is_quoted = !is_quoted,
                b'\\' => {
                    let meant = match self.next() {
                        Some(b'\n') | None => continue,
                        Some(b'n') => b'\n',
                        Some(b't') => b'\t',
                        Some(b'b') => 8,
                        Some(other) => other,
                    };
                    value.append(&mut spaces);
                    value.push(meant);
                }
                byte => {
                    value.append(&mut spaces);
                    value.push(byte);
                }
            }
        }
        value
    }
}

#[cfg(test)]
#[path = "git_settings_tests.rs"]
mod tests;
