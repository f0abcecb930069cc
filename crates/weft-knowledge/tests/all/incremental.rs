//! After any changes, what is known is what a fresh look would know.

use std::path::PathBuf;

use proptest::prelude::*;
use weft_knowledge::{Domain, Filter, Kind};

use crate::world::{World, all, ask, hits, index, update};

#[derive(Debug, Clone)]
enum Change {
    Write(usize, usize),
    Remove(usize),
    Rename(usize, usize),
}

const PATHS: [&str; 6] = ["src/a.rs", "src/b.rs", "src/deep/c.py", "docs/d.md", "e.txt", "src/f.ts"];
const TEXTS: [&str; 6] = [
    "pub fn alpha() { beta(); }\n",
    "/// Doc.\npub struct Gamma;\nimpl Gamma { pub fn beta(&self) {} }\n",
    "def delta():\n    alpha()\n",
    "# Title\n\nSee `alpha` and 3.2.\n\n3.2 A numbered paragraph with words.\n",
    "",
    "export const epsilon = () => alpha();\n",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..PATHS.len(), 0..TEXTS.len()).prop_map(|(path, text)| Change::Write(path, text)),
        1 => (0..PATHS.len()).prop_map(Change::Remove),
        1 => (0..PATHS.len(), 0..PATHS.len()).prop_map(|(from, to)| Change::Rename(from, to)),
    ]
}

fn make(world: &World, change: &Change) -> Vec<PathBuf> {
    let path = |index: usize| world.folder.path().canonicalize().unwrap().join(PATHS[index]);
    match change {
        Change::Write(at, text) => {
            world.write(PATHS[*at], TEXTS[*text]);
            vec![path(*at)]
        }
        Change::Remove(at) => {
            let _ = std::fs::remove_file(path(*at));
            vec![path(*at)]
        }
        Change::Rename(from, to) => {
            std::fs::create_dir_all(path(*to).parent().unwrap()).unwrap();
            let _ = std::fs::rename(path(*from), path(*to));
            vec![path(*from), path(*to)]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn changes_leave_what_a_fresh_look_finds(batches in proptest::collection::vec((proptest::collection::vec(change(), 1..4), any::<bool>()), 1..6)) {
        let world = World::new();
        let mut knowledge = world.open();
        for (batch, by_path) in &batches {
            let mut paths = Vec::new();
            for change in batch {
                paths.extend(make(&world, change));
            }
            if *by_path { update(&mut knowledge, &paths) } else { index(&mut knowledge) };
        }
        let fresh = World { folder: world.folder, home: tempfile::tempdir().unwrap() };
        let (fresh, _) = fresh.index();
        prop_assert_eq!(all(&knowledge), all(&fresh));
        let (one, other) = (knowledge.status().unwrap(), fresh.status().unwrap());
        prop_assert!(one.up_to_date && other.up_to_date);
        prop_assert_eq!(one.counts, other.counts);
        for question in ["alpha", "numbered paragraph", "Gamma beta"] {
            let mut found = (hits(&knowledge, question), hits(&fresh, question));
            found.0.sort();
            found.1.sort();
            prop_assert_eq!(found.0, found.1);
        }
    }
}

#[test]
fn the_same_files_are_not_taken_in_again() {
    let world = World::new();
    world.write("a.rs", "fn one() {}\n");
    let (mut knowledge, first) = world.index();
    assert_eq!((first.files, first.changed), (1, 1));
    assert_eq!(index(&mut knowledge).changed, 0);
    std::fs::remove_file(world.folder.path().join("a.rs")).unwrap();
    let last = index(&mut knowledge);
    assert_eq!((last.files, last.removed), (0, 1));
    assert_eq!(knowledge.status().unwrap().counts, weft_knowledge::Counts::default());
    assert!(hits(&knowledge, "one").is_empty());
}

#[test]
fn a_filter_finds_as_many_as_there_are() {
    let world = World::new();
    for number in 0..300 {
        world.write(&format!("src/m{number}.rs"), &format!("fn handle_{number}() {{ parse_request(); }}\n"));
    }
    for number in 0..7 {
        world.write(&format!("docs/d{number}.md"), &format!("# Heading {number}\n\nNothing about that.\n"));
    }
    let (knowledge, _) = world.index();
    let documents = Filter { domains: vec![Domain::Documents], kinds: vec![Kind::Section], ..Filter::default() };
    assert_eq!(ask(&knowledge, "parse request handler", documents, 50).hits.len(), 7);
    let folder = Filter { path_prefix: Some("src/m29".to_owned()), ..Filter::default() };
    let found = ask(&knowledge, "heading", folder, 50);
    assert_eq!(found.hits.len(), 11, "{:?}", found.hits.iter().map(|hit| &hit.path).collect::<Vec<_>>());
}

#[test]
fn exact_names_and_paths_come_first_and_errors_are_forgiven() {
    let world = World::new();
    world.write("src/user.rs", "/// open open open\nfn uses() { open_store(); open_store(); }\n");
    world.write("src/store.rs", "pub struct Store;\nimpl Store {\n    pub fn open_store() {}\n}\n");
    world.write("docs/store.md", "# Store\n\n`open_store` opens the store. See 315.12.\n\n315.12 Stores are open.\n");
    let (knowledge, _) = world.index();
    assert_eq!(hits(&knowledge, "open_store")[0], "src/store.rs:3");
    assert_eq!(hits(&knowledge, "where is Store::open_store")[0], "src/store.rs:3");
    assert_eq!(hits(&knowledge, "opne_store")[0], "src/store.rs:3");
    assert_eq!(hits(&knowledge, "src/store.rs")[0].split(':').next(), Some("src/store.rs"));
    assert_eq!(hits(&knowledge, "315.12")[0], "docs/store.md:5");
    let callers = knowledge.callers("open_store", 1).unwrap();
    assert_eq!(callers.iter().map(|caller| caller.name.as_str()).collect::<Vec<_>>(), ["uses"]);
    assert_eq!(knowledge.documents_about("open_store").unwrap().len(), 1);
    assert!(knowledge.callers("nothing_like_it", 1).is_err());
}

#[test]
fn ignored_files_links_and_strange_names_are_survived() {
    let world = World::new();
    world.write(".gitignore", "ignored/\n");
    world.write("ignored/a.rs", "fn secret_place() {}\n");
    world.write("node_modules/b.js", "function other() {}\n");
    world.write("good.rs", "fn good() {}\n");
    std::os::unix::fs::symlink(world.folder.path(), world.folder.path().join("loop")).unwrap();
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff.rs");
    std::fs::write(world.folder.path().join(odd), "fn odd() {}\n").unwrap();
    let (knowledge, report) = world.index();
    assert!(report.files <= 3, "{report:?}");
    assert!(hits(&knowledge, "secret_place").iter().all(|place| !place.starts_with("ignored")));
    assert_eq!(hits(&knowledge, "good")[0], "good.rs:1");
}
