#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

const LOOK: Look = Look { colour: false, unicode: true, width: 40 };

#[test]
fn a_pipe_gets_the_words_as_they_are() {
    let mut spoken = Spoken::Raw { cleaner: Cleaner::default(), line_open: false };
    assert_eq!(spoken.push("**one** \x1b[3"), "**one** ");
    assert_eq!(spoken.push("1mtwo"), "two");
    assert!(!spoken.make_room());
    assert_eq!((spoken.finish(), spoken.finish()), ("\n".to_owned(), String::new()));
}

#[test]
fn a_terminal_gets_set_text_apart_from_the_rows() {
    let mut spoken = Spoken::set(LOOK, 10);
    let open = spoken.push("# Plan\n\n- **one");
    assert!(open.contains("  Plan\r\n") && !open.contains("# Plan"), "{open:?}");
    let rest = spoken.push("**\n- two");
    let end = spoken.finish();
    assert!(format!("{rest}{end}").contains("  • one\r\n") && end.contains("  • two\r\n"), "{rest:?} {end:?}");
    assert_eq!(spoken.finish(), "");
    assert!(spoken.make_room() && !spoken.make_room(), "one blank row below the words");
    assert!(spoken.push("Then.\n\n").contains("\r\n"), "one above the next ones");
}

#[test]
fn a_long_open_block_never_outgrows_the_screen() {
    let mut spoken = Spoken::set(LOOK, 5);
    let bytes = spoken.push(&"a paragraph that goes on and on ".repeat(40));
    assert!(bytes.matches("\r\n").count() < 5, "{bytes:?}");
}
