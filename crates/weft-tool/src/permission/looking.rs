//! Commands that only look: they may run without asking. A program is here only with the options
//! that keep it so, and only on files that the agent may read anyway.

use std::path::Path;

use super::command::{Line, Simple, Word};
use crate::path::Located;

/// Programs, and beginnings of options with which they do more than look.
const PROGRAMS: [(&str, &[&str]); 39] = [
    ("ls", &[]),
    ("cat", &[]),
    ("head", &[]),
    ("tail", &[]),
    ("wc", &[]),
    ("file", &["-C", "--compile"]),
    ("stat", &[]),
    ("du", &[]),
    ("df", &[]),
    ("pwd", &[]),
    ("echo", &[]),
    ("printf", &[]),
    ("true", &[]),
    ("false", &[]),
    ("test", &[]),
    ("[", &[]),
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
    ("diff", &["-r", "--recursive"]),
    ("comm", &[]),
    ("column", &[]),
    ("uname", &[]),
    ("grep", &["-r", "-R", "-d", "--recursive", "--dereference-recursive", "--directories"]),
    ("sort", &["-o", "--output", "--compress-program", "-T", "--temporary-directory"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fprint0", "-fls"]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z", "-u", "-.", "--hidden", "--unrestricted", "--no-ignore"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("tree", &["-o", "--output"]),
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
        "git" => {
            let Some((subcommand, rest)) = arguments.split_first() else { return true };
            GIT.contains(&subcommand.text.as_str()) && !has(rest, &GIT_MORE)
        }
        // Elsewhere, what follows would mean other files.
        "cd" => matches!(arguments, [to] if is_same(&to.text, workspace)),
        name => PROGRAMS.iter().any(|(known, more)| *known == name && !has(arguments, more)),
    }
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
            let long = option.starts_with("--") && given.len() > 2 && option.starts_with(given);
            let short = option.len() == 2
                && !given.starts_with("--")
                && option.chars().nth(1).is_some_and(|letter| given.contains(letter));
            long || short || given == *option
        })
    })
}

/// Whether an argument, should it be a path, leads to something that may be read.
fn may_see(argument: &str, workspace: &Path) -> bool {
    let value = match argument.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ if argument.starts_with('-') => return !argument.contains('/'),
        _ => argument,
    };
    value.is_empty() || Located::new(workspace, value).is_ok_and(|located| located.inside && !located.secret)
}
