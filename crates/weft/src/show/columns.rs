//! Lists in columns: each as wide as it needs, the last one cut to the screen.

use super::style::{DIM, Line, Look, PLAIN, Style};
use super::width::width_of;

/// Rows under a dim head. A column whose head starts with a space stands right, as numbers do.
pub fn columns<const N: usize>(
    head: &[&'static str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    look: &Look,
) -> Columns<N> {
    let mut cells = Cells::default();
    cells.push(&head.map(str::trim_start));
    for row in rows {
        cells.push(&row.each_ref().map(String::as_str));
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

impl<const N: usize> Iterator for Columns<N> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let line = self.cells.line(self.next, self.right, if self.next == 0 { DIM } else { PLAIN })?;
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

    fn line(&self, row: usize, right: [bool; N], style: Style) -> Option<Line> {
        let ends = *self.ends.get(row)?;
        let mut start = row.checked_sub(1).and_then(|before| self.ends.get(before)?.last()).map_or(0, |(end, _)| *end);
        let mut line = String::new();
        for (index, (((end, width), widest), right)) in ends.into_iter().zip(self.widest).zip(right).enumerate() {
            let cell = self.text.get(start..end).unwrap_or_default();
            let gap = std::iter::repeat_n(' ', widest - width);
            let is_last = index + 1 == N;
            start = end;
            if right {
                line.extend(gap);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.extend(gap.filter(|_| !is_last));
            }
            line.push_str(if is_last { "" } else { "  " });
        }
        Some(Line::new(line, style))
    }
}
