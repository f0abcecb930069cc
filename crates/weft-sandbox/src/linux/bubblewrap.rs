//! The same world from bubblewrap, for a user to whom the kernel gives no namespaces: a `bwrap` that is
//! setuid root, or that AppArmor lets make them, may have them all the same.
//!
//! The helper becomes bubblewrap, which makes namespaces and mounts and starts the helper once more,
//! inside, as the first process. That one first looks whether bubblewrap laid what it was told to
//! ([`super::laid`]); Landlock, system call filters, limits and the care for the processes are then the
//! helper's own, as ever. A ground cannot be shared: only who made such a world could join it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::laid::{self, Bound, Laid, Lay};
use super::mounts::{self, Mounting};
use super::worlds::{self, First, Side};
use super::{Doing as _, EnterError, limits, lock, network, sys};
use crate::helper::{COMPLAINT, Inside, Order, WORD};
use crate::policy::Network;

/// Nowhere else: what anybody can put on a path would be no guard.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/wrappers/bin/bwrap"];
/// How often a command is begun again because something in the workspace was exchanged meanwhile.
const ATTEMPTS: usize = 20;
/// The same because a socket of another program has gone. No command can make one where this counts, and a
/// busy machine may have many that come and go.
const ATTEMPTS_OVER_SOCKETS: usize = 400;
const OPEN: &str = "--bind";
const READ_ONLY: &str = "--ro-bind";

/// Bubblewrap, where only root can have put it.
pub fn find() -> Option<PathBuf> {
    let only_roots = |path: &Path| fs::metadata(path).is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0);
    let trusted = |path: &&Path| path.parent().is_some_and(only_roots) && only_roots(path);
    PLACES.map(Path::new).iter().copied().find(trusted).map(Path::to_owned)
}

/// Makes the sandbox and becomes the command. Returns an exit code only in the process that waits.
pub fn enter(program: &Path, order: &Order, command: &[OsString]) -> Result<u8, EnterError> {
    let weft = order.proxy.as_deref().map(network::reach_weft).transpose()?;
    let (mut exchanged, mut gone) = (0, 0);
    loop {
        let mut sockets = mounts::foreign_sockets(&order.policy);
        sockets.retain(|path| mounts::is_socket(path));
        match attempt(program, order, command, &sockets, weft.as_ref())? {
            Ok(code) => return Ok(code),
            // What was exchanged is found inside.
            Err(complaint) if complaint.contains(laid::EXCHANGED) && exchanged < ATTEMPTS => {
                exchanged += 1;
                worlds::heed_signals();
            }
            // Sockets come and go, and bubblewrap gives up over one that has gone, if only for that moment.
            Err(complaint)
                if gone < ATTEMPTS_OVER_SOCKETS
                    && sockets.iter().any(|path| !mounts::is_socket(path) || names(&complaint, path)) =>
            {
                gone += 1;
                worlds::heed_signals();
            }
            Err(complaint) => {
                let complaint = complaint.strip_prefix(COMPLAINT).unwrap_or(&complaint).to_owned();
                return Err(io::Error::other(complaint)).doing_at("make namespaces with", program);
            }
        }
    }
}

fn names(complaint: &str, path: &Path) -> bool {
    complaint.contains(&*path.to_string_lossy())
}

