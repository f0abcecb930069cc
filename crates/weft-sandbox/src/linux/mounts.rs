//! The file system as the command sees it: everything read-only, the writable folders on top of
//! that, protected things read-only on top of those, secrets covered, and `/tmp`, `/dev`, `/proc` and
//! `/run` its own. It is arranged once and cannot be changed from inside.

use std::collections::HashMap;
use std::ffi::{CStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree,
};

use super::sys;
use super::{Doing as _, EnterError};
use crate::helper::Order;
use crate::policy::Policy;
use crate::{reserved, shut};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const TAME: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// Folders full of sockets, through which programs outside could be told to do things.
const MEETING_PLACES: [&str; 2] = ["/run", "/var/run"];
/// What some systems keep their programs in there.
const PROGRAMS_THERE: [&str; 4] = ["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

const BLANK_FOLDER: &str = "/dev/.blank/folder";
const BLANK_FILE: &str = "/dev/.blank/file";
const LOCKED_FILE: &str = "/dev/.blank/locked";

/// The kernel keeps this many process numbers to itself once it has counted through.
const RESERVED_NUMBERS: u64 = 300;

pub fn environment() -> Vec<(OsString, OsString)> {
    let caches = [("TMPDIR", "/tmp"), ("TMP", "/tmp"), ("TEMP", "/tmp"), ("GOCACHE", "/tmp/.cache/go-build")];
    caches.map(|(name, value)| (name.into(), value.into())).into()
}

/// All that does not depend on the command.
pub fn lay_ground(policy: &Policy) -> Result<(), EnterError> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).doing("part from other mounts")?;
    let kept = Kept::take(policy)?;
    restrict(Path::new("/"), READ_ONLY | TAME)?;
    own_devices(kept.devices)?;
    for (folder, temp) in kept.temp {
        attach(&temp, Path::new(folder))?;
    }
    let covers = covers(policy);
    for folder in &covers {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", folder, "tmpfs", flags, c"mode=0711,size=1m").doing_at("cover", folder)?;
    }
    for (path, tree) in kept.programs {
        attach(&tree, &path)?;
    }
    open_and_protect(kept.writable, policy)?;
    for path in policy.unreadable.iter().filter(|path| !covers.contains(path)) {
        hide(path, &policy.writable)?;
    }
    for (path, tree) in kept.readable {
        attach(&tree, &path)?;
    }
    for folder in covers {
        restrict_one(&folder)?;
    }
    restrict_one(Path::new("/dev"))
}

/// Folders that are hidden though something in them is not: nothing is laid over them, and that on top.
pub fn covers(policy: &Policy) -> Vec<PathBuf> {
    let mut covers: Vec<PathBuf> = MEETING_PLACES.map(PathBuf::from).into();
    covers.retain(|folder| is_real_folder(folder));
    let holding = |path: &&PathBuf| policy.writable.iter().chain(&policy.readable).any(|inner| inner.starts_with(path));
    covers.extend(policy.unreadable.iter().filter(holding).filter(|folder| folder.is_dir()).cloned());
    covers
}

/// The folders that a private one stands in for.
pub fn own_temporary() -> impl Iterator<Item = &'static str> {
    TEMPORARY.into_iter().filter(|folder| is_real_folder(Path::new(folder)))
}

/// Programs in folders that are covered.
pub fn programs_there() -> impl Iterator<Item = PathBuf> {
    PROGRAMS_THERE.into_iter().map(PathBuf::from).filter(|path| path.exists())
}

/// Outer things first: what is writable may hold what is protected, and the other way round. `true`
/// is writable.
pub fn writable_and_protected(policy: &Policy) -> Vec<(PathBuf, bool)> {
    let reserved = policy.reserved.iter().map(|reserved| &reserved.path);
    let protected = policy.protected.iter().chain(reserved).map(|path| (path.clone(), false));
    let mut layers: Vec<_> = policy.writable.iter().map(|path| (path.clone(), true)).chain(protected).collect();
    layers.sort_by(|(one, _), (other, _)| one.cmp(other));
    layers.dedup();
    layers
}

