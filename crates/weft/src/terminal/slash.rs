//! The chat's own commands, typed as `/name`.

use weft_core::{Mode, ModelName};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slash {
    Help,
    Mode(Option<Mode>),
    Model(Option<ModelName>),
    New,
    Sessions,
    Resume(Option<String>),
    Fork(Option<u64>),
    Usage,
    Queue(String),
    Clear,
    Quit,
}

/// Name, arguments and what it does, in the order in which help shows them.
pub const COMMANDS: [(&str, &str, &str); 11] = [
    ("help", "", "this list and the keys"),
    ("mode", "[safe|ask|auto]", "what it may do without asking"),
    ("model", "[PROVIDER/MODEL]", "the model from now on"),
    ("queue", "TEXT", "say something when this turn is over"),
    ("new", "", "start a new session"),
    ("sessions", "", "the latest sessions of this folder"),
    ("resume", "[ID]", "go on with another session"),
    ("fork", "[SEQ]", "copy this session and go on in the copy"),
    ("usage", "", "tokens and cost of this session"),
    ("clear", "", "clear the screen"),
    ("quit", "", "leave; the session stays"),
];

/// What keys do, as help shows it.
pub const KEYS: [(&str, &str); 9] = [
    ("Enter", "send; while it works: deliver with its next step"),
    ("Alt+Enter, Ctrl+J", "new line"),
    ("Esc", "stop the turn; twice: clear the input"),
    ("Shift+Tab", "change the mode: safe, ask, auto"),
    ("Tab", "complete /commands and @files"),
    ("Up, Down", "earlier inputs; first, take back what is queued"),
    ("Ctrl+A E W U K Y", "move, delete and put back, as in a shell"),
    ("Ctrl+C", "clear the input, stop the turn, quit"),
    ("Ctrl+D", "quit"),
];

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
    Ok(match name {
        "help" => Slash::Help,
        "mode" => Slash::Mode(optional().map(|text| text.parse()).transpose()?),
        "model" => Slash::Model(optional().map(|text| text.parse()).transpose()?),
        "new" => Slash::New,
        "sessions" => Slash::Sessions,
        "resume" => Slash::Resume(optional()),
        "fork" => {
            let number = optional().map(|text| text.parse()).transpose();
            Slash::Fork(number.map_err(|_| format!("`{argument}` is not the number of an event"))?)
        }
        "usage" => Slash::Usage,
        "queue" if argument.is_empty() => return Err("Say what to queue: `/queue then run the tests`".to_owned()),
        "queue" => Slash::Queue(argument.to_owned()),
        "clear" => Slash::Clear,
        "quit" | "exit" => Slash::Quit,
        _ => return Err(unknown(name)),
    })
}

fn unknown(name: &str) -> String {
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
