use std::sync::atomic::AtomicBool;

use super::{Report, Run};
use crate::ingest::{Found, Outcome, Read, Trouble};
use crate::{Domain, Filter, Knowledge, Places, Query};

const NOW: i64 = 1_900_000_000_000;

fn run<'a>(stop: &'a AtomicBool, tell: &'a mut dyn FnMut(super::Progress)) -> Run<'a> {
    Run { now: NOW, stop, tell }
}

/// As after a moment without file handles, or a PDF on a busy machine.
#[test]
fn what_could_not_be_read_once_is_read_the_next_time() {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("notes.md"), "A zebrafinch sings.").unwrap();
    let mut knowledge = Knowledge::open(&Places::within(home.path()), folder.path()).unwrap();
    let root = folder.path().canonicalize().unwrap();
    let found: Found = crate::find::look(&root, &root.join("notes.md")).unwrap();
    let trouble = Trouble { reason: "cannot be read: too many open files".to_owned(), passes: true };
    let read = Read { domain: Domain::Documents, hash: None, outcome: Outcome::Passed(trouble) };
    knowledge.tables.begin().unwrap();
    knowledge.put(&found, read, false, NOW, &mut Report::default()).unwrap();
    knowledge.tables.commit().unwrap();
    let report = knowledge.index(None, run(&AtomicBool::new(false), &mut |_| {})).unwrap();
    assert_eq!((report.changed, report.passed), (1, Vec::new()));
    let query = Query { text: "zebrafinch".to_owned(), filter: Filter::default(), limit: 3, now: NOW };
    assert_eq!(knowledge.search(&query).unwrap().hits.len(), 1);
}
