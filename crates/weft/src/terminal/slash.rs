//! The chat's own commands, typed as `/name`. What they do not know may be one of the person's: a
//! skill, a command file or a source's prompt, which the engine spells out.

use weft_core::{Mode, ModelName};
use weft_engine::{Callable, CallableKind, EngineError, Which};

use crate::show::clean::clean_row;
use crate::show::style::{CODE, DIM, GUTTER, Line, Look, PLAIN, Span};
use crate::show::width::wrap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slash {
    Help,
    Mode(Option<Mode>),
    Model(Option<ModelName>),
    New,
    Sessions,
    Resume(Option<String>),
    Fork(Option<u64>),
    Undo {
        turns: usize,
        force: bool,
    },
    Redo {
        force: bool,
    },
    Diff(Which),
    /// Background jobs, or the one to stop.
    Jobs(Option<u32>),
    Usage,
    Queue(String),
    /// Send what was held back because of a secret, once.
    Anyway,
    /// Send it with the secret hidden.
    Redact,
    Clear,
    Quit,
}

/// Name, arguments and what it does, in the order in which help shows them.
pub const COMMANDS: [(&str, &str, &str); 15] = [
    ("help", "", "this list and the keys"),
    ("mode", "[safe|ask|auto]", "what it may do without asking"),
    ("model", "[PROVIDER/MODEL]", "the model from now on"),
    ("queue", "TEXT", "say something when this turn is over"),
    ("new", "", "start a new session"),
    ("sessions", "", "latest sessions here"),
    ("resume", "[ID]", "go on with another session"),
    ("fork", "[SEQ]", "copy this session and go on in the copy"),
    ("diff", "[TURN|all]", "what the last turn did to the files"),
    ("undo", "[TURNS] [force]", "take back what the last turn did to the files"),
    ("redo", "[force]", "do again what was taken back"),
    ("jobs", "[stop JOB]", "commands in the background"),
    ("usage", "", "tokens and cost so far"),
    ("clear", "", "clear the screen"),
    ("quit", "", "leave; the session stays"),
];

/// As wide as the longest command with its arguments, and a gap.
const COMMAND_COLUMNS: usize = 25;
/// A screen on which the arguments are left out, for what a command does is worth more.
const NARROW: usize = 64;
const NAME_COLUMNS: usize = 11;
/// What a command without arguments does, where two of them share a row.
const BARE_COLUMNS: usize = 27;

/// What keys do, as help shows it.
pub const KEYS: [(&str, &str); 10] = [
    ("Enter", "send, also during a turn"),
    ("Alt+Enter", "new line; also Ctrl+J"),
    ("Esc", "stop; twice: clear input"),
    ("Shift+Tab", "change the mode"),
    ("Tab", "complete /command, @file"),
    ("Up, Down", "take back; other inputs"),
    ("Ctrl+A E", "start, end of the line"),
    ("Ctrl+W U K Y", "delete, put back"),
    ("Ctrl+C", "clear, stop, quit"),
    ("Ctrl+D", "quit"),
];

/// Columns for a key and for what it does, where two of them share a row.
const KEY_COLUMNS: (usize, usize) = (14, 25);

/// All commands and keys, on a usual screen without scrolling.
pub fn help_lines(look: &Look) -> Vec<Line> {
    let (key_columns, words) = KEY_COLUMNS;
    let beside = if look.width >= 2 * (key_columns + words) + GUTTER { 2 } else { 1 };
    let (bare, with_arguments): (Vec<_>, Vec<_>) =
        COMMANDS.iter().partition(|(_, arguments, _)| beside > 1 && arguments.is_empty());
    let mut lines: Vec<Line> = with_arguments.into_iter().map(|command| command_line(command, look)).collect();
    for pair in bare.chunks(beside) {
        let mut line = Line::default();
        for (name, _, what) in pair {
            let typed = format!("/{name}");
            line = line.with(format!("{typed:<NAME_COLUMNS$}"), CODE).with(format!("{what:<BARE_COLUMNS$}"), PLAIN);
        }
        lines.push(line.indented(GUTTER));
    }
    lines.push(Line::blank());
    for keys in KEYS.chunks(beside) {
        let mut line = Line::default();
        for (index, (key, what)) in keys.iter().enumerate() {
            let words = if index + 1 < keys.len() { words } else { 0 };
            line = line.with(format!("{key:<key_columns$}"), CODE).with(format!("{what:<words$}"), PLAIN);
        }
        lines.push(line.indented(GUTTER));
    }
    let more = "Paths of pictures are attached. Everything is recorded as it happens.";
    lines.extend(wrap(&[Span::new(more, DIM)], look.measure()).into_iter().map(|line| line.indented(GUTTER)));
    lines
}

