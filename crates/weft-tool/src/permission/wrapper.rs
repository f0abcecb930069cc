//! Programs that run another program given to them as arguments: what counts is the one inside.

use super::command::{Line, Simple, Word, is_bash};

/// Variables that change how a program prints, not what it does.
const HARMLESS: [&str; 16] = [
    "CI",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "CARGO_TERM_COLOR",
];

/// Programs whose remaining arguments are a command, the options of theirs that take a value of
/// their own, and how many words come before the command.
const PREFIXES: [(&str, &[&str], usize); 21] = [
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("nice", &["-n"], 0),
    ("ionice", &["-c", "-n", "-p"], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("timeout", &["-k", "-s", "--signal", "--kill-after"], 1),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("env", &["-u", "--unset"], 0),
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T"], 0),
    ("doas", &["-u", "-C"], 0),
    ("xargs", &["-I", "-n", "-P", "-d", "-L", "-a", "-E", "-s"], 0),
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("flock", &["-w", "--timeout", "-E", "--conflict-exit-code"], 1),
    ("taskset", &[], 1),
    ("chrt", &["-T", "-P", "-D"], 1),
    ("unbuffer", &[], 0),
    ("strace", &["-o", "-e", "-s", "-u", "-E", "-P", "-a", "-O", "-S"], 0),
    ("ltrace", &["-o", "-e", "-s", "-u", "-a", "-l", "-n", "-x"], 0),
    ("caffeinate", &["-t", "-w"], 0),
];

/// Programs that find or prepare another one, which is what they are told to run, and how it is said.
const RUNNERS: [(&[&str], Told); 21] = [
    (&["uv", "run"], Told::After(0)),
    (&["uv", "tool", "run"], Told::After(0)),
    (&["uvx"], Told::After(0)),
    (&["poetry", "run"], Told::After(0)),
    (&["pipenv", "run"], Told::After(0)),
    (&["hatch", "run"], Told::After(0)),
    (&["pipx", "run"], Told::After(0)),
    (&["bundle", "exec"], Told::After(0)),
    (&["npx"], Told::After(0)),
    (&["npm", "exec"], Told::After(0)),
    (&["npm", "x"], Told::After(0)),
    (&["pnpm", "exec"], Told::After(0)),
    (&["pnpm", "dlx"], Told::After(0)),
    (&["yarn", "exec"], Told::After(0)),
    (&["yarn", "dlx"], Told::After(0)),
    (&["bunx"], Told::After(0)),
    (&["direnv", "exec"], Told::After(1)),
    (&["mise", "exec"], Told::Marked),
    (&["mise", "x"], Told::Marked),
    (&["nix", "develop"], Told::Marked),
    (&["nix", "shell"], Told::Marked),
];

#[derive(Clone, Copy)]
enum Told {
    /// After the options and so many words.
    After(usize),
    /// After `--` or `-c`, behind words of the runner's own.
    Marked,
}

/// Options of runners that say nothing of what is run, and stand alone.
const PLAIN_FOR_RUNNERS: [&str; 24] = [
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "-s",
    "--silent",
    "--frozen",
    "--locked",
    "--offline",
    "--no-sync",
    "--exact",
    "--active",
    "--isolated",
    "--all-extras",
    "--all-groups",
    "--dev",
    "--no-dev",
    "--no-project",
    "--no-install",
    "--prefer-offline",
    "--impure",
    "--bun",
];
/// The same of those with a value. It may be joined to them; the word that follows is taken for a command too.
const VALUED_FOR_RUNNERS: [&str; 25] = [
    "-p",
    "--package",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
    "--extra",
    "--group",
    "--only-group",
    "--from",
    "--spec",
    "--env-file",
    "--directory",
    "--project",
    "--prefix",
    "-C",
    "--cd",
    "--dir",
    "-w",
    "--workspace",
    "-F",
    "--filter",
    "-e",
    "--env",
    "--index",
];
/// No honest line has more of them; each is another reading of all that follows.
const MOST_READINGS: usize = 8;
/// What follows is the command, as one word for a shell or as many.
const COMMAND_FOR_RUNNERS: [&str; 3] = ["-c", "--call", "--command"];

/// Their options that stand alone.
const WITHOUT_VALUE: [&str; 6] = ["-i", "-0", "-r", "-t", "-p", "--ignore-environment"];

/// Programs that run another one, told in more ways than are followed here.
const OWN_WAYS: [&str; 45] = [
    "watch",
    "parallel",
    "ssh",
    "su",
    "script",
    "chroot",
    "unshare",
    "nsenter",
    "busybox",
    "toybox",
    "bwrap",
    "firejail",
    "setpriv",
    "runuser",
    "pkexec",
    "gosu",
    "sg",
    "systemd-run",
    "start-stop-daemon",
    "prlimit",
    "numactl",
    "setarch",
    "fakeroot",
    "faketime",
    "eatmydata",
    "xvfb-run",
    "dbus-run-session",
    "rlwrap",
    "expect",
    "socat",
    "entr",
    "watchexec",
    "hyperfine",
    "tmux",
    "screen",
    "at",
    "batch",
    "fish",
    "csh",
    "tcsh",
    "compgen",
    "complete",
    "bind",
    "mapfile",
    "readarray",
];

/// What the shell itself does with arguments in which it computes, also where they are quoted.
const COMPUTING: [&str; 12] =
    ["test", "[", "[[", "printf", "read", "unset", "let", "declare", "typeset", "local", "export", "readonly"];

/// Last parts of settings by which git is given a program to run, or more settings.
const PROGRAMS_OF_GIT: [&str; 20] = [
    "alternaterefscommand",
    "askpass",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hookspath",
    "pager",
    "path",
    "process",
    "program",
    "smudge",
    "sshcommand",
    "textconv",
    "vcs",
];

pub(super) const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// The commands that a simple command comes to, itself included where it matters.
pub(super) fn unwrap(simple: Simple, depth: usize) -> Line {
    let mut line = Line::default();
    if simple.variables.iter().any(|name| !HARMLESS.contains(&name.as_str())) {
        line.is_unclear("it sets variables that can change what a program does");
    }
    let Some(first) = simple.words.first() else { return line };
    if !first.literal {
        line.is_unclear("the shell makes up the command's name");
    }
    if first.text.starts_with('-') {
        line.is_unclear("it begins with an option");
    }
    let name = first.text.rsplit('/').next().unwrap_or_default().to_owned();
    told_to_run(&simple, &name, depth, &mut line);
    match name.as_str() {
        "eval" => evaluated(&simple, depth, &mut line),
        "source" | "." | "trap" | "alias" | "enable" | "hash" => {
            line.is_unclear("it changes what later commands mean");
        }
        "find" => found(&simple, depth, &mut line),
        "git" => told_by_git(&simple, depth, &mut line),
        name if COMPUTING.contains(&name) && simple.words.iter().any(|word| computes(&word.text)) => {
            line.is_unclear("it computes");
        }
        name if OWN_WAYS.contains(&name) => line.is_unclear("it runs a command in a way of its own"),
        shell if SHELLS.contains(&shell) => scripted(&simple, depth, &mut line),
        _ => {}
    }
    if let Some((wrapper, options, before)) = PREFIXES.iter().find(|(wrapper, ..)| *wrapper == name) {
        return prefixed(simple, wrapper, options, *before, depth, line);
    }
    line.commands.push(simple);
    line
}

/// What a runner is told to run, if it is one. Where an option may have a value, both readings count.
fn told_to_run(simple: &Simple, name: &str, depth: usize, line: &mut Line) {
    let found = RUNNERS.into_iter().find_map(|(runner, told)| Some((behind(simple, name, runner)?, told)));
    let Some((rest, told)) = found else { return };
    if depth > super::DEEPEST_WRAPPER {
        return line.is_unclear("it is nested too deeply");
    }
    let mut before = match told {
        Told::After(words) => Some(words),
        Told::Marked => None,
    };
    let (mut is_value, mut readings) = (false, 0);
    let mut words = rest;
    while let Some((word, after)) = words.split_first() {
        let (option, value) = match word.text.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Some(value)),
            Some(_) | None => (word.text.as_str(), None),
        };
        words = after;
        if !option.starts_with('-') {
            match (before, is_value) {
                (Some(0), false) => return runs(std::iter::once(word).chain(after), depth, line),
                (Some(0), true) => {
                    readings += 1;
                    if readings > MOST_READINGS {
                        return line.is_unclear("it has more options than can be told apart");
                    }
                    // What is within this one is within the other reading too, so it is not gone into far.
                    runs(std::iter::once(word).chain(after), super::DEEPEST_WRAPPER, line);
                }
                (Some(more), false) => before = Some(more - 1),
                (Some(_) | None, _) => {}
            }
            is_value = false;
        } else if option == "--" {
            return runs(after.iter(), depth, line);
        } else if COMMAND_FOR_RUNNERS.contains(&option) {
            let is_literal = word.literal && (value.is_some() || after.first().is_none_or(|next| next.literal));
            if !is_literal {
                line.is_unclear("a runner runs what the shell makes up");
            }
            let text = value.or_else(|| after.first().map(|next| next.text.as_str())).unwrap_or_default();
            within(Line::nested(text, depth + 1, is_bash(crate::process::shell())), line);
            if value.is_none() {
                runs(after.iter(), depth, line);
            }
            return;
        } else if name == "uv" && matches!(option, "-m" | "--module") {
            // A module of Python's, and what it is told.
            return;
        } else {
            is_value = value.is_none() && !PLAIN_FOR_RUNNERS.contains(&option);
            if is_value && !VALUED_FOR_RUNNERS.contains(&option) {
                line.is_unclear("it has options that are not known here");
            }
        }
    }
}

