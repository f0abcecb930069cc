//! What changed, for people: counts for each file, and one diff for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::objects::Objects;
use super::restore::Step;
use super::tree::{self, Difference, Id, Node};
use super::{Shadow, ShadowError};
use crate::diff::Diff;
use crate::text;

/// Texts up to this size are compared line by line.
const LARGEST_COMPARED: u64 = 2 << 20;
/// Lines are counted in so many files; for more, counting would take longer than the turn.
const MOST_COUNTED: usize = 300;
/// So many files are named; the rest is only counted.
const MOST_NAMED: usize = 200;

/// What a turn did to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnChanges {
    pub before: Id,
    pub after: Id,
    pub files: Vec<FileChange>,
    /// How many more there are.
    pub more: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    pub shown: Shown,
    /// Lines, where it is text.
    pub lines: Option<(u32, u32)>,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    Created,
    Changed,
    Deleted,
    /// Only its permissions.
    Mode,
    /// It changed and cannot be brought back.
    NotKept,
}

pub(super) fn changes(before: Id, after: Id, differences: &[Difference], objects: &mut Objects) -> TurnChanges {
    let told: Vec<&Difference> = differences.iter().filter(|found| is_told(found)).collect();
    let files = told
        .iter()
        .take(MOST_NAMED)
        .enumerate()
        .map(|(index, found)| {
            let lines = if index < MOST_COUNTED { counts(found, objects) } else { None };
            FileChange { path: String::from_utf8_lossy(&found.path).into_owned(), shown: shown(found), lines }
        })
        .collect();
    let more = u32::try_from(told.len().saturating_sub(MOST_NAMED)).unwrap_or(u32::MAX);
    TurnChanges { before, after, files, more }
}

/// Folders come and go with their files; only an empty one is worth a word, and that is rare enough
/// to be told as well when it is not.
fn is_told(found: &Difference) -> bool {
    let folder = |node: Option<Node>| node.is_none_or(|node| node.is_folder());
    !(folder(found.before) && folder(found.after))
}

pub(super) fn shown(found: &Difference) -> Shown {
    match (found.before, found.after) {
        (Some(Node::Opaque { .. }), _) | (_, Some(Node::Opaque { .. })) => Shown::NotKept,
        (None, _) => Shown::Created,
        (_, None) => Shown::Deleted,
        (Some(Node::File { id, .. }), Some(Node::File { id: other, .. })) if id == other => Shown::Mode,
        (Some(Node::Folder { .. }), Some(Node::Folder { .. })) => Shown::Mode,
        (Some(_), Some(_)) => Shown::Changed,
    }
}

fn counts(found: &Difference, objects: &mut Objects) -> Option<(u32, u32)> {
    let (old, new) = (content(found.before, objects)?, content(found.after, objects)?);
    let diff = Diff::new("", &old, &new);
    Some((diff.added, diff.removed))
}

/// A text that can be compared; nothing there is an empty one.
fn content(node: Option<Node>, objects: &mut Objects) -> Option<String> {
    match node {
        None | Some(Node::Folder { .. }) => Some(String::new()),
        Some(Node::File { size, id, .. }) if size <= LARGEST_COMPARED => {
            let text = String::from_utf8(objects.get(id).ok()?).ok()?;
            (!text.contains('\0')).then_some(text)
        }
        Some(Node::Link { target }) => String::from_utf8(objects.get(target).ok()?).ok(),
        Some(Node::File { .. } | Node::Opaque { .. }) => None,
    }
}

impl Shadow {
    /// What a file held in a tree that was kept. Nothing where there was no file, or its content was
    /// not kept.
    pub fn file_at(&self, tree: Id, path: &str) -> Result<Option<Vec<u8>>, ShadowError> {
        let mut held = self.hold()?;
        let objects = held.objects()?;
        match tree::lookup(tree, path.as_bytes(), objects)? {
            Some(Node::File { id, .. }) => objects.get(id).map(Some),
            Some(Node::Folder { .. } | Node::Link { .. } | Node::Opaque { .. }) | None => Ok(None),
        }
    }

