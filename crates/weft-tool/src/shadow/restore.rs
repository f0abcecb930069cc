//! Puts files back, and forward again. What somebody else has changed meanwhile is left as it is,
//! unless it is forced; and what is replaced is kept first, so that everything can be redone.
//!
//! Everything that is to be put in place is prepared in a folder beside the files before the first
//! of them is touched, so a full disk changes nothing. A journal on disk says what is being done; a
//! process that dies half-way leaves it, and the next one does the rest.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::apply::Move;
use super::index::{Seen, Stat};
use super::report::{self, FileChange};
use super::scan::{self, STAGING};
use super::tree::{self, Difference, Id, Node};
use super::{Held, Shadow, ShadowError};

/// From where the files should be to where they are to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub from: Id,
    pub to: Id,
}

/// Something that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub path: String,
    pub reason: String,
}

/// What was put back, or is being put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    pub id: String,
    /// What the caller wants to remember of it.
    pub note: Value,
    /// The files that were changed, as they were and as they are. The other way round it is redone.
    pub from: Id,
    pub to: Id,
    pub files: Vec<FileChange>,
    pub more: u32,
    pub kept: Vec<Kept>,
    /// All of it is in place.
    pub(super) applied: bool,
}

/// What to do with a file that is not where it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    LeaveIt,
    Overwrite,
    /// A restore that was cut off may itself have left it so.
    GoOn,
}

const CHANGED: &str = "it was changed since";
const NOT_KEPT: &str = "its content was not kept: too large, or not readable";
const IN_THE_WAY: &str = "something else is in its place now";

impl Shadow {
    /// Takes the steps one after the other, file by file as far as each file is where it should be.
    /// The caller makes a record of it and then calls [`Shadow::recorded`].
    pub fn restore(&self, id: &str, note: Value, steps: &[Step], force: bool) -> Result<Restored, ShadowError> {
        self.restore_what(None, id, note, steps, force)
    }

    /// The same for one file, named from the workspace.
    pub fn restore_file(
        &self,
        file: &str,
        id: &str,
        note: Value,
        steps: &[Step],
        force: bool,
    ) -> Result<Restored, ShadowError> {
        self.restore_what(Some(file), id, note, steps, force)
    }

