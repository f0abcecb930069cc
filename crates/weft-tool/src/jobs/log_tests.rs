#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

fn all(log: &Log, from: u64) -> (String, u64) {
    let (places, lost) = log.since(from);
    let mut text = String::new();
    let missed = read(&places, |piece| text.push_str(std::str::from_utf8(piece).unwrap()));
    (text, lost + missed)
}

#[test]
fn what_was_written_is_read_from_any_place_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::new(dir.path(), "job-1").unwrap();
    log.push(b"hello ");
    log.push(b"world");
    assert_eq!(all(&log, 0), ("hello world".to_owned(), 0));
    assert_eq!(all(&log, 6), ("world".to_owned(), 0));
    assert_eq!(all(&log, 11), (String::new(), 0));
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), "hello world");
}

/// The beginning and the end stay, the disk is not filled, and it is said how much is gone.
#[test]
fn a_job_that_writes_on_and_on_keeps_its_beginning_and_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::sized(dir.path(), "job-1", Sizes { first: 20, piece: 10 }).unwrap();
    for number in 0..100 {
        log.push(format!("line {number:03}\n").as_bytes());
    }
    assert_eq!(log.bytes(), 900);
    let (text, lost) = all(&log, 0);
    assert!(text.starts_with("line 000\nline 001\n"), "{text}");
    assert!(text.ends_with("line 098\nline 099\n"), "{text}");
    assert_eq!(text.len() as u64 + lost, 900);
    let on_disk: u64 = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(on_disk <= 20 + 10 * (PIECES as u64), "{on_disk}");
    assert_eq!(all(&log, 890), ("\nline 099\n".to_owned(), 0));
}

/// A part can go between the moment when it is found and the moment when it is read.
#[test]
fn a_part_that_is_gone_does_not_hide_those_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::sized(dir.path(), "job-1", Sizes { first: 4, piece: 4 }).unwrap();
    log.push(b"aaaabbbbcccc");
    std::fs::remove_file(dir.path().join("job-1-from-4.txt")).unwrap();
    assert_eq!(all(&log, 0), ("aaaacccc".to_owned(), 4));
}
