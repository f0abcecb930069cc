#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// A job of the session can do so while the next turn reads the project's instructions.
#[test]
fn what_is_exchanged_for_a_link_while_it_is_read_leads_nowhere() {
    let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (file, secret) = (project.path().join("AGENTS.md"), outside.path().join("key"));
    fs::write(&secret, "outside").unwrap();
    let (ours, theirs) = (project.path().join("ours"), project.path().join("theirs"));
    let over = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (file, over) = (file.clone(), Arc::clone(&over));
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                fs::write(&ours, "ours").unwrap();
                fs::rename(&ours, &file).unwrap();
                symlink(&secret, &theirs).unwrap();
                fs::rename(&theirs, &file).unwrap();
            }
        })
    };
    let mut seen = 0;
    for _ in 0..200_000 {
        if let Ok(text) = read_within(project.path(), &file, 100) {
            assert_eq!(text, b"ours");
            seen += 1;
            if seen == 2_000 {
                break;
            }
        }
    }
    over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(seen > 0, "it was never read");
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let project = tempfile::tempdir().unwrap();
    let file = project.path().join("AGENTS.md");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(read_within(project.path(), &file, 100).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
