#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]
use std::fs;
use std::time::Instant;

use serde_json::json;
use weft_core::Timestamp;

use super::*;

struct World {
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn place(&self) -> Place {
        Place::new(self.home.path().join("audit"), self.home.path().join("audit.key"))
    }

    fn audit(&self) -> Audit {
        Audit::open(self.place())
    }

    /// Records entries `from..to` and closes the log.
    fn write(&self, from: i64, to: i64) {
        let audit = self.audit();
        (from..to).for_each(|number| audit.record(entry(number)));
    }

    fn report(&self) -> Report {
        self.audit().verify().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.place().segments().unwrap().pop().unwrap()
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.file()).unwrap().lines().map(str::to_owned).collect()
    }

    fn set_lines(&self, lines: &[String]) {
        fs::write(self.file(), lines.join("\n") + "\n").unwrap();
    }
}

fn entry(number: i64) -> Entry {
    Entry {
        target: Some(format!("src/file{number}.rs")),
        details: Some(json!({ "bytes": number })),
        ..Entry::new(Timestamp(1_700_000_000_000 + number * 1_000), Category::File, "tool.run", "write")
    }
}

fn kinds(report: &Report) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn a_hundred_lines_are_signed_and_the_rest_at_the_end() {
    let world = World::new();
    let audit = world.audit();
    (0..250).for_each(|number| audit.record(entry(number)));
    audit.flush().unwrap();
    let open = audit.verify().unwrap();
    assert_eq!((open.entries, open.signatures, open.unsigned, open.is_valid()), (250, 2, 50, true), "{open:?}");
    drop(audit);
    let closed = world.report();
    assert_eq!((closed.entries, closed.signatures, closed.unsigned, closed.is_valid()), (250, 3, 0, true));
}

#[test]
fn a_chain_goes_on_after_a_restart() {
    let world = World::new();
    for round in 0..5 {
        world.write(round * 30, round * 30 + 30);
    }
    let report = world.report();
    assert_eq!((report.entries, report.is_valid()), (150, true), "{report:?}");
    let entries = world.audit().query(&Filter::default()).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), (1..=150).collect::<Vec<_>>());
}

#[test]
fn every_field_of_every_line_is_covered() {
    let world = World::new();
    world.write(0, 5);
    let lines = world.lines();
    for (from, to) in [
        ("\"sequence\":3", "\"sequence\":4"),
        ("write", "reads"),
        ("src/file2.rs", "src/file9.rs"),
        ("allowed", "denied"),
        ("\"bytes\":2", "\"bytes\":7"),
        ("\"info\"", "\"warning\""),
        ("file", "process"),
        ("2023-", "2024-"),
    ] {
        let mut changed = lines.clone();
        assert!(changed[2].contains(from));
        changed[2] = changed[2].replacen(from, to, 1);
        world.set_lines(&changed);
        let report = world.report();
        let first = report.problems.first().expect(from);
        assert_eq!((first.kind, first.place.as_ref().unwrap().1), (ProblemKind::HashMismatch, 3), "{from}: {report:?}");
    }
    let mut spaced = lines;
    spaced[2] = spaced[2].replacen(":", ": ", 1);
    world.set_lines(&spaced);
    assert_eq!(kinds(&world.report()), [ProblemKind::HashMismatch]);
}

#[test]
fn what_was_done_to_a_log_is_located() {
    let check = |what: &str, change: &dyn Fn(&mut Vec<String>), expected: &[ProblemKind], line: Option<usize>| {
        let world = World::new();
        world.write(0, 150);
        let mut lines = world.lines();
        change(&mut lines);
        world.set_lines(&lines);
        let report = world.report();
        let found = kinds(&report);
        assert!(expected.iter().all(|kind| found.contains(kind)), "{what}: {report:?}");
        assert_eq!(report.problems[0].place.as_ref().map(|place| place.1), line, "{what}: {report:?}");
    };
    use ProblemKind::*;
    check("removed", &|lines| drop(lines.remove(10)), &[SequenceGap, ChainBreak], Some(11));
    check("reordered", &|lines| lines.swap(10, 11), &[SequenceGap, ChainBreak], Some(11));
    check("inserted", &|lines| lines.insert(10, lines[9].clone()), &[SequenceGap, ChainBreak], Some(11));
    check("no JSON", &|lines| lines[10] = "{".to_owned(), &[ParseError], Some(11));
    check("emptied", &|lines| lines[10].clear(), &[ParseError], Some(11));
    check("signature removed", &|lines| drop(lines.remove(100)), &[BadSignature], Some(151));
    check(
        "signature changed",
        &|lines| lines[100] = lines[100].replace("\"sequence_to\":100", "\"sequence_to\":99"),
        &[BadSignature],
        Some(101),
    );
    check("end cut off", &|lines| lines.truncate(120), &[Truncated], None);
    check("end and signature cut off", &|lines| lines.truncate(100), &[Truncated], None);
    check("beginning cut off", &|lines| drop(lines.drain(..20)), &[SequenceGap, ChainBreak], Some(1));
    check("last line cut", &|lines| lines[151].truncate(40), &[ParseError], Some(152));
}

