//! Commands that only look: they may run without asking. A program is here only with the options
//! that keep it so, and only on files that the agent may read anyway.

use std::path::Path;

use super::command::{Line, Simple, Word};
use crate::path::Located;

/// Programs, and beginnings of options with which they do more than look.
const PROGRAMS: [(&str, &[&str]); 37] = [
    ("ls", &[]),
    ("cat", &[]),
    ("head", &[]),
    ("tail", &[]),
    ("wc", &["--files0-from"]),
    ("file", &["-C", "--compile", "-f", "--files-from", "-m"]),
    ("stat", &[]),
    ("du", &["--files0-from", "-X", "--exclude-from"]),
    ("df", &[]),
    ("pwd", &[]),
    ("echo", &[]),
    ("printf", &["-v"]),
    ("true", &[]),
    ("false", &[]),
    ("test", &["-v", "-R"]),
    ("[", &["-v", "-R"]),
    ("cd", &[]),
    ("which", &[]),
    ("type", &[]),
    ("basename", &[]),
    ("dirname", &[]),
    ("realpath", &[]),
    ("readlink", &[]),
    ("nl", &[]),
    ("cut", &[]),
    ("tr", &[]),
    ("tac", &[]),
    ("rev", &[]),
    ("cmp", &[]),
    ("comm", &[]),
    ("column", &[]),
    ("uname", &[]),
    ("grep", &["-f", "--file", "-r", "-R", "-d", "--recursive", "--dereference-recursive", "--directories"]),
    ("sort", &["-o", "--output", "--compress-program", "-T", "--temporary-directory", "--files0-from"]),
    (
        "find",
        &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fprint0", "-fls", "-files0-from"],
    ),
    (
        "rg",
        &[
            "--pre",
            "--hostname-bin",
            "--search-zip",
            "-z",
            "-u",
            "-.",
            "--hidden",
            "--unrestricted",
            "--no-ignore",
            "-g",
            "--glob",
            "--iglob",
            "-L",
            "--follow",
            "-f",
            "--file",
        ],
    ),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
];

