//! Whatever happens to its files, the knowledge is right afterwards or says what is wrong.

use std::sync::atomic::AtomicBool;

use weft_knowledge::{Knowledge, KnowledgeError, Run};

use crate::world::{NOW, World, all, hits};

fn world() -> World {
    let world = World::new();
    for number in 0..20 {
        world.write(&format!("src/m{number}.rs"), &format!("pub fn handle_{number}() {{ parse(); }}\n"));
    }
    world
}

#[test]
fn what_was_made_before_serves_while_it_is_made_anew() {
    let world = World::new();
    for number in 0..700 {
        world.write(&format!("m{number}.py"), &format!("def handle_{number}():\n    pass\n"));
    }
    let (mut writer, _) = world.index();
    let mut reader = world.open();
    let found = |reader: &Knowledge| hits(reader, "handle_7").first().cloned();
    let (stop, mut told) = (AtomicBool::new(false), 0);
    let mut tell = |progress: weft_knowledge::Progress| {
        told = progress.files;
        reader.refresh().unwrap();
        assert_eq!(found(&reader).as_deref(), Some("m7.py:1"), "after {told}");
    };
    writer.rebuild_with(Run { now: NOW, stop: &stop, tell: &mut tell }).unwrap();
    assert_eq!(told, 700);
    reader.refresh().unwrap();
    for knowledge in [&reader, &writer, &world.open()] {
        assert_eq!(found(knowledge).as_deref(), Some("m7.py:1"));
        assert!(knowledge.status().unwrap().up_to_date);
    }
    // Stopped at once, it leaves what was there.
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.rebuild_with(Run { now: NOW, stop: &stop, tell: &mut |_| {} }).unwrap();
    assert_eq!(found(&writer).as_deref(), Some("m7.py:1"));
    assert!(world.open().status().unwrap().up_to_date);
}

/// Files of the index in which a word stands, whatever the case of its letters.
fn files_with(folder: &std::path::Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path)
                .unwrap()
                .to_ascii_lowercase()
                .windows(word.len())
                .any(|at| at == word.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn what_is_deleted_leaves_no_word_behind() {
    let world = world();
    world.write("src/quokka.rs", "/// The zanzibarquokka.\npub fn zanzibarquokka_open() { marzipanolith(); }\n");
    world.write("quokka/guide.md", "# Zanzibarquokka\n\nIt is fed with marzipanolith.\n");
    let (mut knowledge, _) = world.index();
    let read = ["quokka/guide.md".to_owned()].map(|path| (path.clone(), world.hash(&path)));
    let answer = weft_knowledge::NewAnswer {
        intent: weft_knowledge::Intent::Explain,
        subject: None,
        question: "How are they fed?".to_owned(),
        answer: "With marzipanolith.".to_owned(),
        sources: read.to_vec(),
        confidence: 0.9,
    };
    knowledge.keep_answer(&answer, NOW).unwrap().unwrap();
    for word in ["zanzibarquokka", "marzipanolith"] {
        assert!(!files_with(&world.kept(), word).is_empty(), "{word}");
    }
    std::fs::remove_dir_all(world.folder.path().join("quokka")).unwrap();
    std::fs::remove_file(world.folder.path().join("src/quokka.rs")).unwrap();
    assert_eq!(crate::world::index(&mut knowledge).removed, 2);
    let check = |what: &str| {
        for word in ["zanzibarquokka", "marzipanolith", "quokka"] {
            assert_eq!(files_with(&world.kept(), word), Vec::<String>::new(), "{word} {what}");
        }
    };
    check("while it is open");
    drop(knowledge);
    check("afterwards");
    // A watcher's run leaves it to the next whole one.
    world.write("src/quokka.rs", "/// The zanzibarquokka.\npub fn zanzibarquokka_open() {}\n");
    let (mut knowledge, _) = world.index();
    let path = world.folder.path().canonicalize().unwrap().join("src/quokka.rs");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(crate::world::update(&mut knowledge, &[path]).removed, 1);
    crate::world::index(&mut knowledge);
    check("after a watcher");
    assert_eq!(hits(&knowledge, "handle_7").first().map(String::as_str), Some("src/m7.rs:1"));
    assert!(knowledge.status().unwrap().up_to_date);
}

#[test]
fn a_list_of_files_that_a_power_cut_emptied_costs_nothing() {
    let world = world();
    drop(world.index());
    let folder = world.kept().join("text");
    let segments = || {
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.contains('.') && !name.starts_with('.')).collect();
        names.sort();
        names
    };
    for cut in ["", "[\"meta.js"] {
        let before = segments();
        std::fs::write(folder.join(".managed.json"), cut).unwrap();
        let knowledge = world.open();
        assert_eq!(segments(), before, "not one file is made anew");
        assert!(knowledge.notices().is_empty() && knowledge.status().unwrap().up_to_date);
        assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
    }
    // What no commit names any more is still removed.
    std::fs::write(folder.join(".managed.json"), "").unwrap();
    let before = segments();
    for number in 0..20 {
        world.write(&format!("src/m{number}.rs"), &format!("pub fn other_{number}() {{}}\n"));
    }
    let (knowledge, _) = world.index();
    assert_eq!(hits(&knowledge, "other_7")[0], "src/m7.rs:1");
    let left: Vec<String> = segments().into_iter().filter(|name| before.contains(name)).collect();
    assert_eq!(left, ["meta.json"]);
}

