//! Markdown as it streams in. Finished blocks come out as lines once and for all; the block that
//! still grows can be drawn again and again. The work is linear in the length of the stream: code
//! leaves line by line, lists item by item, and no open block grows beyond [`LONGEST_BLOCK`].

use super::clean::clean;
use super::markdown_block::{Block, render_block};
use super::style::{GUTTER, Line, Look};
use super::width::wrap_code;

/// A block longer than this is finished at the last line break, whatever it is.
const LONGEST_BLOCK: usize = 32 * 1024;

#[derive(Debug)]
pub struct Stream {
    look: Look,
    /// The open block's complete lines.
    block: String,
    /// The line that is still being written.
    partial: String,
    kind: Kind,
    /// A fence within a list item or quote is open.
    inner_fence: bool,
    blank_seen: bool,
    /// The next item's number in an ordered list.
    next_number: Option<u64>,
    /// The number that the open item was written with.
    written_number: Option<u64>,
    started: bool,
    /// The next block follows its predecessor without a blank line.
    tight: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Paragraph,
    Item,
    Fence { marker: char, length: usize, indent: usize },
}

impl Stream {
    pub const fn new(look: Look) -> Self {
        Self {
            look,
            block: String::new(),
            partial: String::new(),
            kind: Kind::Nothing,
            inner_fence: false,
            blank_seen: false,
            next_number: None,
            written_number: None,
            started: false,
            tight: false,
        }
    }

    /// Takes more text; returns the lines that are now final.
    pub fn push(&mut self, text: &str) -> Vec<Line> {
        let mut done = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.partial.push_str(piece);
            if piece.ends_with('\n') {
                let line = std::mem::take(&mut self.partial);
                self.take_line(line.trim_end_matches(['\n', '\r']), &mut done);
            }
        }
        if self.partial.len() > LONGEST_BLOCK {
            let line = std::mem::take(&mut self.partial);
            self.take_line(&line, &mut done);
            self.close(&mut done);
        }
        done
    }

    /// The open block as it stands, with the line that is still being written.
    pub fn tail(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Kind::Fence { indent, .. } = self.kind {
            if !self.partial.is_empty() && !self.closes_fence(&self.partial) {
                lines.extend(code_lines(&self.partial, indent, &self.look));
            }
            return lines;
        }
        let text = format!("{}{}", self.block, self.partial);
        if text.trim().is_empty() {
            return lines;
        }
        self.separate(&mut lines);
        match self.item_begun() {
            Some(number) => {
                self.render(&self.block, self.next_number, &mut lines);
                lines.extend(self.blank_seen.then(Line::blank));
                self.render(&self.partial, number, &mut lines);
            }
            None => self.render(&text, self.next_number, &mut lines),
        }
        lines
    }

    /// The number of the next item, if the line that is being written begins one.
    fn item_begun(&self) -> Option<Option<u64>> {
        let marker = list_marker(&self.partial).filter(|marker| marker.indent < 2)?;
        let begins = self.kind == Kind::Item && !self.inner_fence && !self.block.is_empty();
        let counted = self.next_number.map(|number| number.saturating_add(1));
        begins.then_some(if marker.number == self.written_number { counted } else { marker.number })
    }

    /// The text is complete: whatever is open is final.
    pub fn finish(&mut self) -> Vec<Line> {
        let mut done = Vec::new();
        let line = std::mem::take(&mut self.partial);
        if !line.is_empty() {
            self.take_line(&line, &mut done);
        }
        self.close(&mut done);
        self.kind = Kind::Nothing;
        self.next_number = None;
        done
    }

    fn take_line(&mut self, line: &str, done: &mut Vec<Line>) {
        if let Kind::Fence { indent, .. } = self.kind {
            if self.closes_fence(line) {
                self.kind = Kind::Nothing;
            } else {
                done.extend(code_lines(line, indent, &self.look));
            }
            return;
        }
        if line.trim().is_empty() {
            self.blank_seen = true;
            if !self.block.is_empty() {
                self.block.push('\n');
            }
            return;
        }
        self.start_block(line, done);
        if let Some((marker, length, indent)) = opening_fence(line) {
            if self.block.is_empty() {
                self.separate(done);
                self.started = true;
                self.tight = false;
                self.kind = Kind::Fence { marker, length, indent };
                self.blank_seen = false;
                self.next_number = None;
                return;
            }
            self.inner_fence = !self.inner_fence;
        }
        self.block.push_str(line);
        self.block.push('\n');
        self.blank_seen = false;
        if is_heading(line) && self.kind == Kind::Paragraph || self.block.len() > LONGEST_BLOCK {
            self.close(done);
        }
    }

    /// Closes the open block if `line` begins a new one.
    fn start_block(&mut self, line: &str, done: &mut Vec<Line>) {
        let marker = list_marker(line);
        let begins = match self.kind {
            Kind::Nothing => true,
            _ if self.inner_fence => false,
            Kind::Item if marker.is_some_and(|marker| marker.indent < 2) => {
                let tight = !self.blank_seen;
                self.close(done);
                self.tight = tight;
                self.kind = Kind::Item;
                self.number_item(marker.and_then(|marker| marker.number));
                return;
            }
            Kind::Item => {
                let indented = line.starts_with("  ") || line.starts_with('\t');
                !indented && (self.blank_seen || is_heading(line) || opening_fence(line).is_some())
            }
            Kind::Paragraph => {
                let interrupts = marker.is_some_and(|marker| marker.number.is_none_or(|number| number == 1));
                self.blank_seen || is_heading(line) || opening_fence(line).is_some() || interrupts
            }
            Kind::Fence { .. } => false,
        };
        if begins {
            self.close(done);
            self.next_number = marker.and_then(|marker| marker.number);
            self.written_number = self.next_number;
            self.kind = if marker.is_some() { Kind::Item } else { Kind::Paragraph };
        }
    }

    /// Items keep the numbers they have. Only where all have the same one, as some write lists, are
    /// they counted.
    fn number_item(&mut self, written: Option<u64>) {
        if written != self.written_number {
            self.next_number = written;
        }
        self.written_number = written;
    }

    fn close(&mut self, done: &mut Vec<Line>) {
        let block = std::mem::take(&mut self.block);
        self.inner_fence = false;
        if block.trim().is_empty() {
            return;
        }
        self.separate(done);
        self.render(&block, self.next_number, done);
        self.started = true;
        self.tight = false;
        self.next_number = self.next_number.map(|number| number.saturating_add(1));
        self.kind = Kind::Nothing;
    }

    fn separate(&self, lines: &mut Vec<Line>) {
        if self.started && !self.tight {
            lines.push(Line::blank());
        }
    }

    fn render(&self, text: &str, number: Option<u64>, lines: &mut Vec<Line>) {
        let block = Block { text: &clean(text), number };
        lines.extend(render_block(&block, &self.look).into_iter().map(|line| line.indented(GUTTER)));
    }

    fn closes_fence(&self, line: &str) -> bool {
        let Kind::Fence { marker, length, .. } = self.kind else { return false };
        let line = line.trim();
        line.len() >= length && line.chars().all(|letter| letter == marker)
    }
}

