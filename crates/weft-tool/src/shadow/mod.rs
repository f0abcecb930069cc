//! A hidden history of each workspace, in and outside git: what the files were before a turn and
//! after it, so that every turn's changes can be seen and taken back, byte for byte.
//!
//! It lies in Weft's own folder. The workspace is only read, except by an undo, and the user's own
//! repository is neither used nor changed. What it keeps: contents, modes, links, empty folders,
//! names of any bytes. What it leaves out: what `.gitignore` names (unless a file tool changes it),
//! `.git`, and files that are too large, which are noted but cannot be brought back.
//!
//! Where to go next: `scan` looks at the workspace, `tree` and `objects` keep what was seen,
//! `turns` holds the pairs of before and after, `restore` puts things back.

mod apply;
mod index;
mod objects;
mod prune;
mod report;
mod restore;
mod scan;
mod tree;
mod turns;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use report::{FileChange, Shown, TurnChanges};
pub use restore::{Kept, Restored, Step};
use rustix::fs::{FlockOperation, flock};
pub use tree::{Difference, Id, Node};
pub use turns::{Look, TurnKey};

use index::{Index, Moment, Seen, Stat};
use objects::Objects;
use tree::Children;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Larger files are noted but not kept.
    pub largest_file: u64,
    /// A workspace with more is not gone through: only what file tools change is kept.
    pub most_files: usize,
    /// What one checkpoint may add; files beyond are noted but not kept.
    pub most_added: u64,
    /// How long turns can be taken back.
    pub keep_days: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { largest_file: 100 << 20, most_files: 200_000, most_added: 4 << 30, keep_days: 30 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ShadowError {
    #[error("{path}: {source}")]
    Disk { path: String, source: io::Error },
    #[error("what it would take is not kept any more")]
    Gone,
    #[error("nobody waits for it any more")]
    Abandoned,
    #[error("nothing was changed: {reason}")]
    Refused { reason: String },
}

impl ShadowError {
    fn disk(path: &Path, source: io::Error) -> Self {
        Self::Disk { path: path.display().to_string(), source }
    }
}

/// The histories of all workspaces.
pub struct Shadows {
    root: PathBuf,
    /// Weft's own files, should they lie in a workspace.
    aside: PathBuf,
    limits: Limits,
    open: Mutex<HashMap<PathBuf, Arc<Shadow>>>,
}

impl Shadows {
    /// Of larger ones no copy is kept.
    pub const fn largest_file(&self) -> u64 {
        self.limits.largest_file
    }

    /// `home` is Weft's data folder.
    pub fn new(home: &Path, limits: Limits) -> Self {
        Self { root: home.join("shadow"), aside: home.to_owned(), limits, open: Mutex::default() }
    }

    pub fn of(&self, workspace: &Path) -> Arc<Shadow> {
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let shadow = open.entry(workspace).or_insert_with_key(|workspace| {
            let folder = self.root.join(Id::of_file(workspace.as_os_str().as_bytes()).to_string());
            Arc::new(Shadow::new(folder, workspace.clone(), self.aside.clone(), self.limits.clone()))
        });
        Arc::clone(shadow)
    }
}

/// The history of one workspace. Every method blocks; call them where that is allowed.
pub struct Shadow {
    folder: PathBuf,
    workspace: PathBuf,
    aside: PathBuf,
    limits: Limits,
    /// Only what file tools change is kept.
    touched_only: bool,
    /// Counts the wishes for a checkpoint, so that one going-through serves all who wished before it
    /// began.
    wishes: AtomicU64,
    inner: Mutex<Option<Inner>>,
    /// After how many steps the process dies, in tests of what is left behind.
    #[cfg(test)]
    dies_after: AtomicU64,
    /// It does not die then, but its disk refuses.
    #[cfg(test)]
    lives_on: AtomicBool,
}

struct Inner {
    objects: Objects,
    index: Index,
    /// The index on disk that this one is.
    index_stat: Option<Stat>,
    /// The last wish that the index fulfils.
    fulfilled: u64,
    notices: Vec<String>,
}

/// Held while the history or the workspace is changed, against threads and against processes.
struct Held<'a> {
    inner: MutexGuard<'a, Option<Inner>>,
    _lock: File,
}

impl Shadow {
    fn new(folder: PathBuf, workspace: PathBuf, aside: PathBuf, limits: Limits) -> Self {
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        // Nobody wants all of their files read because a chat was opened at home.
        let touched_only = workspace.parent().is_none() || home.is_some_and(|home| home.starts_with(&workspace));
        let aside = aside.canonicalize().unwrap_or(aside);
        Self {
            folder,
            workspace,
            aside,
            limits,
            touched_only,
            wishes: AtomicU64::new(0),
            inner: Mutex::default(),
            #[cfg(test)]
            dies_after: AtomicU64::new(u64::MAX),
            #[cfg(test)]
            lives_on: AtomicBool::new(false),
        }
    }

