//! The part of a restore that touches the workspace: prepare everything aside, take away, make
//! folders, put in place, set modes. Each step on one path is one operation of the file system.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::index::Stat;
use super::restore::{Kept, is_unchanged};
use super::tree::Node;
use super::{Held, Shadow, ShadowError};

/// What becomes of one path.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub path: Vec<u8>,
    /// What it looked like when the plan was made.
    pub seen: Option<Stat>,
    pub from: Option<Node>,
    pub to: Option<Node>,
}

impl Move {
    /// Only the permissions of a file change.
    fn is_mode_only(&self) -> bool {
        matches!((self.from, self.to), (Some(Node::File { id, .. }), Some(Node::File { id: other, .. })) if id == other)
    }

    fn depth(&self) -> usize {
        self.path.iter().filter(|byte| **byte == b'/').count()
    }
}

impl Shadow {
    /// Carries out a plan. What cannot be done is left as it is and told. An error means that
    /// nothing was changed.
    pub(super) fn apply(&self, moves: &[Move], id: &str, held: &mut Held<'_>) -> Result<Vec<Kept>, ShadowError> {
        let staging = self.staging(id);
        let _ = fs::remove_dir_all(&staging);
        let staged = match self.stage(moves, &staging, held) {
            Ok(staged) => staged,
            Err(error) => {
                if self.is_alive() {
                    let _ = fs::remove_dir_all(&staging);
                }
                return Err(error);
            }
        };
        let mut work = Work { workspace: &self.workspace, opened: BTreeMap::new(), kept: Vec::new() };
        let mut deepest_first: Vec<&Move> = moves.iter().collect();
        deepest_first.sort_by_key(|one| std::cmp::Reverse(one.depth()));
        for one in &deepest_first {
            self.step()?;
            work.take_away(one);
        }
        for one in deepest_first.iter().rev() {
            self.step()?;
            work.make_folder(one);
        }
        for (one, prepared) in moves.iter().zip(&staged) {
            self.step()?;
            work.put_in_place(one, prepared.as_deref());
        }
        for one in &deepest_first {
            self.step()?;
            work.set_folder_mode(one);
        }
        let kept = work.finish();
        self.step()?;
        let _ = fs::remove_dir_all(&staging);
        Ok(kept)
    }

    /// Writes everything that is to be put in place, beside the files, so that putting it there is
    /// only a change of names.
    fn stage(&self, moves: &[Move], staging: &Path, held: &mut Held<'_>) -> Result<Vec<Option<PathBuf>>, ShadowError> {
        let failed = |error| ShadowError::disk(staging, error);
        fs::create_dir(staging).map_err(failed)?;
        let mut staged = Vec::with_capacity(moves.len());
        for (number, one) in moves.iter().enumerate() {
            self.step()?;
            let path = staging.join(number.to_string());
            let prepared = match one.to {
                Some(Node::File { .. }) if one.is_mode_only() => None,
                Some(Node::File { mode, id, .. }) => {
                    let bytes = held.objects()?.get(id)?;
                    write_file(&path, &bytes, mode).map_err(failed)?;
                    Some(path)
                }
                Some(Node::Link { target }) => {
                    let target = held.objects()?.get(target)?;
                    std::os::unix::fs::symlink(OsStr::from_bytes(&target), &path).map_err(failed)?;
                    Some(path)
                }
                Some(Node::Folder { .. } | Node::Opaque { .. }) | None => None,
            };
            staged.push(prepared);
        }
        Ok(staged)
    }
}

fn write_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

struct Work<'a> {
    workspace: &'a Path,
    /// Folders that had to be made writable, with the mode they get back.
    opened: BTreeMap<PathBuf, u32>,
    kept: Vec<Kept>,
}

