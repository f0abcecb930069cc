//! Copies of the database: made while it is in use, checked before they count, the newest ten kept.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use weft_core::Timestamp;

use crate::database::{connect, connect_backup, with_suffix};
use crate::error::StoreError;
use crate::plain;
use crate::schema::version;

/// So many copies are kept; older ones go.
pub const KEPT: usize = 10;
const STAMP: &str = "%Y%m%d-%H%M%S";
const UNFINISHED: &str = ".part";

/// A backup by its name. Ordered by age: the second that was made, then the copy within that second.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Copy {
    pub taken_at: Timestamp,
    counter: u32,
    pub path: PathBuf,
}

impl Copy {
    fn from_path(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_prefix("weft-")?.strip_suffix(".db")?;
        let (stamp, counter) = match name.match_indices('-').nth(1) {
            Some((at, _)) => (name.get(..at)?, name.get(at + 1..)?.parse().ok()?),
            None => (name, 1),
        };
        let time = DateTime::strptime(STAMP, stamp).ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(Self { taken_at: Timestamp(time.timestamp().as_millisecond()), counter, path })
    }
}

/// Newest first. A folder that is not there holds none.
pub(crate) fn list(folder: &Path) -> Vec<Copy> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut copies: Vec<_> = entries.flatten().filter_map(|entry| Copy::from_path(entry.path())).collect();
    copies.sort_unstable_by(|a, b| b.cmp(a));
    copies
}

/// The backup of this name. Only names that the list has count, so a name leads nowhere else.
pub(crate) fn named(folder: &Path, name: &str) -> Option<Copy> {
    list(folder).into_iter().find(|copy| copy.path.file_name().is_some_and(|found| found == name))
}

/// Copies the database into `folder`. One process does this at a time.
pub(crate) fn make(database: &Path, folder: &Path, now: Timestamp) -> Result<PathBuf, StoreError> {
    std::fs::create_dir_all(folder).map_err(|error| StoreError::io("creating", folder, &error))?;
    let _turn = exclusive(&folder.join(".lock"))?;
    remove_unfinished(folder);
    let stamp = stamp(now);
    let target = unused(|counter| match counter {
        1 => folder.join(format!("weft-{stamp}.db")),
        _ => folder.join(format!("weft-{stamp}-{counter}.db")),
    });
    let unfinished = with_suffix(&target, UNFINISHED);
    let copied = copy_and_check(database, &unfinished).and_then(|()| {
        std::fs::rename(&unfinished, &target).map_err(|error| StoreError::io("naming", &target, &error))?;
        sync_folder(folder)
    });
    if let Err(error) = copied {
        remove_unfinished(folder);
        return Err(error);
    }
    for old in list(folder).into_iter().skip(KEPT) {
        std::fs::remove_file(&old.path).map_err(|error| StoreError::io("removing", &old.path, &error))?;
    }
    Ok(target)
}

/// What is wrong with a database, in SQLite's words. Reads all of it.
pub(crate) fn problems(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let check = || {
        let mut check = connection.prepare("PRAGMA quick_check")?;
        check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
    };
    match check().map_err(StoreError::from) {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
        // Too damaged to be checked to the end.
        Err(StoreError::Corrupt { detail }) => Ok(vec![detail]),
        Err(error) => Err(error),
    }
}

/// Whether a backup can be restored by a Weft that knows formats up to `known`.
pub(crate) fn is_good(copy: &Path, known: u32) -> bool {
    let examine = || {
        let connection = connect_backup(copy)?;
        let found = version(&connection)?;
        Ok::<_, StoreError>((1..=known).contains(&found) && problems(&connection)?.is_empty())
    };
    examine().unwrap_or(false)
}

fn copy_and_check(database: &Path, target: &Path) -> Result<(), StoreError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target);
    let file = file.map_err(|error| StoreError::io("creating", target, &error))?;
    let source = connect(database)?;
    let mut copy = connect_backup(target)?;
    // All in one step: one view of the database, which writers are free to move on from.
    match Backup::new(&source, &mut copy)?.step(-1)? {
        StepResult::Done => {}
        StepResult::More | StepResult::Busy | StepResult::Locked => return Err(StoreError::Locked),
        _ => return Err(StoreError::Unexpected { detail: "the copy ended in an unknown way".to_owned() }),
    }
    // A backup is one file, without a log of its own beside it.
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    if let Some(problem) = problems(&copy)?.into_iter().next() {
        return Err(StoreError::Corrupt { detail: problem });
    }
    // An emptied database is sound, and would in time push out every good copy.
    if version(&copy)? == 0 {
        return Err(StoreError::Corrupt { detail: "it is empty".to_owned() });
    }
    drop(copy);
    file.sync_all().map_err(|error| StoreError::io("syncing", target, &error))
}

/// The first path of `name(1)`, `name(2)`, … that nothing has yet.
pub(crate) fn unused(name: impl Fn(u32) -> PathBuf) -> PathBuf {
    let mut counter = 1;
    while name(counter).exists() {
        counter += 1;
    }
    name(counter)
}

/// A moment as part of a file's name, in UTC.
pub(crate) fn stamp(now: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    moment.strftime(STAMP).to_string()
}

/// Only called by the one whose turn it is, so all that is unfinished was left by a crash or failed.
fn remove_unfinished(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(UNFINISHED)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Waits for its turn; the turn ends when the file is dropped.
pub(crate) fn exclusive(path: &Path) -> Result<File, StoreError> {
    plain::exclusive(path).map_err(|error| StoreError::io("locking", path, &error))
}

/// Makes a new name in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| StoreError::io("syncing", folder, &error))
}
