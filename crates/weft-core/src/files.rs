//! What a session has done to the files of its workspace, and what of it has been taken back. The
//! contents are kept elsewhere; here are only their names.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A turn changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    pub turn: u32,
    /// The names of all files together, before the turn and after it.
    pub before: String,
    pub after: String,
    pub files: Vec<ChangedFile>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
}

/// Files were put back as they were, or forward again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesRestored {
    /// So that it is recorded once, whatever happens.
    pub id: String,
    pub way: Way,
    /// The turns, in the order in which they were gone through. None where a single file was taken back.
    pub turns: Vec<u32>,
    /// The names of the files that were changed, as they were and as they are.
    pub from: String,
    pub to: String,
    pub files: Vec<ChangedFile>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
    /// What was left as it is, because somebody has changed it since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Undo,
    Redo,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub change: FileChange,
    /// Lines, where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Created,
    Changed,
    Deleted,
    /// Only its permissions.
    Mode,
    /// It changed, and cannot be taken back.
    NotKept,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    pub path: String,
    pub reason: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What can be taken back and what can be done again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileHistory {
    /// Oldest first.
    pub done: Vec<TurnFiles>,
    /// What was taken back, the last one last.
    pub undone: Vec<TakenBack>,
    /// Single files that were taken back, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<SingleFile>,
    /// The last restore that was recorded.
    pub last: Option<String>,
}

/// A single file was taken back, whatever the turns did that it was changed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SingleFile {
    /// The last turn before that changed files.
    pub after_turn: u32,
    pub from: String,
    pub to: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFiles {
    pub turn: u32,
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenBack {
    pub turns: Vec<TurnFiles>,
    pub from: String,
    pub to: String,
}

/// So many turns can be taken back; a snapshot holds them all.
const MOST_TURNS: usize = 200;

impl FileHistory {
    pub(crate) fn changed(&mut self, changed: &FilesChanged) {
        self.undone.clear();
        self.done.push(TurnFiles { turn: changed.turn, before: changed.before.clone(), after: changed.after.clone() });
        let surplus = self.done.len().saturating_sub(MOST_TURNS);
        self.done.drain(..surplus);
    }

    pub(crate) fn restored(&mut self, restored: &FilesRestored) {
        self.last = Some(restored.id.clone());
        match restored.way {
            Way::Undo if restored.turns.is_empty() => {
                let after_turn = self.done.last().map_or(0, |files| files.turn);
                let (from, to) = (restored.from.clone(), restored.to.clone());
                self.single.push(SingleFile { after_turn, from: from.clone(), to: to.clone() });
                let surplus = self.single.len().saturating_sub(MOST_TURNS);
                self.single.drain(..surplus);
                self.undone.push(TakenBack { turns: Vec::new(), from, to });
            }
            Way::Undo => {
                let (turns, left) =
                    std::mem::take(&mut self.done).into_iter().partition(|files| restored.turns.contains(&files.turn));
                self.done = left;
                self.undone.push(TakenBack { turns, from: restored.from.clone(), to: restored.to.clone() });
            }
            Way::Redo => match self.undone.pop() {
                Some(taken) if taken.turns.is_empty() => drop(self.single.pop()),
                Some(taken) => self.done.extend(taken.turns),
                None => {}
            },
        }
    }

    /// What was done and still stands, step by step: the names of all files before and after.
    pub fn steps(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut single = self.single.iter().peekable();
        let mut steps = Vec::with_capacity(self.done.len() + self.single.len());
        for files in &self.done {
            while let Some(earlier) = single.next_if(|single| single.after_turn < files.turn) {
                steps.push((earlier.from.as_str(), earlier.to.as_str()));
            }
            steps.push((files.before.as_str(), files.after.as_str()));
        }
        steps.extend(single.map(|single| (single.from.as_str(), single.to.as_str())));
        steps.into_iter()
    }
}

/// How many files are named to the model.
const MOST_NAMED: usize = 20;

impl FilesRestored {
    /// What the model is told, so that it does not build on what is gone.
    pub fn notice(&self) -> String {
        let turns = match self.turns.len() {
            0 => "to a single file".to_owned(),
            1 => "of the last turn".to_owned(),
            count => format!("of the last {count} turns"),
        };
        let mut text = match self.way {
            Way::Undo => format!("[Weft] The person took back the changes {turns}. As they were before it again:"),
            Way::Redo => format!("[Weft] The person put the changes {turns} that were taken back in place again:"),
        };
        for file in self.files.iter().take(MOST_NAMED) {
            let _ = write!(text, " `{}`,", file.path);
        }
        let more = self.files.len().saturating_sub(MOST_NAMED) + usize::try_from(self.more).unwrap_or(0);
        match (self.files.is_empty(), more) {
            (true, _) => text.push_str(" nothing, it was so already."),
            (false, 0) => {
                text.pop();
                text.push('.');
            }
            (false, more) => drop(write!(text, " and {more} more.")),
        }
        if !self.kept.is_empty() {
            text.push_str(" Left as they are, because they were changed since:");
            for file in self.kept.iter().take(MOST_NAMED) {
                let _ = write!(text, " `{}`,", file.path);
            }
            text.pop();
            text.push('.');
        }
        text.push_str(" Read files again before you rely on them.");
        text
    }
}

/// "3 files changed +20 −4"
pub fn summary(files: &[ChangedFile], more: u32) -> String {
    let count = files.len() + usize::try_from(more).unwrap_or(0);
    let mut text = match count {
        // Empty ones came or went.
        0 => "Only folders changed".to_owned(),
        1 => "1 file changed".to_owned(),
        _ => format!("{count} files changed"),
    };
    let (added, removed) = files.iter().fold((0u64, 0u64), |(added, removed), file| {
        (added + u64::from(file.added.unwrap_or(0)), removed + u64::from(file.removed.unwrap_or(0)))
    });
    if added > 0 {
        let _ = write!(text, " +{added}");
    }
    if removed > 0 {
        let _ = write!(text, " −{removed}");
    }
    text
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
