//! What the model sees of a long output: the lines that say something. A parser knows the noise of
//! one tool, line by line; whatever it does not know stays. It is chosen by the words of the command
//! and by the output itself, and one that is not sure says nothing. Text goes in and text comes out;
//! only [`parsed`] reads and keeps the whole output, without which nothing is left out.
//!
//! A line that tells of an error is never left out, whatever a parser says of it.

mod cargo;
mod eslint;
mod git;
mod go;
mod jest;
mod packages;
mod pytest;
mod tsc;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::capture::{self, Capture, Captured, Spill};
use crate::permission::command::{Line, Simple};
use crate::text;

/// Below this all of it is shown.
const WORTH_IT: usize = 3 * 1024;
/// Of a longer output only this much is parsed.
const LONGEST: u64 = 16 << 20;

/// What a line that may be left out is, in the plural: "passed tests".
type Noise = &'static str;

/// The one kind of noise that can hold any word and still tells of no error: its form is known to
/// the last letter.
const PASSED: Noise = "passed tests";

struct Parser {
    /// Whether a command is this tool.
    runs: fn(&[&str]) -> bool,
    /// Other tools start it, so that its output can come from `make test`.
    behind_others: bool,
    /// Whether it surely wrote this line.
    wrote: fn(&str) -> bool,
    /// For each line, what noise it is.
    noise: fn(&[&str]) -> Vec<Option<Noise>>,
}

static PARSERS: [Parser; 8] = [
    cargo::PARSER,
    go::PARSER,
    packages::PARSER,
    pytest::PARSER,
    jest::PARSER,
    eslint::PARSER,
    tsc::PARSER,
    git::PARSER,
];

/// They start whatever they are told to elsewhere.
const STARTERS: [&str; 22] = [
    "npm", "npx", "yarn", "pnpm", "bun", "bunx", "make", "just", "task", "tox", "nox", "uv", "uvx", "poetry", "hatch",
    "pdm", "nx", "turbo", "bash", "sh", "python", "python3",
];
/// Whoever uses one of these has said what to see.
const CHOOSERS: [&str; 17] = [
    "grep", "egrep", "rg", "ag", "head", "tail", "sed", "awk", "cut", "sort", "uniq", "wc", "jq", "less", "more",
    "cat", "column",
];

/// What is left of an output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub text: String,
    pub lines: usize,
    /// How many lines of which noise are missing.
    pub left_out: Vec<(Noise, usize)>,
}

/// The view of an output, if one of the parsers knows it. Never longer than the output.
pub(crate) fn of(command: &str, output: &str) -> Option<View> {
    let line = Line::parse(command);
    let commands: Vec<Vec<&str>> = line.commands.iter().map(words).collect();
    let is_one_of =
        |names: &[&str]| commands.iter().any(|words| words.first().is_some_and(|name| names.contains(name)));
    if is_one_of(&CHOOSERS) {
        return None;
    }
    let started = is_one_of(&STARTERS);
    let lines: Vec<&str> = output.lines().collect();
    let mut noise: Vec<Option<Noise>> = vec![None; lines.len()];
    for parser in &PARSERS {
        let named = commands.iter().any(|words| (parser.runs)(words));
        if !(named || started && parser.behind_others) || !lines.iter().any(|line| (parser.wrote)(line)) {
            continue;
        }
        for (known, found) in noise.iter_mut().zip((parser.noise)(&lines)) {
            *known = known.or(found);
        }
    }
    for (line, found) in lines.iter().zip(&mut noise) {
        if found.is_some_and(|found| found != PASSED) && tells_of_an_error(line) {
            *found = None;
        }
    }
    assemble(&lines, &noise)
}

/// The words of a command, its program without the folder it lies in.
fn words(simple: &Simple) -> Vec<&str> {
    let mut words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit('/').next().unwrap_or(program);
    }
    words
}