/// What each command has of its own: processes to see, terminals, shared memory, and what came into
/// being since the ground was laid.
pub fn finish(order: &Order, sockets: &[PathBuf]) -> Result<(), EnterError> {
    if order.ground.is_some() {
        mend(&order.policy)?;
    }
    own_processes(order)?;
    let shared = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", "/dev/shm", "tmpfs", shared, c"mode=1777").doing("make /dev/shm")?;
    let terminals = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=0600";
    mount("devpts", "/dev/pts", "devpts", terminals, options).doing("make /dev/pts")?;
    for path in order.policy.reserved.iter().map(|reserved| &reserved.path).filter(|path| is_bare(path)) {
        protect(path, &order.policy.writable, &mut Here)?;
    }
    if order.lasting {
        for folder in &order.policy.quiet {
            Here.lay_read_only(folder)?;
        }
    }
    for path in sockets.iter().filter(|path| is_socket(path)) {
        // Sockets come and go; one that has gone by now needs no cover.
        let covered = attach(&clone(Path::new(BLANK_FILE), false)?, path);
        if is_socket(path) {
            covered?;
        }
    }
    Ok(())
}

pub fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// A mount goes when the file under it is replaced, in every world at once, and the new file may even
/// have the old one's number. So what a ground protects and hides is looked at once more.
fn mend(policy: &Policy) -> Result<(), EnterError> {
    for path in policy.protected.iter().filter(|path| is_bare(path)) {
        protect(path, &policy.writable, &mut Here)?;
    }
    for path in policy.unreadable.iter().filter(|path| is_bare(path)) {
        hide(path, &policy.writable)?;
    }
    Ok(())
}

/// Something is there, and nothing is laid over it.
fn is_bare(path: &Path) -> bool {
    is_mount(path).is_ok_and(|is_mount| !is_mount)
}

fn open_and_protect(mut trees: HashMap<PathBuf, OwnedFd>, policy: &Policy) -> Result<(), EnterError> {
    for (path, is_writable) in writable_and_protected(policy) {
        match trees.remove(&path).filter(|_| is_writable) {
            Some(tree) => attach(&tree, &path)?,
            None => protect(&path, &policy.writable, &mut Here)?,
        }
    }
    Ok(())
}

