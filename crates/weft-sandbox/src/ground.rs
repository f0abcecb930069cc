//! What all commands of a session share in their sandboxes: users, network, messages, and every mount
//! that does not depend on the command. It is made once by a helper and kept by holding it open, with
//! no process in it; helpers join it, and give their command processes and mounts of its own.
//!
//! A ground knows the files that were there when it was made. Whoever keeps one asks before each use
//! whether it still stands on the same.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde::{Deserialize, Serialize};

use crate::helper::{COMPLAINT, Helper, Order};
use crate::policy::{Network, Policy};
use crate::reserved;

/// Where a helper finds a ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    pub user: PathBuf,
    pub mounts: PathBuf,
    pub messages: PathBuf,
    /// Absent where the network is everybody's.
    pub network: Option<PathBuf>,
    /// Where the proxy is, seen from there.
    pub proxy: Option<String>,
}

/// A ground, for as long as this lives.
pub struct Ground {
    made_for: Order,
    files: Vec<Option<(u64, u64)>>,
    user: File,
    mounts: File,
    messages: File,
    network: Option<File>,
    proxy: Option<String>,
    /// Keeps what stands in for what is reserved.
    reserving: Option<File>,
}

impl Ground {
    /// Makes one, which takes some milliseconds. An error says why it cannot be had; where it can,
    /// commands can be locked up on it.
    pub fn make(helper: &Helper, order: &Order) -> Result<Self, String> {
        let files = files(&order.policy);
        let reserved = &order.policy.reserved;
        let lock = order.lock.as_ref().filter(|_| !reserved.is_empty());
        let reserving = lock.map(|lock| reserved::hold(lock, reserved)).transpose();
        let reserving = reserving.map_err(|error| format!("names cannot be reserved: {error}"))?;
        let mut maker = Maker::start(helper, order).map_err(|error| format!("the helper was not started: {error}"))?;
        let proxy = maker.said()?;
        let proxy = (!proxy.is_empty()).then_some(proxy);
        let open = |name: &str| {
            let path = format!("/proc/{}/ns/{name}", maker.child.id());
            File::open(&path).map_err(|error| format!("cannot take hold of `{path}`: {error}"))
        };
        let own_network = order.policy.network != Network::Open;
        Ok(Self {
            made_for: order.clone(),
            files,
            user: open("user")?,
            mounts: open("mnt")?,
            messages: open("ipc")?,
            network: own_network.then(|| open("net")).transpose()?,
            proxy,
            reserving,
        })
    }

    /// Whether it is as good as one that would be made now. Mounts stay with a file, not with a name.
    pub fn is_for(&self, order: &Order) -> bool {
        let made_for = &self.made_for;
        made_for.policy == order.policy && made_for.layers == order.layers && self.files == files(&order.policy)
    }

    /// For [`Order::ground`], while this lives.
    pub fn joined(&self) -> Joined {
        let held = |file: &File| PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        Joined {
            user: held(&self.user),
            mounts: held(&self.mounts),
            messages: held(&self.messages),
            network: self.network.as_ref().map(held),
            proxy: self.proxy.clone(),
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        drop(self.reserving.take());
        if let Some(lock) = &self.made_for.lock {
            reserved::clear_unless_held(lock, &self.made_for.policy.reserved);
        }
    }
}

/// Which files stand behind the names in a policy. What is reserved comes and goes with commands, and
/// is laid anew for each.
fn files(policy: &Policy) -> Vec<Option<(u64, u64)>> {
    let reserved = |path: &&PathBuf| policy.reserved.iter().any(|reserved| reserved.path == **path);
    let protected = policy.protected.iter().filter(|path| !reserved(path));
    let others = [&policy.writable, &policy.unreadable, &policy.readable].into_iter().flatten();
    let file = |path: &PathBuf| fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    protected.chain(others).chain([&policy.temp]).map(file).collect()
}

/// The helper that makes a ground. It ends when this is dropped.
struct Maker {
    child: Child,
}

impl Maker {
    #[allow(clippy::disallowed_methods, reason = "the helper is ours, and no model chose what it does")]
    fn start(helper: &Helper, order: &Order) -> io::Result<Self> {
        let mut command = std::process::Command::new(helper.program());
        command.args(helper.for_ground(order)).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self { child: command.spawn()? })
    }

    /// What it says once the ground is made, or its complaint.
    fn said(&mut self) -> Result<String, String> {
        let mut said = String::new();
        let read = self.child.stdout.take().map(|output| BufReader::new(output).read_line(&mut said));
        if let Some(said) = said.strip_suffix('\n').filter(|_| matches!(read, Some(Ok(_)))) {
            return Ok(said.to_owned());
        }
        let mut complaint = String::new();
        let _ = self.child.stderr.take().map(|mut errors| errors.read_to_string(&mut complaint));
        Err(complaint.trim().strip_prefix(COMPLAINT).unwrap_or("the helper ended without a word").to_owned())
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
