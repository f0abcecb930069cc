//! Copies that can be relied on.

use std::os::unix::fs::FileExt;

use weft_store::{Commit, Store, StoreError};

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_taken_under_load_is_whole_and_the_eleventh_evicts_the_first() {
    let home = Home::new();
    let store = home.open();
    assert_eq!(store.last_backup(), None);
    let mut session = Session::started(&store, 1).await;
    let writer = {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..200 {
                session.append(&store, vec![input(number, &"x".repeat(2_000))]).await.unwrap();
            }
        })
    };
    let mut taken = Vec::new();
    for _ in 0..11 {
        taken.push(store.backup().await.unwrap());
    }
    writer.await.unwrap();
    assert!(store.last_backup().is_some());
    let unique: std::collections::HashSet<_> = taken.iter().collect();
    assert_eq!(unique.len(), 11, "several in one second get names of their own");
    let folder = home.folder.path().join("backups");
    let mut left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.retain(|path| path.extension().is_some());
    assert_eq!(left.len(), 10);
    assert!(!taken[0].exists());
    assert!(taken[1..].iter().all(|path| path.exists()));

    // A backup is a database like any other.
    let elsewhere = Home::new();
    std::fs::copy(&taken[10], elsewhere.database()).unwrap();
    let restored = elsewhere.open();
    assert_eq!(restored.check().unwrap(), Vec::<String>::new());
    let state = restored.load(id(1)).unwrap();
    assert_eq!(restored.events(id(1), 0, 1_000).unwrap().len() as u64, state.seq);
}

#[tokio::test]
async fn a_failed_backup_leaves_nothing_behind() {
    let home = Home::new();
    let store = home.open();
    let mut session = Session::started(&store, 1).await;
    for number in 0..50 {
        session.append(&store, vec![input(number, &"z".repeat(2_000))]).await.unwrap();
    }
    let folder = home.folder.path().join("backups");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("weft-20200101-000000.db.part"), "left by a crash").unwrap();
    store.backup().await.unwrap();
    drop(store);

    let file = std::fs::OpenOptions::new().write(true).open(home.database()).unwrap();
    let middle = file.metadata().unwrap().len() / 2 / 4096 * 4096;
    file.write_all_at(&[0x5a; 8192], middle).unwrap();
    let store = home.open();
    let error = store.backup().await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(!store.check().unwrap().is_empty());
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains(".part")), "{names:?}");
    assert_eq!(names.len(), 2, "the good one and the lock: {names:?}");
    drop(store);
    assert!(Store::open(home.options()).unwrap().notice.is_some_and(|notice| notice.restored.is_some()));
}

#[tokio::test]
async fn memory_has_no_backups() {
    let store = Store::in_memory(Commit::Thread).unwrap();
    assert!(store.backup().await.is_err());
    assert_eq!(store.last_backup(), None);
}