/// What bubblewrap complains of is given back, in the process that waits.
fn attempt(
    program: &Path,
    order: &Order,
    command: &[OsString],
    sockets: &[PathBuf],
    weft: Option<&UnixStream>,
) -> Result<Result<u8, String>, EnterError> {
    let reserved = mounts::reserve(order)?;
    let World { mut words, lays, .. } = world(order, sockets)?;
    let theirs = |path: &Path| order.policy.writable.iter().any(|root| path.starts_with(root));
    // Held until the end by the process that waits.
    let (laid, _held) = match Laid::expect(&lays, theirs) {
        Ok(expected) => expected,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let (mut complaints, complaining) = io::pipe().doing("make a pipe")?;
    let first = match worlds::begin(reserved)? {
        Side::First(first) => first,
        Side::Outside(outside) => {
            drop(complaining);
            return Ok(outside.wait_unless(|| {
                let mut complaint = String::new();
                let _ = complaints.read_to_string(&mut complaint);
                Some(complaint.trim().to_owned()).filter(|complaint| !complaint.is_empty())
            }));
        }
    };
    let own = File::open("/proc/self/exe").doing("find the helper")?;
    let standard =
        [stay_open(rustix::stdio::stdin())?, stay_open(rustix::stdio::stdout())?, stay_open(rustix::stdio::stderr())?];
    let own = stay_open(&own)?;
    let laid = stay_open(laid.written().doing("write down what is laid")?)?;
    let weft = weft.map(stay_open).transpose()?;
    let (report, reserved) = first.handed_on();
    let report = stay_open(report)?;
    let reserved = reserved.map(stay_open).transpose()?;
    let inside = Inside {
        report: report.as_raw_fd(),
        lock: reserved.as_ref().map(OwnedFd::as_raw_fd),
        proxy: weft.as_ref().map(OwnedFd::as_raw_fd),
        standard: standard.each_ref().map(OwnedFd::as_raw_fd),
        laid: laid.as_raw_fd(),
        users: users().doing("look at the user's namespace")?,
        processes: processes(),
    };
    let order = Order { bubblewrap: None, inside: Some(inside), ..order.clone() };
    let order = serde_json::to_string(&order).map_err(io::Error::other).doing("write the order")?;
    words.extend(["--".into(), format!("/proc/self/fd/{}", own.as_raw_fd()).into(), WORD.into(), order.into()]);
    words.extend_from_slice(command);
    Err(super::become_bubblewrap(program, words, complaining.into()))
}

/// Goes on inside.
pub fn go_on(inside: &Inside, order: &Order, command: &[OsString]) -> Result<u8, EnterError> {
    // What is complained of until here reaches the process that waits, which may begin again.
    Laid::read(sys::take(inside.laid).into()).doing("read what is laid")?.check()?;
    let [input, output, errors] = inside.standard.map(sys::take);
    rustix::stdio::dup2_stderr(&errors).doing("take the error output")?;
    rustix::stdio::dup2_stdin(&input).doing("take the input")?;
    rustix::stdio::dup2_stdout(&output).doing("take the output")?;
    drop((input, output, errors));
    let first = First::taking(sys::take(inside.report).into(), inside.lock.map(|lock| sys::take(lock).into()));
    sys::close_on_exec_all().doing("let go of what is open")?;
    limits::apply(&order.policy.limits).doing("set the limits")?;
    // Where bubblewrap is root it needs no users of its own, and the person's other processes count.
    let shared = users().doing("look at the user's namespace")? == inside.users;
    let others = if shared { inside.processes } else { 0 };
    limits::apply_beside(&order.policy.limits, others).doing("limit the number of processes")?;
    let proxy = inside.proxy.map(|weft| network::offer_proxy(&UnixStream::from(sys::take(weft)))).transpose()?;
    lock(order)?;
    let environment = mounts::environment().into_iter().chain(network::environment(proxy.as_deref()));
    first.run(|| super::become_command(order, command, environment))
}

/// A copy that the next program has too.
fn stay_open(file: impl AsFd) -> Result<OwnedFd, EnterError> {
    let copy = rustix::io::fcntl_dupfd_cloexec(file, 3).doing("keep a file open")?;
    rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty()).doing("keep a file open")?;
    Ok(copy)
}

fn users() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/user")?.ino())
}

/// Processes and threads of this user.
fn processes() -> u64 {
    let user = rustix::process::getuid().as_raw();
    let of = |status: String| {
        let value = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name)?.split_ascii_whitespace().next()?.parse::<u64>().ok())
        };
        value("Uid:").filter(|owner| *owner == u64::from(user)).and_then(|_| value("Threads:"))
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok().and_then(of)).sum()
}

