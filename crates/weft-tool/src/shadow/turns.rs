//! The pairs of before and after: a turn is begun before its first effect and finished after its
//! last. What is begun is on disk, so that a turn that a crash cut off is finished against what was
//! there when it began.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::index::Moment;
use super::report::{self, TurnChanges};
use super::tree::{self, Difference, Id, Node};
use super::{Held, Shadow, ShadowError, scan};

/// Which turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnKey {
    pub session: String,
    pub turn: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub before: Id,
    pub after: Option<Id>,
    began: Moment,
    /// The whole workspace was gone through.
    whole: bool,
    /// What file tools have changed, or are about to.
    touched: Vec<Vec<u8>>,
    /// What was there before, where going through the workspace does not come by.
    pub saved: Vec<(Vec<u8>, Node)>,
}

/// What was there at some moment.
#[derive(Debug, Clone)]
pub struct Look {
    before: Id,
    began: Moment,
    whole: bool,
    /// What the person should know about what is not kept.
    pub notices: Vec<String>,
}

impl Shadow {
    /// Keeps what is there now, before a turn changes anything. Ends early once nobody wants it any
    /// more, for a first look at a large workspace takes seconds.
    pub fn look(&self, abandoned: &AtomicBool) -> Result<Look, ShadowError> {
        let wish = self.wish();
        let mut held = self.hold()?;
        self.complete_restore(&mut held)?;
        let began = Moment::now();
        let (before, whole, notices) = match self.checkpoint(&mut held, wish, abandoned) {
            Ok(before) => {
                let notices = held.inner.as_ref().map(|inner| inner.notices.clone()).unwrap_or_default();
                (before, !self.touched_only, notices)
            }
            Err(ShadowError::Refused { reason }) => (Id::NONE, false, vec![report::not_whole(&reason)]),
            Err(error) => return Err(error),
        };
        Ok(Look { before, began, whole, notices })
    }

    /// A turn is about to change something. Only the first look of a turn counts, so that one that a
    /// crash cut off goes on from where it began.
    pub fn begin(&self, key: &TurnKey, look: &Look) -> Result<(), ShadowError> {
        let _held = self.hold()?;
        let path = self.record_path(key);
        if read(&path).is_some_and(|record| record.after.is_none()) {
            return Ok(());
        }
        let Look { before, began, whole, .. } = *look;
        write(&path, &Record { before, after: None, began, whole, touched: Vec::new(), saved: Vec::new() })
    }

    /// A file tool is about to change this file: it is kept even where it is ignored.
    pub fn touch(&self, key: &TurnKey, file: &Path) -> Result<(), ShadowError> {
        let Ok(file) = file.strip_prefix(&self.workspace) else { return Ok(()) };
        let file = file.as_os_str().as_bytes();
        let mut held = self.hold()?;
        let path = self.record_path(key);
        let Some(mut record) = read(&path) else { return Ok(()) };
        if file.is_empty() || record.touched.iter().any(|known| known == file) {
            return Ok(());
        }
        record.touched.push(file.to_vec());
        let objects = held.objects()?;
        if tree::lookup(record.before, file, objects)?.is_none() {
            self.save(&mut record, file, &mut held)?;
        }
        write(&path, &record)
    }

    /// Keeps something that going through the workspace does not come by, if it is older than the
    /// turn.
    fn save(&self, record: &mut Record, file: &[u8], held: &mut Held<'_>) -> Result<(), ShadowError> {
        let objects = held.objects()?;
        for path in tree::ancestors(file).chain([file]) {
            let Some((_, metadata)) = scan::find(&self.workspace, path) else { break };
            let is_older = !record.whole || Moment::created(&metadata) < record.began;
            if is_older
                && tree::lookup(record.before, path, objects)?.is_none()
                && let Some(seen) = scan::at(&self.workspace, path, &self.limits, objects)?
            {
                record.saved.push((path.to_vec(), seen.node));
            }
        }
        objects.commit()
    }

    /// Whether a turn has been begun and not finished.
    pub fn is_open(&self, key: &TurnKey) -> bool {
        read(&self.record_path(key)).is_some_and(|record| record.after.is_none())
    }