    fn hold(&self) -> Result<Held<'_>, ShadowError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // What is in it was readable for its owner only, perhaps.
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|error| ShadowError::disk(&self.folder, error))?;
        let path = self.folder.join("lock");
        let failed = |error| ShadowError::disk(&path, error);
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        match &mut *inner {
            Some(inner) => {
                inner.objects.discard();
                inner.objects.refresh()?;
            }
            none => {
                let name = self.folder.join("workspace");
                fs::write(&name, self.workspace.as_os_str().as_bytes())
                    .map_err(|error| ShadowError::disk(&name, error))?;
                *none = Some(Inner {
                    objects: Objects::open(self.folder.join("packs"))?,
                    index: Index::new(),
                    index_stat: None,
                    fulfilled: 0,
                    notices: Vec::new(),
                });
            }
        }
        Ok(Held { inner, _lock: lock })
    }

    /// What the workspace is now. Afterwards the index says so.
    fn checkpoint(&self, held: &mut Held<'_>, wish: u64, abandoned: &AtomicBool) -> Result<Id, ShadowError> {
        let Some(inner) = &mut *held.inner else { return Err(ShadowError::Gone) };
        if self.touched_only {
            return Ok(Id::NONE);
        }
        let fulfils = self.wishes.load(Ordering::SeqCst);
        let path = self.folder.join("index");
        let on_disk = fs::metadata(&path).ok().map(|metadata| Stat::of(&metadata));
        if on_disk != inner.index_stat || on_disk.is_none() {
            inner.index = Index::read(&path).unwrap_or_else(Index::new);
            inner.index_stat = on_disk;
            inner.fulfilled = 0;
        }
        if inner.fulfilled >= wish && inner.index.root != Id::NONE {
            return Ok(inner.index.root);
        }
        let scanned = self.scan(inner, abandoned)?;
        if let Some(index) = scanned {
            inner.objects.commit()?;
            inner.index = index;
            // One that cannot be written is made again next time.
            inner.index_stat =
                inner.index.write(&path).ok().and_then(|()| fs::metadata(&path).ok()).map(|found| Stat::of(&found));
        }
        inner.fulfilled = fulfils;
        Ok(inner.index.root)
    }

    /// The index as it should be; `None` if it is that already.
    fn scan(&self, inner: &mut Inner, abandoned: &AtomicBool) -> Result<Option<Index>, ShadowError> {
        let started = Moment::now();
        let Some(found) = scan::walk(&self.workspace, &self.aside, &self.limits, inner.index.seen.len()) else {
            let reason = format!("it has more than {} files", self.limits.most_files);
            return Err(ShadowError::Refused { reason });
        };
        let mut same = found.len() == inner.index.seen.len() && inner.index.root != Id::NONE;
        let mut current = same;
        let mut left_out = Vec::new();
        let mut seen = HashMap::with_capacity(found.len());
        for found in found {
            if abandoned.load(Ordering::Relaxed) {
                return Err(ShadowError::Abandoned);
            }
            let stat = Stat::of(&found.metadata);
            let known = inner.index.seen.get(&found.path);
            let entry = match known {
                Some(known) if known.stat == stat && !known.doubtful => *known,
                _ => {
                    let path = self.workspace.join(std::ffi::OsStr::from_bytes(&found.path));
                    let node = if found.closed {
                        Some(scan::opaque(&found.metadata))
                    } else {
                        scan::look(&path, &found.metadata, &self.limits, &mut inner.objects)?
                    };
                    let Some(node) = node else {
                        same = false;
                        continue;
                    };
                    current = false;
                    same &= known.is_some_and(|known| known.node == node);
                    Seen::new(stat, node, started)
                }
            };
            if let Node::Opaque { .. } = entry.node {
                left_out.push(String::from_utf8_lossy(&found.path).into_owned());
            }
            seen.insert(found.path, entry);
        }
        inner.notices = report::left_out(&left_out).into_iter().collect();
        if same && current {
            return Ok(None);
        }
        let root = if same { inner.index.root } else { build(&seen, &mut inner.objects)? };
        Ok(Some(Index { root, seen }))
    }

    /// A place where the process can die.
    #[cfg(test)]
    fn step(&self) -> Result<(), ShadowError> {
        let left = self.dies_after.load(Ordering::SeqCst);
        self.dies_after.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 0 { Err(ShadowError::Gone) } else { Ok(()) }
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "only tests die here")]
    const fn step(&self) -> Result<(), ShadowError> {
        Ok(())
    }

    /// Whether it still cleans up after itself.
    #[cfg(test)]
    fn is_alive(&self) -> bool {
        self.lives_on.load(Ordering::SeqCst) || self.dies_after.load(Ordering::SeqCst) > 0
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests die here")]
    const fn is_alive(&self) -> bool {
        true
    }

    fn wish(&self) -> u64 {
        self.wishes.fetch_add(1, Ordering::SeqCst) + 1
    }
}

fn build(seen: &HashMap<Box<[u8]>, Seen>, objects: &mut Objects) -> Result<Id, ShadowError> {
    let mut root = Children::new();
    for (path, seen) in seen {
        tree::insert(&mut root, path, seen.node);
    }
    tree::store(&root, objects)
}

impl Held<'_> {
    fn objects(&mut self) -> Result<&mut Objects, ShadowError> {
        self.inner.as_mut().map(|inner| &mut inner.objects).ok_or(ShadowError::Gone)
    }
}

/// Writes a small file in one step. Folders on the way are for nobody else.
fn write_json(path: &Path, content: &impl serde::Serialize) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let temporary = path.with_extension("new");
    fs::write(&temporary, serde_json::to_vec(content)?)?;
    fs::rename(&temporary, path)
}

/// Whether a file is older than this many days.
fn is_older(metadata: &fs::Metadata, days: u64, now: i64) -> bool {
    now.saturating_sub(metadata.mtime()) > i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(86_400)
}

#[cfg(test)]
#[path = "shadow_tests.rs"]
mod tests;
