//! A document as PDF, with the fonts that every reader has: paragraphs, headings, quotations, lists and
//! tables, broken into lines and pages. Nothing is embedded, so a file has a few kilobytes.
//!
//! Where to go next: `winansi` has the letters and their widths; `sheet` writes lines on pages and the
//! file itself.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::printed;
use super::sheet::{Face, LINE, Sheet, WIDTH};
use super::winansi::encode;

const BODY: f32 = 10.0;
const SMALL: f32 = 9.0;
const INDENT: f32 = 14.0;
const CELL_GAP: f32 = 8.0;
const LEAST_COLUMN: f32 = 40.0;

/// A piece of text in one face.
#[derive(Debug, Clone)]
pub struct Piece {
    pub face: Face,
    pub bytes: Vec<u8>,
}

pub fn pdf(title: &str, text: &str) -> Vec<u8> {
    let mut writer = Writer::new();
    for event in printed(text) {
        writer.event(event);
    }
    writer.flush();
    if writer.lost > 0 {
        let what = if writer.lost == 1 { "1 letter".to_owned() } else { format!("{} letters", writer.lost) };
        let note = format!(
            "{what} of this document cannot be shown with the fonts of this file and stand as question marks. The other formats have them."
        );
        writer.sheet.gap(LINE);
        writer.style.italic = true;
        writer.text(&note);
        writer.flush();
    }
    writer.sheet.finish(title)
}

#[derive(Default, Clone, Copy)]
struct Style {
    bold: bool,
    italic: bool,
    code: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<Vec<Piece>>>,
    heads: usize,
    in_cell: bool,
}

struct Writer {
    sheet: Sheet,
    style: Style,
    pieces: Vec<Piece>,
    quotes: u32,
    /// The marks of the lists around: the next number, or none for points.
    lists: Vec<Option<u64>>,
    mark: Option<String>,
    heading: Option<HeadingLevel>,
    table: Option<Table>,
    lost: usize,
}

impl Writer {
    fn new() -> Self {
        Self {
            sheet: Sheet::new(),
            style: Style::default(),
            pieces: Vec::new(),
            quotes: 0,
            lists: Vec::new(),
            mark: None,
            heading: None,
            table: None,
            lost: 0,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                let before = std::mem::replace(&mut self.style.code, true);
                self.text(&text);
                self.style.code = before;
            }
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Rule => {
                self.flush();
                self.sheet.rule(0.0, WIDTH);
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                self.heading = Some(level);
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.quotes += 1;
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.mark = self.lists.last_mut().map(|number| match number {
                    Some(number) => {
                        *number += 1;
                        format!("{}.", *number - 1)
                    }
                    None => "\u{2022}".to_owned(),
                });
            }
            Tag::Table(_) => {
                self.flush();
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(table) = &mut self.table {
                    table.in_cell = true;
                    table.rows.iter_mut().last().into_iter().for_each(|row| row.push(Vec::new()));
                }
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.style.code = true;
            }
            Tag::Paragraph => self.flush(),
            Tag::Strong => self.style.bold = true,
            Tag::Emphasis => self.style.italic = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.heading = None;
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.mark = None;
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.heads = 1;
                }
            }
            TagEnd::TableCell => {
                if let Some(table) = &mut self.table {
                    table.in_cell = false;
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lay(&table);
                }
            }
            TagEnd::CodeBlock => {
                self.flush();
                self.style.code = false;
            }
            TagEnd::Strong => self.style.bold = false,
            TagEnd::Emphasis => self.style.italic = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let (bytes, lost) = encode(text);
        self.lost += lost;
        let in_head = self.table.as_ref().is_some_and(|table| table.heads == 0);
        let face = match (self.style.code, self.style.bold || self.heading.is_some() || in_head, self.style.italic) {
            (true, ..) => Face::Code,
            (false, true, _) => Face::Bold,
            (false, false, true) => Face::Italic,
            (false, false, false) => Face::Regular,
        };
        let piece = Piece { face, bytes };
        match self.table.as_mut().filter(|table| table.in_cell).and_then(|table| table.rows.last_mut()?.last_mut()) {
            Some(cell) => cell.push(piece),
            None => self.pieces.push(piece),
        }
    }

    fn left(&self) -> f32 {
        (self.quotes as f32 + self.lists.len() as f32) * INDENT
    }

    /// Sets what has been gathered as one paragraph.
    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.iter().all(|piece| piece.bytes.iter().all(u8::is_ascii_whitespace)) {
            return;
        }
        let left = self.left();
        let (size, before, after) = match self.heading {
            Some(HeadingLevel::H1) => (17.0, 0.0, 8.0),
            Some(HeadingLevel::H2) => (12.5, 12.0, 4.0),
            Some(_) => (11.0, 8.0, 3.0),
            None if self.quotes > 0 => (SMALL, 0.0, 4.0),
            None if !self.lists.is_empty() => (BODY, 0.0, 2.0),
            None => (BODY, 0.0, 6.0),
        };
        self.sheet.gap(before);
        // A heading does not stand alone at the end of a page.
        if self.heading.is_some() {
            self.sheet.keep(size * 4.0);
        }
        let mark = self.mark.take();
        let bar = (self.quotes > 0).then_some(left - INDENT + 4.0);
        for (number, line) in broken(&pieces, size, WIDTH - left).iter().enumerate() {
            self.sheet.advance(size);
            if let (0, Some(mark)) = (number, &mark) {
                let (bytes, _) = encode(mark);
                self.sheet.write(left - INDENT + 2.0, size, &[Piece { face: Face::Regular, bytes }]);
            }
            if let Some(bar) = bar {
                self.sheet.bar(bar, size);
            }
            self.sheet.write(left, size, line);
        }
        self.sheet.gap(after);
    }

    fn lay(&mut self, table: &Table) {
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        let left = self.left();
        let room = WIDTH - left;
        let widths = column_widths(table, columns, room);
        self.sheet.gap(2.0);
        for (number, row) in table.rows.iter().enumerate() {
            let cells: Vec<Vec<Vec<Piece>>> =
                row.iter().zip(&widths).map(|(cell, width)| broken(cell, SMALL, *width)).collect();
            let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
            self.sheet.keep(lines as f32 * SMALL * LINE_HEIGHT + 6.0);
            for line in 0..lines {
                self.sheet.advance(SMALL);
                let mut at = left;
                for (cell, width) in cells.iter().zip(&widths) {
                    if let Some(line) = cell.get(line) {
                        self.sheet.write(at, SMALL, line);
                    }
                    at += width + CELL_GAP;
                }
            }
            self.sheet.gap(2.0);
            self.sheet.rule(left, if number < table.heads { 0.8 } else { 0.3 });
            self.sheet.gap(2.0);
        }
        self.sheet.gap(6.0);
    }
}

