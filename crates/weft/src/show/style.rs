//! Styled text: spans, lines, and how they become bytes for a terminal.
//!
//! Nothing here reads the environment but [`Look::detect`]. Text put into a span must already be
//! safe to print; see [`super::clean`].

use std::borrow::Cow;

use super::width::{clusters, width_of};

/// What the screen can do and how wide it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub colour: bool,
    pub unicode: bool,
    pub width: usize,
}

/// Columns kept free at the left for marks such as `›` and `✓`.
pub const GUTTER: usize = 2;
/// Prose wider than this is tiring to read.
const MEASURE: usize = 76;
const USUAL_WIDTH: usize = 80;
/// A program that reads gets whole rows.
const NO_SCREEN: usize = 100_000;

impl Look {
    /// What the environment says about a stream: colour only on a terminal that wants it.
    pub fn detect(is_terminal: bool) -> Self {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let plain = variable("TERM") == "dumb" || !variable("NO_COLOR").is_empty();
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().map(variable).find(|value| !value.is_empty());
        let unicode = variable("TERM") != "dumb"
            && locale.is_none_or(|name| {
                let name = name.to_ascii_lowercase();
                name.contains("utf-8") || name.contains("utf8")
            });
        let width = if is_terminal { terminal_columns().unwrap_or(USUAL_WIDTH) } else { NO_SCREEN };
        Self { colour: is_terminal && !plain, unicode, width }
    }

    /// How wide prose is set.
    pub fn measure(&self) -> usize {
        self.width.saturating_sub(GUTTER).clamp(10, MEASURE)
    }

    /// `fancy` where the screen has it, `plain` elsewhere.
    pub const fn sign(&self, fancy: &'static str, plain: &'static str) -> &'static str {
        if self.unicode { fancy } else { plain }
    }
}

/// The width of the terminal that one of our streams is. Asked directly: `crossterm` runs a program
/// to find out when none is.
fn terminal_columns() -> Option<usize> {
    let columns = |found: rustix::io::Result<rustix::termios::Winsize>| found.ok().map(|size| usize::from(size.ws_col));
    columns(rustix::termios::tcgetwinsize(std::io::stdout()))
        .or_else(|| columns(rustix::termios::tcgetwinsize(std::io::stderr())))
        .filter(|columns| *columns > 0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// What needs the person.
    Accent,
    Info,
    Good,
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    pub ink: Option<Ink>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub strike: bool,
}

pub const PLAIN: Style = Style { ink: None, bold: false, dim: false, italic: false, underline: false, strike: false };
pub const DIM: Style = Style { dim: true, ..PLAIN };
pub const BOLD: Style = Style { bold: true, ..PLAIN };
pub const CODE: Style = ink(Ink::Info);
pub const ACCENT: Style = ink(Ink::Accent);
pub const GOOD: Style = ink(Ink::Good);
pub const BAD: Style = ink(Ink::Bad);

const fn ink(ink: Ink) -> Style {
    Style { ink: Some(ink), ..PLAIN }
}

impl Style {
    fn codes(self) -> String {
        let colour = match self.ink {
            None => None,
            Some(Ink::Accent) => Some("36"),
            Some(Ink::Info) => Some("94"),
            Some(Ink::Good) => Some("32"),
            Some(Ink::Bad) => Some("31"),
        };
        let flags = [(self.bold, "1"), (self.dim, "2"), (self.italic, "3"), (self.underline, "4"), (self.strike, "9")];
        let set = flags.into_iter().filter_map(|(on, code)| on.then_some(code)).chain(colour);
        set.collect::<Vec<_>>().join(";")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub text: Cow<'static, str>,
    pub style: Style,
}

impl Span {
    pub fn new(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// One row of output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    pub spans: Vec<Span>,
}

impl Line {
    pub fn new(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { spans: vec![Span::new(text, style)] }
    }

    pub fn blank() -> Self {
        Self::default()
    }

    pub fn with(mut self, text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        self.spans.push(Span::new(text, style));
        self
    }

    pub fn indented(mut self, columns: usize) -> Self {
        if columns > 0 && !self.spans.is_empty() {
            self.spans.insert(0, Span::new(" ".repeat(columns), PLAIN));
        }
        self
    }

    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width_of(&span.text)).sum()
    }

    /// The row cut to `width` columns, with an ellipsis if something was cut.
    pub fn fitted(mut self, width: usize, look: &Look) -> Self {
        if self.width() <= width {
            return self;
        }
        let mark = look.sign("…", "~");
        let mut left = width.saturating_sub(1);
        let mut spans = Vec::with_capacity(self.spans.len());
        for span in self.spans.drain(..) {
            let mut kept = String::new();
            for cluster in clusters(&span.text) {
                let wide = width_of(cluster);
                if wide > left {
                    spans.push(Span::new(kept, span.style));
                    spans.push(Span::new(mark, DIM));
                    return Self { spans };
                }
                left -= wide;
                kept.push_str(cluster);
            }
            spans.push(Span::new(kept, span.style));
        }
        Self { spans }
    }

    pub fn render(&self, look: &Look) -> String {
        let mut text = String::new();
        self.render_to(look, &mut text);
        text
    }

    pub fn render_to(&self, look: &Look, text: &mut String) {
        for span in &self.spans {
            let codes = if look.colour { span.style.codes() } else { String::new() };
            if codes.is_empty() {
                text.push_str(&span.text);
            } else {
                for part in ["\x1b[", &codes, "m", &span.text, "\x1b[0m"] {
                    text.push_str(part);
                }
            }
        }
    }
}

/// Lines as text, each ended by a newline.
pub fn render_all(lines: &[Line], look: &Look) -> String {
    let mut text = String::new();
    for line in lines {
        line.render_to(look, &mut text);
        text.push('\n');
    }
    text
}