    fn restore_what(
        &self,
        only: Option<&str>,
        id: &str,
        note: Value,
        steps: &[Step],
        force: bool,
    ) -> Result<Restored, ShadowError> {
        let mut held = self.hold()?;
        if let Some(pending) = self.journal() {
            let reason = format!("an undo of session {} is not finished", pending.note);
            return Err(ShadowError::Refused { reason });
        }
        let care = if force { Care::Overwrite } else { Care::LeaveIt };
        let plan = self.plan(steps, only, care, &mut held)?;
        let (from, to) = self.as_trees(&plan.moves, &mut held)?;
        let objects = held.objects()?;
        objects.commit()?;
        let changes = report::changes(from, to, &tree::compare(from, to, objects)?, objects);
        let mut restored = Restored {
            id: id.to_owned(),
            note,
            from,
            to,
            files: changes.files,
            more: changes.more,
            kept: plan.kept,
            applied: plan.moves.is_empty(),
        };
        if restored.applied {
            return Ok(restored);
        }
        self.write_journal(&restored)?;
        self.step()?;
        match self.apply(&plan.moves, id, &mut held) {
            Ok(failed) => restored.kept.extend(failed),
            Err(error) if self.is_alive() => {
                let _ = fs::remove_file(self.journal_path());
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        restored.applied = true;
        self.write_journal(&restored)?;
        Ok(restored)
    }

    /// What was restored and perhaps not recorded, with the files in place.
    pub fn unrecorded(&self) -> Result<Option<Restored>, ShadowError> {
        if self.journal().is_none() {
            return Ok(None);
        }
        let mut held = self.hold()?;
        self.complete_restore(&mut held)?;
        Ok(self.journal())
    }

    /// The restore has been recorded by whoever asked for it.
    pub fn recorded(&self, restored: &Restored) -> Result<(), ShadowError> {
        let _held = self.hold()?;
        let kept = self.folder.join("restores").join(format!("{}.json", restored.id));
        super::write_json(&kept, restored).map_err(|error| ShadowError::disk(&kept, error))?;
        if self.journal().is_some_and(|journal| journal.id == restored.id) {
            let _ = fs::remove_file(self.journal_path());
        }
        Ok(())
    }

    /// Does the rest of a restore that a crash cut off.
    pub(super) fn complete_restore(&self, held: &mut Held<'_>) -> Result<(), ShadowError> {
        let Some(mut journal) = self.journal().filter(|journal| !journal.applied) else { return Ok(()) };
        let plan = self.plan(&[Step { from: journal.from, to: journal.to }], None, Care::GoOn, held)?;
        let failed = self.apply(&plan.moves, &journal.id, held)?;
        self.set_folder_modes(journal.to, &self.workspace, held)?;
        journal.kept.extend(plan.kept);
        journal.kept.extend(failed);
        journal.applied = true;
        self.write_journal(&journal)
    }

    /// A restore that was cut off may have left folders open that it had to write in.
    fn set_folder_modes(&self, tree: Id, folder: &std::path::Path, held: &mut Held<'_>) -> Result<(), ShadowError> {
        for (name, node) in tree::list(tree, held.objects()?)? {
            let Node::Folder { mode, tree } = node else { continue };
            let place = folder.join(OsStr::from_bytes(&name));
            let Ok(metadata) = fs::symlink_metadata(&place) else { continue };
            if metadata.is_dir() {
                self.set_folder_modes(tree, &place, held)?;
                if metadata.mode() & 0o7777 != mode {
                    let _ = fs::set_permissions(&place, fs::Permissions::from_mode(mode));
                }
            }
        }
        Ok(())
    }

    fn journal_path(&self) -> PathBuf {
        self.folder.join("restore.json")
    }

    fn journal(&self) -> Option<Restored> {
        serde_json::from_slice(&fs::read(self.journal_path()).ok()?).ok()
    }

    fn write_journal(&self, journal: &Restored) -> Result<(), ShadowError> {
        let path = self.journal_path();
        super::write_json(&path, journal)
            .and_then(|()| fs::File::open(&path)?.sync_all())
            .map_err(|error| ShadowError::disk(&path, error))
    }

    fn plan(&self, steps: &[Step], only: Option<&str>, care: Care, held: &mut Held<'_>) -> Result<Plan, ShadowError> {
        let wanted = |path: &[u8]| only.is_none_or(|only| String::from_utf8_lossy(path) == only);
        let mut plan = Planning { paths: BTreeMap::new(), kept: BTreeMap::new() };
        for step in steps {
            for found in tree::compare(step.from, step.to, held.objects()?)? {
                if !wanted(&found.path) {
                    continue;
                }
                if !plan.paths.contains_key(&found.path) {
                    let now = scan::at(&self.workspace, &found.path, &self.limits, held.objects()?)?;
                    plan.paths.insert(found.path.clone(), Path { now, goal: now.map(|seen| seen.node) });
                }
                plan.take(&found, care);
            }
        }
        let blocked = self.blocked(&plan);
        for path in blocked {
            plan.paths.remove(&path);
            plan.kept.insert(path, IN_THE_WAY);
        }
        let shown = |(path, reason): (Vec<u8>, &str)| Kept {
            path: String::from_utf8_lossy(&path).into_owned(),
            reason: reason.to_owned(),
        };
        let moves = plan.paths.into_iter().filter_map(|(path, Path { now, goal })| {
            let from = now.map(|seen| seen.node);
            (from != goal).then(|| Move { path, seen: now.map(|seen| seen.stat), from, to: goal })
        });
        Ok(Plan { moves: moves.collect(), kept: plan.kept.into_iter().map(shown).collect() })
    }

    /// Paths whose folder is no folder, or that are folders with something in them that stays.
    fn blocked(&self, plan: &Planning) -> Vec<Vec<u8>> {
        let mut blocked = Vec::new();
        for (path, planned) in &plan.paths {
            let Some(goal) = planned.goal else { continue };
            let folder_is_none = tree::ancestors(path).any(|ancestor| match plan.paths.get(ancestor) {
                Some(planned) => planned.goal.is_some_and(|node| !node.is_folder()),
                None => {
                    let folder = self.workspace.join(OsStr::from_bytes(ancestor));
                    fs::symlink_metadata(folder).is_ok_and(|metadata| !metadata.is_dir())
                }
            });
            let was_folder = planned.now.is_some_and(|seen| seen.node.is_folder());
            if folder_is_none || (was_folder && !goal.is_folder() && !self.will_be_empty(path, plan)) {
                blocked.push(path.clone());
            }
        }
        // Nothing in a folder that stays is taken away.
        let inside = |path: &[u8]| tree::ancestors(path).any(|ancestor| blocked.iter().any(|found| found == ancestor));
        let more: Vec<Vec<u8>> = plan.paths.keys().filter(|path| inside(path)).cloned().collect();
        blocked.extend(more);
        blocked
    }

    fn will_be_empty(&self, path: &[u8], plan: &Planning) -> bool {
        let Ok(entries) = fs::read_dir(self.workspace.join(OsStr::from_bytes(path))) else { return false };
        entries.flatten().all(|entry| {
            let child = [path, b"/", entry.file_name().as_bytes()].concat();
            let goes = plan.paths.get(&child).is_some_and(|planned| planned.goal.is_none());
            goes && (!entry.file_type().is_ok_and(|kind| kind.is_dir()) || self.will_be_empty(&child, plan))
        })
    }

    /// The files of a plan as they are and as they will be, and nothing else.
    fn as_trees(&self, moves: &[Move], held: &mut Held<'_>) -> Result<(Id, Id), ShadowError> {
        let (mut from, mut to) = (Id::NONE, Id::NONE);
        let objects = held.objects()?;
        for Move { path, from: was, to: will, .. } in moves {
            for ancestor in tree::ancestors(path) {
                // Folders that just stay are in both, so that they do not seem to come or go.
                if moves.iter().any(|known| known.path == ancestor) {
                    continue;
                }
                if let Some(seen) = scan::at(&self.workspace, ancestor, &self.limits, objects)? {
                    from = tree::set(from, ancestor, Some(seen.node), objects)?;
                    to = tree::set(to, ancestor, Some(seen.node), objects)?;
                }
            }
            if was.is_some() {
                from = tree::set(from, path, *was, objects)?;
            }
            if will.is_some() {
                to = tree::set(to, path, *will, objects)?;
            }
        }
        Ok((from, to))
    }

    pub(super) fn staging(&self, id: &str) -> PathBuf {
        self.workspace.join(format!("{STAGING}{id}"))
    }
}

struct Plan {
    moves: Vec<Move>,
    kept: Vec<Kept>,
}

/// A path of the workspace while the steps are gone through.
struct Path {
    now: Option<Seen>,
    goal: Option<Node>,
}

struct Planning {
    paths: BTreeMap<Vec<u8>, Path>,
    kept: BTreeMap<Vec<u8>, &'static str>,
}

impl Planning {
    fn take(&mut self, found: &Difference, care: Care) {
        let Difference { path, before: from, after: to } = found;
        let Some(planned) = self.paths.get_mut(path) else { return };
        if self.kept.contains_key(path) || planned.goal == *to {
            return;
        }
        let opaque = |node: Option<Node>| matches!(node, Some(Node::Opaque { .. }));
        let folder = |node: Option<Node>| node.is_some_and(|node| node.is_folder());
        if opaque(*from) || opaque(*to) || opaque(planned.goal) {
            self.kept.insert(path.clone(), NOT_KEPT);
        } else if planned.goal == *from
            || care == Care::Overwrite
            || (care == Care::GoOn && (planned.goal.is_none() || (folder(*to) && folder(planned.goal))))
            || (folder(*from) && to.is_none() && folder(planned.goal))
        {
            planned.goal = *to;
        } else {
            // A folder that has another mode, or is gone already, is nobody's loss.
            let harmless = (folder(*to) && folder(planned.goal)) || (folder(*from) && to.is_none());
            if !harmless {
                self.kept.insert(path.clone(), CHANGED);
            }
        }
    }
}

/// Whether a file is still what it was when the plan was made.
pub(super) fn is_unchanged(path: &std::path::Path, seen: Option<Stat>) -> bool {
    fs::symlink_metadata(path).ok().map(|metadata| Stat::of(&metadata)) == seen
}
