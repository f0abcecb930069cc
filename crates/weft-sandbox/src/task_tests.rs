#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::ffi::OsString;
use std::io::{Cursor, Read as _};
use std::os::unix::ffi::OsStringExt as _;

use super::Task;

fn task() -> Task {
    Task {
        cwd: "/work space".into(),
        command: vec!["bash".into(), "-c".into(), OsString::from_vec(vec![0xff, b'x', b'\n'])],
        environment: vec![("PATH".into(), "/bin:/usr/bin".into()), ("EMPTY".into(), "".into())],
        reads: true,
        quiet: true,
    }
}

#[test]
fn a_task_arrives_as_it_was_sent_and_nothing_after_it_is_taken() {
    let mut input = Cursor::new([task().encode(), b"for the command".to_vec()].concat());
    assert_eq!(Task::receive(&mut input).unwrap(), Some(task()));
    let mut rest = String::new();
    input.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "for the command");
}

#[test]
fn nobody_there_is_no_task() {
    assert_eq!(Task::receive(&b""[..]).unwrap(), None);
    assert_eq!(Task::receive(&b"\x01"[..]).unwrap(), None);
}

#[test]
fn half_a_task_and_rubbish_are_refused() {
    let whole = task().encode();
    for cut in 4..whole.len() {
        assert!(Task::receive(&whole[..cut]).is_err(), "cut at {cut}");
    }
    for wrong in [&[255; 64][..], &[1, 0, 0, 0, 0], &[9, 0, 0, 0, 0, 1, 0, 0, 0, 65, 255, 255, 255]] {
        assert!(Task::receive(wrong).is_err(), "{wrong:?}");
    }
    let mut longer = whole.clone();
    longer[0] += 1;
    longer.push(0);
    assert!(Task::receive(&longer[..]).is_err());
}
