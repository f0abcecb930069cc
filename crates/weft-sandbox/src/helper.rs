//! The helper: a program that makes the sandbox and becomes the command. The small one that is
//! installed beside this program is started sooner and takes less memory; without it, this program
//! is started once more.
//!
//! A program that starts sandboxes calls [`dispatch`] first thing in `main`. Only then can it be its
//! own helper; one that forgot has no sandbox and is told so, instead of running itself by mistake.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::ground::Joined;
use crate::named;
use crate::policy::Policy;
use crate::support::Layers;

/// The first argument that makes this program the helper.
pub const WORD: &str = "__sandbox";
/// The first argument that makes this program give a command its terminal and become it, without a
/// sandbox.
const TERMINAL: &str = "__terminal";
/// The first argument that makes this program run a command without a sandbox, and end what it leaves.
const ATTENDED: &str = "__attended";
/// In place of an order: try what the kernel can do and print it.
pub(crate) const PROBE: &str = "probe";
/// In place of a command: make the ground of an order, say so, and wait until it is taken.
pub(crate) const GROUND: &str = "ground";
/// The small helper's name.
const BESIDE: &str = "weft-sandbox";
/// The exit code when the sandbox could not be made; the command was not run.
pub const NOT_MADE: u8 = 125;
/// How the helper begins what it says about that.
pub const COMPLAINT: &str = "weft sandbox: ";

static READY: OnceLock<()> = OnceLock::new();

/// To be called first thing in `main`. Returns when this process is not a helper.
pub fn dispatch() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == WORD) {
        let code = run(arguments.next(), arguments.collect());
        std::process::exit(i32::from(code));
    }
    if first.as_ref().is_some_and(|first| first == ATTENDED) {
        let ended = attend(&arguments.collect::<Vec<_>>());
        let complained = |complaint: String| {
            say(&format!("{COMPLAINT}{complaint}"));
            NOT_MADE
        };
        std::process::exit(i32::from(ended.unwrap_or_else(complained)));
    }
    if first.is_some_and(|first| first == TERMINAL) {
        say(&format!("{COMPLAINT}{}", become_on_terminal(&arguments.collect::<Vec<_>>())));
        std::process::exit(i32::from(NOT_MADE));
    }
    let _ = READY.set(());
}

/// What the helper is told to do. All of it is done, or the command is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub policy: Policy,
    #[serde(with = "named")]
    pub cwd: PathBuf,
    pub layers: Layers,
    /// What has been made already for all commands of a session. Without it everything is made anew.
    #[serde(default)]
    pub ground: Option<Joined>,
    /// Has the namespaces made by this program, for a user who may not make them. It knows no ground.
    #[serde(default)]
    pub bubblewrap: Option<PathBuf>,
    /// It has made them.
    #[serde(default)]
    pub inside: Option<Inside>,
    /// Where Weft waits for the listener of the proxy.
    pub proxy: Option<PathBuf>,
    /// A file that is locked, shared, for as long as anything lives in the sandbox. What the policy
    /// reserves may be cleared away by who can lock it alone.
    pub lock: Option<PathBuf>,
    /// The input is a pseudo-terminal, which is to control the command.
    #[serde(default)]
    pub terminal: bool,
    /// It goes on while others do their work, who may replace what is protected and hidden.
    #[serde(default)]
    pub lasting: bool,
}

impl Order {
    pub fn new(policy: Policy, cwd: impl Into<PathBuf>, layers: Layers) -> Self {
        Self {
            policy,
            cwd: cwd.into(),
            layers,
            ground: None,
            bubblewrap: None,
            inside: None,
            proxy: None,
            lock: None,
            terminal: false,
            lasting: false,
        }
    }
}

/// What the helper finds open when bubblewrap has started it, by number, and what it cannot see there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inside {
    pub(crate) report: RawFd,
    pub(crate) lock: Option<RawFd>,
    pub(crate) proxy: Option<RawFd>,
    /// Its input and outputs. Bubblewrap itself has others: it would hold them for too long.
    pub(crate) standard: [RawFd; 3],
    /// What bubblewrap was told to lay.
    pub(crate) laid: RawFd,
    /// The namespace of users outside.
    pub(crate) users: u64,
    /// How many processes this user has there.
    pub(crate) processes: u64,
}

/// A program that can be started as the helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    program: PathBuf,
}

/// The small helper as it was when it was first needed: what lies beside us may be changed by the
/// commands that it starts.
static BESIDE_US: OnceLock<Option<File>> = OnceLock::new();

impl Helper {
    /// This program, if it has called [`dispatch`].
    pub fn of_this_program() -> Option<Self> {
        // Not the path of the executable: an update may have replaced it while this process runs.
        READY.get().map(|()| Self { program: PathBuf::from("/proc/self/exe") })
    }

