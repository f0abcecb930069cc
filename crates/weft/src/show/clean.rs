//! Makes text from models, tools and files safe to print: no escape sequences, no control
//! characters, nothing that moves the cursor or reorders what a person reads.

use std::borrow::Cow;

use super::width::is_plain;

/// Takes text in pieces, as it streams: a sequence that is cut in two is still removed whole.
#[derive(Debug, Default)]
pub struct Cleaner {
    within: Within,
}

#[derive(Debug, Default, Clone, Copy)]
enum Within {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte; one more byte ends it.
    Intermediate,
    /// ESC [ … up to its final byte.
    Csi,
    /// ESC ], ESC P and their like: up to BEL or ESC \.
    String,
    StringEscape,
}

impl Cleaner {
    /// Adds what is left of `text` to `out`. Newlines and tabs stay.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for letter in text.chars() {
            self.within = match (self.within, letter) {
                (Within::String, '\x07' | '\u{9c}') => Within::Text,
                (Within::String, '\x1b') => Within::StringEscape,
                (Within::String, _) => Within::String,
                (Within::StringEscape, '\\') => Within::Text,
                (_, '\x1b') => Within::Escape,
                (Within::Escape | Within::StringEscape, '[') => Within::Csi,
                (Within::Escape | Within::StringEscape, ']' | 'P' | 'X' | '^' | '_') => Within::String,
                (Within::Escape | Within::Intermediate, ' '..='/') => Within::Intermediate,
                (Within::StringEscape, _) => Within::String,
                (Within::Escape | Within::Intermediate, '0'..='~') => Within::Text,
                (Within::Csi, ' '..='?') => Within::Csi,
                (Within::Csi, '@'..='~') => Within::Text,
                (_, '\u{9b}') => Within::Csi,
                (_, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => Within::String,
                (Within::Text | Within::Escape | Within::Intermediate | Within::Csi, letter) => {
                    if is_printable(letter) {
                        out.push(letter);
                    }
                    Within::Text
                }
            };
        }
    }
}

fn is_printable(letter: char) -> bool {
    const REORDERING: [char; 12] = [
        '\u{200e}', '\u{200f}', '\u{061c}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}',
        '\u{2067}', '\u{2068}', '\u{2069}',
    ];
    matches!(letter, '\n' | '\t') || !(letter.is_control() || REORDERING.contains(&letter))
}

/// A whole text made safe, with tabs as spaces. Of a line that was overwritten by carriage returns
/// (a progress bar), what was written last stays.
pub fn clean(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut latest = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            latest.push('\n');
        }
        let line = line.trim_end_matches('\r');
        latest.push_str(line.rsplit('\r').next().unwrap_or(line));
    }
    let mut out = String::with_capacity(latest.len());
    Cleaner::default().push(&latest, &mut out);
    if out.contains('\t') { out.replace('\t', "    ") } else { out }
}

/// A text in which nothing is hidden, for what a person is asked to allow: what would not be seen
/// is written out.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\t' => out.push_str("    "),
            letter if is_printable(letter) => out.push(letter),
            letter => out.extend(letter.escape_unicode()),
        }
    }
    out
}

/// A text as one row: newlines become spaces.
pub fn clean_row(text: &str) -> String {
    as_row(text).into_owned()
}

/// As [`clean_row`], and most texts are one already.
pub fn as_row(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let has_gap = || bytes.iter().zip(bytes.iter().skip(1)).any(|pair| pair == (&b' ', &b' '));
    if is_plain(text) && text.trim_ascii().len() == text.len() && !has_gap() {
        return Cow::Borrowed(text);
    }
    let text = clean(text);
    let mut row = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(word);
    }
    Cow::Owned(row)
}
