//! Bringing what is known up to what is on disk: which files are new, changed or gone, read by
//! several threads, put into the tables, each whole or not at all, and then into the indexes.
//!
//! Can be stopped or killed at any moment: what has been put in is whole, and the next run goes on
//! with the rest.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::answers::MANY_FILES;
use crate::error::KnowledgeError;
use crate::find;
use crate::ingest::{self, Found, Outcome, Read};
use crate::knowledge::Knowledge;
use crate::tables::{FileEntry, FileState};

/// Files read and not yet put in.
const WAITING: usize = 64;
const MOST_THREADS: usize = 8;
/// A file changed this shortly before it was read may be changed again without its time showing it.
const UNSURE_MS: i64 = 50;
/// Changes whenever files are taken apart in another way: then all are read again.
pub const READER: u32 = 8;
/// Files that are put in within so long are one transaction: what a kill takes back is read again.
const LONGEST_TRANSACTION: Duration = Duration::from_secs(1);
/// How often people are told how far it is.
const TELL: Duration = Duration::from_millis(100);

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    pub files: usize,
    pub of: usize,
    pub bytes: u64,
    /// All files are read; the indexes are brought up to date.
    pub finishing: bool,
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Report {
    /// Files that there are.
    pub files: usize,
    /// Files that were new or changed.
    pub changed: usize,
    pub removed: usize,
    /// Bytes of the files that were new or changed.
    pub bytes: u64,
    pub seconds: f64,
    /// It was stopped before it had seen everything.
    pub stopped: bool,
    /// Files that are not searched, and why.
    pub passed: Vec<(String, String)>,
    /// What could not be looked into.
    pub trouble: Vec<String>,
    /// Why what is new can be found by its words alone for now, as a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_meaning: Option<String>,
}

/// What to do with an interruption, the time and the progress.
pub struct Run<'a> {
    /// Milliseconds since 1970.
    pub now: i64,
    pub stop: &'a AtomicBool,
    pub tell: &'a mut dyn FnMut(Progress),
}

impl Knowledge {
    /// Looks at all files, or those in one folder, and takes in what is new.
    pub fn index(&mut self, within: Option<&Path>, run: Run<'_>) -> Result<Report, KnowledgeError> {
        let folder = within.map_or_else(|| Ok(self.root.clone()), |within| inside(&self.root, within))?;
        let seen = find::files(&self.root, &folder);
        self.bring_up_to(seen, &relative_prefix(&self.root, &folder), run)
    }

    /// Looks at these files and takes in what is new; nothing else of the folder is known afterwards.
    pub fn index_files(&mut self, files: &[PathBuf], run: Run<'_>) -> Result<Report, KnowledgeError> {
        let (mut found, mut trouble) = (Vec::new(), Vec::new());
        for path in files {
            match find::look(&self.root, path) {
                Some(file) => found.push(file),
                None => trouble.push(format!("{}: it is not there any more", path.display())),
            }
        }
        self.bring_up_to(find::Seen { files: found, trouble, unseen: Vec::new() }, "", run)
    }

