//! Tables with aligned columns, made to fit by wrapping their widest cells.

use pulldown_cmark::Alignment;

use super::style::{DIM, Line, Look, PLAIN, Span, Style};
use super::width::{width_of, wrap};

type Cell = Vec<Span>;

pub struct Table {
    alignments: Vec<Alignment>,
    /// The first row is the head.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub const fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }
}

const NARROWEST: usize = 4;
const BETWEEN: usize = 3;

pub fn render_table(table: &Table, room: usize, look: &Look) -> Vec<Line> {
    let widths = column_widths(table, room);
    let mut lines = Vec::new();
    for (index, row) in table.rows.iter().enumerate() {
        lines.extend(render_row(row, index == 0, &widths, &table.alignments, look));
        if index == 0 {
            let dash = look.sign("─", "-");
            let rule = widths.iter().map(|width| dash.repeat(*width)).collect::<Vec<_>>();
            lines.push(Line::new(rule.join(look.sign("─┼─", "-+-")), DIM));
        }
    }
    lines
}

fn cell_width(cell: &Cell) -> usize {
    cell.iter().map(|span| width_of(&span.text)).sum()
}

fn column_widths(table: &Table, room: usize) -> Vec<usize> {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns)
        .map(|column| table.rows.iter().filter_map(|row| row.get(column)).map(cell_width).max().unwrap_or(0).max(1))
        .collect();
    let room = room.saturating_sub(columns.saturating_sub(1) * BETWEEN);
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max() else { break };
        if *widest <= NARROWEST {
            break;
        }
        *widest -= 1;
    }
    widths
}

fn render_row(row: &[Cell], head: bool, widths: &[usize], alignments: &[Alignment], look: &Look) -> Vec<Line> {
    let empty = Vec::new();
    let cells: Vec<Vec<Line>> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| {
            let mut cell = row.get(column).unwrap_or(&empty).clone();
            if head {
                for span in &mut cell {
                    span.style = Style { bold: true, ..span.style };
                }
            }
            wrap(&cell, *width)
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    (0..height)
        .map(|line| {
            let mut spans = Vec::new();
            for (column, (rows, width)) in cells.iter().zip(widths).enumerate() {
                if column > 0 {
                    spans.push(Span::new(look.sign(" │ ", " | "), DIM));
                }
                let content = rows.get(line).cloned().unwrap_or_default();
                let free = width.saturating_sub(content.width());
                let before = match alignments.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    Some(Alignment::Left | Alignment::None) | None => 0,
                };
                spans.push(Span::new(" ".repeat(before), PLAIN));
                spans.extend(content.spans);
                if column + 1 < widths.len() {
                    spans.push(Span::new(" ".repeat(free - before), PLAIN));
                }
            }
            spans.retain(|span| !span.text.is_empty());
            Line { spans }
        })
        .collect()
}