/// Trees as they were before everything became read-only.
struct Kept {
    writable: HashMap<PathBuf, OwnedFd>,
    readable: Vec<(PathBuf, OwnedFd)>,
    programs: Vec<(PathBuf, OwnedFd)>,
    temp: Vec<(&'static str, OwnedFd)>,
    devices: Vec<(&'static str, OwnedFd)>,
}

impl Kept {
    fn take(policy: &Policy) -> Result<Self, EnterError> {
        let mut kept =
            Self { writable: HashMap::new(), readable: vec![], programs: vec![], temp: vec![], devices: vec![] };
        for path in &policy.writable {
            let tree = clone(path, true)?;
            restrict_tree(&tree, TAME).doing_at("tame", path)?;
            kept.writable.insert(path.clone(), tree);
        }
        for path in programs_there() {
            let tree = clone(&path, true)?;
            restrict_tree(&tree, READ_ONLY | TAME).doing_at("restrict", &path)?;
            kept.programs.push((path, tree));
        }
        for path in &policy.readable {
            let tree = clone(path, true)?;
            restrict_tree(&tree, READ_ONLY | TAME).doing_at("restrict", path)?;
            kept.readable.push((path.clone(), tree));
        }
        for folder in own_temporary() {
            // With what is mounted in it: the kernel gives out no folder that other mounts lie in bare.
            let tree = clone(&policy.temp, true)?;
            restrict_tree(&tree, TAME).doing_at("tame", &policy.temp)?;
            kept.temp.push((folder, tree));
        }
        for name in DEVICES {
            kept.devices.push((name, clone(&Path::new("/dev").join(name), false)?));
        }
        Ok(kept)
    }
}

fn own_devices(devices: Vec<(&'static str, OwnedFd)>) -> Result<(), EnterError> {
    let dev = Path::new("/dev");
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("tmpfs", dev, "tmpfs", flags, c"mode=0755,size=1m").doing("make /dev")?;
    let make = || -> io::Result<()> {
        for folder in ["shm", "pts", ".blank", ".blank/folder"] {
            fs::create_dir(dev.join(folder))?;
        }
        for (file, mode) in [(BLANK_FILE, 0o444), (LOCKED_FILE, 0o000)] {
            File::create(file)?;
            fs::set_permissions(file, Permissions::from_mode(mode))?;
        }
        fs::set_permissions(BLANK_FOLDER, Permissions::from_mode(0o000))?;
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            symlink(target, dev.join(name))?;
        }
        for (name, device) in devices {
            File::create(dev.join(name))?;
            move_mount(&device, "", CWD, dev.join(name), MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        Ok(())
    };
    make().doing("furnish /dev")
}

fn own_processes(order: &Order) -> Result<(), EnterError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).doing("make /proc")?;
    if let Some(most) = order.policy.limits.processes.filter(|_| order.layers.process_limit && is_root()) {
        // The kernel exempts root from the usual limit.
        let highest = most.saturating_add(RESERVED_NUMBERS);
        fs::write("/proc/sys/kernel/pid_max", highest.to_string()).doing("limit the number of processes")?;
    }
    restrict(Path::new("/proc"), READ_ONLY)
}

pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Lays things over themselves: at once, or by telling another program to.
pub trait Mounting {
    /// As it is, unless something is laid there already.
    fn lay_open(&mut self, folder: &Path) -> Result<(), EnterError>;
    fn lay_read_only(&mut self, path: &Path) -> Result<(), EnterError>;
    /// A link, and not what it leads to. Says whether that can be done.
    fn lay_link(&mut self, link: &Path) -> Result<bool, EnterError>;
}

/// In the namespace that this process is in.
struct Here;

impl Mounting for Here {
    fn lay_open(&mut self, folder: &Path) -> Result<(), EnterError> {
        if is_mount(folder)? { Ok(()) } else { attach(&clone(folder, true)?, folder) }
    }

    fn lay_read_only(&mut self, path: &Path) -> Result<(), EnterError> {
        let tree = clone(path, true)?;
        restrict_tree(&tree, READ_ONLY).doing_at("protect", path)?;
        attach(&tree, path)
    }

    fn lay_link(&mut self, link: &Path) -> Result<bool, EnterError> {
        attach(&clone(link, false)?, link)?;
        Ok(true)
    }
}

/// Lays a thing read-only over itself, where it could be changed.
pub fn protect(path: &Path, writable: &[PathBuf], world: &mut impl Mounting) -> Result<(), EnterError> {
    let (Some(root), Some(found)) = (root_of(path, writable), seen(path)?) else { return Ok(()) };
    if !pin(path, root, world)? {
        // What a link leads to is protected where it is, if it is writable at all.
        return Ok(());
    }
    if found.is_symlink() { protect_link(path, root, world) } else { world.lay_read_only(path) }
}

/// What is there. An error: it cannot be told, since a folder on the way has been shut after the policy was
/// made, by who can open it again.
fn seen(path: &Path) -> Result<Option<fs::Metadata>, EnterError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) => match shut::because(path, &error) {
            Some(folder) => Err(error).doing_at("look into", &folder),
            None => Ok(None),
        },
    }
}

/// The writable folder that a thing lies in, or is.
fn root_of<'a>(path: &Path, writable: &'a [PathBuf]) -> Option<&'a PathBuf> {
    writable.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())
}

/// What holds a thing must not be moved away with it, so every folder from the writable one down to it
/// becomes a mount, which cannot be renamed. Says whether no link is on the way.
fn pin(path: &Path, root: &Path, world: &mut impl Mounting) -> Result<bool, EnterError> {
    let inside = |folder: &&Path| *folder != root && folder.starts_with(root);
    let mut between: Vec<&Path> = path.ancestors().skip(1).take_while(inside).collect();
    between.reverse();
    for folder in between {
        match seen(folder)? {
            Some(found) if found.is_dir() => world.lay_open(folder)?,
            Some(_) | None => return Ok(false),
        }
    }
    Ok(true)
}

/// Keeps what is hidden from being moved to where nobody would look for it.
pub fn pin_hidden(path: &Path, writable: &[PathBuf], world: &mut impl Mounting) -> Result<(), EnterError> {
    match root_of(path, writable).filter(|root| *root != path) {
        Some(root) if seen(path)?.is_some() => pin(path, root, world).map(drop),
        Some(_) | None => Ok(()),
    }
}