/// The words after those that make a program a runner, between which it may have options.
fn behind<'a>(simple: &'a Simple, name: &str, runner: &[&str]) -> Option<&'a [Word]> {
    let (program, rest) = runner.split_first()?;
    let mut words = simple.words.get(1..).filter(|_| *program == name)?;
    for wanted in rest {
        let mut after_option = false;
        loop {
            let (word, after) = words.split_first()?;
            words = after;
            if word.text == **wanted {
                break;
            }
            let is_option = word.text.starts_with('-');
            if !is_option && !after_option {
                return None;
            }
            after_option = is_option;
        }
    }
    Some(words)
}

fn runs<'a>(words: impl Iterator<Item = &'a Word>, depth: usize, line: &mut Line) {
    let words: Vec<Word> = words.cloned().collect();
    if !words.is_empty() {
        within(unwrap_deeper(Simple { words, variables: Vec::new() }, depth), line);
    }
}

/// What is run within something: it is seen, and allowed with what runs it.
fn within(mut inner: Line, line: &mut Line) {
    inner.within.append(&mut inner.commands);
    line.add(inner);
}

fn prefixed(simple: Simple, wrapper: &str, with_value: &[&str], before: usize, depth: usize, mut line: Line) -> Line {
    let mut words = simple.words.iter().skip(1);
    let mut inner = Vec::new();
    let mut to_skip = before;
    while let Some(word) = words.next() {
        if word.text == "--" && word.literal {
            inner.extend(words.by_ref().cloned());
        } else if !word.literal || (word.text.starts_with('-') && word.text.len() > 1) {
            if word.literal && with_value.contains(&word.text.as_str()) {
                words.next();
            } else if !word.literal || !WITHOUT_VALUE.contains(&word.text.as_str()) {
                line.is_unclear("it has options that are not known here");
            }
            if !word.literal {
                inner.push(word.clone());
                inner.extend(words.by_ref().cloned());
            }
        } else if wrapper == "env" && word.text.contains('=') {
            let variable = word.text.split('=').next().unwrap_or_default();
            if !HARMLESS.contains(&variable) {
                line.is_unclear("it sets variables that can change what a program does");
            }
        } else if to_skip > 0 {
            to_skip -= 1;
        } else {
            inner.push(word.clone());
            inner.extend(words.by_ref().cloned());
        }
    }
    // Who runs as somebody else is a command of its own, whatever it runs.
    let of_project = simple.words.first().is_some_and(|first| first.text.contains('/'));
    if matches!(wrapper, "sudo" | "doas") || inner.is_empty() || of_project || line.unclear.is_some() {
        line.commands.push(simple);
    }
    if wrapper == "xargs" {
        // More arguments come from its input.
        inner.push(Word { text: String::new(), literal: false });
    }
    if !inner.is_empty() {
        line.add(unwrap_deeper(Simple { words: inner, variables: Vec::new() }, depth));
    }
    line
}

