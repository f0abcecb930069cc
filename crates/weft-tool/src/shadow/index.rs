//! What the workspace looked like when it was last gone through, so that only files that have been
//! touched since are read again. Losing it costs time and nothing else.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::tree::{Id, Node};

/// A moment as file systems stamp it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Moment {
    seconds: i64,
    nanos: i64,
}

impl Moment {
    /// Now, by the clock that the kernel stamps files with. It is compared with nothing else.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self { seconds: now.tv_sec, nanos: now.tv_nsec }
    }

    pub fn changed(metadata: &Metadata) -> Self {
        Self { seconds: metadata.ctime(), nanos: metadata.ctime_nsec() }
    }

    /// When a file came to be, as far as its file system knows.
    pub fn created(metadata: &Metadata) -> Self {
        let since = metadata.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        match since {
            Some(since) => Self {
                seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                nanos: i64::from(since.subsec_nanos()),
            },
            None => Self::changed(metadata),
        }
    }

    /// A later change could bear the same stamp. File systems without fractions count in steps of
    /// up to two seconds.
    fn may_repeat(self, read_at: Self) -> bool {
        self >= read_at || (self.nanos == 0 && self.seconds + 2 >= read_at.seconds)
    }
}

/// What tells two versions of a file apart without reading them. The change time cannot be set by
/// programs, so nothing can hide behind an old modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: Moment,
}

impl Stat {
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            size: metadata.len(),
            mode: metadata.mode(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: Moment::changed(metadata),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub stat: Stat,
    pub node: Node,
    /// It was read in the same tick in which it was last changed, so it must be read again.
    pub doubtful: bool,
}

impl Seen {
    pub fn new(stat: Stat, node: Node, read_at: Moment) -> Self {
        Self { stat, node, doubtful: stat.changed.may_repeat(read_at) }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Index {
    pub root: Id,
    pub seen: HashMap<Box<[u8]>, Seen>,
}

const MARK: &[u8; 8] = b"weftidx1";

impl Index {
    pub fn new() -> Self {
        Self { root: Id::NONE, seen: HashMap::new() }
    }

    pub fn read(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(Id::LENGTH)?)?;
        if Id::of_file(body).0 != sum {
            return None;
        }
        let (root, mut rest) = body.strip_prefix(MARK)?.split_first_chunk::<{ Id::LENGTH }>()?;
        let mut seen = HashMap::new();
        while !rest.is_empty() {
            let (path, entry);
            ((path, entry), rest) = read_row(rest)?;
            seen.insert(path, entry);
        }
        Some(Self { root: Id(*root), seen })
    }

    /// In one step. Not synced: one that is torn by a power cut is noticed and left out.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut bytes = Vec::with_capacity(64 + self.seen.len() * 160);
        bytes.extend(MARK);
        bytes.extend(self.root.0);
        for (path, seen) in &self.seen {
            write_row(path, seen, &mut bytes);
        }
        bytes.extend(Id::of_file(&bytes).0);
        let temporary = path.with_extension("new");
        fs::write(&temporary, &bytes)?;
        fs::rename(&temporary, path)
    }
}

fn write_row(path: &[u8], seen: &Seen, bytes: &mut Vec<u8>) {
    let Seen { stat, node, doubtful } = seen;
    let (kind, mode, size, id) = match *node {
        Node::File { mode, size, id } => (0, mode, size, id),
        Node::Link { target } => (1, 0, 0, target),
        Node::Folder { mode, tree } => (2, mode, 0, tree),
        Node::Opaque { size, stamp } => (3, 0, size, stamp_as_id(stamp)),
    };
    bytes.extend(u32::try_from(path.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(path);
    bytes.push(kind);
    bytes.push(u8::from(*doubtful));
    for word in [u64::from(mode), size, stat.inode, stat.size, u64::from(stat.mode)] {
        bytes.extend(word.to_le_bytes());
    }
    for word in [stat.modified.0, stat.modified.1, stat.changed.seconds, stat.changed.nanos] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(id.0);
}

fn stamp_as_id(stamp: u64) -> Id {
    let mut id = Id::NONE;
    id.0.iter_mut().zip(stamp.to_le_bytes()).for_each(|(to, from)| *to = from);
    id
}

type Row = (Box<[u8]>, Seen);

/// A row, and what comes after it.
fn read_row(bytes: &[u8]) -> Option<(Row, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (path, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let ([kind, doubtful], mut rest) = rest.split_first_chunk::<2>()?;
    let mut words = [0; 9];
    for word in &mut words {
        let (bytes, after) = rest.split_first_chunk::<8>()?;
        *word = u64::from_le_bytes(*bytes);
        rest = after;
    }
    let [mode, size, inode, stat_size, stat_mode, modified, modified_nanos, changed, changed_nanos] = words;
    let (id, rest) = rest.split_first_chunk::<{ Id::LENGTH }>()?;
    let (id, mode) = (Id(*id), u32::try_from(mode).ok()?);
    let node = match kind {
        0 => Node::File { mode, size, id },
        1 => Node::Link { target: id },
        2 => Node::Folder { mode, tree: id },
        3 => Node::Opaque { size, stamp: u64::from_le_bytes(*id.0.first_chunk::<8>()?) },
        _ => return None,
    };
    let stat = Stat {
        inode,
        size: stat_size,
        mode: u32::try_from(stat_mode).ok()?,
        modified: (modified.cast_signed(), modified_nanos.cast_signed()),
        changed: Moment { seconds: changed.cast_signed(), nanos: changed_nanos.cast_signed() },
    };
    Some(((path.into(), Seen { stat, node, doubtful: *doubtful != 0 }), rest))
}
