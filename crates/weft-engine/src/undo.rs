//! Seeing what turns did to the files, taking it back, and doing it again.
//!
//! The files are put in place first, with a journal beside them, and then the log says so. A process
//! that dies in between leaves the journal, and whoever comes next finishes both.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use weft_core::event::FilesRestored;
use weft_core::files::{KeptFile, TurnFiles, Way};
use weft_core::turn::Rejected;
use weft_core::{Input, SessionId, State};
use weft_tool::shadow::{Id, Restored, Shadow, ShadowError, Step};

use crate::checkpoint;
use crate::engine::Engine;
use crate::error::EngineError;

/// Which turns to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Last,
    Turn(u32),
    All,
}

/// What the journal remembers for the log.
#[derive(Serialize, Deserialize)]
struct Note {
    session: SessionId,
    way: Way,
    turns: Vec<u32>,
}

/// A file as it was after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The name of all files together, as the log has it.
    pub tree: String,
    pub path: String,
}

impl Engine {
    /// Takes back what the last turns changed. What somebody has changed since stays as it is, unless
    /// `force`; then it can still be redone.
    pub async fn undo(&self, session: SessionId, turns: usize, force: bool) -> Result<FilesRestored, EngineError> {
        let (state, shadow) = self.at_rest(session).await?;
        let taken: Vec<&TurnFiles> = state.files.done.iter().rev().take(turns).collect();
        if taken.is_empty() {
            return Err(EngineError::Undo("no turn of this session has changed files that could be taken back".into()));
        }
        let steps = taken.iter().map(|files| step(&files.after, &files.before)).collect::<Result<Vec<_>, _>>()?;
        let note = Note { session, way: Way::Undo, turns: taken.iter().map(|files| files.turn).collect() };
        self.restore(shadow, note, steps, None, force).await
    }

    /// Takes back everything that this session did to one file, and leaves the rest. What somebody has
    /// changed since stays, unless `force`; it can be redone like an undo.
    pub async fn undo_file(&self, session: SessionId, path: &str, force: bool) -> Result<FilesRestored, EngineError> {
        let (state, shadow) = self.at_rest(session).await?;
        let mut steps =
            state.files.steps().map(|(before, after)| step(after, before)).collect::<Result<Vec<_>, _>>()?;
        steps.reverse();
        let note = Note { session, way: Way::Undo, turns: Vec::new() };
        let restored = self.restore(shadow, note, steps, Some(path.to_owned()), force).await?;
        if restored.files.is_empty() && restored.kept.is_empty() {
            return Err(EngineError::Undo(format!("this session has not changed `{path}`, or it is as it was before")));
        }
        Ok(restored)
    }

    /// What a file held after a turn; nothing if that was not kept, or is not any more.
    pub async fn file_at(&self, workspace: &Path, version: Version) -> Result<Option<Vec<u8>>, EngineError> {
        let shadow = self.shadow(workspace)?;
        let tree = name(&version.tree)?;
        match blocking(move || Ok(shadow.file_at(tree, &version.path))).await? {
            Ok(found) => Ok(found),
            Err(ShadowError::Gone) => Ok(None),
            Err(error) => Err(told(&error)),
        }
    }

    /// How large files were, one after the other; nothing for those that were not kept.
    pub async fn sizes_at(&self, workspace: &Path, versions: Vec<Version>) -> Result<Vec<Option<u64>>, EngineError> {
        let shadow = self.shadow(workspace)?;
        let places = versions.into_iter().map(|version| Ok((name(&version.tree)?, version.path)));
        let places = places.collect::<Result<Vec<_>, EngineError>>()?;
        blocking(move || shadow.sizes_at(&places)).await
    }

    /// Does again what was taken back last.
    pub async fn redo(&self, session: SessionId, force: bool) -> Result<FilesRestored, EngineError> {
        let (state, shadow) = self.at_rest(session).await?;
        let Some(taken) = state.files.undone.last() else {
            return Err(EngineError::Undo("nothing was taken back that could be done again".into()));
        };
        let steps = vec![step(&taken.to, &taken.from)?];
        let note = Note { session, way: Way::Redo, turns: taken.turns.iter().map(|files| files.turn).collect() };
        self.restore(shadow, note, steps, None, force).await
    }

