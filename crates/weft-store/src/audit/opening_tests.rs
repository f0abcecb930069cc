#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines
)]
//! What is done to a log must still be seen after Weft has written to it again, and what a crash
//! leaves must never look like it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::json;
use weft_core::Timestamp;

use super::super::entry::{Category, Entry};
use super::super::files::SIGNATURE;
use super::super::*;
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

    fn write(&self, from: i64, to: i64) {
        let audit = Audit::open(self.place());
        (from..to).for_each(|number| audit.record(entry(number)));
    }

    fn report(&self) -> Report {
        Audit::open(self.place()).verify().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.place().segments().unwrap().pop().unwrap()
    }

    fn head(&self) -> PathBuf {
        self.place().folder.join("head.json")
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.file()).unwrap().lines().map(str::to_owned).collect()
    }

    fn set_lines(&self, lines: &[String]) {
        fs::write(self.file(), lines.join("\n") + "\n").unwrap();
    }

    /// Every file of the log and the key.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let folder = fs::read_dir(self.place().folder).unwrap().flatten().map(|entry| entry.path());
        let files = folder.chain([self.place().key]).filter(|path| path.is_file());
        files.map(|path| (path.strip_prefix(self.home.path()).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
    }

    fn with_state(state: &BTreeMap<PathBuf, Vec<u8>>) -> Self {
        let world = Self::new();
        fs::create_dir(world.place().folder).unwrap();
        state.iter().for_each(|(path, bytes)| fs::write(world.home.path().join(path), bytes).unwrap());
        world
    }
}

fn entry(number: i64) -> Entry {
    Entry {
        target: Some(format!("src/file{number}.rs")),
        ..Entry::new(Timestamp(1_700_000_000_000 + number * 1_000), Category::File, "tool.run", "write")
    }
}

/// A chain with right hashes, made by somebody without the key.
fn forged(from: u64, to: u64, mut previous: String) -> Vec<String> {
    let mut lines = Vec::new();
    for sequence in from..=to {
        let (line, hash) = entry(9_000).seal(sequence, &previous, u128::from(sequence)).unwrap();
        lines.push(line.trim_end().to_owned());
        previous = hash;
    }
    lines
}

/// What was done is seen at once, still seen after two more runs, and cannot be purged away.
fn seen_for_good(what: &str, event: &str, change: impl FnOnce(&World)) {
    let world = World::new();
    world.write(0, 8);
    world.write(8, 12);
    change(&world);
    assert!(!world.report().is_valid(), "{what}: not seen at once");
    for round in 0..3 {
        world.write(20 + round, 21 + round);
        let report = world.report();
        assert!(!report.is_valid(), "{what}: forgotten after {round}");
        let found = Audit::open(world.place()).query(&Filter { action: Some(event), ..Filter::default() }).unwrap();
        assert_eq!(found.len(), 1, "{what}: told once, after {round}: {report:?}");
        let told = report.problems.iter().any(|problem| problem.detail.contains("found when entry"));
        assert!(told, "{what}: {report:?}");
    }
    let purged = Audit::open(world.place()).purge(Timestamp(i64::MAX));
    assert!(matches!(purged, Err(AuditError::Damaged)), "{what}");
}

#[test]
fn what_was_done_is_still_seen_after_the_next_run() {
    let is_signature = |line: &String| line.starts_with(SIGNATURE);
    seen_for_good("rewritten without signatures", REWRITTEN, |world| {
        world.set_lines(&forged(1, 12, String::new()));
    });
    seen_for_good("cut, and the head removed", HEAD_LOST, |world| {
        world.set_lines(&world.lines()[..4]);
        fs::remove_file(world.head()).unwrap();
    });
    seen_for_good("rewritten, and the head removed", HEAD_LOST, |world| {
        world.set_lines(&forged(1, 12, String::new()));
        fs::remove_file(world.head()).unwrap();
    });
    seen_for_good("cut", TRUNCATED, |world| world.set_lines(&world.lines()[..4]));
    seen_for_good("a forged entry at the end", UNSIGNED, |world| {
        let mut lines = world.lines();
        let last = Recorded::parse(lines.iter().rfind(|line| !is_signature(line)).unwrap()).unwrap();
        lines.extend(forged(13, 14, last.entry_hash));
        world.set_lines(&lines);
    });
    seen_for_good("the last signature removed", SIGNATURE_LOST, |world| {
        let mut lines = world.lines();
        assert!(is_signature(&lines.pop().unwrap()));
        world.set_lines(&lines);
    });
    seen_for_good("the log removed", REMOVED, |world| fs::remove_dir_all(world.place().folder).unwrap());
    seen_for_good("the key removed", KEY_LOST, |world| fs::remove_file(world.place().key).unwrap());
    seen_for_good("the head changed", HEAD_LOST, |world| {
        let head = fs::read_to_string(world.head()).unwrap();
        fs::write(world.head(), head.replace("\"sequence_to\":12", "\"sequence_to\":4")).unwrap();
        world.set_lines(&world.lines()[..4]);
    });
}