/// The policy, in bubblewrap's words.
fn world(order: &Order, sockets: &[PathBuf]) -> Result<World, EnterError> {
    let policy = &order.policy;
    let mut world = World::default();
    world.say(["--unshare-pid", "--unshare-ipc", "--as-pid-1"]);
    if policy.network != Network::Open {
        world.say(["--unshare-net"]);
    }
    world.say(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"]);
    for folder in mounts::own_temporary() {
        world.bind(OPEN, &policy.temp, Path::new(folder));
    }
    let covers = mounts::covers(policy);
    for folder in &covers {
        world.cover(folder);
    }
    for path in mounts::programs_there() {
        world.bind(READ_ONLY, &path, &path);
    }
    for (path, is_writable) in mounts::writable_and_protected(policy) {
        if is_writable {
            world.bind(OPEN, &path, &path);
        } else {
            mounts::protect(&path, &policy.writable, &mut world)?;
        }
    }
    // Before what is hidden: this would bring out again what is hidden in them.
    for folder in policy.quiet.iter().filter(|_| order.lasting) {
        world.lay_read_only(folder)?;
    }
    let locked = Locked::beside(order)?;
    let hidden = || policy.unreadable.iter().filter(|path| !covers.contains(path));
    for path in hidden() {
        mounts::pin_hidden(path, &policy.writable, &mut world)?;
    }
    for path in hidden() {
        let is_within = policy.writable.iter().any(|root| path.starts_with(root));
        world.hide(path, locked.as_ref().filter(|_| is_within));
    }
    for path in &policy.readable {
        world.bind(READ_ONLY, path, path);
    }
    for folder in &covers {
        world.at("--remount-ro", folder);
    }
    for socket in sockets {
        world.hide(socket, None);
    }
    world.say(["--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
    Ok(world)
}

/// Arguments for bubblewrap, which does them in order.
#[derive(Default)]
struct World {
    words: Vec<OsString>,
    /// What was laid, by where it lies: how, and what.
    laid: BTreeMap<PathBuf, (&'static str, PathBuf)>,
    /// All that is laid, in order.
    lays: Vec<Lay>,
}

impl World {
    fn say<const COUNT: usize>(&mut self, words: [&str; COUNT]) {
        self.words.extend(words.map(OsString::from));
    }

    fn at(&mut self, how: &str, path: &Path) {
        self.words.extend([how.into(), path.into()]);
    }

    fn bind(&mut self, how: &'static str, from: &Path, to: &Path) {
        self.put(how, from, to);
        self.laid.insert(to.to_owned(), (how, from.to_owned()));
    }

    fn put(&mut self, how: &'static str, from: &Path, to: &Path) {
        self.words.extend([how.into(), from.into(), to.into()]);
        let bound = Bound { from: from.to_owned(), read_only: how == READ_ONLY };
        self.lays.push(Lay { at: to.to_owned(), what: Some(bound) });
    }

    /// Lays nothing over a folder. It has to be made read-only when it holds what it is to hold.
    fn cover(&mut self, folder: &Path) {
        self.at("--tmpfs", folder);
        self.lays.push(Lay { at: folder.to_owned(), what: None });
    }

    /// A device cannot be opened where bubblewrap lays it, so this one covers any file. In a writable
    /// folder what is hidden is seen to be `locked`: git would take it for deleted or changed.
    fn hide(&mut self, path: &Path, locked: Option<&Locked>) {
        match (fs::symlink_metadata(path), locked) {
            (Ok(found), Some(locked)) => {
                let blank = if found.is_dir() { &locked.folder } else { &locked.file };
                self.bind(READ_ONLY, blank, path);
            }
            (Ok(found), None) if found.is_dir() => {
                self.cover(path);
                self.at("--remount-ro", path);
            }
            (Ok(_), None) => self.bind(READ_ONLY, Path::new("/dev/null"), path),
            (Err(_), _) => {}
        }
    }
}

/// A folder and a file, empty and shut, to be laid over what is hidden. Bubblewrap can only lay what is
/// there outside.
struct Locked {
    folder: PathBuf,
    file: PathBuf,
}

impl Locked {
    /// Made where the locks are, where no command changes anything.
    fn beside(order: &Order) -> Result<Option<Self>, EnterError> {
        let Some(place) = order.lock.as_ref().and_then(|lock| lock.parent()) else { return Ok(None) };
        let locked = Self { folder: place.join("hidden-folder"), file: place.join("hidden-file") };
        locked.make().doing_at("make what is laid over hidden files in", place)?;
        Ok(Some(locked))
    }

    fn make(&self) -> io::Result<()> {
        let shut = |path: &Path| match fs::symlink_metadata(path) {
            Ok(found) if found.permissions().mode() & 0o777 != 0 => {
                fs::set_permissions(path, fs::Permissions::from_mode(0o000))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        let unless_there = |made: io::Result<()>| match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        unless_there(fs::DirBuilder::new().mode(0o000).create(&self.folder))?;
        unless_there(File::options().write(true).create_new(true).mode(0o000).open(&self.file).map(drop))?;
        shut(&self.folder)?;
        shut(&self.file)
    }
}

impl Mounting for World {
    fn lay_open(&mut self, folder: &Path) -> Result<(), EnterError> {
        let around = folder.ancestors().find_map(|around| self.laid.get_key_value(around));
        // In what is read-only nothing can be moved away, and it has to stay read-only.
        if around.is_some_and(|(path, (how, _))| path == folder || *how == READ_ONLY) {
            return Ok(());
        }
        self.bind(OPEN, folder, folder);
        // Bubblewrap takes a folder as it is outside, so what lies in this one already is laid once more.
        let inner = |(path, _): &(&PathBuf, _)| *path != folder && path.starts_with(folder);
        let again: Vec<_> = self.laid.iter().filter(inner).map(|(path, laid)| (path.clone(), laid.clone())).collect();
        for (path, (how, from)) in again {
            self.put(how, &from, &path);
        }
        Ok(())
    }

    fn lay_read_only(&mut self, path: &Path) -> Result<(), EnterError> {
        self.bind(READ_ONLY, path, path);
        Ok(())
    }

    /// It follows links.
    fn lay_link(&mut self, _link: &Path) -> Result<bool, EnterError> {
        Ok(false)
    }
}