/// A link is laid over itself, which keeps it from being replaced. What it leads to is protected where it is.
/// Where that cannot be had, it may be replaced next to a root; deeper down nothing beside it can be changed
/// either.
fn protect_link(link: &Path, root: &Path, world: &mut impl Mounting) -> Result<(), EnterError> {
    if world.lay_link(link)? {
        return Ok(());
    }
    if let Ok(target) = link.canonicalize() {
        world.lay_read_only(&target)?;
    }
    match link.parent() {
        Some(folder) if folder != root => world.lay_read_only(folder),
        Some(_) | None => Ok(()),
    }
}

/// A file in a writable folder is seen to be locked: git would take an empty one for a change, and
/// commit it. Elsewhere programs do better with an empty one.
fn hide(path: &Path, writable: &[PathBuf]) -> Result<(), EnterError> {
    pin_hidden(path, writable, &mut Here)?;
    let is_within = root_of(path, writable).is_some();
    match seen(path)? {
        Some(found) if found.is_dir() => attach(&clone(Path::new(BLANK_FOLDER), false)?, path),
        Some(_) if is_within => attach(&clone(Path::new(LOCKED_FILE), false)?, path),
        Some(_) => attach(&clone(Path::new(BLANK_FILE), false)?, path),
        None => Ok(()),
    }
}

/// Puts something where nothing must be made, and holds the lock that says so. The lock lives as long
/// as the first process.
pub fn reserve(order: &Order) -> Result<Option<File>, EnterError> {
    let Some(path) = order.lock.as_ref().filter(|_| !order.policy.reserved.is_empty()) else { return Ok(None) };
    reserved::hold(path, &order.policy.reserved).doing("reserve names").map(Some)
}

/// Sockets of other programs that lie where no folder of ours covers them, as the kernel lists them.
pub fn foreign_sockets(policy: &Policy) -> Vec<PathBuf> {
    let list = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let covered = |path: &Path| {
        let own = MEETING_PLACES.iter().chain(&TEMPORARY).chain(&["/dev", "/proc"]);
        own.map(Path::new)
            .chain(policy.writable.iter().chain(&policy.unreadable).map(PathBuf::as_path))
            .any(|folder| path.starts_with(folder))
    };
    let paths = list.lines().filter_map(|line| line.split_ascii_whitespace().nth(7));
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.starts_with('/')).map(PathBuf::from).collect();
    paths.retain(|path| !covered(path));
    paths.sort();
    paths.dedup();
    paths
}

fn clone(path: &Path, with_mounts: bool) -> Result<OwnedFd, EnterError> {
    let mut flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    flags.set(OpenTreeFlags::AT_RECURSIVE, with_mounts);
    open_tree(CWD, path, flags).doing_at("take hold of", path)
}

/// Mounts a tree. Where the place for it was covered, a new one is made.
fn attach(tree: &OwnedFd, at: &Path) -> Result<(), EnterError> {
    if fs::symlink_metadata(at).is_err() {
        fs::create_dir_all(at).doing_at("make a place for", at)?;
    }
    move_mount(tree, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).doing_at("mount", at)
}

fn restrict(path: &Path, attributes: u64) -> Result<(), EnterError> {
    let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).doing_at("name", path)?;
    sys::restrict_mount(CWD, &text, attributes, true).doing_at("restrict", path)
}

/// Makes a mount of ours read-only, and leaves what is mounted in it.
fn restrict_one(path: &Path) -> Result<(), EnterError> {
    let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).doing_at("name", path)?;
    sys::restrict_mount(CWD, &text, READ_ONLY, false).doing_at("restrict", path)
}

fn restrict_tree(tree: &OwnedFd, attributes: u64) -> io::Result<()> {
    const ITSELF: &CStr = c"";
    sys::restrict_mount(tree.as_fd(), ITSELF, attributes, true)
}

fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn is_mount(path: &Path) -> Result<bool, EnterError> {
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let found = rustix::fs::statx(CWD, path, flags, rustix::fs::StatxFlags::empty()).doing_at("look at", path)?;
    Ok(found.stx_attributes.contains(rustix::fs::StatxAttributes::MOUNT_ROOT))
}
