//! Pseudo-terminals: opening one, and showing what a person would see on it. Starts nothing.

use std::io;
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

const ROWS: NonZeroU16 = NonZeroU16::new(40).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(120).unwrap();
/// Rows that scroll away between two looks and can still be seen.
const SCROLLED: usize = 2_000;

/// The two ends of a terminal: the one that Weft holds, and the one for the program.
pub(crate) struct Pair {
    pub ours: OwnedFd,
    pub theirs: OwnedFd,
}

pub(crate) fn open() -> io::Result<Pair> {
    let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    let name = rustix::pty::ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let size = Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&ours, size)?;
    Ok(Pair { ours, theirs })
}

/// A screen on which a program's output is drawn, with what has scrolled off it since the last look.
pub(crate) struct Screen {
    parser: vt100::Parser,
    /// The row on which the last look ended, which may still change.
    seen: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self { parser: blank(), seen: 0 }
    }
}

fn blank() -> vt100::Parser {
    vt100::Parser::new(ROWS, COLUMNS, SCROLLED)
}

impl Screen {
    pub fn push(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// What is new since the last look, as rows of text: all of the screen where a program fills it,
    /// else from the row on which the last look ended.
    pub fn look(&mut self) -> String {
        let text = self.peek();
        if !self.parser.screen().alternate_screen() {
            // The same screen without a past.
            let mut parser = blank();
            parser.process(self.parser.screen().state_formatted().as_bytes());
            self.parser = parser;
            self.seen = usize::from(self.parser.screen().cursor_position().0);
        }
        text
    }

    /// The same, without having looked.
    pub fn peek(&mut self) -> String {
        if self.parser.screen().alternate_screen() {
            return joined(self.parser.screen().rows(0, COLUMNS.get()));
        }
        let scrolled = self.scrolled();
        let mut rows = Vec::new();
        if scrolled == SCROLLED {
            rows.push("[what came before is only in the file]".to_owned());
        }
        let mut at = self.seen;
        while at < scrolled {
            let back = scrolled - at;
            self.parser.screen_mut().set_scrollback(back);
            let page: Vec<String> = self.parser.screen().rows(0, COLUMNS.get()).take(back).collect();
            at += page.len().max(1);
            rows.extend(page);
        }
        self.parser.screen_mut().set_scrollback(0);
        rows.extend(self.parser.screen().rows(0, COLUMNS.get()).skip(at - scrolled));
        joined(rows)
    }

    /// How many rows have scrolled away and are kept.
    fn scrolled(&mut self) -> usize {
        self.parser.screen_mut().set_scrollback(usize::MAX);
        let scrolled = self.parser.screen().scrollback();
        self.parser.screen_mut().set_scrollback(0);
        scrolled
    }
}

fn joined(rows: impl IntoIterator<Item = String>) -> String {
    let rows: Vec<String> = rows.into_iter().map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
