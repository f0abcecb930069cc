//! Who works on a session, and whether they are still alive.
//!
//! Each open store is an owner with a random number. While it may own sessions it keeps an
//! operating-system lock on a file named after that number, which ends with the process however the
//! process ends. So a dead owner is known at once, with no heartbeat and no waiting, and a process id
//! that is used again deceives nobody.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::database::lock;
use crate::error::StoreError;

/// The owner of a session, as seen from one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    Nobody,
    Me,
    Alive {
        pid: u32,
    },
    /// Its process ended without giving the session up.
    Dead,
}

impl Owner {
    /// Whether somebody, this store included, works on the session now.
    pub const fn is_alive(self) -> bool {
        match self {
            Self::Me | Self::Alive { .. } => true,
            Self::Nobody | Self::Dead => false,
        }
    }
}

/// One open store's identity.
pub(crate) struct Identity {
    number: i64,
    proof: Proof,
}

enum Proof {
    /// A locked file in this folder, made when the first session is taken.
    File { folder: PathBuf, held: Mutex<Option<File>> },
    /// For a database in memory.
    Memory { census: Arc<Census> },
}

/// Who lives on a database in memory: everybody from `oldest_alive` to `newest` who has not gone.
#[derive(Default)]
pub(crate) struct Census {
    newest: AtomicI64,
    oldest_alive: AtomicI64,
    gone: Mutex<HashSet<i64>>,
}

impl Census {
    fn is_alive(&self, number: i64) -> bool {
        number >= self.oldest_alive.load(Ordering::SeqCst) && !lock(&self.gone).contains(&number)
    }
}

impl Identity {
    pub(crate) fn on_disk(folder: PathBuf) -> Result<Self, StoreError> {
        Ok(Self { number: random_number()?, proof: Proof::File { folder, held: Mutex::new(None) } })
    }

    /// The newest identity of a database in memory: all earlier ones count as dead.
    pub(crate) fn in_memory(census: Arc<Census>) -> Self {
        let one = Self::joining(census);
        if let Proof::Memory { census } = &one.proof {
            census.oldest_alive.store(one.number, Ordering::SeqCst);
        }
        one
    }

    fn joining(census: Arc<Census>) -> Self {
        Self { number: census.newest.fetch_add(1, Ordering::SeqCst) + 1, proof: Proof::Memory { census } }
    }

    /// Another identity of the same database in memory, which outlives this one or lives beside it.
    pub(crate) fn another(&self, outlives: bool) -> Option<Self> {
        match &self.proof {
            Proof::Memory { census } if outlives => Some(Self::in_memory(Arc::clone(census))),
            Proof::Memory { census } => Some(Self::joining(Arc::clone(census))),
            Proof::File { .. } => None,
        }
    }

    /// The number to own a session with. From here on others can see that it is a living one's.
    pub(crate) fn prove(&self) -> Result<i64, StoreError> {
        let Proof::File { folder, held } = &self.proof else { return Ok(self.number) };
        let mut held = lock(held);
        if held.is_none() {
            std::fs::create_dir_all(folder).map_err(|error| StoreError::io("creating", folder, &error))?;
            sweep(folder);
            *held = Some(take_lock(folder, self.number)?);
        }
        Ok(self.number)
    }

    pub(crate) fn judge(&self, owner: Option<i64>) -> Result<Owner, StoreError> {
        match (owner, &self.proof) {
            (None, _) => Ok(Owner::Nobody),
            (Some(number), _) if number == self.number => Ok(Owner::Me),
            (Some(number), Proof::File { folder, .. }) => examine(&lock_path(folder, number)),
            (Some(number), Proof::Memory { census }) if census.is_alive(number) => {
                Ok(Owner::Alive { pid: std::process::id() })
            }
            (Some(_), Proof::Memory { .. }) => Ok(Owner::Dead),
        }
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        match &self.proof {
            Proof::File { folder, held } if lock(held).is_some() => {
                // A file that stays is swept away by the next owner.
                let _ = std::fs::remove_file(lock_path(folder, self.number));
            }
            Proof::File { .. } => {}
            Proof::Memory { census } => {
                lock(&census.gone).insert(self.number);
            }
        }
    }
}

fn random_number() -> Result<i64, StoreError> {
    let bits = getrandom::u64()
        .map_err(|error| StoreError::Io { action: "drawing a random number".to_owned(), detail: error.to_string() })?;
    Ok((bits >> 1).max(1).cast_signed())
}

fn lock_path(folder: &Path, number: i64) -> PathBuf {
    folder.join(format!("{number:016x}.lock"))
}

/// The file gets its name only once it is locked, so that nobody can take it for a dead one's.
fn take_lock(folder: &Path, number: i64) -> Result<File, StoreError> {
    let unnamed = folder.join(format!("{number:016x}.new"));
    let named = lock_path(folder, number);
    let made = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&unnamed)?;
        file.try_lock().map_err(std::io::Error::from)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        std::fs::rename(&unnamed, &named)?;
        Ok(file)
    })();
    made.map_err(|error: std::io::Error| {
        let _ = std::fs::remove_file(&unnamed);
        StoreError::io("locking", &named, &error)
    })
}

fn examine(path: &Path) -> Result<Owner, StoreError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Owner::Dead),
        Err(error) => return Err(StoreError::io("opening", path, &error)),
    };
    // Shared, so that two who look at the same time do not take each other for the owner.
    match file.try_lock_shared() {
        Ok(()) => Ok(Owner::Dead),
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            file.read_to_string(&mut pid).map_err(|error| StoreError::io("reading", path, &error))?;
            Ok(Owner::Alive { pid: pid.trim().parse().unwrap_or(0) })
        }
        Err(TryLockError::Error(error)) => Err(StoreError::io("locking", path, &error)),
    }
}

/// Removes the files of dead owners. One without a file counts as dead too, so nothing is forgotten.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if is_lock && matches!(examine(&path), Ok(Owner::Dead)) {
            let _ = std::fs::remove_file(&path);
        }
    }
}
