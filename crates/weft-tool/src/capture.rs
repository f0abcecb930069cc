//! Keeps what a command writes: all of it while it is small, later its beginning, its end and the
//! lines between that matter, with the whole in a file. Memory stays the same however much comes.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use weft_core::event::Saved;

use crate::text;

/// Up to here everything is shown.
const SMALL: usize = 24 * 1024;
const HEAD: (usize, usize) = (50, 7 * 1024);
const TAIL: (usize, usize) = (100, 12 * 1024);
/// Lines kept from between, and the length to which each is cut.
const IMPORTANT: (usize, usize) = (25, 160);
/// A runaway command must not fill the disk.
const LARGEST_FILE: u64 = 256 * 1024 * 1024;

/// Where the whole output goes if it is not small.
#[derive(Debug, Clone)]
pub struct Spill {
    pub folder: PathBuf,
    pub name: String,
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// All of it, or its beginning, its end and what matters between.
    pub text: String,
    pub bytes: u64,
    /// Where the whole lies, if `text` is only a part.
    pub saved: Option<Saved>,
}

pub(crate) struct Capture {
    spill: Option<Spill>,
    file: Kept,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    lines: usize,
    /// The line that has not ended yet, as far as it matters.
    unfinished: Vec<u8>,
    important: Vec<(usize, String)>,
}

enum Kept {
    InMemory,
    InFile { file: File, path: PathBuf, bytes: u64 },
    Nowhere { why: String },
}

impl Capture {
    pub fn new(spill: Option<Spill>) -> Self {
        Self {
            spill,
            file: Kept::InMemory,
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            lines: 0,
            unfinished: Vec::new(),
            important: Vec::new(),
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.keep_whole(bytes);
        self.bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(SMALL - self.head.len()));
        self.head.extend_from_slice(first);
        self.note_important(bytes);
        let last = rest.get(rest.len().saturating_sub(SMALL)..).unwrap_or_default();
        let surplus = (self.tail.len() + last.len()).saturating_sub(SMALL);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(last);
    }

    pub fn finish(mut self) -> Captured {
        let tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        if tail.is_empty() {
            return Captured { text: clean(&self.head), bytes: self.bytes, saved: None };
        }
        let bytes = self.bytes;
        let (text, saved) = self.excerpt(&tail);
        Captured { text, bytes, saved }
    }

    /// Once the output is not small, it goes on in a file. The writes go to the page cache and are
    /// as short as the pipe's buffer, so they are done in place.
    fn keep_whole(&mut self, bytes: &[u8]) {
        if let Kept::InMemory = self.file {
            if self.head.len() + bytes.len() <= SMALL {
                return;
            }
            let Some(spill) = &self.spill else { return };
            self.file =
                match create(spill).and_then(|(path, mut file)| file.write_all(&self.head).map(|()| (path, file))) {
                    Ok((path, file)) => Kept::InFile { file, path, bytes: self.head.len() as u64 },
                    Err(error) => Kept::Nowhere { why: error.to_string() },
                };
        }
        if let Kept::InFile { file, bytes: written, .. } = &mut self.file {
            let room = usize::try_from(LARGEST_FILE - *written).unwrap_or(usize::MAX);
            let part = bytes.get(..room.min(bytes.len())).unwrap_or_default();
            match file.write_all(part) {
                Ok(()) => *written += part.len() as u64,
                Err(error) => self.file = Kept::Nowhere { why: error.to_string() },
            }
        }
    }

    fn note_important(&mut self, bytes: &[u8]) {
        const LONGEST_LINE: usize = 8 * 1024;
        let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') else {
            let room = LONGEST_LINE.saturating_sub(self.unfinished.len());
            self.unfinished.extend(bytes.iter().take(room));
            return;
        };
        let (ended, rest) = bytes.split_at(end + 1);
        let mut lines = std::mem::take(&mut self.unfinished);
        lines.extend_from_slice(ended);
        self.unfinished.extend(rest.iter().take(LONGEST_LINE));
        let mut from = 0;
        let mut number = self.lines;
        while self.important.len() < IMPORTANT.0 {
            let Some(block) = lines.get(from..) else { break };
            let Some(found) = find_important(block) else { break };
            let (before, after) = block.split_at(found);
            let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
            let length = after.iter().position(|&byte| byte == b'\n').unwrap_or(after.len());
            number += newlines(before);
            let line = clean(block.get(start..found + length).unwrap_or_default());
            self.important.push((number, text::head(&line, IMPORTANT.1).to_owned()));
            from += found + length + 1;
            number += 1;
        }
        self.lines += newlines(&lines);
    }

    fn excerpt(self, tail: &[u8]) -> (String, Option<Saved>) {
        let lines = self.lines + usize::from(!self.unfinished.is_empty());
        let (head, tail) = (clean(&self.head), clean(tail));
        let (first, last) = (first_lines(&head), last_lines(&tail));
        let (first_count, last_count) = (first.lines().count(), last.lines().count());
        let between = first_count..lines.saturating_sub(last_count).max(first_count);
        let mut text = format!("{first}\n[… {} left out", text::count(between.len(), "line", "lines"));
        let important = self.important.iter().filter(|(number, _)| between.contains(number));
        let important: Vec<String> = important.map(|(number, line)| format!("{}: {line}", number + 1)).collect();
        if !important.is_empty() {
            text.push_str(", among them:\n");
            text.push_str(&important.join("\n"));
            text.push('\n');
        }
        let total = text::size(self.bytes);
        let (note, saved) = match self.file {
            Kept::InFile { path, bytes, .. } => {
                let path = path.to_string_lossy().into_owned();
                let part = if bytes < self.bytes { format!("first {} of ", text::size(bytes)) } else { String::new() };
                (format!("; {part}the whole output ({total}) is in {path}"), Some(Saved { path, bytes }))
            }
            Kept::Nowhere { why } => (format!("; the whole output ({total}) could not be saved: {why}"), None),
            Kept::InMemory => (format!(" of {total}"), None),
        };
        text.push_str(&format!("{note} …]\n{last}"));
        (text, saved)
    }
}