    /// What turns did to the files, as one diff.
    pub async fn diff(&self, session: SessionId, which: Which) -> Result<String, EngineError> {
        let state = self.state(session)?;
        let shadow = self.shadow(Path::new(&state.workspace))?;
        let done = &state.files.done;
        let pair = |files: &TurnFiles| (files.before.clone(), files.after.clone());
        let chosen: Vec<(String, String)> = match which {
            Which::Last => done.last().map(pair).into_iter().collect(),
            Which::Turn(turn) => done.iter().filter(|files| files.turn == turn).map(pair).collect(),
            Which::All => state.files.steps().map(|(before, after)| (before.to_owned(), after.to_owned())).collect(),
        };
        if let (Which::Turn(turn), true) = (which, chosen.is_empty()) {
            return Err(EngineError::Undo(format!("turn {turn} changed no files, or was taken back")));
        }
        let steps = chosen.iter().map(|(before, after)| step(before, after)).collect::<Result<Vec<_>, _>>()?;
        blocking(move || shadow.diff(&steps)).await
    }

    /// A session whose files nobody works on, with what a crash left of an earlier undo put in order.
    async fn at_rest(&self, session: SessionId) -> Result<(State, Arc<Shadow>), EngineError> {
        let state = self.state(session)?;
        if state.turn.is_some() {
            return Err(Rejected::Busy.into());
        }
        let shadow = self.shadow(Path::new(&state.workspace))?;
        let looking = Arc::clone(&shadow);
        if let Some(left) = blocking(move || looking.unrecorded()).await? {
            self.record(&shadow, left).await?;
            return Ok((self.state(session)?, shadow));
        }
        Ok((state, shadow))
    }

    async fn restore(
        &self,
        shadow: Arc<Shadow>,
        note: Note,
        steps: Vec<Step>,
        only: Option<String>,
        force: bool,
    ) -> Result<FilesRestored, EngineError> {
        let id = self.draw_name();
        let note = serde_json::to_value(note).map_err(|error| EngineError::Undo(error.to_string()))?;
        let working = Arc::clone(&shadow);
        let single = only.is_some();
        let restored = blocking(move || match only {
            Some(file) => working.restore_file(&file, &id, note, &steps, force),
            None => working.restore(&id, note, &steps, force),
        })
        .await?;
        if restored.files.is_empty() && (single || !restored.kept.is_empty()) {
            // Nothing was done, so there is nothing to remember.
            return event(&restored).map(|(_, event)| event);
        }
        self.record(&shadow, restored).await
    }

    /// Makes the log say what was done to the files.
    async fn record(&self, shadow: &Arc<Shadow>, restored: Restored) -> Result<FilesRestored, EngineError> {
        let (session, event) = event(&restored)?;
        match self.send(session, Input::FilesRestored(event.clone())).await {
            Ok(()) => {}
            // Its session is gone; the files are as they should be all the same.
            Err(EngineError::Store(weft_store::StoreError::NoSuchSession { .. })) => {}
            Err(error) => return Err(error),
        }
        let shadow = Arc::clone(shadow);
        blocking(move || shadow.recorded(&restored)).await?;
        Ok(event)
    }

    fn shadow(&self, workspace: &Path) -> Result<Arc<Shadow>, EngineError> {
        self.shadow_of(workspace).ok_or_else(|| {
            EngineError::Undo("changes are not kept: `undo.enabled` is false in your settings".to_owned())
        })
    }
}

fn event(restored: &Restored) -> Result<(SessionId, FilesRestored), EngineError> {
    let note: Note =
        serde_json::from_value(restored.note.clone()).map_err(|error| EngineError::Undo(error.to_string()))?;
    let kept = |kept: &weft_tool::shadow::Kept| KeptFile { path: kept.path.clone(), reason: kept.reason.clone() };
    let event = FilesRestored {
        id: restored.id.clone(),
        way: note.way,
        turns: note.turns,
        from: restored.from.to_string(),
        to: restored.to.to_string(),
        files: restored.files.iter().cloned().map(checkpoint::file).collect(),
        more: restored.more,
        kept: restored.kept.iter().map(kept).collect(),
    };
    Ok((note.session, event))
}

fn step(from: &str, to: &str) -> Result<Step, EngineError> {
    Ok(Step { from: name(from)?, to: name(to)? })
}

fn name(text: &str) -> Result<Id, EngineError> {
    Id::try_from(text.to_owned()).map_err(|error| told(&error))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ShadowError> + Send + 'static,
) -> Result<T, EngineError> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| told(&error)),
        Err(error) => Err(EngineError::Undo(error.to_string())),
    }
}

fn told(error: &ShadowError) -> EngineError {
    EngineError::Undo(error.to_string())
}
