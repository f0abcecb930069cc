use super::*;

fn from_sqlite(code: std::ffi::c_int) -> StoreError {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None).into()
}

#[test]
fn a_full_disk_is_called_so_however_sqlite_puts_it() {
    use rusqlite::ffi::{SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
    assert!(matches!(from_sqlite(SQLITE_FULL), StoreError::Full));
    for code in [SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE] {
        assert!(matches!(from_sqlite(code).with_space(|| Some(4_096)), StoreError::Full), "{code}");
        assert!(matches!(from_sqlite(code).with_space(|| Some(1 << 30)), StoreError::Io { .. }), "{code}");
        assert!(matches!(from_sqlite(code).with_space(|| None), StoreError::Io { .. }), "{code}");
    }
    let other = StoreError::Locked.with_space(|| Some(0));
    assert!(matches!(other, StoreError::Locked), "{other:?}");
}
