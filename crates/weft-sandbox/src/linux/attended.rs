//! A command that has no world of its own, with nothing of it left when it has ended.
//!
//! The helper stays, and what loses its parent becomes its child, also what has left the group and
//! the session. When the command has ended it kills what is left. Whoever kills the helper has to
//! look for its kin first (`kin`).

use std::ffi::OsString;
use std::io::Write as _;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::sys::{self, Forked};
use super::worlds::{self, encode, end_like};
use super::{Doing as _, EnterError, exec};
use crate::kin;

/// What is about to end of itself may.
const PATIENCE: u32 = 100;
/// What does not end even when it is killed hangs in the kernel and is given up.
const KILLS: u32 = 2_000;
const BETWEEN: Duration = Duration::from_millis(1);

const SAID: &str = "[what it left running was ended; to keep something running, start it with `background`]";

/// Runs a command without a sandbox.
pub fn run(command: &[OsString]) -> Result<u8, EnterError> {
    adopt_orphans()?;
    sys::close_on_exec_all().doing("let go of what is open")?;
    attend(|| exec(command, []))
}

/// From now on whoever loses its parent is this process's child.
pub fn adopt_orphans() -> Result<(), EnterError> {
    set_child_subreaper(Some(getpid())).doing("gather orphans")
}

/// Runs the command and ends as it ended. `become_command` returns only if it could not.
pub fn attend(become_command: impl FnOnce() -> EnterError) -> Result<u8, EnterError> {
    worlds::leave_signals_to_the_command();
    let command = match sys::fork().doing("start the command")? {
        Forked::Child => {
            worlds::heed_signals();
            return Err(become_command());
        }
        Forked::Parent(command) => command,
    };
    let mut output = worlds::let_go_of_output()?;
    let ended = wait_for(command).doing("wait for the command")?;
    if end_what_is_left() {
        let _ = writeln!(output, "{SAID}");
    }
    Ok(end_like(encode(ended, true)))
}

fn wait_for(command: Pid) -> Result<WaitStatus, Errno> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((child, status))) if child == command => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Says whether something had to be killed.
fn end_what_is_left() -> bool {
    let mut killed = false;
    for look in 0..PATIENCE + KILLS {
        loop {
            match wait(WaitOptions::NOHANG) {
                Err(Errno::CHILD) => return killed,
                // One was buried; there may be more.
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) | Err(_) => break,
            }
        }
        killed |= look >= PATIENCE && kin::kill_descendants(getpid());
        std::thread::sleep(BETWEEN);
    }
    killed
}
