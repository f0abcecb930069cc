//! The knowledge of several folders in a program that runs for long: opened when first asked, kept
//! open, and brought up to what others have taken in since.
//!
//! Long work (taking in a folder, making indexes anew, watching) runs on a thread of its own, with a
//! handle of its own, so that questions are answered meanwhile. It says how far it is and can be
//! stopped at any moment.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;

use crate::error::KnowledgeError;
use crate::history::Memory;
use crate::indexing::{Progress, Report, Run};
use crate::knowledge::{Knowledge, Places};
use crate::tables::FILE_NAME;

/// Milliseconds since 1970.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

pub struct Shelf {
    places: Places,
    now: Now,
    open: Mutex<HashMap<PathBuf, Held>>,
    work: Mutex<HashMap<PathBuf, Works>>,
    memory: OnceLock<Arc<dyn Memory>>,
    /// When the past of a folder was last looked at in passing.
    remembered: Mutex<HashMap<PathBuf, i64>>,
}

/// One folder's knowledge, and the file it was opened from: another file means that it was made anew.
struct Held {
    file: (u64, u64),
    knowledge: Arc<Mutex<Knowledge>>,
}

/// What is under way for one folder.
#[derive(Default)]
struct Works {
    work: Option<Arc<Work>>,
    watch: Option<Arc<Work>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    Index,
    Rebuild,
    /// Vectors for another model.
    Renew,
    Watch,
}

/// How far a piece of work is, or what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkState {
    pub kind: WorkKind,
    pub running: bool,
    /// Files read; of a rebuild, pieces of text.
    pub done: usize,
    pub of: usize,
    pub bytes: u64,
    /// All files are read; the indexes are brought up to date.
    pub finishing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

struct Work {
    stop: AtomicBool,
    state: Mutex<WorkState>,
}

impl Work {
    fn begin(kind: WorkKind) -> Arc<Self> {
        let state =
            WorkState { kind, running: true, done: 0, of: 0, bytes: 0, finishing: false, report: None, error: None };
        Arc::new(Self { stop: AtomicBool::new(false), state: Mutex::new(state) })
    }

    fn is_running(&self) -> bool {
        locked(&self.state).running
    }

    fn tell(&self, progress: Progress) {
        let mut state = locked(&self.state);
        (state.done, state.of, state.bytes) = (progress.files, progress.of, progress.bytes);
        state.finishing = progress.finishing;
    }

    fn end(&self, result: Result<Option<Report>, KnowledgeError>) {
        let mut state = locked(&self.state);
        state.running = false;
        match result {
            Ok(report) => state.report = report.or_else(|| state.report.take()),
            Err(error) => state.error = Some(error.to_string()),
        }
    }
}

impl Shelf {
    pub fn new(places: Places, now: Now) -> Self {
        Self {
            places,
            now,
            open: Mutex::default(),
            work: Mutex::default(),
            memory: OnceLock::new(),
            remembered: Mutex::default(),
        }
    }

    /// Where sessions are read from. Without it there is no history.
    pub fn set_memory(&self, memory: Arc<dyn Memory>) {
        // The first one stays; a program has one home.
        let _ = self.memory.set(memory);
    }

    pub fn memory(&self) -> Option<Arc<dyn Memory>> {
        self.memory.get().cloned()
    }

