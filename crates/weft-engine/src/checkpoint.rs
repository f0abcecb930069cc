//! The files of the turn that is under way: what they were before its first effect, and what became
//! of them. Effects wait until they have been gone through. After a turn that changed files that
//! begins with the next one, so that it is done by the time the model has answered; a session that
//! only talks and reads does without.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared as SharedFuture};
use tokio::task::{JoinHandle, spawn_blocking};
use weft_core::event::{Access, FilesChanged};
use weft_core::files::{ChangedFile, FileChange};
use weft_core::{SessionId, Timestamp};
use weft_tool::shadow::{self, Look, Shadow, ShadowError, Shown, TurnChanges, TurnKey};

/// What a look came to. Shared by all effects that wait for it.
type Looked = SharedFuture<BoxFuture<'static, Result<Arc<Look>, Arc<str>>>>;

#[derive(Default)]
pub struct Checkpoint {
    turn: Option<Turn>,
    /// The last turn had effects that can change files.
    changed_last: bool,
    /// What the person has been told already.
    told: Arc<Mutex<HashSet<String>>>,
}

struct Turn {
    shadow: Arc<Shadow>,
    key: TurnKey,
    looked: Looked,
    /// Nobody waits for the look any more.
    abandoned: Arc<AtomicBool>,
    /// An effect has begun that can change files.
    changing: bool,
    /// It is on record that the turn changes files.
    recorded: Arc<AtomicBool>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

/// What an effect waits for. Says what the person should know.
pub struct Ready {
    shadow: Arc<Shadow>,
    key: TurnKey,
    looked: Looked,
    file: Option<PathBuf>,
    recorded: Arc<AtomicBool>,
    told: Arc<Mutex<HashSet<String>>>,
}

impl Checkpoint {
    /// A turn begins: looks at the files meanwhile.
    pub fn begin(&mut self, shadow: Arc<Shadow>, session: SessionId, turn: u32) {
        let key = TurnKey { session: session.to_string(), turn };
        if self.turn.as_ref().is_some_and(|known| known.key == key) {
            return;
        }
        let looking = Arc::clone(&shadow);
        let abandoned = Arc::new(AtomicBool::new(false));
        let given_up = Arc::clone(&abandoned);
        let looked = spawn_blocking(move || looking.look(&given_up));
        let looked = async move {
            match looked.await {
                Ok(Ok(look)) => Ok(Arc::new(look)),
                Ok(Err(error)) => Err(error.to_string().into()),
                Err(error) => Err(error.to_string().into()),
            }
        };
        self.turn = Some(Turn {
            shadow,
            key,
            looked: looked.boxed().shared(),
            abandoned,
            changing: false,
            recorded: Arc::default(),
        });
    }

    /// Whether the turn that begins is likely to change files.
    pub const fn expects_changes(&self) -> bool {
        self.changed_last
    }

    /// What a call must wait for before it begins.
    pub fn before(&mut self, access: &Access) -> Option<Ready> {
        let turn = self.turn.as_mut()?;
        let file = match access {
            Access::Read => return None,
            Access::Write { path } => Some(PathBuf::from(path)),
            Access::Run => None,
        };
        turn.changing = true;
        Some(Ready {
            shadow: Arc::clone(&turn.shadow),
            key: turn.key.clone(),
            looked: turn.looked.clone(),
            file,
            recorded: Arc::clone(&turn.recorded),
            told: Arc::clone(&self.told),
        })
    }

    /// The turn was cut off by a crash: what it had begun to change is still its doing.
    pub fn take_over(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.changing |= turn.shadow.is_open(&turn.key);
        }
    }

    /// The turn is over: what it changed. An error is for the person.
    pub async fn finish(&mut self) -> Result<Option<FilesChanged>, String> {
        let Some(turn) = self.turn.take() else { return Ok(None) };
        self.changed_last = turn.changing;
        if !turn.changing {
            return Ok(None);
        }
        let (shadow, key) = (Arc::clone(&turn.shadow), turn.key.clone());
        let number = key.turn;
        let finished: JoinHandle<Result<Option<TurnChanges>, ShadowError>> =
            spawn_blocking(move || shadow.finish(&key));
        match finished.await {
            Ok(Ok(changes)) => Ok(changes.map(|changes| changed(number, changes))),
            Ok(Err(error)) => Err(not_kept(&error)),
            Err(error) => Err(not_kept(&error)),
        }
    }
}

impl Ready {
    /// Until the effect may begin; says what the person has not been told yet. Without a checkpoint it
    /// may begin as well, but cannot be taken back.
    pub async fn wait(self) -> Vec<String> {
        let told = Arc::clone(&self.told);
        let mut notices = self.begin().await;
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        notices.retain(|notice| told.insert(notice.clone()));
        notices
    }

    async fn begin(self) -> Vec<String> {
        let look = match self.looked.await {
            Ok(look) => look,
            Err(error) => return vec![not_kept(&error)],
        };
        let notices = look.notices.clone();
        let (shadow, key, file, recorded) = (self.shadow, self.key, self.file, self.recorded);
        if file.is_none() && recorded.load(Ordering::Relaxed) {
            return notices;
        }
        let begun = spawn_blocking(move || {
            shadow.begin(&key, &look)?;
            file.map_or(Ok(()), |file| shadow.touch(&key, &file))
        });
        match begun.await {
            Ok(Ok(())) => {
                recorded.store(true, Ordering::Relaxed);
                notices
            }
            Ok(Err(error)) => vec![not_kept(&error)],
            Err(error) => vec![not_kept(&error)],
        }
    }
}

fn not_kept(error: &dyn std::fmt::Display) -> String {
    format!("The files of this turn could not be kept, so it cannot be taken back: {error}.")
}

fn changed(turn: u32, changes: TurnChanges) -> FilesChanged {
    FilesChanged {
        turn,
        before: changes.before.to_string(),
        after: changes.after.to_string(),
        files: changes.files.into_iter().map(file).collect(),
        more: changes.more,
    }
}

pub fn file(file: shadow::FileChange) -> ChangedFile {
    ChangedFile {
        path: file.path,
        change: match file.shown {
            Shown::Created => FileChange::Created,
            Shown::Changed => FileChange::Changed,
            Shown::Deleted => FileChange::Deleted,
            Shown::Mode => FileChange::Mode,
            Shown::NotKept => FileChange::NotKept,
        },
        added: file.lines.map(|(added, _)| added),
        removed: file.lines.map(|(_, removed)| removed),
    }
}

/// Forgets what is too old, when it is time; beside everything else.
pub fn prune(shadow: Arc<Shadow>, now: Timestamp) {
    // What cannot be cleared away now is cleared away another day.
    drop(spawn_blocking(move || shadow.prune_if_due(now.0 / 1000)));
}
