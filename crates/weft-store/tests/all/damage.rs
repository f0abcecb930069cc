//! A damaged database is found, kept aside, and replaced by the last good copy.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use weft_store::{Commit, ListFilter, Notice, Options, Store, StoreError};

use crate::support::*;

/// A home with a backup that holds session 1, and a database that holds sessions 1 and 2.
async fn home_with_backup() -> Home {
    let home = Home::new();
    let store = home.open();
    Session::started(&store, 1).await;
    store.backup().await.unwrap();
    let mut session = Session::started(&store, 2).await;
    for number in 0..100 {
        session.append(&store, vec![input(number, &"y".repeat(1_000))]).await.unwrap();
    }
    home
}

fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

/// Opens a damaged home, and expects session 1 back from the backup and the old file aside.
fn check_restored(home: &Home) -> Notice {
    let opened = Store::open(home.options()).unwrap();
    let notice = opened.notice.expect("a person must be told");
    let (backup, _) = notice.restored.clone().expect("there is a backup");
    assert!(backup.exists());
    assert!(notice.kept.exists());
    let text = notice.to_string();
    assert!(text.contains("damaged") && text.contains(&notice.kept.display().to_string()), "{text}");
    let ids: Vec<_> = opened.store.list(&ListFilter::default()).unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(ids, [id(1)]);
    assert_eq!(opened.store.check().unwrap(), Vec::<String>::new());
    drop(opened.store);
    home.open();
    notice
}

#[tokio::test]
async fn a_destroyed_header_is_healed() {
    let home = home_with_backup().await;
    overwrite(&home.database(), 0, &[0xaa; 200]);
    let notice = check_restored(&home);
    let kept = std::fs::read(notice.kept).unwrap();
    assert_eq!(kept[..200], [0xaa; 200], "kept as it was");
}

#[tokio::test]
async fn a_truncated_file_is_healed() {
    let home = home_with_backup().await;
    let file = OpenOptions::new().write(true).open(home.database()).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    check_restored(&home);
}

#[tokio::test]
async fn an_emptied_file_is_healed() {
    let home = home_with_backup().await;
    OpenOptions::new().write(true).open(home.database()).unwrap().set_len(0).unwrap();
    check_restored(&home);
}

#[tokio::test]
async fn damage_in_the_middle_is_met_later_and_healed_at_the_next_start() {
    let home = home_with_backup().await;
    let length = home.database().metadata().unwrap().len();
    // Everything from the middle on, but for the last pages, where new events go.
    let (from, upto) = (length / 2 / 4096 * 4096, length - 3 * 4096);
    overwrite(&home.database(), from, &vec![0x5a; (upto - from) as usize]);
    let met = match Store::open(home.options()) {
        Ok(opened) => {
            assert_eq!(opened.notice, None, "a few pages do not show it");
            opened.store.load(id(2)).map(drop)
        }
        Err(error) => Err(error),
    };
    let error = met.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("restores the last backup"));
    check_restored(&home);
    assert!(!home.files().iter().any(|name| name.ends_with(".check")));
}

#[tokio::test]
async fn a_damaged_backup_is_passed_over() {
    let home = home_with_backup().await;
    let bad = home.folder.path().join("backups/weft-29990101-000000.db");
    std::fs::write(&bad, vec![7; 9_000]).unwrap();
    std::fs::write(home.folder.path().join("backups/weft-29990101-000001.db"), "").unwrap();
    overwrite(&home.database(), 0, &[0; 4096]);
    let notice = check_restored(&home);
    assert_ne!(notice.restored.unwrap().0, bad);
}

#[tokio::test]
async fn without_a_backup_weft_starts_empty_and_says_where_the_old_one_is() {
    let home = Home::new();
    std::fs::write(home.database(), "this was a love letter, not a database").unwrap();
    let opened = Store::open(home.options()).unwrap();
    let notice = opened.notice.unwrap();
    assert_eq!(notice.restored, None);
    assert!(notice.to_string().contains("no usable backup"));
    assert_eq!(std::fs::read_to_string(&notice.kept).unwrap(), "this was a love letter, not a database");
    Session::started(&opened.store, 1).await;
}

