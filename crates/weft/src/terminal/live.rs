//! The live area: the few rows at the bottom that are drawn again and again, below a scrollback
//! that is written once. Everything of one update goes out in one write, as one synchronised frame.

use std::fmt::Write as _;

use crate::show::style::{Line, Look};

/// What the live area shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    pub lines: Vec<Line>,
    pub cursor_row: usize,
    pub cursor_column: usize,
}

/// What is on the screen of it now.
#[derive(Debug, Default)]
pub struct Live {
    shown: Vec<(String, usize)>,
    cursor_row: usize,
    cursor_column: usize,
    /// What is on the screen may not be what was drawn.
    unsure: bool,
}

const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?25h\x1b[?2026l";

impl Live {
    /// The bytes that print `finished` into the scrollback and show `frame` below it.
    pub fn update(&mut self, finished: &[Line], frame: &Frame, look: &Look) -> String {
        let rows: Vec<(String, usize)> = frame
            .lines
            .iter()
            .map(|line| {
                let line = line.clone().fitted(look.width, look);
                (line.render(look), line.width())
            })
            .collect();
        let unsure = std::mem::take(&mut self.unsure);
        if finished.is_empty() && !unsure && rows == self.shown && self.cursor_is_at(frame) {
            return String::new();
        }
        let mut out = String::from(BEGIN);
        if finished.is_empty() && !unsure {
            self.redraw_changed(&rows, &mut out);
        } else {
            self.to_top(&mut out);
            out.push_str("\x1b[J");
            for line in finished {
                out.push_str(&line.render(look));
                out.push_str("\r\n");
            }
            // Rows are already cut to the width; without wrapping a miscounted one does no harm.
            out.push_str("\x1b[?7l");
            for (index, (row, _)) in rows.iter().enumerate() {
                out.push_str(if index > 0 { "\r\n" } else { "" });
                out.push_str(row);
            }
            out.push_str("\x1b[?7h");
        }
        let last = rows.len().saturating_sub(1);
        up(last.saturating_sub(frame.cursor_row), &mut out);
        out.push('\r');
        right(frame.cursor_column, &mut out);
        out.push_str(END);
        self.shown = rows;
        self.cursor_row = frame.cursor_row.min(last);
        self.cursor_column = frame.cursor_column;
        out
    }

    /// Rewrites only the rows that differ. Leaves the cursor on the last row.
    fn redraw_changed(&self, rows: &[(String, usize)], out: &mut String) {
        self.to_top(out);
        out.push_str("\x1b[?7l");
        for (index, row) in rows.iter().enumerate() {
            out.push_str(if index > 0 { "\r\n" } else { "" });
            if self.shown.get(index) != Some(row) {
                out.push_str("\x1b[2K");
                out.push_str(&row.0);
            }
        }
        if rows.len() < self.shown.len() {
            out.push_str(if rows.is_empty() { "" } else { "\r\n" });
            out.push_str("\x1b[J");
            up(usize::from(!rows.is_empty()), out);
        }
        out.push_str("\x1b[?7h");
    }

    /// Takes the live area off the screen; the cursor stands where it began.
    pub fn clear(&mut self) -> String {
        let mut out = String::from(BEGIN);
        self.to_top(&mut out);
        out.push_str("\x1b[J");
        out.push_str(END);
        *self = Self::default();
        out
    }

    /// The screen has a new width: terminals wrap what they show, so the rows above the cursor may
    /// be more than were drawn.
    pub fn resized(&mut self, width: usize) {
        let width = width.max(1);
        let above: usize = self.shown.iter().take(self.cursor_row).map(|(_, wide)| wide.max(&1).div_ceil(width)).sum();
        self.cursor_row = above + self.cursor_column / width;
        self.cursor_column %= width;
        // From here on a row is a row of the new width, so that another change can be counted too.
        let rows = self.shown.drain(..).flat_map(|(_, wide)| {
            let full = (0..wide / width).map(move |_| width);
            full.chain((wide % width > 0 || wide == 0).then_some(wide % width))
        });
        self.shown = rows.collect::<Vec<_>>().into_iter().map(|wide| (String::new(), wide)).collect();
        self.unsure = true;
    }

    fn cursor_is_at(&self, frame: &Frame) -> bool {
        self.cursor_row == frame.cursor_row && self.cursor_column == frame.cursor_column
    }

    fn to_top(&self, out: &mut String) {
        up(self.cursor_row, out);
        out.push('\r');
    }
}

fn up(rows: usize, out: &mut String) {
    if rows > 0 {
        let _ = write!(out, "\x1b[{rows}A");
    }
}

fn right(columns: usize, out: &mut String) {
    if columns > 0 {
        let _ = write!(out, "\x1b[{columns}C");
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