impl Work<'_> {
    fn place(&self, one: &Move) -> PathBuf {
        self.workspace.join(OsStr::from_bytes(&one.path))
    }

    fn refuse(&mut self, one: &Move, reason: impl std::fmt::Display) {
        let path = String::from_utf8_lossy(&one.path).into_owned();
        if !self.kept.iter().any(|kept| kept.path == path) {
            self.kept.push(Kept { path, reason: reason.to_string() });
        }
    }

    /// Whether something has come into its place since the plan was made.
    fn is_overtaken(&mut self, one: &Move, place: &Path) -> bool {
        let overtaken = !is_unchanged(place, one.seen);
        if overtaken {
            self.refuse(one, "it was changed just now");
        }
        overtaken
    }

    /// What is to go, or to make room for something of another kind.
    fn take_away(&mut self, one: &Move) {
        let place = self.place(one);
        match (one.from, one.to) {
            (Some(Node::Folder { .. }), None | Some(Node::File { .. } | Node::Link { .. })) => {
                self.open_parent(&place);
                // One that holds something else stays; the plan has seen to it that nothing needs
                // its place.
                if let Err(error) = fs::remove_dir(&place)
                    && !matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound)
                {
                    self.refuse(one, error);
                }
            }
            (Some(Node::File { .. } | Node::Link { .. }), None | Some(Node::Folder { .. })) => {
                if self.is_overtaken(one, &place) {
                    return;
                }
                self.open_parent(&place);
                if let Err(error) = fs::remove_file(&place) {
                    self.refuse(one, error);
                }
            }
            (None | Some(_), _) => {}
        }
    }

    fn make_folder(&mut self, one: &Move) {
        let (Some(Node::Folder { .. }), None | Some(Node::File { .. } | Node::Link { .. })) = (one.to, one.from) else {
            return;
        };
        let place = self.place(one);
        self.open_parent(&place);
        match fs::create_dir_all(&place) {
            Ok(()) => {}
            Err(error) => self.refuse(one, error),
        }
    }

    fn put_in_place(&mut self, one: &Move, prepared: Option<&Path>) {
        let place = self.place(one);
        if one.is_mode_only() {
            if let (Some(Node::File { mode, .. }), false) = (one.to, self.is_overtaken(one, &place))
                && let Err(error) = fs::set_permissions(&place, Permissions::from_mode(mode))
            {
                self.refuse(one, error);
            }
            return;
        }
        let Some(prepared) = prepared else { return };
        let replaces = matches!(one.from, Some(Node::File { .. } | Node::Link { .. }));
        let seen = if replaces { one.seen } else { None };
        if !is_unchanged(&place, seen) {
            self.refuse(one, "it was changed just now");
            return;
        }
        if let Some(parent) = place.parent()
            && !parent.exists()
        {
            let _ = fs::create_dir_all(parent);
        }
        self.open_parent(&place);
        if let Err(error) = fs::rename(prepared, &place) {
            self.refuse(one, error);
        }
    }

    fn set_folder_mode(&mut self, one: &Move) {
        let Some(Node::Folder { mode, .. }) = one.to else { return };
        let place = self.place(one);
        self.opened.remove(&place);
        let is_folder = fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_dir());
        if is_folder && let Err(error) = fs::set_permissions(&place, Permissions::from_mode(mode)) {
            self.refuse(one, error);
        }
    }

    /// A folder without write permission lets nothing in or out.
    fn open_parent(&mut self, place: &Path) {
        let Some(parent) = place.parent().filter(|parent| parent.starts_with(self.workspace)) else { return };
        let Ok(metadata) = fs::symlink_metadata(parent) else { return };
        let mode = metadata.mode() & 0o7777;
        if metadata.is_dir()
            && mode & 0o300 != 0o300
            && fs::set_permissions(parent, Permissions::from_mode(mode | 0o700)).is_ok()
        {
            self.opened.insert(parent.to_owned(), mode);
        }
    }

    fn finish(self) -> Vec<Kept> {
        for (folder, mode) in self.opened.iter().rev() {
            let _ = fs::set_permissions(folder, Permissions::from_mode(*mode));
        }
        // Makes the new names durable, as far as the file system can.
        let _ = File::open(self.workspace).and_then(|folder| folder.sync_all());
        self.kept
    }
}
