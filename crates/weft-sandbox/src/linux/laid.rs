//! Whether bubblewrap laid what it was told to, where it was told to. It takes paths as names, and a job
//! that runs already may exchange a folder of the workspace with a link while bubblewrap works: then
//! something else is laid there, or it is laid elsewhere. So what is to be laid is opened by handle
//! before, held open meanwhile, and compared inside before anything runs: what is seen at each place, and
//! that no mount lies where none is expected.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, ResolveFlags, StatVfsMountFlags};
use serde::{Deserialize, Serialize};

use super::{Doing as _, EnterError};
use crate::named;

/// How a complaint about it begins, for who may try again.
pub const EXCHANGED: &str = "trust what bubblewrap lays at";
const MOUNTS: &str = "/proc/self/mountinfo";
/// What bubblewrap lays by itself: the root, on which it stands too, and what it furnishes.
const BY_ITSELF: [&str; 17] = [
    "/",
    "/",
    "/dev",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/pts",
    "/dev/console",
    "/dev/shm",
    "/proc",
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
];

/// One thing that bubblewrap is told to lay.
pub struct Lay {
    pub at: PathBuf,
    /// Nothing, over what is there; or something that is elsewhere.
    pub what: Option<Bound>,
}

pub struct Bound {
    pub from: PathBuf,
    pub read_only: bool,
}

/// What must be found inside.
#[derive(Debug, Serialize, Deserialize)]
pub struct Laid {
    seen: Vec<Place>,
    /// How many mounts lie at a place at most, as the kernel writes its name.
    mounts: BTreeMap<String, usize>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Place {
    #[serde(with = "named")]
    at: PathBuf,
    expected: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Seen {
    This {
        thing: Identity,
        read_only: bool,
    },
    /// Nothing: an empty file system, which is not the one that holds this.
    Nothing {
        instead_of: Identity,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
}

/// No thing has it: what is not there when it is looked for must not be there later either.
const GONE: Identity = Identity { device: 0, inode: 0 };

impl Laid {
    /// What is to be expected of these lays, done in order over everything that there is. The handles are
    /// to be kept until it was checked: a thing that is held keeps its number. `theirs` says which paths
    /// commands could have put links into.
    pub fn expect(lays: &[Lay], theirs: impl Fn(&Path) -> bool) -> Result<(Self, Vec<OwnedFd>), EnterError> {
        let outside = mount_points()?;
        let mut mounts = outside.clone();
        for place in BY_ITSELF {
            *mounts.entry(place.to_owned()).or_default() += 1;
        }
        let (mut seen, mut held) = (BTreeMap::new(), Vec::new());
        for lay in lays {
            let at = as_written(&lay.at);
            *mounts.entry(at.clone()).or_default() += 1;
            // What was laid in it before is covered.
            seen.retain(|place: &PathBuf, _| !place.starts_with(&lay.at));
            let source = lay.what.as_ref().map_or(&lay.at, |bound| &bound.from);
            let identity = match open(source, theirs(source)) {
                Ok(handle) => {
                    let identity = Identity::of(&handle).doing_at("look at", source)?;
                    held.push(handle);
                    identity
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => GONE,
                Err(error) => return Err(error).doing_at(EXCHANGED, source),
            };
            let Some(bound) = &lay.what else {
                seen.insert(lay.at.clone(), Seen::Nothing { instead_of: identity });
                continue;
            };
            seen.insert(lay.at.clone(), Seen::This { thing: identity, read_only: bound.read_only });
            // It comes with what is mounted in it.
            let inner = format!("{}/", as_written(&bound.from).trim_end_matches('/'));
            for (point, count) in outside.range(inner.clone()..).take_while(|(point, _)| point.starts_with(&inner)) {
                let rest = point.strip_prefix(&inner).unwrap_or_default();
                *mounts.entry(format!("{}/{rest}", at.trim_end_matches('/'))).or_default() += count;
            }
        }
        let seen = seen.into_iter().map(|(at, expected)| Place { at, expected }).collect();
        Ok((Self { seen, mounts }, held))
    }

    /// A file for the process inside. It may be too long for an argument.
    pub fn written(&self) -> io::Result<File> {
        let mut file = File::from(rustix::fs::memfd_create("laid", MemfdFlags::CLOEXEC)?);
        serde_json::to_writer(&mut file, self)?;
        file.rewind()?;
        Ok(file)
    }

    pub fn read(mut file: File) -> io::Result<Self> {
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Inside, before anything runs.
    pub fn check(&self) -> Result<(), EnterError> {
        let other = || {
            let why =
                "a file or folder was exchanged, or something was mounted, while the command started. Run it again";
            io::Error::other(why)
        };
        for Place { at: place, expected } in &self.seen {
            let found = open(place, true).and_then(|handle| expected.is_seen(&handle));
            if !found.doing_at(EXCHANGED, place)? {
                return Err(other()).doing_at(EXCHANGED, place);
            }
        }
        let extra = mount_points()?
            .into_iter()
            .find(|(place, count)| *count > self.mounts.get(place).copied().unwrap_or_default());
        extra.map_or(Ok(()), |(place, _)| Err(other()).doing_at(EXCHANGED, Path::new(&place)))
    }
}

impl Seen {
    fn is_seen(self, handle: &OwnedFd) -> io::Result<bool> {
        let found = Identity::of(handle)?;
        let is_read_only = rustix::fs::fstatvfs(handle)?.f_flag.contains(StatVfsMountFlags::RDONLY);
        Ok(match self {
            Self::This { thing, read_only } => found == thing && (is_read_only || !read_only),
            Self::Nothing { instead_of } => {
                let is_bare = rustix::fs::fstatfs(handle)?.f_type == libc::TMPFS_MAGIC;
                found.device != instead_of.device && is_read_only && is_bare
            }
        })
    }
}

impl Identity {
    fn of(handle: &OwnedFd) -> io::Result<Self> {
        let found = rustix::fs::fstat(handle)?;
        Ok(Self { device: found.st_dev, inode: found.st_ino })
    }
}

/// Takes hold of a thing; with `no_links` only if no link is on the way to it.
fn open(path: &Path, no_links: bool) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    if !no_links {
        return Ok(rustix::fs::open(path, flags, Mode::empty())?);
    }
    Ok(rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// Where something is mounted in the world of this process, and how often.
fn mount_points() -> Result<BTreeMap<String, usize>, EnterError> {
    let list = std::fs::read(MOUNTS).doing_at("read", Path::new(MOUNTS))?;
    let mut points = BTreeMap::new();
    for line in letters(&list).lines() {
        let point = line.split(' ').nth(4).unwrap_or_default().to_owned();
        *points.entry(point).or_default() += 1;
    }
    Ok(points)
}

/// Each byte as a letter: the kernel's list is of bytes, and so are names.
fn letters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// A path as the kernel writes it in its list.
fn as_written(path: &Path) -> String {
    let text = letters(path.as_os_str().as_bytes());
    text.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012")
}
