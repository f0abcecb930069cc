//! Lists in columns: each as wide as it needs, the last one cut to the screen.

use super::style::{DIM, Line, Look, PLAIN};
use super::width::width_of;

/// Rows under a dim head. A column whose head starts with a space stands right, as numbers do.
pub fn columns<const N: usize>(
    head: &[&'static str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    look: &Look,
) -> Vec<Line> {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let mut widths = head.map(|name| width_of(name.trim_start()));
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(width_of(cell));
        }
    }
    let line = |cells: &[String; N], style| {
        let mut text = String::new();
        for (index, ((cell, width), name)) in cells.iter().zip(widths).zip(head).enumerate() {
            let gap = " ".repeat(width - width_of(cell));
            let is_last = index + 1 == N;
            if name.starts_with(' ') {
                text.push_str(&gap);
                text.push_str(cell);
            } else {
                text.push_str(cell);
                text.push_str(if is_last { "" } else { &gap });
            }
            text.push_str(if is_last { "" } else { "  " });
        }
        Line::new(text, style).fitted(look.width, look)
    };
    let names = head.map(|name| name.trim_start().to_owned());
    std::iter::once(line(&names, DIM)).chain(rows.iter().map(|row| line(row, PLAIN))).collect()
}