#[test]
fn a_forged_line_with_right_hashes_lacks_the_signature() {
    let world = World::new();
    world.write(0, 3);
    let lines = world.lines();
    let before: Recorded = Recorded::parse(&lines[1]).unwrap();
    let (forged, _) = entry(99).seal(3, &before.entry_hash, 1).unwrap();
    world.set_lines(&[lines[0].clone(), lines[1].clone(), forged.trim_end().to_owned(), lines[3].clone()]);
    assert_eq!(kinds(&world.report()), [ProblemKind::HashMismatch, ProblemKind::BadSignature]);
    fs::remove_file(world.place().folder.join("head.json")).unwrap();
    assert_eq!(kinds(&world.report()), [ProblemKind::BadSignature]);
}

#[test]
fn a_removed_head_and_a_removed_log_are_noticed() {
    let world = World::new();
    assert!(world.report().is_valid(), "nothing was ever written");
    world.write(0, 3);
    fs::remove_file(world.place().folder.join("head.json")).unwrap();
    assert_eq!(kinds(&world.report()), [ProblemKind::Truncated]);
    fs::remove_dir_all(world.place().folder).unwrap();
    assert_eq!(kinds(&world.report()), [ProblemKind::Truncated]);
}

#[test]
fn a_cut_end_stays_missing_when_more_is_written() {
    let world = World::new();
    world.write(0, 20);
    let lines = world.lines();
    world.set_lines(&lines[..10]);
    world.write(20, 25);
    let report = world.report();
    assert!(kinds(&report).contains(&ProblemKind::SequenceGap), "{report:?}");
    assert!(
        report.problems.iter().any(|problem| problem.detail.contains("entries 11 to 20 are missing")),
        "{report:?}"
    );
    let found = world.audit().query(&Filter { action: Some("audit.truncated"), ..Filter::default() }).unwrap();
    assert_eq!(found[0].details, Some(json!({ "from": 11, "to": 20 })));
}

#[test]
fn half_a_line_is_put_aside_and_the_chain_goes_on() {
    let world = World::new();
    world.write(0, 5);
    let mut bytes = fs::read(world.file()).unwrap();
    bytes.extend_from_slice(b"{\"id\":\"half");
    fs::write(world.file(), bytes).unwrap();
    world.write(5, 8);
    let report = world.report();
    assert_eq!((report.entries, report.is_valid()), (9, true), "{report:?}");
    let mended = world.audit().query(&Filter { action: Some("audit.mended"), ..Filter::default() }).unwrap();
    assert_eq!(mended[0].details, Some(json!({ "torn_bytes": 11 })));
    let aside = fs::read_dir(world.place().folder).unwrap().flatten();
    let torn = aside.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("torn")).unwrap();
    assert_eq!(fs::read(torn).unwrap(), b"{\"id\":\"half");
}

#[test]
fn a_chain_goes_over_files() {
    let world = World::new();
    let place = || Place { rotate_bytes: 8_000, ..world.place() };
    for round in 0..4 {
        let audit = Audit::open(place());
        for number in 0..40 {
            audit.record(entry(round * 40 + number));
            audit.flush().unwrap();
        }
    }
    let report = world.report();
    assert!(report.files > 5 && report.entries == 160 && report.is_valid(), "{report:?}");
    let files = world.place().segments().unwrap();
    fs::remove_file(&files[2]).unwrap();
    assert!(kinds(&world.report()).contains(&ProblemKind::SequenceGap));
}

#[test]
fn several_writers_share_one_chain() {
    let world = World::new();
    let writers: Vec<Audit> = (0..3).map(|_| world.audit()).collect();
    std::thread::scope(|scope| {
        for audit in &writers {
            scope.spawn(move || {
                for number in 0..200 {
                    audit.record(entry(number));
                    if number % 20 == 0 {
                        audit.flush().unwrap();
                    }
                }
            });
        }
    });
    drop(writers);
    let report = world.report();
    assert_eq!((report.entries, report.is_valid()), (600, true), "{report:?}");
}

