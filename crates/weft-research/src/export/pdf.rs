//! A document as PDF: paragraphs, headings, quotations, lists and tables, broken into lines and pages.
//!
//! Where to go next: `fonts` finds what letters are drawn with; `setting` makes lines of glyphs; `sheet` puts
//! them on pages and writes the file itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};
use unicode_normalization::UnicodeNormalization as _;

use super::joined::Joined;
use super::setting::{Face, Fonts, Line, Paragraph, Piece, lines};
use super::sheet::{LINE, LINE_HEIGHT, Sheet, WIDTH};
use super::{fonts, printed};

const BODY: f32 = 10.0;
const SMALL: f32 = 9.0;
const INDENT: f32 = 14.0;
const CELL_GAP: f32 = 8.0;
const LEAST_COLUMN: f32 = 40.0;

/// A document as PDF, and what a reader has to know of it.
pub struct Pdf {
    pub bytes: Vec<u8>,
    /// Which letters could not be drawn, in words.
    pub note: Option<String>,
}

pub fn pdf(title: &str, text: &str) -> Result<Pdf, String> {
    pdf_with(title, text, &fonts::folders())
}

fn pdf_with(title: &str, text: &str, folders: &[PathBuf]) -> Result<Pdf, String> {
    let mut files = fonts::shipped()?;
    let words = words_of(text);
    let forms = Joined::new().all(&words);
    let mut lacking = Fonts::new(&files).lacking(words.chars().chain(forms.iter().copied()));
    files.extend(fonts::found(folders, &mut lacking));
    let is_single = words.chars().any(|letter| is_stacked(letter) && !lacking.contains(&letter))
        || lacking.intersection(&forms).any(|form| form.nfkc().any(|letter| !lacking.contains(&letter)));
    lacking.retain(|letter| !forms.contains(letter));
    let fonts = Fonts::new(&files);
    let mut writer = Writer::new(&fonts);
    for event in printed(text) {
        writer.event(event);
    }
    writer.flush();
    let note = note(&lacking, is_single);
    if let Some(note) = &note {
        writer.sheet.gap(LINE);
        writer.style.italic = true;
        writer.text(note);
        writer.flush();
    }
    Ok(Pdf { bytes: writer.sheet.finish(title)?, note })
}

/// Letters composed, and all white space as one kind.
fn words_of(text: &str) -> String {
    text.nfc().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect()
}

/// What is not as it should be, in words.
fn note(lacking: &BTreeSet<char>, is_single: bool) -> Option<String> {
    let named = |letter: &char| format!("U+{:04X}", u32::from(*letter));
    let mut names: Vec<String> = lacking.iter().take(12).map(named).collect();
    if lacking.len() > names.len() {
        names.push(format!("{} more", lacking.len() - names.len()));
    }
    let boxes = match lacking.len() {
        0 => None,
        1 => Some("1 letter of this document stands as a box".to_owned()),
        count => Some(format!("{count} letters of this document stand as boxes")),
    };
    let why = "because no font of the machine that wrote this PDF can draw";
    let boxes = boxes.map(|boxes| format!("{boxes}, {why} what is missing ({}).", names.join(", ")));
    let single = is_single.then(|| "Some letters that should be joined stand apart in this PDF.".to_owned());
    let all = [boxes, single].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let whole = "The document as HTML or DOCX shows them as they should be; searching and copying work here too.";
    (!all.is_empty()).then(|| format!("{all} {whole}"))
}

/// Letters of scripts that stack and reorder them: those of India and its neighbours, Syriac, Mongolian.
fn is_stacked(letter: char) -> bool {
    matches!(u32::from(letter), 0x700..=0x74f | 0x780..=0x89f | 0x900..=0xdff | 0xf00..=0x109f | 0x1700..=0x18af
        | 0x1900..=0x1cff | 0xa800..=0xa8ff | 0xa930..=0xaadf | 0x11000..=0x11fff)
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

struct Writer<'a> {
    fonts: &'a Fonts<'a>,
    sheet: Sheet<'a>,
    style: Style,
    pieces: Vec<Piece>,
    quotes: u32,
    /// The marks of the lists around: the next number, or none for points.
    lists: Vec<Option<u64>>,
    mark: Option<String>,
    heading: Option<HeadingLevel>,
    table: Option<Table>,
}

impl<'a> Writer<'a> {
    fn new(fonts: &'a Fonts<'a>) -> Self {
        Self {
            fonts,
            sheet: Sheet::new(fonts),
            style: Style::default(),
            pieces: Vec::new(),
            quotes: 0,
            lists: Vec::new(),
            mark: None,
            heading: None,
            table: None,
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
        let in_head = self.table.as_ref().is_some_and(|table| table.heads == 0);
        let face = match (self.style.code, self.style.bold || self.heading.is_some() || in_head, self.style.italic) {
            (true, ..) => Face::Code,
            (false, true, _) => Face::Bold,
            (false, false, true) => Face::Italic,
            (false, false, false) => Face::Regular,
        };
        let piece = Piece { face, text: words_of(text) };
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
        let paragraph = self.fonts.set(&std::mem::take(&mut self.pieces));
        if paragraph.is_empty() {
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
        for (number, line) in lines(&paragraph, size, WIDTH - left).iter().enumerate() {
            self.sheet.advance(size);
            if let (0, Some(mark)) = (number, &mark) {
                let mark = self.fonts.set(&[Piece { face: Face::Regular, text: mark.clone() }]);
                for mark in lines(&mark, size, WIDTH) {
                    self.sheet.write(left - INDENT + 2.0, size, &mark.runs);
                }
            }
            if let Some(bar) = bar {
                self.sheet.bar(bar, size);
            }
            self.sheet.write(left + line.indent, size, &line.runs);
        }
        self.sheet.gap(after);
    }

    fn lay(&mut self, table: &Table) {
        let set = |row: &Vec<Vec<Piece>>| row.iter().map(|cell| self.fonts.set(cell)).collect();
        let rows: Vec<Vec<Paragraph>> = table.rows.iter().map(set).collect();
        let left = self.left();
        let widths = column_widths(&rows, WIDTH - left);
        self.sheet.gap(2.0);
        for (number, row) in rows.iter().enumerate() {
            let cells: Vec<Vec<Line>> =
                row.iter().zip(&widths).map(|(cell, width)| lines(cell, SMALL, *width)).collect();
            let most = cells.iter().map(Vec::len).max().unwrap_or(0);
            self.sheet.keep(most as f32 * SMALL * LINE_HEIGHT + 6.0);
            for line in 0..most {
                self.sheet.advance(SMALL);
                let mut at = left;
                for (cell, width) in cells.iter().zip(&widths) {
                    if let Some(line) = cell.get(line) {
                        self.sheet.write(at + line.indent, SMALL, &line.runs);
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

fn column_widths(rows: &[Vec<Paragraph>], room: f32) -> Vec<f32> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let natural = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.width() * SMALL).fold(LEAST_COLUMN, f32::max)
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

#[cfg(test)]
#[path = "pdf_tests.rs"]
mod tests;