#[test]
fn missing_and_damaged_indexes_are_made_anew() {
    let world = world();
    let known = {
        let (knowledge, _) = world.index();
        all(&knowledge)
    };
    for part in ["text", "vectors"] {
        std::fs::remove_dir_all(world.kept().join(part)).unwrap();
        let knowledge = world.open();
        assert!(knowledge.status().unwrap().up_to_date, "{part} missing");
        assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
        drop(knowledge);
        let folder = world.kept().join(part);
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_file() {
                std::fs::write(entry.path(), b"damage").unwrap();
            }
        }
        let knowledge = world.open();
        assert!(knowledge.status().unwrap().up_to_date, "{part} damaged");
        assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
        assert_eq!(all(&knowledge), known);
    }
}

#[test]
fn a_damaged_database_is_put_aside() {
    let world = world();
    drop(world.index());
    for name in ["knowledge.db", "knowledge.db-wal", "knowledge.db-shm"] {
        let path = world.kept().join(name);
        if path.exists() {
            std::fs::write(path, b"this is no database at all, whatever its name says").unwrap();
        }
    }
    let knowledge = world.open();
    assert!(knowledge.notices().iter().any(|notice| notice.contains("damaged")), "{:?}", knowledge.notices());
    drop(knowledge);
    let (knowledge, _) = world.index();
    assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
}

#[test]
fn a_newer_version_is_refused() {
    let world = world();
    drop(world.index());
    let connection = weft_store::connect_derived(&world.kept().join("knowledge.db")).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    let error = Knowledge::open(&world.places(), world.folder.path()).err().unwrap();
    assert!(matches!(error, KnowledgeError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn indexes_of_a_newer_version_or_that_the_disk_does_not_give_out_are_left_alone() {
    let world = world();
    drop(world.index());
    let head = world.kept().join("vectors/head");
    let sound = std::fs::read(&head).unwrap();
    let mut newer = sound.clone();
    newer[8..12].copy_from_slice(&99_u32.to_le_bytes());
    std::fs::write(&head, &newer).unwrap();
    let open = || Knowledge::open(&world.places(), world.folder.path());
    let error = open().err().unwrap();
    assert!(matches!(error, KnowledgeError::Newer { found: 99, known: 1 }), "{error}");
    assert_eq!(std::fs::read(&head).unwrap(), newer, "nothing was changed");
    std::fs::write(&head, &sound).unwrap();
    let meta = world.kept().join("text/meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    std::fs::write(&meta, text.replace("weft-text-3 ", "weft-text-99 ")).unwrap();
    assert!(matches!(open().err().unwrap(), KnowledgeError::Newer { found: 99, known: 3 }));
    std::fs::write(&meta, &text).unwrap();
    // A folder in the place of a file gives an error that is no damage.
    std::fs::rename(&head, world.kept().join("vectors/head.away")).unwrap();
    std::fs::create_dir(&head).unwrap();
    assert!(matches!(open().err().unwrap(), KnowledgeError::Io { .. }));
    std::fs::remove_dir(&head).unwrap();
    std::fs::rename(world.kept().join("vectors/head.away"), &head).unwrap();
    assert_eq!(hits(&open().unwrap(), "handle_7")[0], "src/m7.rs:1");
}

#[test]
fn words_are_found_where_the_model_is_damaged() {
    let world = world();
    drop(world.index());
    let models = world.home.path().join("models");
    std::fs::create_dir_all(&models).unwrap();
    for name in ["wordllama-256.safetensors", "wordllama-256.tables"] {
        std::fs::write(models.join(name), b"not a model").unwrap();
    }
    let knowledge = world.open();
    assert!(
        knowledge.notices().iter().any(|notice| notice.contains("weft knowledge setup")),
        "{:?}",
        knowledge.notices()
    );
    assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
}

#[test]
fn a_stopped_run_is_gone_on_with() {
    let world = world();
    let mut knowledge = world.open();
    let stop = AtomicBool::new(true);
    let report = knowledge.index(None, Run { now: NOW, stop: &stop, tell: &mut |_| {} }).unwrap();
    assert!(report.stopped && knowledge.status().unwrap().up_to_date);
    drop(knowledge);
    let (knowledge, report) = world.index();
    assert_eq!((report.files, report.stopped), (20, false));
    assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
}

#[test]
fn two_writers_are_one_too_many() {
    let world = world();
    let (mut knowledge, _) = world.index();
    let path = world.kept().join("lock");
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    world.write("new.rs", "fn new_one() {}\n");
    let run = Run { now: NOW, stop: &AtomicBool::new(false), tell: &mut |_| {} };
    assert!(matches!(knowledge.index(None, run), Err(KnowledgeError::Busy)));
    assert_eq!(hits(&knowledge, "handle_7")[0], "src/m7.rs:1");
}
