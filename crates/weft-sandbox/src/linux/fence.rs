//! Landlock: which files can be touched, kept by the kernel for this process and all it starts.
//!
//! Landlock can only grant whole trees. Where mounts hide secrets and protect what lies inside
//! writable folders, reading is granted everywhere; where there are no mounts, and for what lasts so
//! long that a mount may go, it is granted for everything beside the secrets, one by one. Names of
//! files can be listed in any case.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::{Doing as _, EnterError};
use crate::helper::Order;

/// The newest that is made use of; older kernels hold what they know of it.
const NEWEST: ABI = ABI::V9;
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

pub fn apply(order: &Order) -> Result<(), EnterError> {
    let restricted = fence(order).map_err(std::io::Error::other).doing("set up Landlock")?;
    match restricted {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(std::io::Error::other("the kernel has none")).doing("set up Landlock"),
    }
}

fn fence(order: &Order) -> Result<RulesetStatus, landlock::RulesetError> {
    let policy = &order.policy;
    let everything = AccessFs::from_all(NEWEST);
    let most = everything & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let read = AccessFs::from_read(NEWEST);
    if order.layers.namespaces {
        for folder in ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"] {
            rules = grant(rules, Path::new(folder), most)?;
        }
    } else {
        rules = grant(rules, &policy.temp, most)?;
    }
    if order.layers.namespaces && !order.lasting {
        rules = grant(rules, Path::new("/"), read)?;
    } else {
        rules = grant(rules, Path::new("/"), AccessFs::ReadDir.into())?;
        let mut hidden = [&policy.unreadable[..], &policy.unborn].concat();
        if !order.layers.namespaces {
            // As root, a disk can be read through its device.
            hidden.push(PathBuf::from("/dev"));
        }
        for path in beside(Path::new("/"), &hidden) {
            rules = grant(rules, &path, read)?;
        }
        for path in &policy.readable {
            rules = grant(rules, path, read)?;
        }
    }
    for folder in &policy.writable {
        rules = grant(rules, folder, most)?;
    }
    for device in DEVICES {
        let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        rules = grant(rules, Path::new(device), access)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// What is not there needs no rule.
fn grant(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let is_folder = fs::metadata(path).is_ok_and(|found| found.is_dir());
    let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(opened, access))
}

/// Everything in `folder` but what is hidden, in as few trees as there can be. Links are left out:
/// what they lead to is granted, or hidden, where it is.
fn beside(folder: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if hidden.contains(&path) || entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                folders.push(path);
            } else {
                granted.push(path);
            }
        }
    }
    granted
}