    /// Takes in what was seen, and forgets what else is known under a prefix.
    fn bring_up_to(&mut self, seen: find::Seen, prefix: &str, run: Run<'_>) -> Result<Report, KnowledgeError> {
        let find::Seen { files: found, trouble, unseen } = seen;
        let mut known = self.tables.files()?;
        let is_current = self.tables.reader()? == Some(READER);
        if !is_current {
            for state in known.values_mut() {
                (state.hash, state.modified) = (None, i64::MIN);
            }
        }
        let there: HashSet<&str> = found.iter().map(|found| found.path.as_str()).collect();
        let gone: Vec<String> = known
            .iter()
            .filter(|(path, state)| {
                state.domain != crate::Domain::History
                    && path.starts_with(prefix)
                    && !there.contains(path.as_str())
                    // What could not be looked into may still be there.
                    && !unseen.iter().any(|folder| Path::new(path).starts_with(folder))
            })
            .map(|(path, _)| path.clone())
            .collect();
        let files = found.len();
        let Run { now, stop, tell } = run;
        let mut report = self.take_in(found, &gone, &known, Run { now, stop, tell: &mut *tell })?;
        if !report.stopped && self.tables.is_to_be_swept()? {
            match self.lock() {
                Ok(lock) => self.sweep(&lock)?,
                // The next run does it.
                Err(KnowledgeError::Busy) => {}
                Err(error) => return Err(error),
            }
        }
        if self.wants_renewal() && !report.stopped {
            let renewed = self.renew(Run { now, stop, tell });
            report.stopped = matches!(renewed, Ok(false));
            // Somebody else who is at it does as well.
            report.without_meaning = renewed.err().filter(|error| !matches!(error, KnowledgeError::Busy)).map(said);
        }
        if !is_current && !report.stopped && prefix.is_empty() {
            self.tables.set_reader(READER)?;
        }
        report.files = files;
        report.trouble = trouble;
        Ok(report)
    }

    /// Takes in these files alone, whatever became of them: a watcher's way.
    pub fn update(&mut self, paths: &[PathBuf], run: Run<'_>) -> Result<Report, KnowledgeError> {
        let (mut found, mut gone, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for path in paths {
            let Some(name) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) else { continue };
            if let Some(state) = self.tables.file(name)? {
                known.insert(name.to_owned(), state);
            }
            match find::look(&self.root, path) {
                Some(file) => found.push(file),
                None => {
                    // A folder that is gone took its files with it.
                    gone.extend(self.tables.paths_under(&format!("{name}/"))?);
                    if known.contains_key(name) {
                        gone.push(name.to_owned());
                    }
                }
            }
        }
        self.take_in(found, &gone, &known, run)
    }