    /// Brings the past of a folder up to the log, before somebody asks about it. Blocks.
    pub fn remember(&self, folder: &Path) -> Result<(), KnowledgeError> {
        let Some(memory) = self.memory.get() else { return Ok(()) };
        let root = Knowledge::root_around(&self.places, folder)?;
        // With a handle of its own, as all that writes.
        match Knowledge::open(&self.places, &root)?.remember(&**memory, self.now()) {
            // While somebody else writes, what is known already serves.
            Ok(_) | Err(KnowledgeError::Busy) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The same beside whatever else is done, and not more often than every few seconds.
    pub fn remember_soon(self: &Arc<Self>, folder: &Path) {
        const SELDOM_MS: i64 = 5_000;
        let now = self.now();
        let mut lately = locked(&self.remembered);
        if lately.get(folder).is_some_and(|at| (now - at).abs() < SELDOM_MS) {
            return;
        }
        lately.insert(folder.to_owned(), now);
        drop(lately);
        let (shelf, folder) = (Arc::clone(self), folder.to_owned());
        // Somebody who writes just now does it too, and where nothing is known there is nothing to do.
        let _ = std::thread::Builder::new().name("remember".to_owned()).spawn(move || shelf.remember(&folder).ok());
    }

    /// Looks for what contradicts each other, and says how many conflicts are new. Blocks.
    pub fn find_conflicts(&self, folder: &Path) -> Result<usize, KnowledgeError> {
        let mut knowledge = Knowledge::open_around(&self.places, folder)?;
        knowledge.find_conflicts(self.now(), &AtomicBool::new(false))
    }

    pub fn now(&self) -> i64 {
        (self.now)()
    }

    /// Asks what is known of a folder, or of the nearest one around it. Blocks.
    pub fn ask<T>(
        &self,
        folder: &Path,
        ask: impl FnOnce(&Knowledge) -> Result<T, KnowledgeError>,
    ) -> Result<T, KnowledgeError> {
        let root = Knowledge::root_around(&self.places, folder)?;
        let held = self.held(&root)?;
        let mut knowledge = locked(&held);
        // Made anew by somebody, or with another model: opened anew as well. While that is going on,
        // what is open serves.
        if knowledge.refresh().is_err()
            && let Ok(opened) = Knowledge::open(&self.places, &root)
        {
            *knowledge = opened;
        }
        ask(&knowledge)
    }

    fn held(&self, root: &Path) -> Result<Arc<Mutex<Knowledge>>, KnowledgeError> {
        let path = self.places.of(root).join(FILE_NAME);
        let file = path.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
        let file = file.map_err(|error| KnowledgeError::io("opening", &path, &error))?;
        let mut open = locked(&self.open);
        if let Some(held) = open.get(root).filter(|held| held.file == file) {
            return Ok(Arc::clone(&held.knowledge));
        }
        let knowledge = Knowledge::open(&self.places, root)?;
        if knowledge.wants_renewal() {
            self.renew(root);
        }
        let knowledge = Arc::new(Mutex::new(knowledge));
        open.insert(root.to_owned(), Held { file, knowledge: Arc::clone(&knowledge) });
        Ok(knowledge)
    }

    /// Takes in a folder. Where something is known of one around it, the folder becomes a part of that.
    pub fn index(self: &Arc<Self>, folder: &Path) -> Result<(), KnowledgeError> {
        let (mut knowledge, within) = Knowledge::open_for(&self.places, folder)?;
        let (now, memory) = (self.now(), self.memory.get().cloned());
        self.start(WorkKind::Index, knowledge.root().to_owned(), move |work| {
            let run = Run { now, stop: &work.stop, tell: &mut |progress| work.tell(progress) };
            let report = knowledge.index(within.as_deref(), run)?;
            if let Some(memory) = memory.filter(|_| !report.stopped) {
                knowledge.remember(&*memory, now)?;
            }
            Ok(Some(report))
        })
    }

    /// Makes the full-text and the vector index of a folder anew.
    pub fn rebuild(self: &Arc<Self>, folder: &Path) -> Result<(), KnowledgeError> {
        let mut knowledge = Knowledge::open_around(&self.places, folder)?;
        let now = self.now();
        self.start(WorkKind::Rebuild, knowledge.root().to_owned(), move |work| {
            let run = Run { now, stop: &work.stop, tell: &mut |progress| work.tell(progress) };
            knowledge.rebuild_with(run).map(|()| None)
        })
    }

    /// Makes the vectors of a folder anew for the model that is wanted now, while the old ones serve. Once
    /// for each time it is opened: what fails is told in its state and tried again with the next index run.
    fn renew(&self, root: &Path) {
        let (places, folder, now) = (self.places.clone(), root.to_owned(), self.now());
        // Where something else is under way, taking in files renews as well.
        let _ = self.start(WorkKind::Renew, root.to_owned(), move |work| {
            let mut knowledge = Knowledge::open(&places, &folder)?;
            let run = Run { now, stop: &work.stop, tell: &mut |progress| work.tell(progress) };
            knowledge.renew(run).map(|_| None)
        });
    }

    /// Takes in every change of a folder as it is made, until [`Shelf::unwatch`].
    pub fn watch(self: &Arc<Self>, folder: &Path) -> Result<(), KnowledgeError> {
        let mut knowledge = Knowledge::open_around(&self.places, folder)?;
        let now = Arc::clone(&self.now);
        self.start(WorkKind::Watch, knowledge.root().to_owned(), move |work| {
            let told = &mut |report: &Report| locked(&work.state).report = Some(report.clone());
            knowledge.watch(&work.stop, &*now, told).map(|()| None)
        })
    }

    /// Stops taking in or rebuilding. What has been done stays done.
    pub fn stop(&self, folder: &Path) -> Result<(), KnowledgeError> {
        self.end(folder, |works| works.work.clone())
    }

    pub fn unwatch(&self, folder: &Path) -> Result<(), KnowledgeError> {
        self.end(folder, |works| works.watch.clone())
    }

    fn end(&self, folder: &Path, which: fn(&Works) -> Option<Arc<Work>>) -> Result<(), KnowledgeError> {
        let root = Knowledge::root_around(&self.places, folder)?;
        if let Some(work) = locked(&self.work).get(&root).and_then(which) {
            work.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The last piece of work for a folder, and its watch.
    pub fn work(&self, folder: &Path) -> (Option<WorkState>, Option<WorkState>) {
        let Ok(root) = Knowledge::root_around(&self.places, folder) else { return (None, None) };
        let works = locked(&self.work);
        let state = |work: &Arc<Work>| locked(&work.state).clone();
        works.get(&root).map_or((None, None), |works| (works.work.as_ref().map(state), works.watch.as_ref().map(state)))
    }

    fn start(
        &self,
        kind: WorkKind,
        root: PathBuf,
        deed: impl FnOnce(&Work) -> Result<Option<Report>, KnowledgeError> + Send + 'static,
    ) -> Result<(), KnowledgeError> {
        let mut all = locked(&self.work);
        let works = all.entry(root).or_default();
        let place = if kind == WorkKind::Watch { &mut works.watch } else { &mut works.work };
        if place.as_ref().is_some_and(|work| work.is_running()) {
            return if kind == WorkKind::Watch { Ok(()) } else { Err(KnowledgeError::Busy) };
        }
        let work = Work::begin(kind);
        let own = Arc::clone(&work);
        let thread = std::thread::Builder::new().name("knowledge".to_owned());
        let spawned = thread.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| deed(&own)));
            own.end(result.unwrap_or(Err(KnowledgeError::GaveUp)));
        });
        spawned.map_err(|error| KnowledgeError::Io {
            action: "starting a thread".to_owned(),
            detail: error.to_string(),
        })?;
        *place = Some(work);
        Ok(())
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        for works in locked(&self.work).values() {
            for work in works.work.iter().chain(&works.watch) {
                work.stop.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// What a panic left is whole: every change here is one assignment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "shelf_tests.rs"]
mod tests;
