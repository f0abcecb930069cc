#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;
use crate::show::style::PLAIN;

const LOOK: Look = Look { colour: false, unicode: true, width: 20 };

/// A terminal that knows just the sequences the live area uses.
struct Screen {
    rows: Vec<String>,
    row: usize,
    column: usize,
}

impl Screen {
    fn new() -> Self {
        Self { rows: vec![String::new()], row: 0, column: 0 }
    }

    fn write(&mut self, text: &str) {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\x1b' => self.escape(&mut letters),
                '\r' => self.column = 0,
                '\n' => {
                    self.row += 1;
                    self.rows.resize(self.rows.len().max(self.row + 1), String::new());
                }
                letter => {
                    let row: Vec<char> = self.rows[self.row].chars().collect();
                    let before: String = row.iter().copied().chain(std::iter::repeat(' ')).take(self.column).collect();
                    let after: String = row.iter().skip(self.column + 1).collect();
                    self.rows[self.row] = format!("{before}{letter}{after}");
                    self.column += 1;
                }
            }
        }
    }

    fn escape(&mut self, letters: &mut std::str::Chars<'_>) {
        assert_eq!(letters.next(), Some('['));
        let mut number = String::new();
        let last = loop {
            match letters.next().unwrap() {
                letter @ ('0'..='9' | '?') => number.push(letter),
                letter => break letter,
            }
        };
        let count = number.parse().unwrap_or(1);
        match last {
            'A' => self.row -= count,
            'C' => self.column += count,
            'J' => {
                self.rows.truncate(self.row + 1);
                self.rows[self.row].truncate(self.column);
            }
            'K' => self.rows[self.row].clear(),
            'h' | 'l' => {}
            other => panic!("unknown sequence {other}"),
        }
    }

    fn text(&self) -> String {
        self.rows.join("\n").trim_end().to_owned()
    }
}

fn frame(rows: &[&str], cursor_row: usize, cursor_column: usize) -> Frame {
    Frame { lines: rows.iter().map(|row| Line::new((*row).to_owned(), PLAIN)).collect(), cursor_row, cursor_column }
}

fn lines(rows: &[&str]) -> Vec<Line> {
    frame(rows, 0, 0).lines
}

#[test]
fn finished_lines_stay_and_the_area_moves_down() {
    let (mut live, mut screen) = (Live::default(), Screen::new());
    screen.write(&live.update(&[], &frame(&["> hi", "status"], 0, 4), &LOOK));
    assert_eq!((screen.text().as_str(), screen.row, screen.column), ("> hi\nstatus", 0, 4));
    screen.write(&live.update(&lines(&["one", "two"]), &frame(&["running", "> ", "status"], 1, 2), &LOOK));
    assert_eq!((screen.text().as_str(), screen.row), ("one\ntwo\nrunning\n> \nstatus", 3));
    screen.write(&live.update(&[], &frame(&["> x", "status"], 0, 3), &LOOK));
    assert_eq!((screen.text().as_str(), screen.row, screen.column), ("one\ntwo\n> x\nstatus", 2, 3));
    screen.write(&live.update(&lines(&["three"]), &frame(&["> "], 0, 2), &LOOK));
    assert_eq!(screen.text(), "one\ntwo\nthree\n>");
    screen.write(&live.clear());
    assert_eq!((screen.text().as_str(), screen.row, screen.column), ("one\ntwo\nthree", 3, 0));
}

#[test]
fn an_unchanged_frame_writes_nothing_and_a_changed_row_only_itself() {
    let mut live = Live::default();
    let first = frame(&["aaaa", "bbbb", "> "], 2, 2);
    live.update(&[], &first, &LOOK);
    assert_eq!(live.update(&[], &first, &LOOK), "");
    let out = live.update(&[], &frame(&["aaaa", "cccc", "> "], 2, 2), &LOOK);
    assert!(out.contains("cccc") && !out.contains("aaaa"), "{out:?}");
}

#[test]
fn rows_never_exceed_the_width() {
    let (mut live, mut screen) = (Live::default(), Screen::new());
    screen.write(&live.update(&[], &frame(&["a row that is much too long for this", "> "], 1, 2), &LOOK));
    assert_eq!(screen.rows[0].chars().count(), 20);
}

#[test]
fn a_narrower_screen_is_accounted_for() {
    let mut live = Live::default();
    live.update(&[], &frame(&["12345678901234567890", "> abc"], 1, 5), &LOOK);
    live.resized(8);
    assert_eq!(live.cursor_row, 3, "the first row now takes three");
    live.resized(4);
    assert_eq!(live.cursor_row, 6, "and then six, of which the terminal has broken each");
    let out = live.update(&[], &frame(&["1234", "> "], 1, 2), &Look { width: 4, ..LOOK });
    assert!(out.contains("\x1b[6A\r\x1b[J"), "everything below the top is drawn anew: {out:?}");
}
