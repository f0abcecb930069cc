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
    open(folder.path(), MIGRATIONS).unwrap();
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
