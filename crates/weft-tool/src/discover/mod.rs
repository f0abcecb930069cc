//! Which commands test, lint, format, check and build a project, found out from its files. The table
//! of tools is data ([`table`]), what a folder says is in [`facts`]. A result is kept until one of the
//! files changes that it came from. Nothing is started here.

mod facts;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;

use self::facts::{Budget, Facts, MOST_NAMES, Own};
pub use self::table::{Kind, Row};

/// How many folders beside the root are looked at.
const MOST_FOLDERS: usize = 40;
/// Folders that hold other people's work, or what is made.
const SKIPPED: [&str; 8] = ["node_modules", "target", "dist", "build", "vendor", "venv", "third_party", "out"];

/// How sure it is that a project uses a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It is the usual one for the language.
    Low,
    /// It is among the dependencies.
    Medium,
    /// The project has a configuration, a script or a target for it.
    High,
}

/// A command that does something for a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    pub kind: Kind,
    pub name: String,
    pub language: String,
    /// For the whole project; empty where it works on single files only.
    pub command: String,
    /// For single files, which stand for `{files}`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub files: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    pub confidence: Confidence,
    /// What shows it.
    pub because: String,
    pub installed: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub install: String,
}

/// Finds tools, and remembers what it found.
#[derive(Default)]
pub struct Discovery {
    /// What the person added, which comes first.
    added: Vec<Row>,
    known: Mutex<HashMap<PathBuf, Known>>,
}

struct Known {
    print: Vec<Print>,
    found: Arc<[Found]>,
}

/// What a file was when it was looked at.
type Print = (PathBuf, Option<(SystemTime, u64)>);

impl Discovery {
    pub fn new(added: Vec<Row>) -> Self {
        Self { added, known: Mutex::default() }
    }

    /// Everything there is for a workspace, the best of each kind first. `anew`: also if nothing has
    /// changed.
    pub fn find(&self, workspace: &Path, anew: bool) -> Arc<[Found]> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = known.get(workspace).filter(|_| !anew)
            && kept.print.iter().all(|(path, was)| stamp(path) == *was)
        {
            return Arc::clone(&kept.found);
        }
        let path = search_path();
        let (found, mut looked_at) = self.look(workspace, &path);
        looked_at.extend(path);
        let print = looked_at.into_iter().map(|path| (path.clone(), stamp(&path))).collect();
        let found: Arc<[Found]> = found.into();
        known.insert(workspace.to_owned(), Known { print, found: Arc::clone(&found) });
        found
    }

    fn look(&self, workspace: &Path, path: &[PathBuf]) -> (Vec<Found>, Vec<PathBuf>) {
        let Ok(root) = workspace.canonicalize() else { return (Vec::new(), Vec::new()) };
        let budget = Budget::default();
        let facts = Facts::of(&root, &root, &budget);
        let mut looked_at = facts.looked_at.clone();
        let mut found = self.of_folder(&facts, "", path);
        let of_root: Vec<String> = found.iter().map(|found| found.language.clone()).collect();
        for name in folders(&root) {
            let facts = Facts::of(&root, &root.join(&name), &budget);
            looked_at.extend(facts.looked_at.iter().cloned());
            let more = self.of_folder(&facts, &name, path);
            // What the root says holds for what is in it.
            found.extend(
                more.into_iter().filter(|found| !found.command.is_empty() && !of_root.contains(&found.language)),
            );
        }
        found.sort_by_key(|found| (found.kind, !found.installed, std::cmp::Reverse(found.confidence)));
        (found, looked_at)
    }

    fn of_folder(&self, facts: &Facts, folder: &str, path: &[PathBuf]) -> Vec<Found> {
        let mut found: Vec<Found> = Kind::ALL.into_iter().flat_map(|kind| own_commands(facts, kind, path)).collect();
        for (row, is_added) in
            self.added.iter().map(|row| (row, true)).chain(table::BUILT_IN.iter().map(|row| (row, false)))
        {
            found.extend(fitting(facts, row, is_added, path));
        }
        if !folder.is_empty() {
            for found in found.iter_mut().filter(|found| !found.command.is_empty()) {
                found.command = format!("cd {folder} && {}", found.command);
                found.because = format!("{} in {folder}", found.because);
            }
        }
        found
    }
}

/// A row of the table, if the folder shows that it is used.
fn fitting(facts: &Facts, row: &Row, is_added: bool, path: &[PathBuf]) -> Option<Found> {
    let config = row.config.iter().find(|name| facts.has_config(name)).map(|name| (Confidence::High, name.clone()));
    let depends = || {
        let mut named = row.depends.iter().filter_map(|name| facts.depends_on(name));
        named.next().map(|manifest| (Confidence::Medium, manifest.to_owned()))
    };
    let manifest = || {
        let manifest = row.manifests.iter().find(|name| facts.has(name))?;
        Some((Confidence::Low, format!("{manifest}, and it is usual for {}", row.language)))
    };
    let unconditional = || {
        let free = row.config.is_empty() && row.depends.is_empty() && row.manifests.is_empty();
        let shown = if is_added {
            (Confidence::High, "your settings".to_owned())
        } else {
            (Confidence::Low, "the files' names".to_owned())
        };
        free.then_some(shown)
    };
    let (confidence, because) = config.or_else(depends).or_else(manifest).or_else(unconditional)?;
    let wrapped = !row.wrapper.is_empty() && facts.has(&row.wrapper);
    let spelled = |text: &str| {
        let wrapper = if wrapped { format!("./{}", row.wrapper) } else { row.program.clone() };
        let text = text.replace("{wrapper}", &wrapper);
        let text = text.replace("{js}", &facts.starter(Own::Js, &row.program, path));
        text.replace("{py}", &facts.starter(Own::Py, &row.program, path))
    };
    Some(Found {
        kind: row.kind,
        name: row.id.clone(),
        language: row.language.clone(),
        command: spelled(&row.run),
        files: spelled(&row.files),
        extensions: row.extensions.clone(),
        confidence,
        because,
        installed: wrapped || row.program.is_empty() || facts.can_start(&row.program, path),
        install: row.install.clone(),
    })
}

/// What the project itself offers for it.
fn own_commands(facts: &Facts, kind: Kind, path: &[PathBuf]) -> Vec<Found> {
    let own = |command: String, program: &str, because: String| Found {
        kind,
        name: command.clone(),
        language: "project".to_owned(),
        command,
        files: String::new(),
        extensions: Vec::new(),
        confidence: Confidence::High,
        because,
        installed: facts.can_start(program, path),
        install: String::new(),
    };
    let mut found = Vec::new();
    if let Some(name) = kind.scripts().iter().find(|name| facts.script(name)) {
        let runner = facts.script_runner();
        let program = runner.split(' ').next().unwrap_or(runner);
        found.push(own(format!("{runner} {name}"), program, format!("the script `{name}` in package.json")));
    }
    for (file, program) in [("justfile", "just"), ("Makefile", "make")] {
        if let Some(name) = kind.scripts().iter().find(|name| facts.target(file, name)) {
            found.push(own(format!("{program} {name}"), program, format!("the target `{name}` in the {file}")));
        }
    }
    found
}

/// Folders of the root that may be projects of their own, by name.
fn folders(root: &Path) -> Vec<String> {
    let plain = |name: &str| {
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
            && !name.starts_with(['.', '-'])
            && !SKIPPED.contains(&name)
    };
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten().take(MOST_NAMES);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| plain(name));
    names.sort();
    names.truncate(MOST_FOLDERS);
    names
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
