//! Completion of `/commands`, `@agents` and `@files`.

use std::path::Path;

use weft_engine::Callable;

use super::slash::COMMANDS;

/// How many candidates are shown.
pub const SHOWN: usize = 6;
/// A folder with more files than this is not listed whole.
const MOST_FILES: usize = 20_000;

/// What can be put in place of the word before the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// How many bytes before the cursor it replaces.
    pub replaces: usize,
    pub candidates: Vec<String>,
    pub chosen: usize,
}

/// The word that could be completed, with its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    Command(&'a str),
    File(&'a str),
}

pub fn word_before(text: &str) -> Option<Word<'_>> {
    let in_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':' | '.');
    if let Some(name) = text.strip_prefix('/').filter(|name| name.chars().all(in_name)) {
        return Some(Word::Command(name));
    }
    let start = text.rfind(char::is_whitespace).map_or(0, |index| index + 1);
    text.get(start..)?.strip_prefix('@').map(Word::File)
}

pub fn commands(name: &str, callables: &[Callable]) -> Option<Completion> {
    let matching = COMMANDS.iter().filter(|(known, _, _)| known.starts_with(name));
    let with_space = |typed: String, arguments: &str| if arguments.is_empty() { typed } else { typed + " " };
    let ours = matching.map(|(known, arguments, _)| with_space(format!("/{known}"), arguments));
    let theirs = named(callables, "/", name).map(|callable| with_space(callable.typed.clone(), &callable.arguments));
    Completion::new(name.len() + 1, ours.chain(theirs).collect())
}

/// What can be called by a name that begins like this, behind its sign.
pub fn named<'a>(callables: &'a [Callable], sign: &'a str, name: &'a str) -> impl Iterator<Item = &'a Callable> {
    callables
        .iter()
        .filter(move |callable| callable.typed.strip_prefix(sign).is_some_and(|known| known.starts_with(name)))
}

/// The agents of that name, then the project's paths nearest to what was typed: those that begin
/// with it, then those whose name does, then those that contain it; shallow ones first.
pub fn files(typed: &str, paths: &[String], callables: &[Callable]) -> Option<Completion> {
    let wanted = typed.to_lowercase();
    let mut ranked: Vec<(u8, usize, &String)> = paths
        .iter()
        .filter_map(|path| {
            let lower = path.to_lowercase();
            let name = lower.trim_end_matches('/').rsplit('/').next().unwrap_or(&lower);
            let rank = if lower.starts_with(&wanted) {
                0
            } else if name.starts_with(&wanted) {
                1
            } else if lower.contains(&wanted) {
                2
            } else {
                return None;
            };
            Some((rank, path.matches('/').count(), path))
        })
        .collect();
    ranked.sort();
    let paths = ranked.into_iter().take(SHOWN * 4).map(|(_, _, path)| format!("@{path}"));
    let agents = named(callables, "@", typed).map(|callable| format!("{} ", callable.typed));
    Completion::new(typed.len() + 1, agents.chain(paths).collect())
}

impl Completion {
    fn new(replaces: usize, candidates: Vec<String>) -> Option<Self> {
        (!candidates.is_empty()).then_some(Self { replaces, candidates, chosen: 0 })
    }

    pub fn current(&self) -> &str {
        self.candidates.get(self.chosen).map_or("", String::as_str)
    }

    /// The current candidate has been put in; the next Tab replaces it by the next one.
    pub fn advance(&mut self) {
        self.replaces = self.current().len();
        self.chosen = (self.chosen + 1) % self.candidates.len().max(1);
    }
}

/// The paths of a workspace, as git would list them, folders with a slash at the end.
pub fn list_files(workspace: &Path) -> Vec<String> {
    let mut walk = ignore::WalkBuilder::new(workspace);
    weft_tool::walking::tame(walk.require_git(false), workspace, |_| true);
    let mut paths = Vec::new();
    for entry in walk.build().flatten().skip(1).take(MOST_FILES) {
        let Ok(path) = entry.path().strip_prefix(workspace) else { continue };
        let slash = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/" } else { "" };
        paths.push(format!("{}{slash}", path.to_string_lossy()));
    }
    paths.sort();
    paths
}

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;