fn tells_of_an_error(line: &str) -> bool {
    const SIGNS: [&str; 8] = ["error", "fatal", "panic", "exception", "traceback", "failed", "failure", "err!"];
    // Words of a name, such as a crate called `thiserror` or a file `error.rs`, are found too; one line
    // too many does no harm.
    let line = line.to_ascii_lowercase();
    SIGNS.iter().any(|sign| line.contains(sign))
}

fn assemble(lines: &[&str], noise: &[Option<Noise>]) -> Option<View> {
    let mut view = View { text: String::new(), lines: lines.len(), left_out: Vec::new() };
    let mut rest = lines.iter().zip(noise).peekable();
    while let Some((line, found)) = rest.next() {
        if found.is_none() {
            view.push(line);
            continue;
        }
        let mut run = vec![(*line, *found)];
        while let Some((line, found)) = rest.next_if(|(_, found)| found.is_some()) {
            run.push((line, *found));
        }
        let mark = format!("[… {}]", text::count(run.len(), "line", "lines"));
        // Also with other line ends, the mark must not be longer than what it stands for.
        if run.iter().map(|(line, _)| line.len() + 1).sum::<usize>() <= mark.len() + 1 {
            run.iter().for_each(|(line, _)| view.push(line));
            continue;
        }
        view.push(&mark);
        for found in run.into_iter().filter_map(|(_, found)| found) {
            match view.left_out.iter_mut().find(|(known, _)| *known == found) {
                Some((_, count)) => *count += 1,
                None => view.left_out.push((found, 1)),
            }
        }
    }
    view.text.truncate(view.text.trim_end().len());
    (!view.left_out.is_empty()).then_some(view)
}

impl View {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn shown(&self, kept: &str) -> String {
        let mut rest = Capture::new(None);
        rest.push(self.text.as_bytes());
        format!("[{}; the whole output is in {kept}]\n{}", self.headline(), rest.finish().text)
    }

    /// "[180 of 200 lines left out: 170 passed tests, 10 compiled crates".
    fn headline(&self) -> String {
        let total: usize = self.left_out.iter().map(|(_, count)| count).sum();
        let parts: Vec<String> = self.left_out.iter().map(|(noise, count)| format!("{count} {noise}")).collect();
        format!("{total} of {} lines left out ({})", self.lines, parts.join(", "))
    }
}

/// Whether an output is long enough to leave something out.
pub(super) const fn is_worth_it(output: &Captured) -> bool {
    output.bytes >= WORTH_IT as u64
}

/// A captured output with its noise left out, if that is worth it and the whole can be found.
pub(super) fn parsed(command: &str, output: &Captured, spill: &Spill) -> Option<Captured> {
    if !is_worth_it(output) {
        return None;
    }
    let whole = match &output.saved {
        Some(saved) => {
            let mut bytes = Vec::new();
            let read = File::open(&saved.path).ok()?.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
            // Of half an output nothing can be said.
            if read as u64 > LONGEST || (read as u64) < output.bytes {
                return None;
            }
            capture::clean(&bytes)
        }
        None => output.text.clone(),
    };
    let view = worthwhile(command, &whole)?;
    let saved = match &output.saved {
        Some(saved) => saved.clone(),
        None => capture::save(spill, whole.as_bytes()).ok()?,
    };
    let text = view.shown(&saved.path);
    Some(Captured { text, bytes: output.bytes, saved: Some(saved) })
}

/// The same for an output that is kept already.
pub(super) fn shortened(command: &str, whole: &str, kept: &Path) -> Option<String> {
    let view = (whole.len() >= WORTH_IT).then(|| worthwhile(command, whole)).flatten()?;
    Some(view.shown(&kept.to_string_lossy()))
}

fn worthwhile(command: &str, whole: &str) -> Option<View> {
    of(command, whole).filter(|view| view.text.len() <= whole.len() / 4 * 3)
}

/// The number at the beginning of a line, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
