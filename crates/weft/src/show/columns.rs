//! Lists in columns: each as wide as it needs, the last one cut to the screen.

use super::style::{DIM, Line, Look, PLAIN};
use super::width::width_of;

/// Rows under a dim head. A column whose head starts with a space stands right, as numbers do.
pub fn columns<const N: usize, C: AsRef<str>>(
    head: &[&'static str; N],
    rows: impl IntoIterator<Item = [C; N]>,
    look: &Look,
) -> Columns<N> {
    let mut cells = Cells::default();
    cells.push(&head.map(str::trim_start));
    for row in rows {
        cells.push(&row.each_ref().map(C::as_ref));
    }
    Columns { cells, right: head.map(|name| name.starts_with(' ')), look: *look, next: 0 }
}

/// The lines of a list, made one by one as they are printed: it may be long.
pub struct Columns<const N: usize> {
    cells: Cells<N>,
    right: [bool; N],
    look: Look,
    next: usize,
}

impl<const N: usize> Columns<N> {
    /// Adds the next row to `text` as it is printed. False after the last one.
    pub fn render_next(&mut self, text: &mut String) -> bool {
        let is_head = self.next == 0;
        if !is_head && self.cells.width(self.next).is_some_and(|width| width <= self.look.width) {
            // Most rows fit and have no style: they need no line of their own.
            self.cells.write(self.next, self.right, text);
            self.next += 1;
        } else {
            let Some(line) = self.next() else { return false };
            line.render_to(&self.look, text);
        }
        text.push('\n');
        true
    }
}

impl<const N: usize> Iterator for Columns<N> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        self.cells.width(self.next)?;
        let mut text = String::new();
        self.cells.write(self.next, self.right, &mut text);
        let line = Line::new(text, if self.next == 0 { DIM } else { PLAIN });
        self.next += 1;
        Some(line.fitted(self.look.width, &self.look))
    }
}

/// All cells one after the other, measured once.
struct Cells<const N: usize> {
    text: String,
    /// Of each row the ends of its cells in the text, and how wide they are.
    ends: Vec<[(usize, usize); N]>,
    widest: [usize; N],
}

impl<const N: usize> Default for Cells<N> {
    fn default() -> Self {
        Self { text: String::new(), ends: Vec::new(), widest: [0; N] }
    }
}

impl<const N: usize> Cells<N> {
    fn push(&mut self, row: &[&str; N]) {
        let mut ends = [(0, 0); N];
        for ((cell, end), widest) in row.iter().zip(&mut ends).zip(&mut self.widest) {
            self.text.push_str(cell);
            *end = (self.text.len(), width_of(cell));
            *widest = (*widest).max(end.1);
        }
        self.ends.push(ends);
    }

    /// How wide a row is, if there is one.
    fn width(&self, row: usize) -> Option<usize> {
        let (_, last) = self.ends.get(row)?.last()?;
        let before: usize = self.widest.iter().take(N - 1).map(|widest| widest + BETWEEN.len()).sum();
        Some(before + last)
    }

    fn write(&self, row: usize, right: [bool; N], to: &mut String) {
        let Some(ends) = self.ends.get(row) else { return };
        let mut start = row.checked_sub(1).and_then(|before| self.ends.get(before)?.last()).map_or(0, |(end, _)| *end);
        for (index, (((end, width), widest), right)) in ends.iter().zip(self.widest).zip(right).enumerate() {
            let cell = self.text.get(start..*end).unwrap_or_default();
            let is_last = index + 1 == N;
            start = *end;
            if right {
                pad(to, widest - width);
                to.push_str(cell);
            } else {
                to.push_str(cell);
                pad(to, if is_last { 0 } else { widest - width });
            }
            to.push_str(if is_last { "" } else { BETWEEN });
        }
    }
}

const BETWEEN: &str = "  ";

fn pad(to: &mut String, columns: usize) {
    const SPACES: &str = "                                ";
    let mut left = columns;
    while left > 0 {
        let some = left.min(SPACES.len());
        to.push_str(SPACES.get(..some).unwrap_or_default());
        left -= some;
    }
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
