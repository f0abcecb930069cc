//! Making the sandbox, on Linux, from within the helper.
//!
//! With namespaces (the usual case) there are three processes: the helper waits and passes on how
//! the command ended; a child of it is the first process of the new world, arranges the mounts and
//! gathers orphans; the command is its child. Whoever kills the group kills the first process, and
//! with it everything in its world. Without namespaces the helper itself becomes the command.

mod fence;
mod filter;
mod limits;
mod mounts;
mod network;
pub(crate) mod probe;
mod sys;
mod worlds;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::helper::Order;
use crate::policy::Network;
use crate::task::Task;

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

/// Makes the sandbox and becomes the command. Returns an exit code only in the process that waits,
/// and where no command came.
pub fn enter(order: &Order, command: &[OsString]) -> Result<u8, EnterError> {
    // A session of its own has no terminal to type into or to listen at.
    let _ = rustix::process::setsid();
    sys::close_on_exec_all().doing("let go of what is open")?;
    limits::apply(&order.policy.limits).doing("set the limits")?;
    let mut environment = Vec::new();
    if order.layers.namespaces {
        let sockets = mounts::foreign_sockets(&order.policy);
        let reserved = mounts::reserve(order)?;
        let own_network = order.policy.network != Network::Open;
        worlds::leave(own_network)?;
        if own_network {
            network::switch_loopback_on()?;
        }
        if let Some(proxy) = &order.proxy {
            environment = network::offer_proxy(proxy)?;
        }
        limits::apply_in_own_world(&order.policy.limits).doing("limit the number of processes")?;
        let first = match worlds::begin(reserved)? {
            worlds::Side::Outside(outside) => return Ok(outside.wait()),
            worlds::Side::First(first) => first,
        };
        mounts::arrange(order, &sockets)?;
        environment.extend(mounts::environment());
        lock(order)?;
        let Some(command) = command_of(order, command)? else { return Ok(0) };
        first.run(|| become_command(order, command, environment))
    } else {
        environment.push(("TMPDIR".into(), order.policy.temp.clone().into()));
        lock(order)?;
        let Some(command) = command_of(order, command)? else { return Ok(0) };
        Err(become_command(order, command, environment))
    }
}

/// What to run: what was given, or what is told now that everything is made.
#[allow(clippy::disallowed_methods, reason = "the helper becomes the command that process.rs started it for")]
fn command_of(order: &Order, given: &[OsString]) -> Result<Option<Command>, EnterError> {
    if let Some((program, arguments)) = given.split_first() {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&order.cwd);
        return Ok(Some(command));
    }
    // Not through the library's buffer: what follows the task belongs to the command.
    let input = rustix::stdio::stdin().try_clone_to_owned().doing("take hold of the input")?;
    let Some(task) = Task::receive(File::from(input)).doing("hear what to run")? else { return Ok(None) };
    let Some((program, arguments)) = task.command.split_first() else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput)).doing("run nothing");
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&task.cwd).env_clear().envs(task.environment);
    if !task.reads {
        command.stdin(Stdio::null());
    }
    if task.quiet {
        command.stderr(Stdio::null());
    }
    Ok(Some(command))
}

/// Gives up every privilege, for good.
fn lock(order: &Order) -> Result<(), EnterError> {
    std::env::set_current_dir(&order.cwd).doing_at("go to", &order.cwd)?;
    drop_capabilities(order.layers.namespaces).doing("give up capabilities")?;
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

fn become_command(order: &Order, mut command: Command, environment: Vec<(OsString, OsString)>) -> EnterError {
    if order.terminal
        && let Err(source) = crate::helper::take_terminal()
    {
        return EnterError { what: "take the terminal".to_owned(), source };
    }
    let source = command.envs(environment).exec();
    EnterError { what: format!("start `{}`", command.get_program().to_string_lossy()), source }
}