use super::sheet::LINE_HEIGHT;

fn column_widths(table: &Table, columns: usize, room: f32) -> Vec<f32> {
    let natural = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.iter().map(|piece| wide(piece, SMALL)).sum::<f32>()).fold(LEAST_COLUMN, f32::max)
    };
    let natural: Vec<f32> = (0..columns).map(natural).collect();
    let room = room - CELL_GAP * (columns.saturating_sub(1)) as f32;
    let total: f32 = natural.iter().sum();
    if total <= room {
        return natural.iter().map(|width| width + 1.0).collect();
    }
    // Narrow columns stay as they are; the wide ones share what is left.
    let fair = room / columns.max(1) as f32;
    let narrow: f32 = natural.iter().filter(|width| **width <= fair).sum();
    let wide: f32 = natural.iter().filter(|width| **width > fair).sum();
    natural.iter().map(|width| if *width <= fair { *width } else { (room - narrow) * width / wide }).collect()
}

fn wide(piece: &Piece, size: f32) -> f32 {
    piece.face.width(&piece.bytes, size)
}

/// Pieces as lines that are not wider than this; a word that is too long is cut.
fn broken(pieces: &[Piece], size: f32, room: f32) -> Vec<Vec<Piece>> {
    let mut lines: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut used = 0.0;
    for word in words(pieces, size, room) {
        let width: f32 = word.iter().map(|piece| wide(piece, size)).sum();
        let is_space = word.iter().all(|piece| piece.bytes.iter().all(|byte| *byte == b' '));
        if used + width > room && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        if is_space && used == 0.0 {
            continue;
        }
        used += width;
        if let Some(line) = lines.last_mut() {
            line.extend(word);
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Words and the spaces between them; a word may change its face within.
fn words(pieces: &[Piece], size: f32, room: f32) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut open = false;
    for piece in pieces {
        for part in piece.bytes.chunk_by(|one, other| (*one == b' ') == (*other == b' ')) {
            if part.first() == Some(&b' ') {
                words.push(vec![Piece { face: piece.face, bytes: b" ".to_vec() }]);
                open = false;
                continue;
            }
            let mut from = 0;
            for cut in piece.face.cuts(part, size, room) {
                let bytes = part.get(from..cut).unwrap_or_default().to_vec();
                let piece = Piece { face: piece.face, bytes };
                match words.last_mut() {
                    Some(word) if open && from == 0 => word.push(piece),
                    _ => words.push(vec![piece]),
                }
                from = cut;
            }
            open = true;
        }
    }
    words
}

#[cfg(test)]
#[path = "pdf_tests.rs"]
mod tests;
