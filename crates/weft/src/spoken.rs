//! The model's words on standard output: into a pipe as they are, on a terminal set as Markdown,
//! with the block that still grows drawn again until it is complete.

use std::io::IsTerminal as _;

use crate::out;
use crate::show::clean::Cleaner;
use crate::show::markdown::Stream;
use crate::show::style::{Line, Look};
use crate::terminal::{Frame, Live};

pub enum Spoken {
    Raw { cleaner: Cleaner, line_open: bool },
    Set(Box<Setting>),
}

pub struct Setting {
    look: Look,
    height: usize,
    stream: Option<Stream>,
    live: Live,
    last: Last,
}

/// What stands above; a blank row separates words from everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Words,
    Rows,
}

impl Spoken {
    /// As standard output likes it.
    pub fn new() -> Self {
        let can_redraw = std::io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|name| name != "dumb");
        if can_redraw {
            let height = crossterm::terminal::size().map_or(24, |(_, rows)| usize::from(rows));
            Self::set(out::look_stdout(), height)
        } else {
            Self::Raw { cleaner: Cleaner::default(), line_open: false }
        }
    }

    fn set(look: Look, height: usize) -> Self {
        Self::Set(Box::new(Setting { look, height, stream: None, live: Live::default(), last: Last::Nothing }))
    }

    /// The bytes that show more of the answer.
    pub fn push(&mut self, text: &str) -> String {
        match self {
            Self::Raw { cleaner, line_open } => {
                let mut safe = String::with_capacity(text.len());
                cleaner.push(text, &mut safe);
                if let Some(last) = safe.chars().last() {
                    *line_open = last != '\n';
                }
                safe
            }
            Self::Set(setting) => setting.push(text),
        }
    }

    /// The bytes that complete what has been said, so that something else can follow.
    pub fn finish(&mut self) -> String {
        match self {
            Self::Raw { line_open, .. } => if std::mem::take(line_open) { "\n" } else { "" }.to_owned(),
            Self::Set(setting) => setting.finish(),
        }
    }

    /// Rows are about to be told in between; whether a blank one should come first.
    pub fn make_room(&mut self) -> bool {
        match self {
            Self::Raw { .. } => false,
            Self::Set(setting) => std::mem::replace(&mut setting.last, Last::Rows) == Last::Words,
        }
    }
}

impl Setting {
    fn push(&mut self, text: &str) -> String {
        let mut lines = Vec::new();
        let stream = self.stream.get_or_insert_with(|| {
            if self.last != Last::Nothing {
                lines.push(Line::blank());
            }
            self.last = Last::Words;
            Stream::new(self.look)
        });
        lines.extend(stream.push(text));
        let tail = stream.tail();
        let hidden = tail.len().saturating_sub(self.height.saturating_sub(1).max(1));
        let shown: Vec<Line> = tail.into_iter().skip(hidden).collect();
        let (cursor_row, cursor_column) = match shown.last() {
            Some(last) => (shown.len() - 1, last.width().min(self.look.width.saturating_sub(1))),
            None => (0, 0),
        };
        self.live.update(&lines, &Frame { lines: shown, cursor_row, cursor_column }, &self.look)
    }

    fn finish(&mut self) -> String {
        let Some(mut stream) = self.stream.take() else { return String::new() };
        let lines = stream.finish();
        let mut bytes = self.live.update(&lines, &Frame::default(), &self.look);
        bytes.push_str(&self.live.clear());
        bytes
    }
}

#[cfg(test)]
#[path = "spoken_tests.rs"]
mod tests;
