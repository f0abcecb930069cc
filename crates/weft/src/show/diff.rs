//! Unified diffs with line numbers and colour, capped so that a big change stays readable.

use super::clean::visible;
use super::style::{BAD, DIM, GOOD, Line, Look};

/// How many lines of a diff or a detail are shown before the rest is only counted.
pub const SHOWN_LINES: usize = 20;

pub fn diff_lines(diff: &str, cap: usize, look: &Look) -> Vec<Line> {
    let diff = visible(diff);
    let mut rows = Vec::new();
    let mut old = 0u64;
    let mut new = 0u64;
    let number_width = widest_number(&diff);
    for line in diff.lines() {
        if line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with('\\') {
            continue;
        }
        if let Some((old_start, new_start)) = hunk_start(line) {
            if !rows.is_empty() {
                rows.push(Line::new(format!("{:number_width$} {}", "", look.sign("⋮", ":")), DIM));
            }
            (old, new) = (old_start, new_start);
            continue;
        }
        let (number, style) = match line.chars().next() {
            Some('+') => (new, GOOD),
            Some('-') => (old, BAD),
            _ => (new, DIM),
        };
        match line.chars().next() {
            Some('+') => new += 1,
            Some('-') => old += 1,
            _ => {
                old += 1;
                new += 1;
            }
        }
        rows.push(Line::new(format!("{number:number_width$} "), DIM).with(line.to_owned(), style));
    }
    cap_lines(rows, cap, look)
}

/// The first `cap` rows, and how many were left out.
pub fn cap_lines(mut rows: Vec<Line>, cap: usize, look: &Look) -> Vec<Line> {
    if rows.len() > cap {
        let hidden = rows.len() - cap;
        rows.truncate(cap);
        let lines = if hidden == 1 { "line" } else { "lines" };
        rows.push(Line::new(format!("{} {hidden} more {lines}", look.sign("…", "...")), DIM));
    }
    rows
}

/// Where a hunk begins in the old and the new file, if this is its head.
fn hunk_start(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut start = |sign| words.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((start('-')?, start('+')?))
}

fn widest_number(diff: &str) -> usize {
    let mut highest = 0;
    let mut at = 0;
    for line in diff.lines() {
        match hunk_start(line) {
            Some((old, new)) => at = old.max(new),
            None => at += 1,
        }
        highest = highest.max(at);
    }
    highest.to_string().len()
}
