//! Tries on itself what the kernel lets a helper do, and tells. The process ends afterwards.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _, LandlockStatus, Ruleset, RulesetAttr as _};
use rustix::process::{WaitOptions, waitpid};

use super::sys::{self, Forked};
use super::{Doing as _, EnterError, bubblewrap, filter, limits, mounts, worlds};
use crate::helper::Order;
use crate::policy::{Limits, Network, Policy};
use crate::support::{Layers, Support};

pub fn here() -> Support {
    let process_limit = !mounts::is_root() || in_child(|| own_world(true)).is_ok();
    let namespaces = in_child(|| own_world(false));
    // Root needs nobody's help.
    let bubblewrap = bubblewrap::find().filter(|_| namespaces.is_err() && !mounts::is_root());
    let bubblewrap = bubblewrap.filter(|program| from_bubblewrap(program));
    let namespaces = if bubblewrap.is_some() { Ok(()) } else { namespaces };
    Support {
        bubblewrap,
        namespaces: namespaces.map_err(|reason| format!("namespaces are not to be had: {reason}")),
        landlock: landlock(),
        seccomp: in_child(|| filter::apply(&order(false))).is_ok(),
        process_limit,
    }
}

fn order(process_limit: bool) -> Order {
    let policy = Policy {
        writable: vec![],
        protected: vec![],
        reserved: vec![],
        unborn: vec![],
        quiet: vec![],
        unreadable: vec![],
        readable: vec![],
        temp: PathBuf::from("/tmp"),
        network: Network::Off,
        limits: Limits::default(),
    };
    Order { layers: Layers { process_limit, ..Layers::ALL }, ..Order::new(policy, "/", Layers::ALL) }
}

/// All that a command is given, but the command.
fn own_world(process_limit: bool) -> Result<(), EnterError> {
    let order = order(process_limit);
    worlds::leave(&order, true)?;
    limits::apply_beside(&order.policy.limits, 0).doing("limit the number of processes")?;
    let arrange = || mounts::lay_ground(&order.policy).and_then(|()| mounts::finish(&order, &[]));
    in_child(arrange).map_err(std::io::Error::other).doing("arrange the file system")
}

/// Whether a command can be run in a world that bubblewrap makes.
fn from_bubblewrap(program: &Path) -> bool {
    let order = Order { layers: Layers { landlock: false, ..Layers::ALL }, ..order(true) };
    let run = || match bubblewrap::enter(program, &order, &["true".into()])? {
        0 => Ok(()),
        _ => Err(std::io::Error::other("it failed")).doing("run a command"),
    };
    in_child(run).is_ok()
}

/// Does something in a child, so that it changes nothing here, and says why it failed.
fn in_child(work: impl FnOnce() -> Result<(), EnterError>) -> Result<(), String> {
    let (mut reader, mut writer) = std::io::pipe().map_err(|error| error.to_string())?;
    match sys::fork().map_err(|error| error.to_string())? {
        Forked::Child => {
            let complaint = work().err().map(|error| error.to_string()).unwrap_or_default();
            let told = writer.write_all(complaint.as_bytes());
            std::process::exit(i32::from(told.is_err() || !complaint.is_empty()));
        }
        Forked::Parent(child) => {
            drop(writer);
            let mut complaint = String::new();
            let _ = reader.read_to_string(&mut complaint);
            let ended = waitpid(Some(child), WaitOptions::empty()).ok().flatten();
            match ended.and_then(|(_, status)| status.exit_status()) {
                Some(0) => Ok(()),
                Some(_) if !complaint.is_empty() => Err(complaint),
                Some(_) | None => Err("the attempt was stopped".to_owned()),
            }
        }
    }
}

/// The version of the kernel. Asking for it means restricting this process, at the very end.
fn landlock() -> u32 {
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V9))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    match restricted.map(|status| status.landlock) {
        Ok(LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        Ok(_) | Err(_) => 0,
    }
}
