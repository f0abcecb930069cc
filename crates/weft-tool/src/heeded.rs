//! What git reads as settings or runs, wherever in a workspace its repositories say that it is: files of that
//! kind belong to git like those in `.git`. The sandbox holds commands to the same list.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use weft_sandbox::repository;

/// Commands can change next to nothing of what is heeded, so it need not be looked for anew before each call.
const KEEP: Duration = Duration::from_secs(2);
/// A large workspace is looked at less often.
const SHARE: u32 = 20;
const MOST: usize = 64;

/// `None`: it cannot be told.
type Places = Option<Arc<[PathBuf]>>;

struct Known {
    places: Places,
    at: Instant,
    good_for: Duration,
}

/// Whether git heeds what is at a path, free of links, by what repositories in or around a workspace say.
pub(crate) fn by_git(workspace: &Path, path: &Path) -> bool {
    places(workspace).is_none_or(|places| places.iter().any(|place| path.starts_with(place)))
}

fn places(workspace: &Path) -> Places {
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);
    let locked = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = locked().get(workspace).filter(|known| known.at.elapsed() < known.good_for) {
        return known.places.clone();
    }
    let began = Instant::now();
    let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let places: Places = repository::heeded(&root, std::env::home_dir().as_deref()).ok().map(Arc::from);
    let known = Known { places: places.clone(), at: Instant::now(), good_for: KEEP.max(began.elapsed() * SHARE) };
    let mut all = locked();
    if all.len() >= MOST {
        all.clear();
    }
    all.insert(workspace.to_owned(), known);
    places
}
