//! Small questions about text: sizes in words, cutting without breaking a letter, likeness.

use std::borrow::Cow;

/// The largest place at or before `at` where `text` can be cut.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

/// The beginning of `text`, at most `limit` bytes.
pub(crate) fn head(text: &str, limit: usize) -> &str {
    text.get(..floor(text, limit)).unwrap_or_default()
}

/// The end of `text`, at most `limit` bytes.
pub(crate) fn tail(text: &str, limit: usize) -> &str {
    let from = text.len().saturating_sub(limit);
    let from = (from..=text.len()).find(|&place| text.is_char_boundary(place)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}

/// At most `limit` bytes of `text` and a word on what was left out, which is the middle.
pub(crate) fn cap(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let (first, last) = (head(&text, limit / 4 * 3), tail(&text, limit / 4 - 100));
    format!("{first}\n[… {} left out here …]\n{last}", size((text.len() - first.len() - last.len()) as u64))
}

/// The first line, short enough for a row on a screen.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 100;
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    if line.len() == text.len() && line.len() <= LONGEST {
        return line.into();
    }
    format!("{}…", head(line, LONGEST).trim_end()).into()
}

pub(crate) fn size(bytes: u64) -> String {
    const STEPS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    for (unit, name) in STEPS {
        if bytes >= unit {
            let tenths = bytes.saturating_mul(10) / unit;
            return if tenths >= 100 {
                format!("{} {name}", tenths / 10)
            } else {
                format!("{}.{} {name}", tenths / 10, tenths % 10)
            };
        }
    }
    format!("{bytes} B")
}

pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How alike two strings are, from 0 to 1, by the pairs of letters they share.
pub(crate) fn likeness(one: &str, other: &str) -> f32 {
    let pairs = |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let (first, mut second) = (pairs(one), pairs(other));
    let total = first.len() + second.len();
    if total == 0 {
        return f32::from(u8::from(one == other));
    }
    let mut shared = 0;
    for pair in &first {
        if let Some(at) = second.iter().position(|candidate| candidate == pair) {
            second.swap_remove(at);
            shared += 2;
        }
    }
    shared as f32 / total as f32
}