/// A command with what it does, in one row.
pub fn command_line((name, arguments, what): &(&str, &str, &'static str), look: &Look) -> Line {
    row(&format!("/{name}"), arguments, what, look)
}

/// Something of the person's that can be called, in one row.
pub fn callable_line(callable: &Callable, look: &Look) -> Line {
    row(&clean_row(&callable.typed), &clean_row(&callable.arguments), &clean_row(&callable.description), look)
}

fn row(typed: &str, arguments: &str, what: &str, look: &Look) -> Line {
    let is_narrow = look.width < NARROW;
    let (typed, columns) =
        if is_narrow { (typed.to_owned(), NAME_COLUMNS) } else { (format!("{typed} {arguments}"), COMMAND_COLUMNS) };
    let gap = if typed.chars().count() >= columns { " " } else { "" };
    let line = Line::new(format!("{typed:<columns$}{gap}"), CODE).with(what.to_owned(), PLAIN).indented(GUTTER);
    line.fitted(look.width, look)
}

/// What the person has of their own, below the list of commands.
pub fn callable_lines(callables: &[Callable], look: &Look) -> Vec<Line> {
    let mut lines = Vec::new();
    for (kind, heading) in [
        (CallableKind::Command, "Your commands"),
        (CallableKind::Skill, "Skills"),
        (CallableKind::Prompt, "Prompts of sources"),
        (CallableKind::Agent, "Agents, mentioned anywhere in what you say"),
        (CallableKind::Source, "Sources, mentioned likewise"),
    ] {
        let of_kind: Vec<&Callable> = callables.iter().filter(|callable| callable.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        lines.push(Line::blank());
        lines.push(Line::new(heading, DIM).indented(GUTTER));
        lines.extend(of_kind.into_iter().map(|callable| callable_line(callable, look)));
    }
    lines
}

/// Reads a command of the chat. `None` if the text is not one, such as a path or a skill's name.
pub fn parse(text: &str) -> Option<Result<Slash, String>> {
    let rest = text.trim().strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if HIDDEN.contains(&name) || COMMANDS.iter().any(|(known, _, _)| *known == name) {
        return Some(read(name, argument.trim()));
    }
    None
}

/// Commands that are told of only where they can be used.
const HIDDEN: [&str; 3] = ["anyway", "redact", "exit"];

fn read(name: &str, argument: &str) -> Result<Slash, String> {
    let optional = || (!argument.is_empty()).then(|| argument.to_owned());
    if !argument.is_empty() && COMMANDS.iter().any(|(known, arguments, _)| *known == name && arguments.is_empty()) {
        return Err(format!("`/{name}` takes nothing after it. `/help` lists the commands."));
    }
    Ok(match name {
        "help" => Slash::Help,
        "mode" => Slash::Mode(optional().map(|text| text.parse()).transpose()?),
        "model" => Slash::Model(optional().map(|text| text.parse()).transpose()?),
        "new" => Slash::New,
        "sessions" => Slash::Sessions,
        "resume" => Slash::Resume(optional()),
        "fork" => {
            let number = optional().map(|text| text.parse()).transpose();
            Slash::Fork(number.map_err(|_| {
                format!("`{argument}` is not the number of an event: write `/fork 42`, or `/fork` alone for all of it")
            })?)
        }
        "undo" => {
            let (turns, force) = forced(argument);
            let turns = if turns.is_empty() { Ok(1) } else { turns.parse() };
            Slash::Undo { turns: turns.map_err(|_| format!("`{argument}` is not a number of turns"))?, force }
        }
        "redo" => Slash::Redo { force: forced(argument).1 },
        "diff" => Slash::Diff(match argument {
            "" => Which::Last,
            "all" => Which::All,
            turn => Which::Turn(turn.parse().map_err(|_| format!("`{argument}` is not the number of a turn"))?),
        }),
        "jobs" if argument.is_empty() => Slash::Jobs(None),
        "jobs" => {
            let job = argument.strip_prefix("stop").and_then(|job| job.trim().parse().ok());
            Slash::Jobs(Some(job.ok_or_else(|| "Write `/jobs`, or `/jobs stop 1`.".to_owned())?))
        }
        "usage" => Slash::Usage,
        "queue" if argument.is_empty() => return Err("Say what to queue: `/queue then run the tests`".to_owned()),
        "queue" => Slash::Queue(argument.to_owned()),
        "anyway" => Slash::Anyway,
        "redact" => Slash::Redact,
        "clear" => Slash::Clear,
        "quit" | "exit" => Slash::Quit,
        _ => return Err(unknown(name, &[])),
    })
}

/// What stands before a `force`, and whether there is one.
fn forced(argument: &str) -> (&str, bool) {
    argument.strip_suffix("force").map_or((argument, false), |before| (before.trim(), true))
}

/// What a person is told in the chat of a problem with what they wrote.
pub fn in_words(error: &EngineError) -> String {
    match error {
        EngineError::NoCommand { name, known } => unknown(name, known),
        other => other.to_string(),
    }
}

/// The same outside the chat, where its own commands do not exist.
pub fn in_words_outside(error: &EngineError) -> String {
    match error {
        EngineError::NoCommand { name, known } => nearest(name, known.iter().map(String::as_str), "weft skills list"),
        other => other.to_string(),
    }
}

fn unknown(name: &str, more: &[String]) -> String {
    nearest(name, COMMANDS.iter().map(|(known, _, _)| *known).chain(more.iter().map(String::as_str)), "/help")
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>, list: &str) -> String {
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|known| {
            let begins = known.starts_with(name) || known.rsplit(':').next().is_some_and(|last| last.starts_with(name));
            let distance = if begins { 0 } else { distance(name, known) };
            (distance <= 2).then_some((distance, known))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    let names: Vec<String> = near.iter().take(3).map(|(_, known)| format!("`/{}`", clean_row(known))).collect();
    match names.as_slice() {
        [] => format!("There is no `/{name}`. `{list}` lists the commands."),
        names => format!("There is no `/{name}`. Did you mean {}?", names.join(" or ")),
    }
}

/// How many letters must change to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut next = vec![index + 1];
        for (column, (known, pair)) in other.iter().zip(row.windows(2)).enumerate() {
            let [diagonal, above] = pair else { continue };
            let left = next.get(column).copied().unwrap_or_default();
            let change = diagonal + usize::from(letter != *known);
            next.push(change.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "slash_tests.rs"]
mod tests;
