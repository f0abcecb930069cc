#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use std::sync::Barrier;

use super::*;
use crate::schema::MIGRATIONS;

const fn migration(version: u32, destructive: bool, sql: &'static str) -> Migration {
    Migration { version, destructive, sql }
}

const FIRST: &str = MIGRATIONS[0].sql;
const ADD: Migration = migration(2, false, "ALTER TABLE sessions ADD COLUMN colour TEXT");
const DROP: Migration = migration(3, true, "DROP TABLE partials");
const BROKEN: Migration = migration(3, true, "DROP TABLE partials; INSERT INTO nowhere VALUES (1)");

fn open(folder: &Path, migrations: &[Migration]) -> Result<(Connection, Option<Notice>), StoreError> {
    Opening {
        path: &folder.join("weft.db"),
        backups: &folder.join("backups"),
        locks: &folder.join("locks"),
        migrations,
        now: Timestamp(1_700_000_000_000),
    }
    .open()
}

fn has_table(connection: &Connection, name: &str) -> bool {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
    connection.query_row(sql, [name], |row| row.get::<_, u32>(0)).unwrap() > 0
}

#[test]
fn migrations_run_in_order_and_a_destructive_one_backs_up_first() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), &[migration(1, false, FIRST)]).unwrap();
    let (connection, _) = open(folder.path(), &[migration(1, false, FIRST), ADD, DROP]).unwrap();
    assert_eq!(version(&connection).unwrap(), 3);
    assert!(!has_table(&connection, "partials"));
    connection.prepare("SELECT colour FROM sessions").unwrap();
    let copies = backup::list(&folder.path().join("backups"));
    assert_eq!(copies.len(), 1);
    let copy = connect(&copies[0].path).unwrap();
    assert_eq!(version(&copy).unwrap(), 2, "taken right before the step that destroys");
    assert!(has_table(&copy, "partials"));
}

#[test]
fn a_new_database_needs_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), &[migration(1, false, FIRST), ADD, DROP]).unwrap();
    assert!(backup::list(&folder.path().join("backups")).is_empty());
}

#[test]
fn a_failed_migration_leaves_the_version_before_it() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), &MIGRATIONS[..2]).unwrap();
    let error = open(folder.path(), &[migration(1, false, FIRST), ADD, BROKEN]).unwrap_err();
    assert!(matches!(&error, StoreError::Unexpected { detail } if detail.contains("nowhere")), "{error}");
    let (connection, notice) = open(folder.path(), &[migration(1, false, FIRST), ADD]).unwrap();
    assert_eq!(version(&connection).unwrap(), 2);
    assert!(has_table(&connection, "partials"));
    assert_eq!(notice, None);
}

#[test]
fn first_openers_do_not_get_in_each_others_way() {
    let folder = tempfile::tempdir().unwrap();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let (connection, notice) = open(folder.path(), MIGRATIONS).unwrap();
                assert_eq!(version(&connection).unwrap(), crate::schema::known_version(MIGRATIONS));
                assert_eq!(notice, None);
            });
        }
    });
}

#[test]
fn a_file_that_claims_our_format_without_our_tables_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connect(&folder.path().join("weft.db")).unwrap();
    connection.execute_batch("CREATE TABLE other (x); PRAGMA user_version = 1").unwrap();
    drop(connection);
    let (_, notice) = open(folder.path(), MIGRATIONS).unwrap();
    let kept = notice.unwrap().kept;
    assert!(kept.file_name().unwrap().to_str().unwrap().starts_with("weft.db.damaged-20231114-221320"));
    assert!(has_table(&connect(&kept).unwrap(), "other"));
}

#[test]
fn sessions_of_an_earlier_version_get_the_flow_that_was_last_started_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let (connection, _) = open(folder.path(), &MIGRATIONS[..2]).unwrap();
    for n in [1, 2] {
        let row = "INSERT INTO sessions (n, id, seq, created_at, updated_at, status, turns, cost, tokens, asks, mode, \
                   workspace, agent, model) VALUES (?1, ?1, 3, 1, 1, 0, 1, 0, 0, 0, 0, '/w', 'weft', 'a/b')";
        connection.execute(row, [n]).unwrap();
    }
    let event = "INSERT INTO events (key, kind, at, data) VALUES (?1, ?2, 1, ?3)";
    for (seq, flow) in [(2, "site"), (7, "research")] {
        let data = format!(r#"{{"run":1,"flow":"{flow}"}}"#).into_bytes();
        connection.execute(event, rusqlite::params![crate::schema::event_key(2, seq).unwrap(), 50, data]).unwrap();
    }
    connection.execute(event, rusqlite::params![crate::schema::event_key(1, 1).unwrap(), 1, b"{}"]).unwrap();
    drop(connection);
    let (connection, _) = open(folder.path(), MIGRATIONS).unwrap();
    let flow = |n: i64| -> Option<String> {
        connection.query_row("SELECT flow FROM sessions WHERE n = ?1", [n], |row| row.get(0)).unwrap()
    };
    assert_eq!([flow(1), flow(2)], [None, Some("research".to_owned())]);
}