    /// The small program that is installed with this one, if it is there.
    pub fn beside_this_program() -> Option<Self> {
        READY.get()?;
        let kept = BESIDE_US.get_or_init(|| kept(&std::env::current_exe().ok()?.with_file_name(BESIDE)).ok());
        let file = kept.as_ref()?;
        Some(Self { program: PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())) })
    }

    /// Another program, which calls [`dispatch`] too.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The arguments that run `command` under `order`.
    pub fn arguments(&self, order: &Order, command: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        // The places of locks and proxies are Weft's own. One that cannot be written down makes no order,
        // which a helper refuses.
        let order = serde_json::to_string(order).unwrap_or_default();
        [WORD.into(), order.into()].into_iter().chain(command).collect()
    }

    /// The arguments that make the ground of an order.
    pub(crate) fn for_ground(&self, order: &Order) -> Vec<OsString> {
        let mut arguments = self.arguments(order, []);
        arguments.insert(1, GROUND.into());
        arguments
    }

    /// The arguments that run `command` in no sandbox, so that nothing it started outlives it.
    pub fn attending(&self, command: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        [ATTENDED.into()].into_iter().chain(command).collect()
    }

    /// The arguments that run `command` on the terminal that is its input, in no sandbox.
    pub fn on_terminal(&self, command: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        [TERMINAL.into()].into_iter().chain(command).collect()
    }
}

/// A copy of a program, in memory, that nobody can change.
#[cfg(target_os = "linux")]
fn kept(program: &Path) -> std::io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let mut copy = File::from(memfd_create(BESIDE, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    std::io::copy(&mut File::open(program)?, &mut copy)?;
    fcntl_add_seals(&copy, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(copy)
}

#[cfg(not(target_os = "linux"))]
fn kept(_program: &Path) -> std::io::Result<File> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Makes the terminal that is this process's input the one that controls it: interrupts typed there
/// reach it, and it sees when the terminal goes away.
pub(crate) fn take_terminal() -> std::io::Result<()> {
    // Who leads a session already cannot begin another, and need not.
    let _ = rustix::process::setsid();
    Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
}

/// Returns only if it could not, with the reason.
#[allow(clippy::disallowed_methods, reason = "the helper becomes the command that process.rs started it for")]
fn become_on_terminal(command: &[OsString]) -> String {
    use std::os::unix::process::CommandExt as _;
    let Some((program, arguments)) = command.split_first() else { return "there is nothing to run".to_owned() };
    if let Err(error) = take_terminal() {
        return format!("the terminal could not be taken: {error}");
    }
    let error = std::process::Command::new(program).args(arguments).exec();
    format!("cannot start `{}`: {error}", program.to_string_lossy())
}

fn run(order: Option<OsString>, mut words: VecDeque<OsString>) -> u8 {
    let mut order = order.and_then(|order| order.into_string().ok()).unwrap_or_default();
    if order == PROBE {
        return probe();
    }
    let for_ground = order == GROUND;
    if for_ground {
        order = words.pop_front().and_then(|order| order.into_string().ok()).unwrap_or_default();
    }
    let complaint = match serde_json::from_str::<Order>(&order) {
        Err(error) => format!("the helper is started by Weft itself, with an order: {error}"),
        Ok(order) => match if for_ground { lay_ground(&order) } else { enter(&order, words.make_contiguous()) } {
            Ok(code) => return code,
            Err(complaint) => complaint,
        },
    };
    say(&format!("{COMPLAINT}{complaint}"));
    NOT_MADE
}

#[cfg(target_os = "linux")]
fn enter(order: &Order, command: &[OsString]) -> Result<u8, String> {
    crate::linux::enter(order, command).map_err(|error| error.to_string())
}

#[cfg(target_os = "linux")]
fn attend(command: &[OsString]) -> Result<u8, String> {
    crate::linux::attended::run(command).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn attend(_command: &[OsString]) -> Result<u8, String> {
    Err("orphans cannot be gathered on this system".to_owned())
}

#[cfg(target_os = "linux")]
fn lay_ground(order: &Order) -> Result<u8, String> {
    crate::linux::lay_ground(order).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn lay_ground(order: &Order) -> Result<u8, String> {
    enter(order, &[])
}

#[cfg(not(target_os = "linux"))]
fn enter(_order: &Order, _command: &[OsString]) -> Result<u8, String> {
    Err("there is no sandbox on this system".to_owned())
}

fn probe() -> u8 {
    #[cfg(target_os = "linux")]
    let support = crate::linux::probe::here();
    #[cfg(not(target_os = "linux"))]
    let support = crate::support::Support::none("there is no sandbox on this system");
    let Ok(text) = serde_json::to_string(&support) else { return NOT_MADE };
    use std::io::Write as _;
    let written = std::io::stdout().write_all(text.as_bytes());
    u8::from(written.is_err())
}

fn say(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// For a program that is nothing but the helper.
pub fn main() -> ExitCode {
    dispatch();
    say(&format!("{COMPLAINT}this program is started by Weft to run commands in a sandbox"));
    ExitCode::from(NOT_MADE)
}
