//! Pages of a PDF: lines of text from top to bottom, a number at the foot of each, and the file around
//! them. Every letter is written in ASCII, so the file is plain text throughout.

use super::pdf::Piece;
use super::winansi;

/// A4, in points.
const PAGE: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 64.0;
/// What a line has.
pub const WIDTH: f32 = PAGE.0 - 2.0 * MARGIN;
pub const LINE_HEIGHT: f32 = 1.38;
pub const LINE: f32 = 12.0;
const FOOT: f32 = 36.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    Regular,
    Bold,
    Italic,
    Code,
}

impl Face {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Regular, "Helvetica"),
        (Self::Bold, "Helvetica-Bold"),
        (Self::Italic, "Helvetica-Oblique"),
        (Self::Code, "Courier"),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Regular => "R",
            Self::Bold => "B",
            Self::Italic => "I",
            Self::Code => "C",
        }
    }

    fn letter(self, byte: u8) -> f32 {
        match self {
            Self::Code => 600.0,
            Self::Bold => f32::from(winansi::width(byte, true)),
            Self::Regular | Self::Italic => f32::from(winansi::width(byte, false)),
        }
    }

    pub fn width(self, bytes: &[u8], size: f32) -> f32 {
        bytes.iter().map(|byte| self.letter(*byte)).sum::<f32>() * size / 1000.0
    }

    /// Where a word must be cut so that no part is wider than this; its end is the last cut.
    pub fn cuts(self, bytes: &[u8], size: f32, room: f32) -> Vec<usize> {
        let mut cuts = Vec::new();
        let mut used = 0.0;
        for (at, byte) in bytes.iter().enumerate() {
            let width = self.letter(*byte) * size / 1000.0;
            if used + width > room && used > 0.0 {
                cuts.push(at);
                used = 0.0;
            }
            used += width;
        }
        cuts.push(bytes.len());
        cuts
    }
}

pub struct Sheet {
    pages: Vec<String>,
    /// How far from the bottom the last line stands.
    at: f32,
}

impl Sheet {
    pub fn new() -> Self {
        Self { pages: vec![String::new()], at: PAGE.1 - MARGIN }
    }

    fn new_page(&mut self) {
        self.pages.push(String::new());
        self.at = PAGE.1 - MARGIN;
    }

    fn add(&mut self, operators: &str) {
        if let Some(page) = self.pages.last_mut() {
            page.push_str(operators);
            page.push('\n');
        }
    }

    /// Empty space, except at the top of a page.
    pub fn gap(&mut self, height: f32) {
        if self.at < PAGE.1 - MARGIN {
            self.at -= height;
        }
    }

    /// Begins a page where less than this is left.
    pub fn keep(&mut self, height: f32) {
        if self.at - height < MARGIN && height < PAGE.1 - 2.0 * MARGIN {
            self.new_page();
        }
    }

    /// Goes to the next line.
    pub fn advance(&mut self, size: f32) {
        if self.at - size * LINE_HEIGHT < MARGIN {
            self.new_page();
        }
        self.at -= size * LINE_HEIGHT;
    }

    pub fn write(&mut self, left: f32, size: f32, pieces: &[Piece]) {
        let mut line = format!("BT {:.2} {:.2} Td", MARGIN + left, self.at);
        for piece in pieces {
            line.push_str(&format!(" /{} {size} Tf {} Tj", piece.face.name(), literal(&piece.bytes)));
        }
        line.push_str(" ET");
        self.add(&line);
    }

    /// The bar beside a quotation.
    pub fn bar(&mut self, left: f32, size: f32) {
        let (x, y) = (MARGIN + left, self.at);
        let (bottom, top) = (y - size * 0.35, y + size * (LINE_HEIGHT - 0.35));
        self.add(&format!("q 0.75 G 1.5 w {x:.2} {bottom:.2} m {x:.2} {top:.2} l S Q"));
    }

    pub fn rule(&mut self, left: f32, thickness: f32) {
        let (from, to, y) = (MARGIN + left, PAGE.0 - MARGIN, self.at);
        let thickness = thickness.min(1.0);
        self.add(&format!("q 0.7 G {thickness:.2} w {from:.2} {y:.2} m {to:.2} {y:.2} l S Q"));
    }

    /// The file.
    pub fn finish(mut self, title: &str) -> Vec<u8> {
        let count = self.pages.len();
        for (number, page) in self.pages.iter_mut().enumerate() {
            let words = format!("{} / {count}", number + 1);
            let left = PAGE.0 - MARGIN - Face::Regular.width(words.as_bytes(), 8.0);
            page.push_str(&format!("BT 0.45 g /R 8 Tf {left:.2} {FOOT} Td ({words}) Tj ET\n"));
        }
        // 1 catalogue, 2 pages, 3 about, then the fonts, then each page and its words.
        let first_page = 4 + Face::ALL.len();
        let place = |number: usize| first_page + number * 2;
        let kids: Vec<String> = (0..count).map(|number| format!("{} 0 R", place(number))).collect();
        let fonts: Vec<String> =
            Face::ALL.iter().zip(4..).map(|((face, _), object)| format!("/{} {object} 0 R", face.name())).collect();
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> >>".to_owned(),
            format!("<< /Type /Pages /Kids [{}] /Count {count} >>", kids.join(" ")),
            format!("<< /Title {} /Producer (Weft) >>", wide_literal(title)),
        ];
        for (_, name) in Face::ALL {
            objects.push(format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"));
        }
        for (number, page) in self.pages.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents {} 0 R /Resources << /Font << {} >> >> >>",
                PAGE.0,
                PAGE.1,
                place(number) + 1,
                fonts.join(" ")
            ));
            objects.push(format!("<< /Length {} >>\nstream\n{page}endstream", page.len()));
        }
        file(&objects)
    }
}

fn file(objects: &[String]) -> Vec<u8> {
    let mut text = String::from("%PDF-1.4\n");
    let mut places = Vec::with_capacity(objects.len());
    for (object, number) in objects.iter().zip(1..) {
        places.push(text.len());
        text.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let table = text.len();
    let size = objects.len() + 1;
    text.push_str(&format!("xref\n0 {size}\n0000000000 65535 f \n"));
    places.iter().for_each(|place| text.push_str(&format!("{place:010} 00000 n \n")));
    text.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R /Info 3 0 R >>\nstartxref\n{table}\n%%EOF\n"));
    text.into_bytes()
}

/// `(words)`, with what is not plain ASCII as octal numbers.
fn literal(bytes: &[u8]) -> String {
    let mut literal = String::from("(");
    for byte in bytes {
        match byte {
            b'(' | b')' | b'\\' => {
                literal.push('\\');
                literal.push(char::from(*byte));
            }
            0x20..=0x7e => literal.push(char::from(*byte)),
            other => literal.push_str(&format!("\\{other:03o}")),
        }
    }
    literal.push(')');
    literal
}

/// A text for the file's own data, where all letters are possible.
fn wide_literal(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    format!("<FEFF{units}>")
}