fn unwrap_deeper(simple: Simple, depth: usize) -> Line {
    if depth > super::DEEPEST_WRAPPER {
        let mut line = Line { commands: vec![simple], ..Line::default() };
        line.is_unclear("it is nested too deeply");
        return line;
    }
    unwrap(simple, depth + 1)
}

fn evaluated(simple: &Simple, depth: usize, line: &mut Line) {
    let arguments = simple.words.iter().skip(1).map(|word| word.text.as_str());
    let arguments: Vec<&str> = arguments.skip_while(|word| *word == "--").collect();
    if simple.words.iter().any(|word| !word.literal) {
        line.is_unclear("`eval` runs what the shell makes up");
    }
    line.add(Line::nested(&arguments.join(" "), depth + 1, is_bash(crate::process::shell())));
}

/// Whether an argument holds a command where the shell computes an index.
fn computes(argument: &str) -> bool {
    argument.contains('[') && (argument.contains("$(") || argument.contains('`'))
}

/// Programs that git is told to run: by a setting on its line, from a folder, or by a subcommand.
fn told_by_git(simple: &Simple, depth: usize, line: &mut Line) {
    const GIVEN: &str = "it gives git a program to run";
    let mut words = simple.words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let given = match text {
            "-c" | "--config-env" => words.next().map(|next| next.text.as_str()),
            _ => text.strip_prefix("-c").or_else(|| text.strip_prefix("--config-env=")),
        };
        if let Some(setting) = given {
            let key = setting.split('=').next().unwrap_or_default().to_lowercase();
            let last = key.rsplit('.').next().unwrap_or_default();
            if PROGRAMS_OF_GIT.contains(&last) || key.starts_with("pager.") {
                return line.is_unclear(GIVEN);
            }
        } else if text.starts_with("--exec-path=") {
            return line.is_unclear(GIVEN);
        } else if matches!(text, "-C" | "--git-dir" | "--work-tree" | "--namespace") {
            words.next();
        } else if !text.starts_with('-') {
            break;
        }
    }
    if let Some(rest) = behind(simple, "git", &["git", "bisect", "run"]) {
        runs(rest.iter(), depth, line);
    }
    if let Some(rest) = behind(simple, "git", &["git", "submodule", "foreach"]) {
        let rest: Vec<&Word> = rest.iter().skip_while(|word| word.text.starts_with('-')).collect();
        shell_line(&rest, depth, line);
    }
    if let Some(rest) = behind(simple, "git", &["git", "rebase"]) {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let told = match word.text.as_str() {
                "-x" | "--exec" => words.next().cloned(),
                text => text.strip_prefix("--exec=").map(|text| Word { text: text.to_owned(), ..word.clone() }),
            };
            shell_line(&Vec::from_iter(told.as_ref()), depth, line);
        }
    }
}

