//! The form of what is kept: names of contents, folders as lists of what is in them, and how two
//! folders differ. A folder that did not change has the same name, so it is neither stored nor
//! looked into again.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use super::ShadowError;
use super::objects::Objects;

/// What a content is called: the hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Id(pub(super) [u8; Id::LENGTH]);

impl Id {
    pub(super) const LENGTH: usize = 20;
    pub(super) const NONE: Self = Self([0; Self::LENGTH]);

    /// The same name that git gives it.
    pub(super) fn of_file(bytes: &[u8]) -> Self {
        Self::of("blob", bytes)
    }

    pub(super) fn of_folder(bytes: &[u8]) -> Self {
        Self::of("weft folder", bytes)
    }

    fn of(kind: &str, bytes: &[u8]) -> Self {
        let mut hash = Sha1::new();
        hash.update(format!("{kind} {}\0", bytes.len()));
        hash.update(bytes);
        Self(hash.finalize().into())
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0.iter().fold(Self::with_capacity(2 * Id::LENGTH), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl TryFrom<String> for Id {
    type Error = ShadowError;

    fn try_from(text: String) -> Result<Self, ShadowError> {
        let wrong = || ShadowError::Gone;
        let mut bytes = [0; Self::LENGTH];
        if text.len() != 2 * Self::LENGTH {
            return Err(wrong());
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * index..2 * index + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from(*self))
    }
}

/// Something in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    File {
        mode: u32,
        size: u64,
        id: Id,
    },
    Link {
        target: Id,
    },
    Folder {
        mode: u32,
        tree: Id,
    },
    /// Seen, but its content was not kept: too large, or not readable. `stamp` tells versions apart.
    Opaque {
        size: u64,
        stamp: u64,
    },
}

impl Node {
    /// Without what is in it.
    pub(super) const fn bare(self) -> Self {
        match self {
            Self::Folder { mode, .. } => Self::Folder { mode, tree: Id::NONE },
            Self::File { .. } | Self::Link { .. } | Self::Opaque { .. } => self,
        }
    }

    pub(super) const fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }
}

/// A workspace, or a part of it, in memory.
#[derive(Debug, Clone)]
pub(super) enum Branch {
    Leaf(Node),
    Folder { mode: u32, children: Children },
}

pub(super) type Children = BTreeMap<Vec<u8>, Branch>;

const USUAL_MODE: u32 = 0o755;

/// Puts something in its place. Folders on the way that nobody has named yet get the usual mode.
pub(super) fn insert(root: &mut Children, path: &[u8], node: Node) {
    let mut names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let Some(last) = names.pop() else { return };
    let mut children = root;
    for name in names {
        let branch = children
            .entry(name.to_vec())
            .or_insert_with(|| Branch::Folder { mode: USUAL_MODE, children: Children::new() });
        if let Branch::Leaf(_) = branch {
            *branch = Branch::Folder { mode: USUAL_MODE, children: Children::new() };
        }
        let Branch::Folder { children: inner, .. } = branch else { return };
        children = inner;
    }
    match (node, children.get_mut(last)) {
        (Node::Folder { mode, .. }, Some(Branch::Folder { mode: known, .. })) => *known = mode,
        (Node::Folder { mode, .. }, _) => {
            children.insert(last.to_vec(), Branch::Folder { mode, children: Children::new() });
        }
        (Node::File { .. } | Node::Link { .. } | Node::Opaque { .. }, _) => {
            children.insert(last.to_vec(), Branch::Leaf(node));
        }
    }
}

/// Stores a folder with everything under it.
pub(super) fn store(children: &Children, objects: &mut Objects) -> Result<Id, ShadowError> {
    let mut bytes = Vec::with_capacity(children.len() * 64);
    for (name, branch) in children {
        let node = match branch {
            Branch::Leaf(node) => *node,
            Branch::Folder { mode, children } => Node::Folder { mode: *mode, tree: store(children, objects)? },
        };
        encode(name, node, &mut bytes);
    }
    let id = Id::of_folder(&bytes);
    objects.put(id, &bytes)?;
    Ok(id)
}

fn encode(name: &[u8], node: Node, bytes: &mut Vec<u8>) {
    let (kind, mode, size, id) = match node {
        Node::File { mode, size, id } => (b'f', mode, size, id),
        Node::Link { target } => (b'l', 0, 0, target),
        Node::Folder { mode, tree } => (b'd', mode, 0, tree),
        Node::Opaque { size, stamp } => {
            let mut id = Id::NONE;
            id.0.iter_mut().zip(stamp.to_le_bytes()).for_each(|(to, from)| *to = from);
            (b'o', 0, size, id)
        }
    };
    bytes.push(kind);
    bytes.extend(mode.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(id.0);
    bytes.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(name);
}

fn decode(mut bytes: &[u8]) -> Option<Vec<(Vec<u8>, Node)>> {
    let mut nodes = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        let (mode, rest) = rest.split_first_chunk::<4>()?;
        let (size, rest) = rest.split_first_chunk::<8>()?;
        let (id, rest) = rest.split_first_chunk::<{ Id::LENGTH }>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (name, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let (mode, size, id) = (u32::from_le_bytes(*mode), u64::from_le_bytes(*size), Id(*id));
        let node = match kind {
            b'f' => Node::File { mode, size, id },
            b'l' => Node::Link { target: id },
            b'd' => Node::Folder { mode, tree: id },
            b'o' => Node::Opaque { size, stamp: u64::from_le_bytes(*id.0.first_chunk::<8>()?) },
            _ => return None,
        };
        nodes.push((name.to_vec(), node));
        bytes = rest;
    }
    Some(nodes)
}

/// What is in a stored folder. [`Id::NONE`] is the empty one.
pub(super) fn list(id: Id, objects: &mut Objects) -> Result<Vec<(Vec<u8>, Node)>, ShadowError> {
    if id == Id::NONE {
        return Ok(Vec::new());
    }
    decode(&objects.get(id)?).ok_or(ShadowError::Gone)
}

/// One path that is not the same in two trees. Folders come without what is in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// From the workspace, as the file system spells it.
    pub path: Vec<u8>,
    pub before: Option<Node>,
    pub after: Option<Node>,
}