    fn take_in(
        &mut self,
        found: Vec<Found>,
        gone: &[String],
        known: &HashMap<String, FileState>,
        mut run: Run<'_>,
    ) -> Result<Report, KnowledgeError> {
        let begun = Instant::now();
        let lock = self.lock()?;
        let mut report = Report::default();
        let (work, same): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|found| is_new(found, known.get(&found.path)));
        // What is not searched is told again: it still is not.
        report.passed.extend(same.iter().filter_map(|found| passed_before(found, known)));
        let put = self.put_all(&work, gone, known, &mut run, &mut report);
        // What a failure leaves open never was.
        self.tables.roll_back()?;
        put?;
        report.stopped = run.stop.load(Ordering::Relaxed);
        (run.tell)(Progress { files: work.len(), of: work.len(), bytes: report.bytes, finishing: true });
        if report.changed + report.removed > MANY_FILES {
            self.forget_answers()?;
        }
        self.catch_up(&lock)?;
        // Words are found from now on; what a slow model has to say may come later.
        if !report.stopped {
            let stop = run.stop;
            report.without_meaning = self.catch_up_slow(&lock, run).err().map(said);
            report.stopped = stop.load(Ordering::Relaxed);
        }
        report.seconds = begun.elapsed().as_secs_f64();
        report.passed.sort();
        Ok(report)
    }

    /// Files are read by several threads and put into the tables by this one, many in a transaction.
    fn put_all(
        &mut self,
        work: &[Found],
        gone: &[String],
        known: &HashMap<String, FileState>,
        run: &mut Run<'_>,
        report: &mut Report,
    ) -> Result<(), KnowledgeError> {
        if work.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.tables.begin()?;
        for path in gone {
            self.tables.remove(path)?;
            report.removed += 1;
        }
        let root = self.root.clone();
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MOST_THREADS).min(work.len());
        let (mut told, mut opened) = (Instant::now(), Instant::now());
        std::thread::scope(|scope| -> Result<(), KnowledgeError> {
            let (sender, receiver) = mpsc::sync_channel::<(usize, Read)>(WAITING);
            for _ in 0..threads {
                let (sender, next, root, stop) = (sender.clone(), &next, &root, run.stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(found) = work.get(index) else { break };
                        let hash = known.get(&found.path).and_then(|state| state.hash.as_deref());
                        // The other side is gone when putting in has failed.
                        if sender.send((index, ingest::read(root, found, hash))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut done = 0;
            for (index, read) in receiver {
                let Some(found) = work.get(index) else { continue };
                if matches!(read.outcome, Outcome::Same) {
                    report.passed.extend(passed_before(found, known));
                }
                self.put(found, read, known.contains_key(&found.path), run.now, report)?;
                done += 1;
                if opened.elapsed() > LONGEST_TRANSACTION {
                    self.tables.commit()?;
                    self.tables.begin()?;
                    opened = Instant::now();
                }
                if told.elapsed() > TELL {
                    told = Instant::now();
                    (run.tell)(Progress { files: done, of: work.len(), bytes: report.bytes, finishing: false });
                }
            }
            Ok(())
        })?;
        self.tables.commit()
    }

    fn put(
        &mut self,
        found: &Found,
        read: Read,
        was_known: bool,
        now: i64,
        report: &mut Report,
    ) -> Result<(), KnowledgeError> {
        let entry = |trouble, modified| FileEntry {
            path: &found.path,
            domain: read.domain,
            size: found.size,
            modified,
            hash: read.hash.as_deref(),
            trouble,
            indexed_at: now,
        };
        match &read.outcome {
            Outcome::Same => self.tables.touch(&found.path, found.modified, now)?,
            Outcome::Parsed(parsed) => {
                let cut = parsed.cut.as_ref().map(|cut| format!("is searched in part: {cut}"));
                self.tables.replace(&entry(cut.as_deref(), found.modified), Some(parsed))?;
                report.passed.extend(cut.map(|cut| (found.path.clone(), cut)));
                report.changed += 1;
                report.bytes += found.size;
            }
            Outcome::Passed(trouble) => {
                let modified = if trouble.passes { i64::MIN } else { found.modified };
                self.tables.replace(&entry(Some(&trouble.reason), modified), None)?;
                report.passed.push((found.path.clone(), trouble.reason.clone()));
            }
            Outcome::Gone if was_known => {
                self.tables.remove(&found.path)?;
                report.removed += 1;
            }
            Outcome::Gone => {}
        }
        Ok(())
    }
}

fn said(error: KnowledgeError) -> String {
    format!("What is new is found by its words alone until the next run: {error}")
}

/// Why a file that is as it was is not searched.
fn passed_before(found: &Found, known: &HashMap<String, FileState>) -> Option<(String, String)> {
    Some((found.path.clone(), known.get(&found.path)?.trouble.clone()?))
}

/// Whether a file has to be read: it is new, it looks changed, or it may have changed unseen.
fn is_new(found: &Found, known: Option<&FileState>) -> bool {
    known.is_none_or(|known| {
        known.size != found.size
            || known.modified != found.modified
            || known.modified.saturating_add(UNSURE_MS) >= known.indexed_at
    })
}

fn inside(root: &Path, within: &Path) -> Result<PathBuf, KnowledgeError> {
    let real = within.canonicalize().ok().filter(|real| real.starts_with(root));
    real.ok_or_else(|| KnowledgeError::NoFolder(within.display().to_string()))
}

/// The beginning of the paths in a folder of the workspace.
fn relative_prefix(root: &Path, folder: &Path) -> String {
    match folder.strip_prefix(root).ok().and_then(Path::to_str) {
        None | Some("") => String::new(),
        Some(name) if folder.is_dir() => format!("{name}/"),
        Some(name) => name.to_owned(),
    }
}

#[cfg(test)]
#[path = "indexing_tests.rs"]
mod tests;
