//! Forgets what is too old to be taken back, and the contents that only it needed.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::objects::Objects;
use super::restore::Restored;
use super::tree::{self, Id, Node};
use super::{Shadow, ShadowError, is_older, turns};

impl Shadow {
    /// At most once a day. `now` is in seconds, as file systems count them.
    pub fn prune_if_due(&self, now: i64) -> Result<(), ShadowError> {
        let stamp = self.folder.join("pruned");
        match fs::metadata(&stamp) {
            Ok(metadata) if !is_older(&metadata, 1, now) => return Ok(()),
            // A history that has just begun has nothing old.
            Err(_) => return fs::write(&stamp, b"").map_err(|error| ShadowError::disk(&stamp, error)),
            Ok(_) => {}
        }
        self.prune(now)?;
        fs::write(&stamp, b"").map_err(|error| ShadowError::disk(&stamp, error))
    }

    pub(super) fn prune(&self, now: i64) -> Result<(), ShadowError> {
        let mut held = self.hold()?;
        self.complete_restore(&mut held)?;
        let Some(inner) = &mut *held.inner else { return Ok(()) };
        let mut needed = HashSet::new();
        for path in self.recent(&self.folder.join("turns"), now) {
            let Some(record) = turns::read(&path) else { continue };
            for root in [Some(record.before), record.after].into_iter().flatten() {
                mark(root, &mut inner.objects, &mut needed);
            }
            for (_, node) in record.saved {
                mark_node(node, &mut inner.objects, &mut needed);
            }
        }
        for path in self.recent(&self.folder.join("restores"), now) {
            let Some(restored) = fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Restored>(&bytes).ok())
            else {
                continue;
            };
            mark(restored.from, &mut inner.objects, &mut needed);
            mark(restored.to, &mut inner.objects, &mut needed);
        }
        if let Some(index) = super::Index::read(&self.folder.join("index")) {
            mark(index.root, &mut inner.objects, &mut needed);
            for seen in index.seen.values() {
                mark_node(seen.node, &mut inner.objects, &mut needed);
            }
        }
        inner.objects.keep_only(&needed)
    }

    /// Files in a folder that are not too old; the others are deleted.
    fn recent(&self, folder: &Path, now: i64) -> Vec<std::path::PathBuf> {
        let mut recent = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if is_older(&metadata, self.limits.keep_days, now) => {
                    let _ = fs::remove_file(entry.path());
                }
                Ok(_) => recent.push(entry.path()),
                Err(_) => {}
            }
        }
        recent
    }
}

fn mark(root: Id, objects: &mut Objects, needed: &mut HashSet<Id>) {
    if root == Id::NONE || !needed.insert(root) {
        return;
    }
    for (_, node) in tree::list(root, objects).unwrap_or_default() {
        mark_node(node, objects, needed);
    }
}

fn mark_node(node: Node, objects: &mut Objects, needed: &mut HashSet<Id>) {
    match node {
        Node::File { id, .. } | Node::Link { target: id } => {
            needed.insert(id);
        }
        Node::Folder { tree, .. } => mark(tree, objects, needed),
        Node::Opaque { .. } => {}
    }
}
