#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::*;

/// `|` marks the cursor.
fn editor(text: &str) -> Editor {
    let cursor = text.find('|').unwrap();
    Editor { text: text.replace('|', ""), cursor, killed: String::new() }
}

fn shown(editor: &Editor) -> String {
    let mut text = editor.text.clone();
    text.insert(editor.cursor, '|');
    text
}

/// Keys are written `C-a`, `M-b`, `Left`, or as the letter itself.
fn key(name: &str) -> KeyEvent {
    let (modifiers, name) = match name.split_once('-') {
        Some(("C", name)) => (KeyModifiers::CONTROL, name),
        Some(("M", name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Back" => KeyCode::Backspace,
        "Del" => KeyCode::Delete,
        "Enter" => KeyCode::Enter,
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

#[test]
fn every_key_does_what_its_name_says() {
    let check = |before: &str, keys: &str, after: &str| {
        let mut editor = editor(before);
        for name in keys.split(' ') {
            assert!(editor.key(key(name)), "{name} means nothing");
        }
        assert_eq!(shown(&editor), after, "{before} {keys}");
    };
    check("|", "h i", "hi|");
    check("one two|", "C-a", "|one two");
    check("one\ntwo|", "C-a", "one\n|two");
    check("|one\ntwo", "C-e", "one|\ntwo");
    check("one two|", "C-w", "one |");
    check("one two/three  |", "C-w", "one |");
    check("one two/three|", "M-Back", "one two/|");
    check("one two|", "M-b M-b", "|one two");
    check("|one two", "M-f", "one| two");
    check("|one two", "C-Right C-Right", "one two|");
    check("one two|", "C-Left", "one |two");
    check("|one two", "M-d", "| two");
    check("one |two\nthree", "C-k", "one |\nthree");
    check("one|\ntwo", "C-k", "one|two");
    check("zero\none |two", "C-u", "zero\n|two");
    check("one two|", "C-u C-y C-y", "one twoone two|");
    check("one |two", "C-k C-a C-y", "two|one ");
    check("a|b", "C-j", "a\n|b");
    check("a|b", "M-Enter", "a\n|b");
    check("ab|", "Left Back", "|b");
    check("|ab", "Right Del", "a|");
    check("a|b", "C-d", "a|");
    check("ab|", "C-h", "a|");
    check("ab|", "C-b C-b C-f", "a|b");
    check("ab|cd", "Home", "|abcd");
    check("ab|cd", "End", "abcd|");
    check("|", "C-w C-u C-k Back Del C-d", "|");
    check("né🙂|", "Back", "né|");
    check("e\u{301}|x", "Back", "|x");
    check("👩‍👩‍👧|", "Left", "|👩‍👩‍👧");
    check("🇩🇪🇫🇷|", "Back", "🇩🇪|");
}

#[test]
fn keys_of_no_meaning_are_left_to_others() {
    let mut editor = editor("a|");
    for name in ["C-c", "C-x", "M-x", "Enter"] {
        assert!(!editor.key(key(name)), "{name}");
    }
    assert_eq!(shown(&editor), "a|");
}

#[test]
fn rows_and_cursor_follow_the_width() {
    let check = |text: &str, width, rows: &[&str], row, column| {
        let layout = editor(text).layout(width);
        assert_eq!(
            (layout.rows, layout.cursor_row, layout.cursor_column),
            (rows.iter().map(|r| (*r).to_owned()).collect(), row, column),
            "{text}"
        );
    };
    check("|", 10, &[""], 0, 0);
    check("abc|", 10, &["abc"], 0, 3);
    check("abcdef|", 4, &["abcd", "ef"], 1, 2);
    check("abcd|", 4, &["abcd", ""], 1, 0);
    check("ab\ncd|\n", 4, &["ab", "cd", ""], 1, 2);
    check("日本語|", 4, &["日本", "語"], 1, 2);
    check("日本語|", 5, &["日本", "語"], 1, 2);
}

#[test]
fn up_and_down_move_within_the_text() {
    let mut editor = editor("first line\nab|\nthird");
    assert!(editor.move_row(false, 40));
    assert_eq!(shown(&editor), "fi|rst line\nab\nthird");
    assert!(!editor.move_row(false, 40));
    assert!(editor.move_row(true, 40) && editor.move_row(true, 40));
    assert_eq!(shown(&editor), "first line\nab\nth|ird");
    assert!(!editor.move_row(true, 40));
}

#[test]
fn a_paste_is_made_safe_and_kept_whole() {
    let mut editor = editor("a|");
    editor.paste("1\r\n2\r3\x1b[31m\t4");
    assert_eq!(editor.text(), "a1\n2\n3    4");
}
