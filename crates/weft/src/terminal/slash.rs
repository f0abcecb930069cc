//! The chat's own commands, typed as `/name`.

use weft_core::{Mode, ModelName};
use weft_engine::Which;

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
    let is_narrow = look.width < NARROW;
    let (typed, columns) =
        if is_narrow { (format!("/{name}"), NAME_COLUMNS) } else { (format!("/{name} {arguments}"), COMMAND_COLUMNS) };
    let line = Line::new(format!("{typed:<columns$}"), CODE).with(*what, PLAIN).indented(GUTTER);
    line.fitted(look.width, look)
}

/// Reads a command. `None` if the text is not one, such as a path.
pub fn parse(text: &str) -> Option<Result<Slash, String>> {
    let rest = text.trim().strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_lowercase()) {
        return None;
    }
    Some(read(name, argument.trim()))
}

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
        _ => return Err(unknown(name)),
    })
}

/// What stands before a `force`, and whether there is one.
fn forced(argument: &str) -> (&str, bool) {
    argument.strip_suffix("force").map_or((argument, false), |before| (before.trim(), true))
}

fn unknown(name: &str) -> String {
    if let Some((known, _, _)) = COMMANDS.iter().find(|(known, _, _)| known.starts_with(name)) {
        return format!("There is no `/{name}`. Did you mean `/{known}`?");
    }
    let nearest = COMMANDS.iter().map(|(known, _, _)| (distance(name, known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 2 => format!("There is no `/{name}`. Did you mean `/{known}`?"),
        _ => format!("There is no `/{name}`. `/help` lists the commands."),
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