/// Words that are put together for a shell.
fn shell_line(words: &[&Word], depth: usize, line: &mut Line) {
    if words.iter().any(|word| !word.literal) {
        line.is_unclear("a shell runs what the shell makes up");
    }
    let text: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    within(Line::nested(&text.join(" "), depth + 1, is_bash("sh")), line);
}

/// `bash -c '…'` is what it runs; `bash script` is a command like any other.
fn scripted(simple: &Simple, depth: usize, line: &mut Line) {
    let mut words = simple.words.iter().skip(1);
    let (mut is_line, mut is_read) = (false, false);
    while let Some(word) = words.next() {
        let letters = word.text.strip_prefix(['-', '+']).filter(|rest| !rest.starts_with('-'));
        if matches!(word.text.as_str(), "--rcfile" | "--init-file") {
            words.next();
        } else if let Some(letters) = letters {
            is_line |= word.text.starts_with('-') && letters.contains('c');
            is_read |= letters.contains('s');
            // Each of these takes a word that follows.
            for _ in letters.matches(['o', 'O']) {
                words.next();
            }
        } else if word.text.starts_with("--") {
            // Stands alone.
        } else if is_line {
            if !word.literal {
                line.is_unclear("a shell runs what the shell makes up");
            }
            let shell = simple.words.first().map_or("", |word| word.text.as_str());
            line.add(Line::nested(&word.text, depth + 1, is_bash(shell)));
            return;
        } else {
            // What it reads may be no file that anybody could look at, but what the line itself gives it.
            let is_given = ["/dev/", "/proc/"].iter().any(|folder| word.text.starts_with(folder));
            if is_read || is_given || !word.literal {
                line.is_unclear("a shell runs what it reads");
            }
            return;
        }
    }
    if !simple.words.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help")) {
        line.is_unclear("a shell runs what it reads");
    }
}

/// `find … -exec command ;` and its kin.
fn found(simple: &Simple, depth: usize, line: &mut Line) {
    let mut words = simple.words.iter().skip(1);
    while let Some(word) = words.next() {
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let command: Vec<Word> =
            words.by_ref().take_while(|word| !matches!(word.text.as_str(), ";" | "+")).cloned().collect();
        if !command.is_empty() {
            line.add(unwrap_deeper(Simple { words: command, variables: Vec::new() }, depth));
        }
    }
}
