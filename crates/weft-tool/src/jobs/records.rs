//! What is known on disk of a session's jobs, so that none is forgotten when Weft is gone: a job that
//! is found without its Weft is ended, and told of.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

const FILE: &str = "jobs.json";
const LOCK: &str = "jobs.lock";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub id: u32,
    pub command: String,
    pub output: String,
    /// The job's process group.
    pub group: Option<Process>,
    /// The Weft that it belongs to.
    pub owner: Option<Process>,
    /// How it ended.
    pub ended: Option<String>,
    /// The log says that it ended. Records that do not know are old.
    #[serde(default = "yes")]
    pub told: bool,
}

const fn yes() -> bool {
    true
}

/// A process that can be told from a later one of the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pid: i32,
    /// When it began, in the kernel's own count.
    began: String,
}

impl Process {
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self { pid, began: began(pid)? })
    }

    pub fn this() -> Option<Self> {
        Self::of(i32::try_from(std::process::id()).ok()?)
    }

    pub fn is_this(&self) -> bool {
        Self::this().as_ref() == Some(self)
    }

    pub fn is_alive(&self) -> bool {
        began(self.pid).as_ref() == Some(&self.began)
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Ends it with everything in its group, if it is still the same.
    fn end(&self) {
        if let Some(group) = Pid::from_raw(self.pid).filter(|_| self.is_alive()) {
            // It may be gone by now, which is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The boot and the moment in it; nothing for a process that is gone or waits to be buried.
fn began(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it can hold anything, also parentheses.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    let ticks = fields.nth(18)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{}-{ticks}", boot.trim()))
}

pub(crate) fn exist(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

/// None where there is no file, or none that can be understood.
pub(crate) fn load(folder: &Path) -> Vec<Record> {
    let text = fs::read(folder.join(FILE)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Kept while records are read, changed and written, so that two processes do not undo each other's
/// changes. Where it cannot be had, things go on without.
pub(crate) fn lock(folder: &Path) -> io::Result<fs::File> {
    let file = fs::OpenOptions::new().create(true).append(true).open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

pub(crate) fn save(folder: &Path, records: &[Record]) -> io::Result<()> {
    let path = folder.join(format!("{FILE}.{}", std::process::id()));
    let mut new = fs::File::create(&path)?;
    new.write_all(&serde_json::to_vec(records)?)?;
    new.sync_all()?;
    fs::rename(path, folder.join(FILE))
}

/// Whether a job of another, living Weft is meant; one whose Weft is gone is ended here.
pub(crate) fn settle(record: &mut Record) -> bool {
    if record.ended.is_some() {
        return false;
    }
    if record.owner.as_ref().is_some_and(Process::is_alive) {
        return true;
    }
    if let Some(group) = &record.group {
        group.end();
    }
    record.ended = Some("ended together with the Weft that it ran in".to_owned());
    record.told = false;
    false
}

/// Ends all jobs of a session, whichever Weft they belong to, because the session is deleted.
pub fn end_all(outputs: &Path) {
    for record in load(outputs).iter().filter(|record| record.ended.is_none()) {
        if let Some(group) = &record.group {
            group.end();
        }
    }
}
