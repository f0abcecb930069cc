//! The helper: a program that makes the sandbox and becomes the command. The small one that is
//! installed beside this program is started sooner and takes less memory; without it, this program
//! is started once more.
//!
//! A program that starts sandboxes calls [`dispatch`] first thing in `main`. Only then can it be its
//! own helper; one that forgot has no sandbox and is told so, instead of running itself by mistake.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::support::Layers;

/// The first argument that makes this program the helper.
pub const WORD: &str = "__sandbox";
/// In place of an order: try what the kernel can do and print it.
pub(crate) const PROBE: &str = "probe";
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
    if arguments.next().is_some_and(|first| first == WORD) {
        let code = run(arguments.next(), arguments.collect());
        std::process::exit(i32::from(code));
    }
    let _ = READY.set(());
}

/// What the helper is told to do. All of it is done, or the command is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub policy: Policy,
    pub cwd: PathBuf,
    pub layers: Layers,
    /// Where Weft waits for the listener of the proxy.
    pub proxy: Option<PathBuf>,
    /// A file that is locked, shared, for as long as anything lives in the sandbox. What the policy
    /// reserves may be cleared away by who can lock it alone.
    pub lock: Option<PathBuf>,
}

impl Order {
    pub fn new(policy: Policy, cwd: impl Into<PathBuf>, layers: Layers) -> Self {
        Self { policy, cwd: cwd.into(), layers, proxy: None, lock: None }
    }
}

/// A program that can be started as the helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    program: PathBuf,
}

impl Helper {
    /// This program, if it has called [`dispatch`].
    pub fn of_this_program() -> Option<Self> {
        // Not the path of the executable: an update may have replaced it while this process runs.
        READY.get().map(|()| Self { program: PathBuf::from("/proc/self/exe") })
    }

    /// The small program that is installed with this one, if it is there.
    pub fn beside_this_program() -> Option<Self> {
        READY.get()?;
        let program = std::env::current_exe().ok()?.with_file_name(BESIDE);
        program.is_file().then_some(Self { program })
    }

    /// Another program, which calls [`dispatch`] too.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The arguments that run `command` under `order`. Without a command, a [`Task`](crate::Task) is
    /// waited for on the input.
    pub fn arguments(&self, order: &Order, command: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        // Every path in an order is valid Unicode, or it would not have passed `Policy::resolved`.
        let order = serde_json::to_string(order).unwrap_or_default();
        [WORD.into(), order.into()].into_iter().chain(command).collect()
    }
}

fn run(order: Option<OsString>, command: Vec<OsString>) -> u8 {
    let order = order.and_then(|order| order.into_string().ok()).unwrap_or_default();
    if order == PROBE {
        return probe();
    }
    let complaint = match serde_json::from_str::<Order>(&order) {
        Err(error) => format!("the helper is started by Weft itself, with an order: {error}"),
        Ok(order) => match enter(&order, &command) {
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