/// Lines that tell what went wrong.
static MATTERS: LazyLock<Option<RegexMatcher>> =
    LazyLock::new(|| RegexMatcher::new("(?i-u)error|warning|failed|panic|exception").ok());

fn find_important(bytes: &[u8]) -> Option<usize> {
    MATTERS.as_ref()?.find(bytes).ok().flatten().map(|found| found.start())
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

fn first_lines(text: &str) -> &str {
    let within = text::head(text, HEAD.1);
    let end = within.match_indices('\n').nth(HEAD.0 - 1).map(|(at, _)| at);
    let end = end.or_else(|| within.rfind('\n')).unwrap_or(within.len());
    within.get(..end).unwrap_or_default()
}

fn last_lines(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let within = text::tail(text, TAIL.1);
    let start = within.rmatch_indices('\n').nth(TAIL.0 - 1).map(|(at, _)| at + 1);
    let start = start.or_else(|| within.find('\n').map(|at| at + 1)).unwrap_or(0);
    within.get(start..).unwrap_or_default()
}

fn create(spill: &Spill) -> io::Result<(PathBuf, File)> {
    make_folder(&spill.folder)?;
    let name: String =
        spill.name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
    let name = text::head(&name, 64);
    // Models use the same call name again; nothing that was saved is overwritten.
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = spill.folder.join(format!("{name}{suffix}.txt"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((absolute(path), file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Keeps something whole, for its owner only.
pub(crate) fn save(spill: &Spill, bytes: &[u8]) -> io::Result<Saved> {
    let (path, mut file) = create(spill)?;
    file.write_all(bytes.get(..bytes.len().min(LARGEST_FILE as usize)).unwrap_or(bytes))?;
    Ok(Saved { path: path.to_string_lossy().into_owned(), bytes: bytes.len() as u64 })
}

fn absolute(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}

/// Text without terminal escapes, and of a line that was overwritten only what was left.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if !text.contains(['\u{1b}', '\r', '\u{8}', '\0']) {
        return text.into_owned();
    }
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let body = body.trim_end_matches('\r');
        let left = body.rsplit('\r').next().unwrap_or(body);
        push_without_escapes(&mut clean, left);
        clean.push_str(end);
    }
    clean
}

fn push_without_escapes(clean: &mut String, line: &str) {
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                // A control sequence ends with a letter or one of @[\]^_`{|}~.
                Some('[') => {
                    letters.by_ref().find(|letter| ('@'..='~').contains(letter));
                }
                // A title or link ends with a bell or a string terminator.
                Some(']') => {
                    letters.by_ref().find(|letter| matches!(letter, '\u{7}' | '\u{1b}'));
                    letters.next_if_eq(&'\\');
                }
                Some(_) | None => {}
            },
            '\u{8}' => {
                clean.pop();
            }
            '\0' => {}
            letter => clean.push(letter),
        }
    }
}

/// Whether output shows that a command is getting on: dots, spinners and bare percentages do not.
pub(crate) fn is_meaningful(bytes: &[u8]) -> bool {
    bytes.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let number = line.strip_suffix('%').is_some_and(|number| number.trim().parse::<f64>().is_ok());
        let noise = |letter: char| ".|/-\\".contains(letter) || ('\u{2800}'..='\u{28ff}').contains(&letter);
        !number && line.chars().any(|letter| !noise(letter) && !letter.is_whitespace())
    })
}

/// Bytes that arrive in pieces, as text in pieces: a letter cut in two waits for its other half.
#[derive(Default)]
pub(crate) struct TextStream {
    held: Vec<u8>,
}

impl TextStream {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let ready = match std::str::from_utf8(&self.held) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.held.len() - self.cut_letter(),
            Ok(_) => self.held.len(),
        };
        let rest = self.held.split_off(ready);
        String::from_utf8_lossy(&std::mem::replace(&mut self.held, rest)).into_owned()
    }

    /// How many bytes at the end begin a letter that is not complete.
    fn cut_letter(&self) -> usize {
        let last = self.held.get(self.held.len().saturating_sub(3)..).unwrap_or_default();
        let cut = (1..=last.len()).find(|&length| {
            let end = last.get(last.len() - length..).unwrap_or_default();
            matches!(std::str::from_utf8(end), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
        });
        cut.unwrap_or(0)
    }
}

/// A folder for outputs, for this user alone.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
