//! Taking in changes as they are made. Changes that come within a moment are one batch, so that a
//! switch of branches is one update; renames are what went and what came.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode};

use crate::error::KnowledgeError;
use crate::find;
use crate::indexing::{Report, Run};
use crate::knowledge::Knowledge;

/// A batch ends when nothing has changed for so long.
const QUIET: Duration = Duration::from_millis(100);
/// Where it never gets quiet, a batch ends all the same.
const LONGEST_BATCH: Duration = Duration::from_secs(2);
/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(200);
/// With more paths than this, looking at everything is quicker than at each.
const MANY: usize = 1000;

impl Knowledge {
    /// Watches the folder until it is told to stop. `told` hears of every batch.
    pub fn watch(
        &mut self,
        stop: &AtomicBool,
        clock: &dyn Fn() -> i64,
        told: &mut dyn FnMut(&Report),
    ) -> Result<(), KnowledgeError> {
        let (sender, receiver) = mpsc::channel();
        let send = move |event: notify::Result<notify::Event>| {
            // Nobody listens any more when the watch has ended.
            let _ = sender.send(event);
        };
        let failed = |error: notify::Error| KnowledgeError::Io {
            action: "watching the folder".to_owned(),
            detail: error.to_string(),
        };
        let mut watcher = notify::recommended_watcher(send).map_err(failed)?;
        let mut watched: HashSet<PathBuf> = HashSet::new();
        // What changed before the watch began.
        let mut batch = Batch { everything: true, ..Batch::default() };
        while !stop.load(Ordering::Relaxed) {
            if batch.everything {
                // Folders that came are watched before they are looked into, so that nothing falls in between.
                for folder in find::folders(&self.root) {
                    if !watched.contains(&folder) && watch(&mut watcher, &folder).map_err(failed)? {
                        watched.insert(folder);
                    }
                }
            }
            // Where another process writes, the same is tried again until it has gone in.
            if !batch.is_empty() && self.take_in_batch(&batch, stop, clock, told)? {
                batch = Batch::default();
            }
            match receiver.recv_timeout(LOOK) {
                Ok(event) => batch.add(&self.root, event, &mut watched),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let begun = Instant::now();
            while begun.elapsed() < LONGEST_BATCH {
                match receiver.recv_timeout(QUIET) {
                    Ok(event) => batch.add(&self.root, event, &mut watched),
                    Err(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Whether it went in: not while somebody else writes.
    fn take_in_batch(
        &mut self,
        batch: &Batch,
        stop: &AtomicBool,
        clock: &dyn Fn() -> i64,
        told: &mut dyn FnMut(&Report),
    ) -> Result<bool, KnowledgeError> {
        let run = Run { now: clock(), stop, tell: &mut |_| {} };
        let report = if batch.everything || batch.paths.len() > MANY {
            self.index(None, run)
        } else {
            let paths = find::wanted(&self.root, batch.paths.clone());
            self.update(&paths, run)
        };
        match report {
            Ok(report) => told(&report),
            Err(KnowledgeError::Busy) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

/// Watches one folder, without those in it: what builds and packages fill is not worth watching, and
/// there are only so many watches. Nothing for a folder that is gone by now.
fn watch(watcher: &mut impl notify::Watcher, folder: &Path) -> notify::Result<bool> {
    match watcher.watch(folder, RecursiveMode::NonRecursive) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) || !folder.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

#[derive(Default)]
struct Batch {
    paths: BTreeSet<PathBuf>,
    /// Something was missed, or what is ignored has changed.
    everything: bool,
}

impl Batch {
    fn is_empty(&self) -> bool {
        !self.everything && self.paths.is_empty()
    }

    fn add(&mut self, root: &Path, event: notify::Result<notify::Event>, watched: &mut HashSet<PathBuf>) {
        let Ok(event) = event else {
            self.everything = true;
            return;
        };
        self.everything |= event.need_rescan();
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in event.paths {
            let inside = path.strip_prefix(root).unwrap_or(&path);
            if inside.components().any(|part| find::is_passed(part.as_os_str().to_str())) {
                continue;
            }
            let name = path.file_name().unwrap_or_default();
            // A folder of that name is another one than before: the watch on the old one went with it.
            let is_folder = path.is_dir() || watched.contains(&path);
            if is_folder && inside != Path::new("") {
                watched.retain(|folder| !folder.starts_with(&path));
            }
            // What is ignored, or a folder that came or went whole: looking at everything settles it.
            self.everything |= name == ".gitignore" || name == ".ignore" || is_folder;
            self.paths.insert(path);
        }
    }
}

#[cfg(test)]
#[path = "watching_tests.rs"]
mod tests;