    /// How large a file was in trees that were kept, one after the other.
    pub fn sizes_at(&self, places: &[(Id, String)]) -> Result<Vec<Option<u64>>, ShadowError> {
        let mut held = self.hold()?;
        let objects = held.objects()?;
        let size = |(tree, path): &(Id, String)| match tree::lookup(*tree, path.as_bytes(), objects) {
            Ok(Some(Node::File { size, .. })) => Ok(Some(size)),
            Ok(_) | Err(ShadowError::Gone) => Ok(None),
            Err(error) => Err(error),
        };
        places.iter().map(size).collect()
    }

    /// One diff of all that the steps changed, as `git diff` would show it. What happened to the files
    /// between the steps is left out.
    pub fn diff(&self, steps: &[Step]) -> Result<String, ShadowError> {
        let mut held = self.hold()?;
        let objects = held.objects()?;
        let mut paths: BTreeMap<Vec<u8>, (Option<Node>, Option<Node>)> = BTreeMap::new();
        for step in steps {
            for Difference { path, before, after } in tree::compare(step.from, step.to, objects)? {
                paths.entry(path).or_insert((before, after)).1 = after;
            }
        }
        let mut whole = String::new();
        for (path, (before, after)) in paths {
            let found = Difference { path, before, after };
            if before != after && (is_told(&found) || shown(&found) == Shown::Mode) {
                tell(&found, objects, &mut whole);
            }
        }
        Ok(whole)
    }
}

fn tell(found: &Difference, objects: &mut Objects, whole: &mut String) {
    let path = String::from_utf8_lossy(&found.path);
    let _ = writeln!(whole, "diff --weft a/{path} b/{path}");
    let mode = |node: Option<Node>| match node {
        Some(Node::File { mode, .. }) => Some(0o100_000 | mode),
        Some(Node::Folder { mode, .. }) => Some(0o040_000 | mode),
        Some(Node::Link { .. }) => Some(0o120_000),
        Some(Node::Opaque { .. }) | None => None,
    };
    match (mode(found.before), mode(found.after)) {
        (None, Some(mode)) => drop(writeln!(whole, "new file mode {mode:o}")),
        (Some(mode), None) => drop(writeln!(whole, "deleted file mode {mode:o}")),
        (Some(old), Some(new)) if old != new => drop(writeln!(whole, "old mode {old:o}\nnew mode {new:o}")),
        (Some(_), Some(_)) | (None, None) => {}
    }
    let is_text = (content(found.before, objects), content(found.after, objects));
    match (is_text, shown(found)) {
        (_, Shown::Mode) => {}
        (_, Shown::NotKept) => whole.push_str("Too large or not readable: not kept\n"),
        ((Some(old), Some(new)), _) => {
            let mut diff = Diff::whole(&path, &old, &new).text;
            if found.after.is_none() {
                diff = diff.replacen(&format!("+++ b/{path}"), "+++ /dev/null", 1);
            }
            whole.push_str(&diff);
        }
        (_, Shown::Created | Shown::Changed | Shown::Deleted) => {
            let size = |node: Option<Node>| match node {
                Some(Node::File { size, .. } | Node::Opaque { size, .. }) => text::size(size),
                Some(Node::Link { .. } | Node::Folder { .. }) | None => "nothing".to_owned(),
            };
            let _ = writeln!(whole, "Binary file: {} before, {} after", size(found.before), size(found.after));
        }
    }
}

/// What a person should know about files that cannot be brought back.
pub(super) fn left_out(paths: &[String]) -> Option<String> {
    let first = paths.first()?;
    let others = match paths.len() {
        1 => String::new(),
        count => format!(" and {}", text::count(count - 1, "other file", "other files")),
    };
    Some(format!("Changes to `{first}`{others} cannot be taken back: too large, or not readable."))
}

pub(super) fn not_whole(reason: &str) -> String {
    format!("What commands change here cannot be taken back, only what file tools change: {reason}.")
}