fn code_lines(line: &str, indent: usize, look: &Look) -> Vec<Line> {
    let own = line.chars().take(indent).take_while(|letter| *letter == ' ').count();
    let line = line.get(own..).unwrap_or(line);
    let room = look.width.saturating_sub(GUTTER + 2);
    wrap_code(&clean(line), room).into_iter().map(|row| row.indented(GUTTER + 2)).collect()
}

fn opening_fence(line: &str) -> Option<(char, usize, usize)> {
    let trimmed = line.trim_start_matches(' ');
    let marker = trimmed.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let length = trimmed.chars().take_while(|letter| *letter == marker).count();
    let info = trimmed.get(length..)?;
    (length >= 3 && !(marker == '`' && info.contains('`'))).then_some((marker, length, line.len() - trimmed.len()))
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with(' '))
}

#[derive(Clone, Copy)]
struct Marker {
    indent: usize,
    number: Option<u64>,
}

fn list_marker(line: &str) -> Option<Marker> {
    let trimmed = line.trim_start_matches(' ');
    let indent = line.len() - trimmed.len();
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    if let Some(rest) = trimmed.strip_prefix(['-', '*', '+']) {
        let is_rule = trimmed.chars().filter(|letter| !letter.is_whitespace()).count() >= 3
            && trimmed.chars().all(|letter| matches!(letter, '-' | '*' | ' '));
        return (ends(rest) && !is_rule).then_some(Marker { indent, number: None });
    }
    let digits = trimmed.find(|letter: char| !letter.is_ascii_digit()).filter(|digits| (1..=9).contains(digits))?;
    let (number, rest) = trimmed.split_at_checked(digits)?;
    let rest = rest.strip_prefix(['.', ')'])?;
    ends(rest).then_some(Marker { indent, number: number.parse().ok() })
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
