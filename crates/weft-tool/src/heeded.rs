//! What git reads as settings or runs, wherever in a workspace its repositories say that it is: files of that
//! kind belong to git like those in `.git`. The sandbox holds commands to the same list.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use weft_sandbox::heeded::Heeded;
use weft_sandbox::{PolicyError, repository};

/// A command may have made another repository meanwhile, but what one finds here is looked at again as it is
/// written.
const KEEP: Duration = Duration::from_secs(2);
/// A large workspace is looked at less often.
const SHARE: u32 = 20;
const MOST: usize = 64;

/// Or why it cannot be told.
type Places = Result<Arc<[PathBuf]>, PolicyError>;

struct Known {
    places: Places,
    at: Instant,
    good_for: Duration,
}

/// Where sandboxes keep which repositories they have found.
static KEPT_IN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// From now on what a sandbox has found counts here too.
pub(crate) fn also_by(state: &Path) {
    locked(&KEPT_IN).insert(state.to_owned());
}

/// The repositories in a folder, with those that were found there before. `state` is where that is kept.
pub(crate) fn nested(folder: &Path, state: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    // Where it cannot be made nothing can be kept in it, which is said then.
    let _ = crate::sandbox::private_folder(state);
    repository::nested_and_known(folder, &state.join(crate::sandbox::named_by("repositories", folder)))
}

/// Whether git heeds what is at a path, free of links, by what repositories in or around a workspace say.
pub(crate) fn by_git(workspace: &Path, path: &Path) -> Result<bool, PolicyError> {
    Ok(places(workspace)?.iter().any(|place| path.starts_with(place)))
}

/// Of one workspace. Who comes while it is being looked at waits for that.
type OfOne = Arc<Mutex<Option<Known>>>;

fn places(workspace: &Path) -> Places {
    static ALL: LazyLock<Mutex<HashMap<PathBuf, OfOne>>> = LazyLock::new(Mutex::default);
    let of_this = {
        let mut all = locked(&ALL);
        if all.len() >= MOST && !all.contains_key(workspace) {
            all.clear();
        }
        Arc::clone(all.entry(workspace.to_owned()).or_default())
    };
    let known = |known: &Option<Known>| {
        known.as_ref().filter(|known| known.at.elapsed() < known.good_for).map(|known| known.places.clone())
    };
    if let Some(places) = of_this.try_lock().ok().and_then(|of_this| known(&of_this)) {
        return places;
    }
    aside(|| {
        let mut of_this = locked(&of_this);
        if let Some(places) = known(&of_this) {
            return places;
        }
        let began = Instant::now();
        let places = look(workspace).map(Arc::from);
        let good_for = KEEP.max(began.elapsed() * SHARE);
        *of_this = Some(Known { places: places.clone(), at: Instant::now(), good_for });
        places
    })
}

/// Does what may take a while, and lets other threads do the work of this one meanwhile.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}

fn look(workspace: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    let roots = [workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned())];
    let states: Vec<PathBuf> = locked(&KEPT_IN).iter().cloned().collect();
    let [root] = &roots;
    let found: Vec<Vec<PathBuf>> = match states.as_slice() {
        [] => vec![repository::nested(root)?],
        states => states.iter().map(|state| nested(root, state)).collect::<Result<_, _>>()?,
    };
    let inside: BTreeSet<PathBuf> = found.into_iter().flatten().collect();
    let inside: Vec<PathBuf> = inside.into_iter().collect();
    Ok(Heeded::of(&roots, &inside, std::env::home_dir().as_deref())?.into_places(&roots))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "heeded_tests.rs"]
mod tests;
