//! Making the sandbox, on Linux, from within the helper.
//!
//! With namespaces (the usual case) there are three processes: the helper waits and passes on how
//! the command ended; a child of it is the first process of the new world, finishes its mounts and
//! gathers orphans; the command is its child. Whoever kills the group kills the first process, and
//! with it everything in its world. Without namespaces the helper waits too, and ends what the command
//! leaves ([`attended`]); only on a terminal it becomes the command itself.
//!
//! The ground (users, network, messages, and all mounts that do not depend on the command) takes the
//! most time. It can be made once by [`lay_ground`] and joined by later helpers, each of which then
//! has its own processes and its own copy of the mounts.
//!
//! Where the kernel gives this user no namespaces, [`bubblewrap`] may.

pub(crate) mod attended;
pub(crate) mod bubblewrap;
mod fence;
mod filter;
mod laid;
mod limits;
mod mounts;
mod network;
pub(crate) mod probe;
mod sys;
mod worlds;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::helper::Order;

#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {source}")]
pub struct EnterError {
    what: String,
    source: io::Error,
}

/// Names what failed.
trait Doing<T> {
    fn doing(self, what: &str) -> Result<T, EnterError>;
    fn doing_at(self, what: &str, path: &Path) -> Result<T, EnterError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: &str) -> Result<T, EnterError> {
        self.map_err(|source| EnterError { what: what.to_owned(), source: source.into() })
    }

    fn doing_at(self, what: &str, path: &Path) -> Result<T, EnterError> {
        self.map_err(|source| EnterError { what: format!("{what} `{}`", path.display()), source: source.into() })
    }
}

/// Makes the sandbox and becomes the command. Returns an exit code only in the process that waits.
pub fn enter(order: &Order, command: &[OsString]) -> Result<u8, EnterError> {
    if let Some(inside) = &order.inside {
        return bubblewrap::go_on(inside, order, command);
    }
    // A session of its own has no terminal to type into or to listen at.
    let _ = rustix::process::setsid();
    sys::close_on_exec_all().doing("let go of what is open")?;
    if let Some(program) = &order.bubblewrap {
        return bubblewrap::enter(program, order, command);
    }
    limits::apply(&order.policy.limits).doing("set the limits")?;
    if !order.layers.namespaces {
        attended::adopt_orphans()?;
        lock(order)?;
        let become_it = || become_command(order, command, [("TMPDIR".into(), order.policy.temp.clone().into())]);
        return if order.terminal { Err(become_it()) } else { attended::attend(become_it) };
    }
    let sockets = mounts::foreign_sockets(&order.policy);
    let reserved = mounts::reserve(order)?;
    let proxy = match &order.ground {
        Some(ground) => {
            worlds::join(ground)?;
            worlds::split()?;
            ground.proxy.clone()
        }
        None => worlds::leave(order, true)?,
    };
    limits::apply_beside(&order.policy.limits, 0).doing("limit the number of processes")?;
    let first = match worlds::begin(reserved)? {
        worlds::Side::Outside(outside) => return Ok(outside.wait()),
        worlds::Side::First(first) => first,
    };
    if order.ground.is_none() {
        mounts::lay_ground(&order.policy)?;
    }
    mounts::finish(order, &sockets)?;
    lock(order)?;
    let environment = mounts::environment().into_iter().chain(network::environment(proxy.as_deref()));
    first.run(|| become_command(order, command, environment))
}

/// Makes what all commands of a session share, says so, and waits until whoever wants it has taken
/// hold of it. That this process can then give up everything shows that a command can.
pub fn lay_ground(order: &Order) -> Result<u8, EnterError> {
    let proxy = worlds::leave(order, false)?;
    mounts::lay_ground(&order.policy)?;
    lock(order)?;
    let said = format!("{}\n", proxy.unwrap_or_default());
    io::Write::write_all(&mut io::stdout(), said.as_bytes()).doing("say that the ground is made")?;
    let _ = io::Read::read(&mut io::stdin(), &mut [0]);
    Ok(0)
}

/// How far commands stand back behind Weft, which must be able to stop them.
const STEP_BACK: i32 = 5;

/// Gives up every privilege, for good.
fn lock(order: &Order) -> Result<(), EnterError> {
    let _ = rustix::process::nice(STEP_BACK);
    std::env::set_current_dir(&order.cwd).doing_at("go to", &order.cwd)?;
    // Bubblewrap leaves nothing that could be given up.
    drop_capabilities(order.layers.namespaces && order.inside.is_none()).doing("give up capabilities")?;
    rustix::thread::set_no_new_privs(true).doing("renounce new privileges")?;
    if order.layers.landlock {
        fence::apply(order)?;
    }
    filter::apply(order)
}

fn drop_capabilities(own_world: bool) -> io::Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    if own_world {
        for capability in 0..64 {
            let one = CapabilitySet::from_bits_retain(1 << capability);
            // The kernel has fewer than there are bits.
            if let Err(error) = rustix::thread::remove_capability_from_bounding_set(one) {
                if error == rustix::io::Errno::INVAL {
                    break;
                }
                return Err(error.into());
            }
        }
    }
    Ok(rustix::thread::set_capabilities(None, none)?)
}

fn become_command(
    order: &Order,
    command: &[OsString],
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> EnterError {
    if order.terminal
        && let Err(source) = crate::helper::take_terminal()
    {
        return EnterError { what: "take the terminal".to_owned(), source };
    }
    exec(command, environment)
}

/// Returns only if it could not.
#[allow(clippy::disallowed_methods, reason = "the helper becomes the command that process.rs started it for")]
fn exec(command: &[OsString], environment: impl IntoIterator<Item = (OsString, OsString)>) -> EnterError {
    let nothing = || EnterError { what: "run nothing".to_owned(), source: io::ErrorKind::InvalidInput.into() };
    let Some((program, arguments)) = command.split_first() else { return nothing() };
    let source = Command::new(program).args(arguments).envs(environment).exec();
    EnterError { what: format!("start `{}`", program.to_string_lossy()), source }
}

/// Returns only if it could not. What it says itself goes to `complaining`.
#[allow(clippy::disallowed_methods, reason = "no model chose it; it starts the helper again, inside")]
fn become_bubblewrap(program: &Path, arguments: Vec<OsString>, complaining: OwnedFd) -> EnterError {
    let mut bubblewrap = Command::new(program);
    bubblewrap.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaining);
    EnterError { what: format!("start `{}`", program.display()), source: bubblewrap.exec() }
}
