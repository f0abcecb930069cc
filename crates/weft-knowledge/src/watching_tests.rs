use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Filter, Knowledge, Places, Query};

const NOW: i64 = 1_900_000_000_000;

/// Waits until something is found by a word that stands nowhere else.
fn appears(places: &Places, root: &Path, word: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let query = Query { text: word.to_owned(), filter: Filter::default(), limit: 3, now: NOW };
        if Knowledge::open(places, root)
            .is_ok_and(|known| known.search(&query).is_ok_and(|answer| !answer.hits.is_empty()))
        {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// What a test does while a folder is watched.
fn while_watched(deeds: impl FnOnce(&Places, &Path)) {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = folder.path().canonicalize().unwrap();
    let places = Places::within(home.path());
    let mut watching = Knowledge::open(&places, &root).unwrap();
    let (stop, failed) = (AtomicBool::new(false), Mutex::new(None));
    std::thread::scope(|scope| {
        scope.spawn(|| *failed.lock().unwrap() = watching.watch(&stop, &|| NOW, &mut |_| {}).err());
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| deeds(&places, &root)));
        stop.store(true, Ordering::Relaxed);
        done.unwrap();
    });
    assert!(failed.into_inner().unwrap().is_none());
}

#[test]
fn what_changes_while_another_writes_is_taken_in_afterwards() {
    while_watched(|places, root| {
        std::fs::write(root.join("first.md"), "A zebrafinch sings.").unwrap();
        assert!(appears(places, root, "zebrafinch"));
        let mut other = Knowledge::open(places, root).unwrap();
        let lock = loop {
            match other.lock() {
                Ok(lock) => break lock,
                // The watch is still at the first.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        std::fs::write(root.join("second.md"), "A wallcreeper climbs.").unwrap();
        // Long enough for the watch to have tried.
        std::thread::sleep(Duration::from_millis(700));
        drop(lock);
        assert!(appears(places, root, "wallcreeper"));
    });
}

#[test]
fn folders_that_come_go_and_come_again_are_watched() {
    while_watched(|places, root| {
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/one.md"), "A zebrafinch sings.").unwrap();
        assert!(appears(places, root, "zebrafinch"));
        std::fs::write(root.join("a/b/two.md"), "A wallcreeper climbs.").unwrap();
        assert!(appears(places, root, "wallcreeper"), "a change in a folder that came later");
        std::fs::remove_dir_all(root.join("a")).unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/three.md"), "A nutcracker hides.").unwrap();
        assert!(appears(places, root, "nutcracker"), "a folder that was made again");
        std::fs::write(root.join("a/b/four.md"), "A hawfinch cracks.").unwrap();
        assert!(appears(places, root, "hawfinch"), "and a change in it");
    });
}

fn count(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().count() as u64
}

/// Waits until a word that stands nowhere else is found in these files and in no others.
fn is_in(places: &Places, root: &Path, word: &str, files: &[&str]) -> bool {
    let begun = Instant::now();
    let mut found: Vec<String> = Vec::new();
    while begun.elapsed() < Duration::from_secs(20) {
        let query = Query { text: word.to_owned(), filter: Filter::default(), limit: 300, now: NOW };
        let Ok(known) = Knowledge::open(places, root) else { continue };
        let hits = known.search(&query).map(|answer| answer.hits).unwrap_or_default();
        found = hits.into_iter().filter(|hit| hit.snippet.contains(word)).map(|hit| hit.path).collect();
        found.sort();
        // A hit whose file is gone is not shown; that nothing is kept of it shows in the count.
        let gone = || known.status().is_ok_and(|status| status.counts.files == count(root));
        if found == files && gone() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{word} is in {found:?}, not in {files:?}");
}

#[test]
fn renames_deletes_and_a_switch_of_branches_are_followed() {
    while_watched(|places, root| {
        let write = |name: &str, word: &str| std::fs::write(root.join(name), format!("The {word} sings.")).unwrap();
        write("one.md", "zebrafinch");
        assert!(is_in(places, root, "zebrafinch", &["one.md"]));
        std::fs::rename(root.join("one.md"), root.join("two.md")).unwrap();
        assert!(is_in(places, root, "zebrafinch", &["two.md"]));
        std::fs::remove_file(root.join("two.md")).unwrap();
        assert!(is_in(places, root, "zebrafinch", &[]));
        // Another branch: many files at once, some new, some others, some gone, some with what others had.
        let names: Vec<String> = (0..200).map(|number| format!("f{number:03}.md")).collect();
        names.iter().for_each(|name| write(name, "wallcreeper"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(is_in(places, root, "wallcreeper", &names));
        names[..150].iter().for_each(|name| write(name, "nutcracker"));
        names[150..190].iter().for_each(|name| std::fs::remove_file(root.join(name)).unwrap());
        assert!(is_in(places, root, "wallcreeper", &names[190..]));
        assert!(is_in(places, root, "nutcracker", &names[..150]));
    });
}

#[test]
fn what_builds_and_packages_fill_is_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["src/deep", "node_modules/x", "target/debug", ".git/objects", "out"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join(".gitignore"), "/out\n").unwrap();
    let mut folders: Vec<_> = crate::find::folders(folder.path());
    folders.sort();
    let inside: Vec<_> =
        folders.iter().map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(inside, ["", "src", "src/deep"]);
}
