//! What git is told, word by word. Whatever a model says becomes the value of an option, a name
//! that was checked, or a path behind `--`; it never becomes an option.

use serde::Deserialize;

use super::Verb;
use crate::permission::git::GitKind;

/// The fields of all git tools; each has those that its schema names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input {
    pub paths: Vec<String>,
    pub path: Option<String>,
    pub staged: bool,
    pub stat: bool,
    pub all: bool,
    pub from: Option<String>,
    pub to: Option<String>,
    pub commit: Option<String>,
    pub commits: Vec<String>,
    pub limit: Option<u64>,
    pub author: Option<String>,
    pub since: Option<String>,
    pub grep: Option<String>,
    pub first: Option<u64>,
    pub last: Option<u64>,
    pub name: Option<String>,
    pub start: Option<String>,
    pub create: bool,
    pub message: Option<String>,
    pub body: Option<String>,
    pub action: Option<String>,
    pub index: Option<u64>,
    pub untracked: bool,
    pub hard: bool,
    pub remote: Option<String>,
    pub branch: Option<String>,
    pub prune: bool,
    pub modified: bool,
    pub pattern: Option<String>,
}

const MOST_COMMITS: u64 = 200;
const SHORTEST_MESSAGE: usize = 10;

impl Input {
    /// The paths that are named, with or without an `s`.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().chain(&self.path).map(String::as_str)
    }

    fn action(&self) -> &str {
        self.action.as_deref().unwrap_or_default()
    }
}

/// How grave a call is, and what rules call it.
pub(super) fn kind(verb: Verb, input: &Input) -> (GitKind, Vec<String>) {
    let (kind, words): (GitKind, &[&str]) = match verb {
        Verb::Status => (GitKind::Look, &["status"]),
        Verb::Diff => (GitKind::Look, &["diff"]),
        Verb::Log => (GitKind::Look, &["log"]),
        Verb::Show => (GitKind::Look, &["show"]),
        Verb::Blame => (GitKind::Look, &["blame"]),
        Verb::Files => (GitKind::Look, &["ls-files"]),
        Verb::Tags => (GitKind::Look, &["tag"]),
        Verb::Branch if input.name.is_none() => (GitKind::Look, &["branch"]),
        Verb::Branch => (GitKind::Branch, &["branch"]),
        Verb::Add => (GitKind::Record, &["add"]),
        Verb::Commit => (GitKind::Record, &["commit"]),
        Verb::Restore => (GitKind::Record, &["restore"]),
        Verb::Stash if input.action() == "list" => (GitKind::Look, &["stash"]),
        Verb::Stash => (GitKind::Record, &["stash"]),
        Verb::Switch => (GitKind::Branch, &["switch"]),
        Verb::Worktree if input.action() == "list" => (GitKind::Look, &["worktree"]),
        Verb::Worktree => (GitKind::Branch, &["worktree"]),
        Verb::Revert => (GitKind::History, &["revert"]),
        Verb::CherryPick => (GitKind::History, &["cherry-pick"]),
        Verb::Reset if input.hard => (GitKind::Publish, &["reset", "--hard"]),
        Verb::Reset => (GitKind::History, &["reset"]),
        Verb::Fetch => (GitKind::Fetch, &["fetch"]),
        Verb::Pull => (GitKind::Fetch, &["pull"]),
        Verb::Push => (GitKind::Publish, &["push"]),
        Verb::Merge => (GitKind::Publish, &["merge"]),
    };
    (kind, ["git"].iter().chain(words).map(|word| (*word).to_owned()).collect())
}

/// Words, one after the other.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, more: &[&str]) {
        self.0.extend(more.iter().map(|word| (*word).to_owned()));
    }
}