/// `git` with these only looks, without options by which it writes or runs something.
const GIT: [&str; 10] =
    ["status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "describe", "shortlog", "ls-tree"];
const GIT_MORE: [&str; 6] = ["--output", "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "--no-index"];

/// These show no more than names and sizes, so that patterns of file names may be given to them.
const NAMES_ONLY: [&str; 7] = ["ls", "stat", "du", "file", "wc", "basename", "dirname"];

/// Whether a whole line only looks at what is in the workspace.
pub(super) fn only_looks(line: &Line, workspace: &Path) -> bool {
    line.unclear.is_none()
        && !line.expands
        && line.writes.iter().all(|target| target.literal && is_sink(&target.text))
        && line.reads.iter().all(|target| target.literal && may_see(&target.text, workspace))
        && line.commands.iter().all(|simple| looks(simple, workspace))
}

/// Writing there writes nowhere.
pub(super) fn is_sink(target: &str) -> bool {
    matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr")
}

/// Whether a command, started in the workspace, only looks.
pub(super) fn looks(simple: &Simple, workspace: &Path) -> bool {
    let Some((program, arguments)) = simple.words.split_first() else { return false };
    let harmless = |argument: &Word| match argument.literal {
        true => may_see(&argument.text, workspace),
        false => NAMES_ONLY.contains(&program.text.as_str()) && is_pattern(&argument.text),
    };
    if !program.literal || !arguments.iter().all(harmless) {
        return false;
    }
    match program.text.as_str() {
        // Bash computes in these, also in quotes.
        "test" | "[" | "printf" if arguments.iter().any(|argument| argument.text.contains('[')) => false,
        "git" => {
            let Some((subcommand, rest)) = arguments.split_first() else { return true };
            GIT.contains(&subcommand.text.as_str()) && !has(rest, &GIT_MORE)
        }
        // Elsewhere, what follows would mean other files.
        "cd" => matches!(arguments, [to] if is_same(&to.text, workspace)),
        name => PROGRAMS.iter().any(|(known, more)| *known == name && !has(arguments, more)),
    }
}

/// What git does without showing what files hold or held, or writing it under another name.
const SHOWS_NONE: [&str; 47] = [
    "add",
    "am",
    "apply",
    "bisect",
    "branch",
    "check-ignore",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "config",
    "count-objects",
    "describe",
    "fetch",
    "for-each-ref",
    "fsck",
    "gc",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "prune",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
];

/// Whether a command has git show what files hold or held, or put it where no rule knows it. What is not
/// known not to is taken to.
pub(super) fn shows_history(simple: &Simple) -> bool {
    const WITH_VALUE: [&str; 6] = ["-C", "-c", "--git-dir", "--namespace", "--config-env", "--attr-source"];
    const PATCH: [&str; 12] = [
        "-p",
        "-u",
        "--patch",
        "-L",
        "-U",
        "--unified",
        "--cc",
        "-c",
        "--binary",
        "--word-diff",
        "--color-words",
        "--remerge-diff",
    ];
    let Some((program, arguments)) = simple.words.split_first() else { return false };
    if program.text.rsplit('/').next() != Some("git") {
        return false;
    }
    let elsewhere = |word: &Word| word.text.contains("work-tree") || word.text.to_lowercase().contains("worktree");
    let mut words = arguments;
    let subcommand = loop {
        let Some((word, rest)) = words.split_first() else { return false };
        words = rest;
        if !word.text.starts_with('-') && word.literal {
            break word.text.as_str();
        }
        let value = rest.first().filter(|_| WITH_VALUE.contains(&word.text.as_str()));
        if !word.literal || elsewhere(word) || value.is_some_and(|value| elsewhere(value) || !value.literal) {
            return true;
        }
        if value.is_some() {
            words = rest.get(1..).unwrap_or_default();
        }
    };
    let says = |part: &str| words.iter().any(|word| word.text.contains(part));
    match subcommand {
        // Only these show the changes of a commit if they are told to.
        "log" | "reflog" | "stash" => has(words, &PATCH),
        "add" | "checkout" | "reset" | "restore" => has(words, &["-p", "--patch", "-i", "--interactive"]),
        "commit" => joined(words).any(|letter| "vp".contains(letter)) || has_long(words, &["--verbose", "--patch"]),
        "status" => joined(words).any(|letter| letter == 'v') || has_long(words, &["--verbose"]),
        "branch" | "for-each-ref" | "tag" => says("raw"),
        "cherry-pick" | "merge" | "pull" | "rebase" | "revert" => says("subtree"),
        "config" => has_long(words, &["--blob"]),
        "fsck" => has_long(words, &["--lost-found"]),
        "bisect" => says("vi"),
        "submodule" => {
            !words.first().is_some_and(|word| matches!(word.text.as_str(), "init" | "status" | "sync" | "update"))
        }
        "worktree" => !words.first().is_some_and(|word| matches!(word.text.as_str(), "list" | "prune" | "remove")),
        other => !SHOWS_NONE.contains(&other) && !matches!(other, "update-ref" | "version"),
    }
}

/// The letters of short options, up to one that takes the rest for its value.
fn joined(words: &[Word]) -> impl Iterator<Item = char> + '_ {
    let short = words.iter().filter_map(|word| word.text.strip_prefix('-')).filter(|word| !word.starts_with('-'));
    short.flat_map(|letters| letters.chars().take_while(|letter| !"mFCctS".contains(*letter)))
}

/// Whether a long option is there, however abbreviated.
fn has_long(words: &[Word], options: &[&str]) -> bool {
    let given = |word: &Word| word.text.split('=').next().unwrap_or_default().to_owned();
    words.iter().map(given).any(|given| given.len() > 2 && options.iter().any(|option| option.starts_with(&given)))
}

fn is_same(path: &str, workspace: &Path) -> bool {
    let root = Located::new(workspace, ".").ok();
    root.is_some_and(|root| Located::new(workspace, path).is_ok_and(|located| located.path == root.path))
}

/// A pattern of names in one folder.
fn is_pattern(word: &str) -> bool {
    word.contains('*') && !word.starts_with('.') && !word.contains(['/', '~', '{', '['])
}

/// An option counts however it is abbreviated or joined with its value.
fn has(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().filter(|argument| argument.text.starts_with('-')).any(|argument| {
        let given = argument.text.split('=').next().unwrap_or_default();
        options.iter().any(|option| {
            let long =
                option.starts_with("--") && given.len() > 2 && (option.starts_with(given) || given.starts_with(option));
            let short = option.len() == 2
                && !given.starts_with("--")
                && option.chars().nth(1).is_some_and(|letter| given.contains(letter));
            long || short || given == *option
        })
    })
}

/// Whether an argument, should it be a path or hold one, leads to something that may be read.
fn may_see(argument: &str, workspace: &Path) -> bool {
    let within = |path: &str| {
        path.is_empty() || Located::new(workspace, path).is_ok_and(|located| located.inside && !located.secret)
    };
    // `-ffile`, `--option=file` and git's `revision:file`.
    let attached = argument.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
    let parts = argument.split(['=', ':']).skip(1).chain([attached]);
    if !parts.into_iter().all(within) {
        return false;
    }
    if argument.starts_with('-') {
        // A file can be called like an option.
        return !argument.contains('/') && workspace.join(argument).symlink_metadata().is_err();
    }
    within(argument)
}