    /// What a turn has changed. `None` if nothing, or if it was not begun.
    pub fn finish(&self, key: &TurnKey) -> Result<Option<TurnChanges>, ShadowError> {
        let wish = self.wish();
        let mut held = self.hold()?;
        let path = self.record_path(key);
        let Some(mut record) = read(&path).filter(|record| record.after.is_none()) else { return Ok(None) };
        let after = match self.checkpoint(&mut held, wish, &AtomicBool::new(false)) {
            Ok(after) if record.whole => after,
            Ok(_) | Err(ShadowError::Refused { .. }) => record.before,
            Err(error) => return Err(error),
        };
        let (before, after) = self.settle(&record, after, key, &mut held)?;
        let objects = held.objects()?;
        objects.commit()?;
        let differences = tree::compare(before, after, objects)?;
        if differences.is_empty() {
            let _ = fs::remove_file(&path);
            return Ok(None);
        }
        record.before = before;
        record.after = Some(after);
        record.saved.clear();
        write(&path, &record)?;
        Ok(Some(report::changes(before, after, &differences, objects)))
    }

    /// Before and after with what going through the workspace did not come by, and without what
    /// this turn had nothing to do with.
    fn settle(
        &self,
        record: &Record,
        mut after: Id,
        key: &TurnKey,
        held: &mut Held<'_>,
    ) -> Result<(Id, Id), ShadowError> {
        let others = self.touched_by_others(key, record);
        let objects = held.objects()?;
        let mut before = record.before;
        for (path, node) in &record.saved {
            before = tree::set(before, path, Some(*node), objects)?;
        }
        for file in &record.touched {
            for path in tree::ancestors(file).chain([file.as_slice()]) {
                if record.whole && tree::lookup(after, path, objects)?.is_some() {
                    continue;
                }
                let now = scan::at(&self.workspace, path, &self.limits, objects)?;
                after = tree::set(after, path, now.map(|seen| seen.node), objects)?;
            }
        }
        let differences = tree::compare(before, after, objects)?;
        let rules_changed = differences.iter().any(|found| found.path.ends_with(b".gitignore"));
        for Difference { path, before: was, after: is } in differences {
            let foreign = others.contains(&path) && !record.touched.contains(&path);
            let kept = match (was, is) {
                _ if foreign => was,
                // It is only ignored from now on.
                (Some(_), None) if rules_changed => {
                    scan::at(&self.workspace, &path, &self.limits, objects)?.map(|seen| seen.node)
                }
                // It was there all along, and ignored.
                (None, Some(_)) if rules_changed && self.is_old(&path, record.began) => None,
                _ => continue,
            };
            after = tree::set(after, &path, kept, objects)?;
        }
        Ok((before, after))
    }

    fn is_old(&self, path: &[u8], began: Moment) -> bool {
        scan::find(&self.workspace, path).is_some_and(|(_, metadata)| Moment::changed(&metadata) < began)
    }

    /// Files that other sessions' tools changed while this turn went on.
    fn touched_by_others(&self, key: &TurnKey, record: &Record) -> HashSet<Vec<u8>> {
        let own = self.record_path(key);
        let mut touched = HashSet::new();
        for entry in fs::read_dir(self.folder.join("turns")).into_iter().flatten().flatten() {
            let recent = entry.metadata().is_ok_and(|metadata| Moment::changed(&metadata) >= record.began);
            let other = entry.path();
            if other == own {
                continue;
            }
            // One that is open counts however long ago it wrote last.
            if let Some(found) = read(&other).filter(|found| recent || found.after.is_none()) {
                touched.extend(found.touched);
            }
        }
        touched
    }

    fn record_path(&self, key: &TurnKey) -> PathBuf {
        self.folder.join("turns").join(format!("{}-{}.json", key.session, key.turn))
    }
}

pub(super) fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn write(path: &Path, record: &Record) -> Result<(), ShadowError> {
    let failed = |error| ShadowError::disk(path, error);
    super::write_json(path, record).map_err(failed)
}