#[test]
fn a_purge_leaves_a_log_that_verifies() {
    let world = World::new();
    let place = || Place { rotate_bytes: 8_000, ..world.place() };
    let audit = Audit::open(place());
    for number in 0..100 {
        audit.record(entry(number));
        audit.flush().unwrap();
    }
    let moment = |number: i64| Timestamp(1_700_000_000_000 + number * 1_000);
    for (before, count) in [(0, 0), (42, 42), (42, 0), (60, 18)] {
        assert_eq!(audit.count_before(moment(before)).unwrap(), count);
        assert_eq!(audit.purge(moment(before)).unwrap(), count, "before {before}");
        let report = audit.verify().unwrap();
        assert!(report.is_valid(), "before {before}: {report:?}");
    }
    audit.record(entry(100));
    assert!(audit.purge(moment(1_000)).unwrap() > 40);
    audit.record(entry(101));
    drop(audit);
    let report = world.report();
    assert!(report.is_valid() && report.entries == 2, "{report:?}");
    fs::remove_file(world.place().folder.join("anchor.json")).unwrap();
    assert!(kinds(&world.report()).contains(&ProblemKind::SequenceGap), "the anchor is what makes it valid");
}

#[test]
fn a_changed_log_is_not_purged() {
    let world = World::new();
    world.write(0, 10);
    let mut lines = world.lines();
    lines[2] = lines[2].replace("write", "reads");
    world.set_lines(&lines);
    assert!(matches!(world.audit().purge(Timestamp(i64::MAX)), Err(AuditError::Damaged)));
}

#[test]
fn lines_are_found_by_what_they_say() {
    let world = World::new();
    let audit = world.audit();
    (0..10).for_each(|number| audit.record(entry(number)));
    audit.record(Entry {
        severity: Severity::Security,
        outcome: Outcome::Denied,
        agent: Some("guide".to_owned()),
        session: Some(weft_core::SessionId::from_random(7)),
        ..Entry::new(Timestamp(1_700_000_100_000), Category::Process, "tool.refused", "shell")
    });
    audit.flush().unwrap();
    let count = |filter: Filter<'_>| audit.query(&filter).unwrap().len();
    let all = Filter::default;
    assert_eq!(count(all()), 11);
    assert_eq!(count(Filter { category: Some(Category::Process), ..all() }), 1);
    assert_eq!(count(Filter { severity: Some(Severity::Warning), ..all() }), 1);
    assert_eq!(count(Filter { outcome: Some(Outcome::Denied), ..all() }), 1);
    assert_eq!(count(Filter { agent: Some("guide"), ..all() }), 1);
    assert_eq!(count(Filter { action: Some("write"), ..all() }), 10);
    assert_eq!(count(Filter { target: Some(&|target| target.ends_with("3.rs")), ..all() }), 1);
    assert_eq!(count(Filter { since: Some(Timestamp(1_700_000_005_000)), ..all() }), 6);
    assert_eq!(count(Filter { until: Some(Timestamp(1_700_000_005_000)), ..all() }), 5);
    let latest = audit.query(&Filter { limit: Some(2), ..all() }).unwrap();
    assert_eq!(latest.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [10, 11]);
}

#[test]
fn no_secret_is_written() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let audit = world.audit();
    audit.record(Entry {
        target: Some(format!("curl -H 'Authorization: Bearer {token}' host")),
        details: Some(json!({ "password": "hunter2hunter2", "list": [{ "api_key": token.clone() }], "n": 1 })),
        ..Entry::new(Timestamp(0), Category::Process, "tool.run", format!("shell {token}"))
    });
    drop(audit);
    let text = fs::read_to_string(world.file()).unwrap();
    assert!(!text.contains("a1B2c3") && !text.contains("hunter2") && text.contains("[REDACTED]"), "{text}");
    assert!(world.report().is_valid());
    use std::os::unix::fs::PermissionsExt as _;
    for path in [world.file(), world.place().key, world.place().folder] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn recording_is_cheap() {
    const COUNT: i64 = 5_000;
    let world = World::new();
    let audit = world.audit();
    audit.record(entry(0));
    let entries: Vec<Entry> = (0..COUNT).map(entry).collect();
    let started = Instant::now();
    entries.into_iter().for_each(|entry| audit.record(entry));
    let each = started.elapsed() / u32::try_from(COUNT).unwrap();
    audit.flush().unwrap();
    assert!(each.as_micros() < 20, "{each:?} for each");
}
