//! The line editor: text, a cursor, and what keys do to them. Draws nothing.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::show::width::{cluster_end, clusters, width_of};

#[derive(Debug, Default)]
pub struct Editor {
    text: String,
    /// In bytes, always between two clusters.
    cursor: usize,
    killed: String,
}

/// The text broken into rows of a given width, and where the cursor is among them.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    pub rows: Vec<String>,
    pub cursor_row: usize,
    pub cursor_column: usize,
}

impl Editor {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// Replaces everything; the cursor goes to the end.
    pub fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.cursor = self.text.len();
    }

    pub fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Replaces the `length` bytes before the cursor.
    pub fn replace_before(&mut self, length: usize, with: &str) {
        let from = self.cursor.saturating_sub(length);
        self.remove(from, self.cursor);
        self.insert(with);
    }

    pub fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Pasted text, whatever line ends and tabs it has.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut safe = String::new();
        crate::show::clean::Cleaner::default().push(&text, &mut safe);
        self.insert(&safe.replace('\t', "    "));
    }

    /// Does what the key means for text; `false` if it means nothing here.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(letter) if control && !alt => return self.control(letter),
            KeyCode::Char(letter) if alt && !control => return self.alt(letter),
            KeyCode::Char(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            KeyCode::Enter if alt || key.modifiers.contains(KeyModifiers::SHIFT) => self.insert("\n"),
            KeyCode::Backspace if alt || control => self.kill(self.word_start(), self.cursor),
            KeyCode::Backspace => self.remove(self.previous(), self.cursor),
            KeyCode::Delete if alt || control => self.kill(self.cursor, self.word_end()),
            KeyCode::Delete => self.remove(self.cursor, self.next()),
            KeyCode::Left if alt || control => self.cursor = self.word_start(),
            KeyCode::Right if alt || control => self.cursor = self.word_end(),
            KeyCode::Left => self.cursor = self.previous(),
            KeyCode::Right => self.cursor = self.next(),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            _ => return false,
        }
        true
    }

    fn control(&mut self, letter: char) -> bool {
        match letter.to_ascii_lowercase() {
            'a' => self.cursor = self.line_start(),
            'e' => self.cursor = self.line_end(),
            'b' => self.cursor = self.previous(),
            'f' => self.cursor = self.next(),
            'd' => self.remove(self.cursor, self.next()),
            'h' => self.remove(self.previous(), self.cursor),
            'j' => self.insert("\n"),
            'w' => self.kill(self.blank_separated_start(), self.cursor),
            'u' => self.kill(self.line_start(), self.cursor),
            'k' => {
                // At the end of a line, the line break itself goes.
                let end = if self.cursor == self.line_end() { self.next() } else { self.line_end() };
                self.kill(self.cursor, end);
            }
            'y' => {
                let killed = self.killed.clone();
                self.insert(&killed);
            }
            _ => return false,
        }
        true
    }

    fn alt(&mut self, letter: char) -> bool {
        match letter.to_ascii_lowercase() {
            'b' => self.cursor = self.word_start(),
            'f' => self.cursor = self.word_end(),
            'd' => self.kill(self.cursor, self.word_end()),
            _ => return false,
        }
        true
    }

    fn remove(&mut self, from: usize, to: usize) {
        if from < to {
            self.text.replace_range(from..to, "");
            self.cursor = from;
        }
    }

    fn kill(&mut self, from: usize, to: usize) {
        if let Some(killed) = self.text.get(from..to).filter(|killed| !killed.is_empty()) {
            self.killed = killed.to_owned();
            self.remove(from, to);
        }
    }

    fn after_cursor(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    fn previous(&self) -> usize {
        let line = self.before_cursor();
        line.len() - clusters(line).last().map_or(0, str::len)
    }

    fn next(&self) -> usize {
        self.cursor + cluster_end(self.after_cursor())
    }

    fn line_start(&self) -> usize {
        self.before_cursor().rfind('\n').map_or(0, |index| index + 1)
    }

    fn line_end(&self) -> usize {
        self.cursor + self.after_cursor().find('\n').unwrap_or(self.after_cursor().len())
    }

    fn word_start(&self) -> usize {
        let before = self.before_cursor().trim_end_matches(|letter: char| !letter.is_alphanumeric());
        before.trim_end_matches(|letter: char| letter.is_alphanumeric()).len()
    }

    fn blank_separated_start(&self) -> usize {
        self.before_cursor().trim_end().trim_end_matches(|letter: char| !letter.is_whitespace()).len()
    }

    fn word_end(&self) -> usize {
        let after = self.after_cursor();
        let word = after.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        let rest = word.trim_start_matches(|letter: char| letter.is_alphanumeric());
        self.cursor + after.len() - rest.len()
    }

    /// Moves the cursor to the row above or below; `false` if there is none.
    pub fn move_row(&mut self, down: bool, width: usize) -> bool {
        let marks = self.row_marks(width);
        let Some(row) = marks.iter().rposition(|(start, _)| *start <= self.cursor) else { return false };
        let column =
            marks.get(row).map_or(0, |(start, _)| width_of(self.text.get(*start..self.cursor).unwrap_or_default()));
        let target = if down { row.checked_add(1) } else { row.checked_sub(1) };
        let Some((start, end)) = target.and_then(|target| marks.get(target)).copied() else { return false };
        let mut at = start;
        let mut left = column;
        for cluster in clusters(self.text.get(start..end).unwrap_or_default()) {
            let wide = width_of(cluster);
            if wide > left {
                break;
            }
            left -= wide;
            at += cluster.len();
        }
        self.cursor = at;
        true
    }

    pub fn layout(&self, width: usize) -> Layout {
        let marks = self.row_marks(width);
        let cursor_row = marks.iter().rposition(|(start, _)| *start <= self.cursor).unwrap_or(0);
        let start = marks.get(cursor_row).map_or(0, |(start, _)| *start);
        let cursor_column = width_of(self.text.get(start..self.cursor).unwrap_or_default());
        let rows = marks.iter().map(|(start, end)| self.text.get(*start..*end).unwrap_or_default().to_owned());
        Layout { rows: rows.collect(), cursor_row, cursor_column }
    }

    /// The byte range of each row, without its line break.
    fn row_marks(&self, width: usize) -> Vec<(usize, usize)> {
        let width = width.max(2);
        let mut marks = Vec::new();
        let mut start = 0;
        let mut at = 0;
        let mut column = 0;
        for cluster in clusters(&self.text) {
            if cluster == "\n" {
                marks.push((start, at));
                at += cluster.len();
                start = at;
                column = 0;
                continue;
            }
            let wide = width_of(cluster);
            if column + wide > width {
                marks.push((start, at));
                start = at;
                column = 0;
            }
            at += cluster.len();
            column += wide;
        }
        marks.push((start, at));
        if column == width {
            // The cursor after a full row stands on the next one.
            marks.push((at, at));
        }
        marks
    }
}

#[cfg(test)]
#[path = "editor_tests.rs"]
mod tests;
