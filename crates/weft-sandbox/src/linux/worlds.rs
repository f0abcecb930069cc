//! Leaving for a world of its own: namespaces for users, mounts, processes, messages and the
//! network, and a first process that keeps house in it.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait, waitpid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use super::sys::{self, Forked};
use super::{Doing as _, EnterError, network};
use crate::ground::Joined;
use crate::helper::{NOT_MADE, Order};
use crate::policy::Network;

/// Meant for the command.
const FOR_THE_COMMAND: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

pub enum Side {
    First(First),
    Outside(Outside),
}

/// The first process of the new world.
pub struct First {
    report: PipeWriter,
    /// Held until nothing is left.
    lock: Option<File>,
}

/// The helper, which stays outside and passes on how the command ended.
pub struct Outside {
    first: Pid,
    report: PipeReader,
}

/// Makes namespaces of its own, and says where their proxy is, if there is one. Later children have
/// process numbers of their own if `processes` is set.
pub fn leave(order: &Order, processes: bool) -> Result<Option<String>, EnterError> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let own_network = order.policy.network != Network::Open;
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    flags.set(UnshareFlags::NEWPID, processes);
    flags.set(UnshareFlags::NEWNET, own_network);
    sys::unshare(flags).doing("make namespaces")?;
    fs::write("/proc/self/setgroups", "deny").doing("settle groups")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).doing("map the user")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).doing("map the group")?;
    if own_network {
        network::switch_loopback_on()?;
    }
    let weft = order.proxy.as_deref().map(network::reach_weft).transpose()?;
    weft.as_ref().map(network::offer_proxy).transpose()
}

/// Goes where the ground is.
pub fn join(ground: &Joined) -> Result<(), EnterError> {
    let open = |path: &PathBuf| File::open(path).doing_at("open", path);
    let (user, mounts, messages) = (open(&ground.user)?, open(&ground.mounts)?, open(&ground.messages)?);
    let network = ground.network.as_ref().map(open).transpose()?;
    let enter = |space: &File, kind| {
        rustix::thread::move_into_link_name_space(space.as_fd(), Some(kind)).doing("join the session's ground")
    };
    // The user first: it is what allows the rest.
    enter(&user, LinkNameSpaceType::User)?;
    enter(&mounts, LinkNameSpaceType::Mount)?;
    enter(&messages, LinkNameSpaceType::InterProcessCommunication)?;
    network.map_or(Ok(()), |network| enter(&network, LinkNameSpaceType::Network))
}

/// On a ground, processes and mounts of its own.
pub fn split() -> Result<(), EnterError> {
    sys::unshare(UnshareFlags::NEWNS | UnshareFlags::NEWPID).doing("make namespaces")
}

/// Starts the first process. Returns in both.
pub fn begin(lock: Option<File>) -> Result<Side, EnterError> {
    let (reader, writer) = std::io::pipe().doing("make a pipe")?;
    match sys::fork().doing("start the first process")? {
        Forked::Child => Ok(Side::First(First { report: writer, lock })),
        Forked::Parent(first) => Ok(Side::Outside(Outside { first, report: reader })),
    }
}

impl First {
    /// What it holds, for another program to be the first process.
    pub fn handed_on(self) -> (PipeWriter, Option<File>) {
        (self.report, self.lock)
    }

    pub const fn taking(report: PipeWriter, lock: Option<File>) -> Self {
        Self { report, lock }
    }

    /// Runs the command and gathers what it leaves, until nothing is left. `become_command` returns
    /// only if it could not.
    pub fn run(mut self, become_command: impl FnOnce() -> EnterError) -> Result<u8, EnterError> {
        let command = match sys::fork().doing("start the command")? {
            Forked::Child => return Err(become_command()),
            Forked::Parent(command) => command,
        };
        let_go_of_output()?;
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((child, status))) if child == command => {
                    let alone = matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD));
                    if let Some(lock) = self.lock.as_ref().filter(|_| alone) {
                        let _ = rustix::fs::flock(lock, rustix::fs::FlockOperation::Unlock);
                    }
                    // Nobody reads it when the helper has been killed; then this process goes on alone.
                    let _ = self.report.write_all(&encode(status, alone));
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Ok(0),
            }
        }
    }
}

impl Outside {
    /// Ends as the command ended.
    pub fn wait(self) -> u8 {
        self.wait_unless(|| None::<Infallible>).unwrap_or_else(|never| match never {})
    }

    /// The same. Where no word of the command came, `why` may know the reason.
    pub fn wait_unless<E>(mut self, why: impl FnOnce() -> Option<E>) -> Result<u8, E> {
        leave_signals_to_the_command();
        let mut report = [0; 3];
        let reported = self.report.read_exact(&mut report).is_ok();
        let [kind, value, alone] = report;
        if !reported {
            // It could not make the sandbox, and has said why; or it was killed.
            let status = waitpid(Some(self.first), WaitOptions::empty()).ok().flatten();
            let ended = || status.map_or(NOT_MADE, |(_, status)| end_like(encode(status, true)));
            return why().map_or_else(|| Ok(ended()), Err);
        }
        // Taking the world down takes a while, for which nobody has to wait: the system buries the
        // first process. Only a Weft that is the first process of a container would be left with it.
        if alone == 1 && rustix::process::getppid().is_some_and(Pid::is_init) {
            let _ = waitpid(Some(self.first), WaitOptions::empty());
        }
        Ok(end_like([kind, value, alone]))
    }
}

/// Who reads a command's output must not wait for those around it. What was the error output is
/// returned, and closed with it.
pub fn let_go_of_output() -> Result<File, EnterError> {
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3).doing("keep the error output")?;
    let nowhere = File::options().read(true).write(true).open("/dev/null").doing("open /dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere).doing("let go of the input")?;
    rustix::stdio::dup2_stdout(&nowhere).doing("let go of the output")?;
    rustix::stdio::dup2_stderr(&nowhere).doing("let go of the error output")?;
    Ok(output.into())
}

/// The processes around a command end when it does.
pub fn leave_signals_to_the_command() {
    for signal in FOR_THE_COMMAND {
        sys::ignore(signal);
    }
}

/// For who has waited and begins again: a command must not be born deaf.
pub fn heed_signals() {
    for signal in FOR_THE_COMMAND {
        sys::default_action(signal);
    }
}

const EXITED: u8 = 0;
const KILLED: u8 = 1;

pub fn encode(status: WaitStatus, alone: bool) -> [u8; 3] {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => [EXITED, byte(code), u8::from(alone)],
        (None, Some(signal)) => [KILLED, byte(signal), u8::from(alone)],
        (None, None) => [EXITED, NOT_MADE, u8::from(alone)],
    }
}

/// The exit code; or, if the command was killed, this process dies of the same signal.
pub fn end_like([kind, value, _]: [u8; 3]) -> u8 {
    if kind == KILLED {
        if let Some(signal) = Signal::from_named_raw(i32::from(value)) {
            sys::default_action(signal);
            let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
        }
        return value.saturating_add(128);
    }
    value
}