#[tokio::test]
async fn a_suspicion_that_proves_unfounded_is_forgotten() {
    let home = home_with_backup().await;
    let marker = home.folder.path().join("weft.db.check");
    std::fs::write(&marker, "a crash somewhere").unwrap();
    let store = home.open();
    assert!(!marker.exists());
    assert_eq!(store.list(&ListFilter::default()).unwrap().len(), 2);
}

#[tokio::test]
async fn a_newer_database_is_refused_untouched() {
    let home = home_with_backup().await;
    rusqlite::Connection::open(home.database()).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let before = std::fs::read(home.database()).unwrap();
    let error = Store::open(home.options()).err().unwrap();
    assert!(matches!(error, StoreError::Newer { found: 999, .. }));
    assert!(error.to_string().contains("Update Weft"));
    assert!(std::fs::read(home.database()).unwrap() == before);
    assert!(!home.files().iter().any(|name| name.contains("damaged")));
}

#[test]
fn the_database_is_for_its_owners_eyes() {
    let home = Home::new();
    let store = home.open();
    drop(store);
    assert_eq!(home.database().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    // No process may make folders there, whoever runs the tests.
    let folder = Path::new("/proc/weft-home");
    let error = Store::open(Options {
        path: folder.join("weft.db"),
        backups: folder.join("backups"),
        locks: folder.join("locks"),
        commit: Commit::Thread,
    })
    .err()
    .unwrap();
    assert!(matches!(error, StoreError::Io { .. } | StoreError::ReadOnly), "{error}");
    assert!(error.to_string().contains("/proc/weft-home"), "{error}");
}

fn backup_name(store: &Store) -> String {
    store.backups()[0].path.file_name().unwrap().to_string_lossy().into_owned()
}

#[tokio::test]
async fn a_person_goes_back_to_a_backup_and_what_there_was_is_kept() {
    let home = home_with_backup().await;
    let store = home.open();
    let name = backup_name(&store);
    assert!(!store.go_back_to("../weft.db").unwrap() && !store.go_back_to("weft-20200101-000000.db").unwrap());
    assert_eq!(store.goes_back_to(), None);
    assert!(store.go_back_to(&name).unwrap());
    assert_eq!(store.goes_back_to(), Some(name));
    assert_eq!(store.list(&ListFilter::default()).unwrap().len(), 2, "nothing has happened yet");

    // Whoever comes while it is in use finds it as it was; the wish stays.
    let beside = Store::open(home.options()).unwrap();
    assert_eq!((beside.notice, beside.store.list(&ListFilter::default()).unwrap().len()), (None, 2));
    drop((store, beside.store));

    let opened = Store::open(home.options()).unwrap();
    let notice = opened.notice.expect("a person is told");
    assert!(notice.asked && notice.to_string().contains("as you asked"), "{notice}");
    let ids: Vec<_> = opened.store.list(&ListFilter::default()).unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!((ids, opened.store.goes_back_to()), (vec![id(1)], None));
    drop(opened.store);
    assert_eq!(Store::open(home.options()).unwrap().notice, None, "once");
    // What was put aside is whole: it can be put back by hand.
    std::fs::copy(&notice.kept, home.database()).unwrap();
    assert_eq!(home.open().list(&ListFilter::default()).unwrap().len(), 2);
}

#[tokio::test]
async fn a_wish_to_go_back_can_be_taken_back_and_a_damaged_backup_is_not_taken() {
    let home = home_with_backup().await;
    let store = home.open();
    let name = backup_name(&store);
    assert!(store.go_back_to(&name).unwrap());
    store.stay().unwrap();
    store.stay().unwrap();
    assert_eq!(store.goes_back_to(), None);
    assert!(store.go_back_to(&name).unwrap());
    // It is damaged between the wish and the start.
    overwrite(&store.backups()[0].path, 0, &[0xaa; 200]);
    assert!(!store.go_back_to(&name).unwrap());
    drop(store);
    let opened = Store::open(home.options()).unwrap();
    assert_eq!((opened.notice, opened.store.list(&ListFilter::default()).unwrap().len()), (None, 2));
    assert_eq!(opened.store.goes_back_to(), None, "it is not tried for ever");
}
