#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::path::Path;

fn capture(folder: &Path, chunks: impl IntoIterator<Item = Vec<u8>>) -> Captured {
    let mut capture = Capture::new(Some(Spill { folder: folder.to_owned(), name: "call/../1".into() }));
    for chunk in chunks {
        capture.push(&chunk);
    }
    capture.finish()
}

#[test]
fn small_output_is_kept_whole_and_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let captured = capture(&dir.path().join("outputs"), [b"one\n".to_vec(), b"two".to_vec()]);
    assert_eq!(captured, Captured { text: "one\ntwo".into(), bytes: 7, saved: None });
    assert!(!dir.path().join("outputs").exists());
}

#[test]
fn long_output_shows_its_ends_and_what_matters_and_the_whole_is_saved() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = Vec::new();
    for number in 1..=5_000 {
        let word = if number == 2_500 { "ERROR: it broke" } else { "fine" };
        whole.extend(format!("line {number} {word}\n").into_bytes());
    }
    for size in [7, 1_000, 30_000, whole.len()] {
        let captured = capture(dir.path(), whole.chunks(size).map(<[u8]>::to_vec));
        let lines: Vec<&str> = captured.text.lines().collect();
        assert_eq!((lines[0], lines[49]), ("line 1 fine", "line 50 fine"), "{size}");
        assert_eq!(lines[50], "[… 4850 lines left out, among them:");
        assert_eq!(lines[51], "2500: line 2500 ERROR: it broke");
        assert_eq!((lines[53], lines[152]), ("line 4901 fine", "line 5000 fine"));
        assert_eq!(lines.len(), 153);
        let saved = captured.saved.unwrap();
        assert!(lines[52].contains(&saved.path), "{}", lines[52]);
        assert_eq!(fs::read(&saved.path).unwrap(), whole);
        assert!(captured.text.len() < 24 * 1024);
    }
    let names: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.contains(&"call1.txt".to_owned()) && names.contains(&"call1-4.txt".to_owned()), "{names:?}");
}

#[test]
fn one_endless_line_stays_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let captured = capture(dir.path(), (0..200).map(|_| vec![b'x'; 10_000]));
    assert_eq!(captured.bytes, 2_000_000);
    assert!(captured.text.len() < 24 * 1024, "{}", captured.text.len());
}

#[test]
fn an_output_that_cannot_be_saved_says_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let captured = capture(&dir.path().join("file"), [vec![b'\n'; 30_000]]);
    assert!(captured.saved.is_none() && captured.text.contains("could not be saved"), "{}", captured.text);
}

#[test]
fn text_is_freed_from_terminal_tricks() {
    let cases = [
        ("plain", "plain"),
        ("\u{1b}[31mred\u{1b}[0m\n", "red\n"),
        ("10%\r50%\r100% done\n", "100% done\n"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\!", "link!"),
        ("ab\u{8}c\0", "ac"),
        ("cut \u{1b}[3", "cut "),
    ];
    for (given, expected) in cases {
        assert_eq!(clean(given.as_bytes()), expected, "{given:?}");
    }
    assert_eq!(clean(b"bad \xff\xfe byte"), "bad \u{fffd}\u{fffd} byte");
}

#[test]
fn noise_is_not_progress() {
    for noise in ["", "....", "\n\n", "|\r/\r-\r\\", " 45% ", "12.5%\r", "⠋", "...\n..."] {
        assert!(!is_meaningful(noise.as_bytes()), "{noise:?}");
    }
    for progress in ["Compiling weft", "...\nok", "test 45%", "5"] {
        assert!(is_meaningful(progress.as_bytes()), "{progress:?}");
    }
}

#[test]
fn letters_cut_in_two_arrive_whole() {
    let bytes = "a ä 漢 🦀".as_bytes();
    for size in 1..=bytes.len() {
        let mut stream = TextStream::default();
        let text: String = bytes.chunks(size).map(|chunk| stream.push(chunk)).collect();
        assert_eq!(text, "a ä 漢 🦀", "chunks of {size}");
    }
    let mut stream = TextStream::default();
    assert_eq!(stream.push(b"\xff a \xe6\xbc"), "\u{fffd} a ");
    assert_eq!(stream.push(b"\xa2"), "漢");
}