/// A process that was killed after it had recorded a finding, at whatever moment, leaves a log of
/// which nothing else is told than what was done.
#[test]
fn a_kill_after_a_finding_adds_no_false_one() {
    let check = |what: &str, events: &[&str], change: &dyn Fn(&World)| {
        let world = World::new();
        world.write(0, 8);
        world.write(8, 12);
        change(&world);
        let audit = Audit::open(world.place());
        for number in 20..23 {
            audit.record(entry(number));
            audit.flush().unwrap();
            // As a kill leaves it: nothing was signed at the end.
            let killed = World::with_state(&world.state());
            killed.write(30, 32);
            let found = Audit::open(killed.place()).query(&Filter::default()).unwrap();
            let found = found.iter().filter(|entry| entry.event_type.starts_with("audit."));
            let found: Vec<&str> = found.map(|entry| entry.event_type.as_str()).collect();
            assert_eq!(found, events, "{what}, killed after {number}: {:?}", killed.report());
        }
    };
    check("cut", &[TRUNCATED], &|world| world.set_lines(&world.lines()[..4]));
    check("rewritten", &[REWRITTEN], &|world| {
        let mut lines = world.lines();
        lines.retain(|line| line.starts_with(SIGNATURE));
        lines.splice(1..1, forged(1, 12, String::new()));
        world.set_lines(&lines);
    });
    check("a forged entry at the end", &[UNSIGNED], &|world| {
        let mut lines = world.lines();
        let last = Recorded::parse(lines.iter().rfind(|line| !line.starts_with(SIGNATURE)).unwrap()).unwrap();
        lines.extend(forged(13, 14, last.entry_hash));
        world.set_lines(&lines);
    });
    check("the last signature removed", &[SIGNATURE_LOST], &|world| {
        let mut lines = world.lines();
        lines.pop();
        world.set_lines(&lines);
    });
    check("the head removed", &[HEAD_LOST], &|world| fs::remove_file(world.head()).unwrap());
    check("the key removed", &[KEY_LOST], &|world| fs::remove_file(world.place().key).unwrap());
    check("the log removed", &[REMOVED], &|world| fs::remove_dir_all(world.place().folder).unwrap());
}

#[test]
fn what_is_doubted_is_not_signed_for() {
    let world = World::new();
    world.write(0, 5);
    world.set_lines(&forged(1, 5, String::new()));
    world.write(5, 8);
    let lines = world.lines();
    let statements = lines.iter().filter_map(|line| line.strip_prefix(SIGNATURE));
    let covered: Vec<(u64, u64)> = statements
        .map(|text| serde_json::from_str::<Statement>(text).unwrap())
        .map(|statement| (statement.sequence_from, statement.sequence_to))
        .collect();
    assert_eq!(covered, [(6, 7), (8, 10)], "two findings at once, and then the three new ones");
}

#[test]
fn a_forged_entry_is_seen_while_a_process_writes() {
    let world = World::new();
    let audit = Audit::open(world.place());
    audit.record(entry(0));
    audit.flush().unwrap();
    let last = Recorded::parse(world.lines().last().unwrap()).unwrap();
    let mut lines = world.lines();
    lines.extend(forged(2, 2, last.entry_hash));
    world.set_lines(&lines);
    audit.record(entry(1));
    drop(audit);
    let report = world.report();
    assert!(report.problems.iter().any(|problem| problem.detail.contains("not written by Weft")), "{report:?}");
}

