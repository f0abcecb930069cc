use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Shelf, WorkKind};
use crate::{Knowledge, Places};

#[test]
fn work_that_panics_is_told_of_and_can_be_started_again() {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let places = Places::within(home.path());
    let root = Knowledge::open(&places, folder.path()).unwrap().root().to_owned();
    let shelf = Shelf::new(places, Arc::new(|| 0));
    shelf.start(WorkKind::Index, root.clone(), |_| std::panic::resume_unwind(Box::new("a reader gave up"))).unwrap();
    let begun = Instant::now();
    let state = loop {
        let state = shelf.work(folder.path()).0.unwrap();
        if !state.running || begun.elapsed() > Duration::from_secs(10) {
            break state;
        }
        std::thread::yield_now();
    };
    assert!(!state.running && state.error.is_some_and(|error| error.contains("ended unexpectedly")));
    shelf.start(WorkKind::Index, root, |_| Ok(None)).unwrap();
}
