#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

#[test]
fn each_look_goes_on_where_the_last_one_ended() {
    let mut screen = Screen::default();
    screen.push(b">>> ");
    assert_eq!(screen.look(), ">>>");
    screen.push(b"1+1\r\n2\r\n>>> ");
    assert_eq!(screen.look(), ">>> 1+1\n2\n>>>");
    screen.push(b"\x1b[31mred\x1b[0m\r\n");
    assert_eq!(screen.peek(), ">>> red");
    assert_eq!(screen.look(), ">>> red");
}

#[test]
fn rows_that_scrolled_away_are_seen_once() {
    let mut screen = Screen::default();
    for number in 0..200 {
        screen.push(format!("row {number}\r\n").as_bytes());
    }
    let seen = screen.look();
    assert_eq!(seen.lines().count(), 200);
    assert!(seen.starts_with("row 0\n") && seen.ends_with("\nrow 199"), "{seen}");
    screen.push(b"more\r\n");
    assert_eq!(screen.look(), "more");
}

#[test]
fn a_program_that_fills_the_screen_is_shown_whole() {
    let mut screen = Screen::default();
    screen.push(b"before\r\n\x1b[?1049h\x1b[2J\x1b[1;1Htop\x1b[3;5Hmiddle\x1b[1;1HTOP");
    assert_eq!(screen.look(), "TOP\n\n    middle");
    assert_eq!(screen.look(), "TOP\n\n    middle");
    screen.push(b"\x1b[?1049lafter\r\n");
    assert_eq!(screen.look(), "before\nafter", "nobody had seen the first line");
}

#[test]
fn more_rows_than_are_kept_do_no_harm() {
    let mut screen = Screen::default();
    for number in 0..(SCROLLED + 500) {
        screen.push(format!("{number}\r\n").as_bytes());
    }
    let seen = screen.look();
    assert!(seen.starts_with("[what came before is only in the file]\n"), "{seen}");
    assert!(seen.ends_with(&format!("\n{}", SCROLLED + 499)));
    for number in 0..10 {
        screen.push(format!("next {number}\r\n").as_bytes());
    }
    assert_eq!(
        screen.look().lines().collect::<Vec<_>>(),
        (0..10).map(|number| format!("next {number}")).collect::<Vec<_>>()
    );
}

proptest::proptest! {
    #[test]
    fn any_bytes_can_be_shown(pieces in proptest::collection::vec(proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), 0..8)) {
        let mut screen = Screen::default();
        for piece in pieces {
            screen.push(&piece);
            screen.look();
        }
    }
}
