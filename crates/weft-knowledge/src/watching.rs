//! Taking in changes as they are made. Changes that come within a moment are one batch, so that a
//! switch of branches is one update; renames are what went and what came.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher as _};

use crate::error::KnowledgeError;
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
        watcher.watch(&self.root, RecursiveMode::Recursive).map_err(failed)?;
        // What changed before the watch began.
        self.batch(None, stop, clock, told)?;
        while !stop.load(Ordering::Relaxed) {
            let mut batch = Batch::default();
            match receiver.recv_timeout(LOOK) {
                Ok(event) => batch.add(&self.root, event),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let begun = Instant::now();
            while begun.elapsed() < LONGEST_BATCH {
                match receiver.recv_timeout(QUIET) {
                    Ok(event) => batch.add(&self.root, event),
                    Err(_) => break,
                }
            }
            if batch.everything || batch.paths.len() > MANY {
                self.batch(None, stop, clock, told)?;
            } else if !batch.paths.is_empty() {
                self.batch(Some(batch.paths), stop, clock, told)?;
            }
        }
        Ok(())
    }

    fn batch(
        &mut self,
        paths: Option<BTreeSet<PathBuf>>,
        stop: &AtomicBool,
        clock: &dyn Fn() -> i64,
        told: &mut dyn FnMut(&Report),
    ) -> Result<(), KnowledgeError> {
        let run = Run { now: clock(), stop, tell: &mut |_| {} };
        let report = match paths {
            Some(paths) => {
                let paths = crate::find::wanted(&self.root, paths);
                self.update(&paths, run)
            }
            None => self.index(None, run),
        };
        match report {
            Ok(report) => told(&report),
            // Another process is writing: it takes in the same changes, or the next batch does.
            Err(KnowledgeError::Busy) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Batch {
    paths: BTreeSet<PathBuf>,
    /// Something was missed, or what is ignored has changed.
    everything: bool,
}

impl Batch {
    fn add(&mut self, root: &Path, event: notify::Result<notify::Event>) {
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
            if inside.components().any(|part| part.as_os_str() == ".git") {
                continue;
            }
            let name = path.file_name().unwrap_or_default();
            // What is ignored, or a folder that came or went whole: looking at everything settles it.
            self.everything |= name == ".gitignore" || name == ".ignore" || path.is_dir();
            self.paths.insert(path);
        }
    }
}