#[test]
fn a_line_with_more_behind_its_hash_is_seen() {
    let world = World::new();
    world.write(0, 3);
    let mut lines = world.lines();
    lines[1] = lines[1].replacen("\"}", "\",\"details\":{\"by\":\"somebody\"}}", 1);
    world.set_lines(&lines);
    assert!(!world.report().is_valid());
}

/// A crash at any byte behind what was synced leaves a log that verifies, then and after the next
/// runs.
#[test]
fn no_crash_looks_like_a_change() {
    for (synced, more) in [(0, 6), (1, 5), (98, 8)] {
        let world = World::new();
        let audit = Audit::open(world.place());
        let mut before = BTreeMap::new();
        if synced > 0 {
            (0..synced).for_each(|number| audit.record(entry(number)));
            audit.flush().unwrap();
            before = world.state();
        }
        (synced..synced + more).for_each(|number| audit.record(entry(number)));
        drop(audit);
        let file = world.file().strip_prefix(world.home.path()).unwrap().to_owned();
        let whole = fs::read(world.file()).unwrap();
        if synced == 0 {
            // As it is before the first line: a key, and a head that vouches for nothing.
            let key = Key::read(&world.place().key).unwrap().unwrap();
            begin(&world.place(), &key).unwrap();
            before = world.state();
            before.insert(file.clone(), Vec::new());
        }
        let from = before[&file].len();
        let ends = (from..whole.len()).filter(|at| *at == from || whole[at - 1] == b'\n');
        let near = ends.flat_map(|end| [end.saturating_sub(1).max(from), end, end + 1]);
        for cut in near.chain((from..=whole.len()).step_by(61)).chain([whole.len()]) {
            before.insert(file.clone(), whole[..cut].to_vec());
            let world = World::with_state(&before);
            let report = world.report();
            assert!(report.is_valid(), "cut at {cut} of {}: {report:?}", whole.len());
            world.write(200, 202);
            world.write(202, 203);
            let report = world.report();
            assert!(report.is_valid() && report.unsigned == 0, "after a run, cut at {cut}: {report:?}");
        }
    }
}

#[test]
fn a_start_that_was_cut_off_is_no_finding() {
    let check = |what: &str, made: &dyn Fn(&World)| {
        let world = World::new();
        fs::create_dir(world.place().folder).unwrap();
        made(&world);
        assert!(world.report().is_valid(), "{what}: {:?}", world.report());
        world.write(0, 2);
        let report = world.report();
        assert!(report.is_valid() && report.entries == 2, "{what}: {report:?}");
    };
    let start = |world: &World| {
        let (key, seed) = Key::make(&world.place().key).unwrap();
        begin(&world.place(), &key).unwrap();
        seed
    };
    check("only the folder", &|_| {});
    check("a head whose key was not kept", &|world| {
        start(world);
    });
    check("a head and a key", &|world| start(world).save(&world.place().key).unwrap());
    check("an empty file too", &|world| {
        start(world).save(&world.place().key).unwrap();
        fs::write(world.place().segment(1), "").unwrap();
    });
}

/// A log as versions before wrote it: lines without signatures of their own, and a head that does
/// not say how far signatures reach.
#[test]
fn an_older_log_goes_on_and_what_nothing_vouched_for_is_counted_for_good() {
    let world = World::new();
    fs::create_dir(world.place().folder).unwrap();
    let (key, seed) = Key::make(&world.place().key).unwrap();
    seed.save(&world.place().key).unwrap();
    let lines = forged(1, 5, String::new());
    let third = Recorded::parse(&lines[2]).unwrap();
    fs::write(world.place().segment(1), lines.join("\n") + "\n").unwrap();
    let head = Statement::new(Purpose::Head, "", 1, 3, &third.entry_hash).sign(&key);
    world.place().set_statement(&head).unwrap();
    let report = world.report();
    assert!(report.is_valid() && report.unsigned == 5, "{report:?}");
    world.write(10, 12);
    world.write(12, 14);
    let report = world.report();
    assert!(report.is_valid() && report.unsigned == 2, "entries 4 and 5 stay unvouched: {report:?}");
    let found = Audit::open(world.place()).query(&Filter { action: Some(UNVOUCHED), ..Filter::default() }).unwrap();
    assert_eq!(found[0].details, Some(json!({ "from": 4, "to": 5 })));
}