/// How two trees differ, in the order of paths.
pub(super) fn compare(before: Id, after: Id, objects: &mut Objects) -> Result<Vec<Difference>, ShadowError> {
    let mut found = Vec::new();
    compare_folders(before, after, &[], objects, &mut found)?;
    Ok(found)
}

fn compare_folders(
    before: Id,
    after: Id,
    at: &[u8],
    objects: &mut Objects,
    found: &mut Vec<Difference>,
) -> Result<(), ShadowError> {
    if before == after {
        return Ok(());
    }
    let mut pairs: BTreeMap<Vec<u8>, (Option<Node>, Option<Node>)> = BTreeMap::new();
    for (name, node) in list(before, objects)? {
        pairs.entry(name).or_default().0 = Some(node);
    }
    for (name, node) in list(after, objects)? {
        pairs.entry(name).or_default().1 = Some(node);
    }
    for (name, (one, other)) in pairs {
        let path = if at.is_empty() { name } else { [at, b"/", &name].concat() };
        let inside = |node: Option<Node>| match node {
            Some(Node::Folder { tree, .. }) => tree,
            Some(Node::File { .. } | Node::Link { .. } | Node::Opaque { .. }) | None => Id::NONE,
        };
        let (bare, other_bare) = (one.map(Node::bare), other.map(Node::bare));
        if bare != other_bare {
            found.push(Difference { path: path.clone(), before: bare, after: other_bare });
        }
        compare_folders(inside(one), inside(other), &path, objects, found)?;
    }
    Ok(())
}

/// What a stored tree has at a path.
pub(super) fn lookup(root: Id, path: &[u8], objects: &mut Objects) -> Result<Option<Node>, ShadowError> {
    let mut here = root;
    let mut found = None;
    for name in path.split(|byte| *byte == b'/') {
        found = list(here, objects)?.into_iter().find(|(known, _)| known == name).map(|(_, node)| node);
        here = match found {
            Some(Node::Folder { tree, .. }) => tree,
            Some(Node::File { .. } | Node::Link { .. } | Node::Opaque { .. }) | None => Id::NONE,
        };
    }
    Ok(found)
}

/// The tree with something else at one path: `None` takes away what is there. A folder that is there
/// already keeps what is in it.
pub(super) fn set(root: Id, path: &[u8], node: Option<Node>, objects: &mut Objects) -> Result<Id, ShadowError> {
    let mut nodes = list(root, objects)?;
    let (name, rest) = match path.iter().position(|byte| *byte == b'/') {
        Some(slash) => (path.get(..slash).unwrap_or_default(), path.get(slash + 1..)),
        None => (path, None),
    };
    let place = nodes.binary_search_by(|(known, _)| known.as_slice().cmp(name));
    let known = place.ok().and_then(|index| nodes.get(index)).map(|(_, node)| *node);
    let wanted = match (rest, node, known) {
        (Some(_), None, None | Some(Node::File { .. } | Node::Link { .. } | Node::Opaque { .. })) => return Ok(root),
        (Some(rest), node, known) => {
            let (mode, tree) = match known {
                Some(Node::Folder { mode, tree }) => (mode, tree),
                Some(Node::File { .. } | Node::Link { .. } | Node::Opaque { .. }) | None => (USUAL_MODE, Id::NONE),
            };
            Some(Node::Folder { mode, tree: set(tree, rest, node, objects)? })
        }
        (None, Some(Node::Folder { mode, .. }), Some(Node::Folder { tree, .. })) => Some(Node::Folder { mode, tree }),
        (None, node, _) => node,
    };
    match (place, wanted) {
        (Ok(index), Some(node)) => {
            if let Some(entry) = nodes.get_mut(index) {
                entry.1 = node;
            }
        }
        (Ok(index), None) => {
            nodes.remove(index);
        }
        (Err(index), Some(node)) => nodes.insert(index, (name.to_vec(), node)),
        (Err(_), None) => return Ok(root),
    }
    let mut bytes = Vec::with_capacity(nodes.len() * 64);
    for (name, node) in &nodes {
        encode(name, *node, &mut bytes);
    }
    let id = Id::of_folder(&bytes);
    objects.put(id, &bytes)?;
    Ok(id)
}

/// The folders on the way to a path, outermost first.
pub(super) fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').filter_map(|(index, _)| path.get(..index))
}