/// The words after `git`, but for the paths.
pub(super) fn words(verb: Verb, input: &Input) -> Result<Vec<String>, String> {
    let mut words = Words::default();
    match verb {
        Verb::Status | Verb::Diff | Verb::Log | Verb::Show | Verb::Blame | Verb::Files | Verb::Tags => {
            looking(verb, input, &mut words)?;
        }
        Verb::Add | Verb::Commit | Verb::Restore | Verb::Stash => recording(verb, input, &mut words)?,
        Verb::Branch | Verb::Switch | Verb::Worktree => branching(verb, input, &mut words)?,
        Verb::Revert | Verb::CherryPick | Verb::Reset | Verb::Fetch | Verb::Pull | Verb::Push | Verb::Merge => {
            combining(verb, input, &mut words)?;
        }
    }
    Ok(words.0)
}

fn looking(verb: Verb, input: &Input, words: &mut Words) -> Result<(), String> {
    match verb {
        Verb::Status => words.add(&["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"]),
        Verb::Diff => {
            words.add(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative"]);
            words.add(if input.staged { &["--cached"] } else { &[] });
            words.add(if input.stat { &["--stat"] } else { &[] });
            let ends = [input.from.as_deref(), input.to.as_deref()];
            if let [None, Some(_)] = ends {
                return Err("`to` needs `from`.".to_owned());
            }
            for end in ends.into_iter().flatten() {
                words.add(&[revision(end)?]);
            }
        }
        Verb::Log => {
            let limit = input.limit.unwrap_or(10).clamp(1, MOST_COMMITS);
            words.add(&["log", "--no-color", "--date=short", "--format=%h %ad %an: %s%d", "--fixed-strings"]);
            words.add(&[&format!("--max-count={limit}")]);
            for (option, value) in [("author", &input.author), ("since", &input.since), ("grep", &input.grep)] {
                if let Some(value) = value {
                    words.add(&[&format!("--{option}={}", plain(value)?)]);
                }
            }
            words.add(&[revision(input.commit.as_deref().unwrap_or("HEAD"))?]);
        }
        Verb::Show => match &input.path {
            Some(path) => {
                let commit = revision(input.commit.as_deref().unwrap_or("HEAD"))?;
                words.add(&["cat-file", "blob", &format!("{commit}:./{}", relative(path)?)]);
            }
            None => {
                words.add(&["show", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-merges=first-parent"]);
                words.add(&["--date=iso", "--no-notes", "--relative"]);
                words.add(if input.stat { &["--stat"] } else { &[] });
                let commit = revision(input.commit.as_deref().unwrap_or("HEAD"))?;
                words.add(&[&format!("{commit}^{{commit}}")]);
            }
        },
        Verb::Blame => {
            words.add(&["blame", "--no-textconv", "--date=short"]);
            if let Some(first) = input.first {
                let last = input.last.map(|last| last.to_string()).unwrap_or_default();
                words.add(&[&format!("-L{},{last}", first.max(1))]);
            }
            words.add(&[revision(input.commit.as_deref().unwrap_or("HEAD"))?]);
        }
        Verb::Files => {
            words.add(&["ls-files"]);
            words.add(if input.modified { &["--modified"] } else { &[] });
        }
        Verb::Tags => {
            let format = "--format=%(refname:short) %(objectname:short) %(creatordate:short) %(subject)";
            words.add(&["for-each-ref", format, "--sort=-creatordate", "--count=200"]);
            words.add(&[&format!("refs/tags/{}", tags(input.pattern.as_deref().unwrap_or("*"))?)]);
        }
        _ => {}
    }
    Ok(())
}

fn recording(verb: Verb, input: &Input, words: &mut Words) -> Result<(), String> {
    match verb {
        Verb::Add if input.all => words.add(&["add", "--update"]),
        Verb::Add => words.add(&["add"]),
        Verb::Commit => {
            words.add(&["commit", "--no-verify", "--cleanup=whitespace", &format!("--message={}", message(input)?)]);
            if let Some(body) = &input.body {
                words.add(&[&format!("--message={}", without_nul(body)?)]);
            }
        }
        Verb::Restore => {
            words.add(&["restore"]);
            words.add(if input.staged { &["--staged"] } else { &["--worktree"] });
            if let Some(source) = &input.commit {
                words.add(&[&format!("--source={}", revision(source)?)]);
            }
        }
        Verb::Stash => match input.action() {
            "list" => words.add(&["stash", "list", "--date=short"]),
            "pop" => words.add(&["stash", "pop", &format!("stash@{{{}}}", input.index.unwrap_or(0))]),
            _ => {
                words.add(&["stash", "push"]);
                words.add(if input.untracked { &["--include-untracked"] } else { &[] });
                if let Some(message) = &input.message {
                    words.add(&[&format!("--message={}", plain(message)?)]);
                }
            }
        },
        _ => {}
    }
    Ok(())
}

fn branching(verb: Verb, input: &Input, words: &mut Words) -> Result<(), String> {
    match verb {
        Verb::Branch => match &input.name {
            Some(name) => {
                let start = revision(input.start.as_deref().unwrap_or("HEAD"))?;
                words.add(&["branch", "--no-track", branch(name)?, start]);
            }
            None => {
                let format = "--format=%(HEAD) %(refname:short) %(objectname:short) %(committerdate:short) %(subject)";
                words.add(&["for-each-ref", format, "--sort=-committerdate", "--count=100", "refs/heads"]);
                words.add(if input.all { &["refs/remotes"] } else { &[] });
            }
        },
        Verb::Switch => {
            let name = branch(input.branch.as_deref().unwrap_or_default())?;
            words.add(if input.create { &["switch", "--no-track", "--create"] } else { &["switch", "--no-guess"] });
            words.add(&[name]);
        }
        Verb::Worktree => match (input.action(), &input.path) {
            ("list", _) => words.add(&["worktree", "list"]),
            ("add", Some(path)) => {
                words.add(&[
                    "worktree",
                    "add",
                    "--no-track",
                    "-b",
                    branch(input.branch.as_deref().unwrap_or_default())?,
                ]);
                words.add(&["--", relative(path)?, revision(input.start.as_deref().unwrap_or("HEAD"))?]);
            }
            ("remove", Some(path)) => words.add(&["worktree", "remove", "--", relative(path)?]),
            _ => return Err("`path` is missing.".to_owned()),
        },
        _ => {}
    }
    Ok(())
}

fn combining(verb: Verb, input: &Input, words: &mut Words) -> Result<(), String> {
    match verb {
        Verb::Revert => words.add(&["revert", "--no-edit", required(&input.commit, "commit")?]),
        Verb::CherryPick => {
            words.add(&["cherry-pick", "--no-edit"]);
            if input.commits.is_empty() || input.commits.len() > 50 {
                return Err("Name between 1 and 50 commits.".to_owned());
            }
            for commit in &input.commits {
                words.add(&[revision(commit)?]);
            }
        }
        Verb::Reset => {
            let commit = revision(input.commit.as_deref().unwrap_or("HEAD~1"))?;
            words.add(&["reset", if input.hard { "--hard" } else { "--soft" }, commit]);
        }
        Verb::Fetch => {
            words.add(&["fetch", "--upload-pack=git-upload-pack", "--no-recurse-submodules", "--no-auto-maintenance"]);
            words.add(if input.prune { &["--prune"] } else { &[] });
            words.add(&[remote(input)?]);
        }
        // What it got is looked at before files are changed to it: see `pulled`.
        Verb::Pull => {
            let name = branch(input.branch.as_deref().unwrap_or_default())?;
            words.add(&["fetch", "--upload-pack=git-upload-pack", "--no-recurse-submodules", "--no-auto-maintenance"]);
            words.add(&[remote(input)?, &format!("refs/heads/{name}")]);
        }
        Verb::Push => {
            let name = branch(input.branch.as_deref().unwrap_or_default())?;
            words.add(&["push", "--receive-pack=git-receive-pack", "--no-verify", remote(input)?]);
            words.add(&[&format!("refs/heads/{name}:refs/heads/{name}")]);
        }
        Verb::Merge => words.add(&["merge", "--no-edit", "--no-verify", required(&input.commit, "commit")?]),
        _ => {}
    }
    Ok(())
}

/// A list of the files that a call would show or take in, if it is one that does.
pub(super) fn listing(verb: Verb, input: &Input) -> Result<Option<Vec<String>>, String> {
    let mut words = match verb {
        Verb::Diff => self::words(verb, input)?,
        Verb::Show if input.path.is_none() => self::words(verb, input)?,
        Verb::Add => {
            let list = ["ls-files", "-z", "--modified", "--deleted"].map(str::to_owned);
            let others = ["--others", "--exclude-standard"].map(str::to_owned);
            return Ok(Some(list.into_iter().chain(others.into_iter().filter(|_| !input.all)).collect()));
        }
        _ => return Ok(None),
    };
    words.retain(|word| word != "--stat");
    let more: &[&str] = if verb == Verb::Show {
        &["--name-only", "-z", "--no-renames", "--format="]
    } else {
        &["--name-only", "-z", "--no-renames"]
    };
    words.splice(1..1, more.iter().map(|word| (*word).to_owned()));
    Ok(Some(words))
}

/// Whether paths come at the end.
pub(super) fn takes_paths(verb: Verb, input: &Input) -> bool {
    match verb {
        Verb::Status | Verb::Diff | Verb::Log | Verb::Blame | Verb::Files | Verb::Add | Verb::Restore => true,
        Verb::Show => input.path.is_none(),
        Verb::Stash => !matches!(input.action(), "list" | "pop"),
        Verb::Tags
        | Verb::Branch
        | Verb::Commit
        | Verb::Switch
        | Verb::Worktree
        | Verb::Revert
        | Verb::CherryPick
        | Verb::Reset
        | Verb::Fetch
        | Verb::Pull
        | Verb::Push
        | Verb::Merge => false,
    }
}

/// The second half of a pull, in words of its own.
pub(super) fn pulled() -> Vec<String> {
    ["merge", "--ff-only", "--no-verify", "FETCH_HEAD"].map(str::to_owned).into()
}

/// Lists of the files that a call would change though it names none of them. Each is a run of git that
/// prints names, from the top of the repository.
pub(super) fn changing(verb: Verb, input: &Input) -> Result<Vec<Vec<String>>, String> {
    let between = |words: &[&str]| {
        let list = ["diff", "--no-ext-diff", "--no-relative", "--name-only", "--no-renames", "-z"]
            .iter()
            .chain(words)
            .chain(&["--"]);
        list.map(|word| (*word).to_owned()).collect::<Vec<String>>()
    };
    let of = |commit: &str| {
        let list = ["show", "--no-ext-diff", "--no-relative", "--name-only", "--no-renames", "-z", "--format="]
            .map(str::to_owned);
        list.into_iter().chain(["--diff-merges=first-parent".to_owned(), format!("{commit}^{{commit}}")]).collect()
    };
    Ok(match verb {
        Verb::Switch if !input.create => {
            let name = branch(input.branch.as_deref().unwrap_or_default())?;
            vec![between(&["HEAD", &format!("refs/heads/{name}")])]
        }
        Verb::Merge => vec![between(&[&format!("HEAD...{}", required(&input.commit, "commit")?)])],
        Verb::Pull => vec![between(&["HEAD", "FETCH_HEAD"])],
        Verb::Reset if input.hard => vec![between(&[revision(input.commit.as_deref().unwrap_or("HEAD~1"))?])],
        Verb::Revert => vec![of(required(&input.commit, "commit")?)],
        Verb::CherryPick => input.commits.iter().map(|commit| revision(commit).map(of)).collect::<Result<_, _>>()?,
        Verb::Stash if input.action() == "pop" => {
            let stash = format!("stash@{{{}}}", input.index.unwrap_or(0));
            let list = ["stash", "show", "--include-untracked", "--name-only", "--no-renames", "-z"].map(str::to_owned);
            vec![list.into_iter().chain([stash]).collect()]
        }
        _ => Vec::new(),
    })
}

/// What takes back a change that stopped half-way.
pub(super) const fn abort(verb: Verb) -> Option<[&'static str; 2]> {
    match verb {
        Verb::Revert => Some(["revert", "--abort"]),
        Verb::CherryPick => Some(["cherry-pick", "--abort"]),
        Verb::Merge => Some(["merge", "--abort"]),
        _ => None,
    }
}

/// Names one commit and is nothing else.
fn revision(text: &str) -> Result<&str, String> {
    let fits = |letter: char| letter.is_alphanumeric() || "._/-@{}^~+#".contains(letter);
    let good = !text.is_empty() && text.len() <= 200 && !text.starts_with('-') && text.chars().all(fits);
    if good && !text.contains("..") {
        return Ok(text);
    }
    Err(format!("`{}` does not name a commit: give a hash, a branch, a tag or `HEAD~2`.", crate::text::head(text, 100)))
}

/// A name that a branch can have.
fn branch(name: &str) -> Result<&str, String> {
    let fits = |letter: char| letter.is_alphanumeric() || "._/-+#".contains(letter);
    let part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !part.ends_with(".lock");
    let good =
        name.len() <= 200 && !name.starts_with(['-', '+']) && name.chars().all(fits) && name.split('/').all(part);
    if good && !name.contains("..") && name != "HEAD" && name != "@" {
        return Ok(name);
    }
    Err(format!("`{}` is no name for a branch.", crate::text::head(name, 100)))
}

/// Names of tags, `*` and `?` in them for anything.
fn tags(pattern: &str) -> Result<&str, String> {
    let fits = |letter: char| letter.is_alphanumeric() || "._/-+#*?".contains(letter);
    let good = !pattern.is_empty() && pattern.len() <= 200 && pattern.chars().all(fits) && !pattern.contains("..");
    if good { Ok(pattern) } else { Err(format!("`{}` is no name of a tag.", crate::text::head(pattern, 100))) }
}

/// A remote by its name, never by an address: addresses can be programs.
fn remote(input: &Input) -> Result<&str, String> {
    let name = input.remote.as_deref().unwrap_or("origin");
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let good = !name.is_empty() && name.len() <= 100 && !name.starts_with(['-', '.']) && name.chars().all(fits);
    if good { Ok(name) } else { Err(format!("`{}` is no remote's name.", crate::text::head(name, 100))) }
}

fn required<'a>(value: &'a Option<String>, name: &str) -> Result<&'a str, String> {
    revision(value.as_deref().ok_or_else(|| format!("The field `{name}` is missing."))?)
}

fn message(input: &Input) -> Result<&str, String> {
    let message = input.message.as_deref().unwrap_or_default();
    if message.trim().chars().count() < SHORTEST_MESSAGE {
        return Err(format!("The message is too short: say in at least {SHORTEST_MESSAGE} letters what was done."));
    }
    without_nul(message)
}

/// The value of an option: one line.
fn plain(text: &str) -> Result<&str, String> {
    if text.chars().any(char::is_control) { Err("Only one line of plain text, please.".to_owned()) } else { Ok(text) }
}

fn without_nul(text: &str) -> Result<&str, String> {
    if text.contains('\0') { Err("The text contains a NUL character.".to_owned()) } else { Ok(text) }
}

/// A path that git will look for beneath the workspace.
pub(super) fn relative(path: &str) -> Result<&str, String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let steps_out = path.split('/').any(|part| part == "..");
    if path.is_empty() || path.starts_with(['/', '~']) || steps_out || path.contains('\0') {
        return Err(format!(
            "`{}` is not a path in the workspace: write it relative to it.",
            crate::text::head(path, 100)
        ));
    }
    Ok(path)
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