/// A head of an older version, kept by somebody who has not the key, must not let in lines of
/// theirs behind those that this version signed.
#[test]
fn an_old_head_excuses_nothing_that_follows_a_signed_line() {
    let old_log = || {
        let world = World::new();
        fs::create_dir(world.place().folder).unwrap();
        let (key, seed) = Key::make(&world.place().key).unwrap();
        seed.save(&world.place().key).unwrap();
        let lines = forged(1, 3, String::new());
        let third = Recorded::parse(&lines[2]).unwrap();
        fs::write(world.place().segment(1), lines.join("\n") + "\n").unwrap();
        let head = Statement::new(Purpose::Head, "", 1, 3, &third.entry_hash).sign(&key);
        world.place().set_statement(&head).unwrap();
        (world, head)
    };
    let forge_on = |world: &World| {
        let mut lines = world.lines();
        let last = Recorded::parse(lines.iter().rfind(|line| !line.starts_with(SIGNATURE)).unwrap()).unwrap();
        lines.extend(forged(last.sequence + 1, last.sequence + 2, last.entry_hash));
        world.set_lines(&lines);
    };
    let check = |what: &str, world: &World| {
        assert!(!world.report().is_valid(), "{what}: not seen at once");
        world.write(20, 22);
        let found = Audit::open(world.place()).query(&Filter { action: Some(UNSIGNED), ..Filter::default() }).unwrap();
        assert_eq!(found.len(), 1, "{what}: {:?}", world.report());
        assert!(!world.report().is_valid(), "{what}: forgotten");
    };
    let (world, head) = old_log();
    world.write(4, 6);
    world.place().set_statement(&head).unwrap();
    forge_on(&world);
    check("the old head put back", &world);

    // Killed before this version set a head of its own.
    let (world, head) = old_log();
    let audit = Audit::open(world.place());
    audit.record(entry(4));
    audit.flush().unwrap();
    let killed = World::with_state(&world.state());
    killed.place().set_statement(&head).unwrap();
    let lines = killed.lines();
    assert!(lines.len() == 4 && lines[3].contains("signature"), "{lines:?}");
    assert!(killed.report().is_valid(), "a kill alone is nothing: {:?}", killed.report());
    forge_on(&killed);
    check("forged after a kill", &killed);
}

/// Who reads a pipe that nobody writes to waits for ever, and so would every refusal that is recorded.
#[test]
fn pipes_in_the_place_of_files_hold_nobody_up() {
    let pipe = |path: &std::path::Path| {
        let _ = fs::remove_file(path);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    };
    let world = World::new();
    world.write(0, 3);
    pipe(&world.place().segment(999));
    world.write(3, 5);
    let report = world.report();
    assert!(report.is_valid() && report.entries == 5, "{report:?}");

    pipe(&world.head());
    assert!(!world.report().is_valid());
    world.write(5, 6);
    let report = world.report();
    assert!(report.problems.iter().any(|problem| problem.detail.contains("head.json was missing")), "{report:?}");

    let world = World::new();
    world.write(0, 3);
    pipe(&world.file());
    assert!(!world.report().is_valid(), "the log is gone");
}

/// Nor who writes: what would be written into is opened without waiting, and what is there instead is said.
#[test]
fn pipes_and_links_where_the_log_is_written_are_refused_by_name() {
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    let pipe = |path: &std::path::Path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    };
    let link = |path: &std::path::Path| std::os::unix::fs::symlink(elsewhere.path(), path).unwrap();
    let put: [&dyn Fn(&std::path::Path); 2] = [&pipe, &link];
    for put in put {
        for name in ["audit-000000000001.jsonl", "lock", "head.new"] {
            let world = World::new();
            let place = world.place();
            fs::create_dir_all(&place.folder).unwrap();
            put(&place.folder.join(name));
            let audit = Audit::open(place);
            audit.record(entry(1));
            let refused = audit.flush().unwrap_err();
            assert!(matches!(refused, AuditError::NotAFile { .. }), "{name}: {refused:?}");
            assert!(refused.to_string().contains(name), "{refused}");
        }
    }
    assert_eq!(elsewhere.as_file().metadata().unwrap().len(), 0);
}
