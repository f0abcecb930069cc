//! Who descends from a process, as the system tells it. For commands that have no world of their own:
//! what they start can leave their group, but not its ancestors.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// All that descend from a process and still live, the nearest first.
pub fn descendants(of: Pid) -> Vec<Pid> {
    let alive: Vec<(Pid, Pid)> = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(parent).collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(ancestor) = found.get(next).copied() {
        let children = alive.iter().filter(|(child, parent)| *parent == ancestor && !found.contains(child));
        let children: Vec<Pid> = children.map(|(child, _)| *child).collect();
        found.extend(children);
        next += 1;
    }
    found.split_off(1)
}

/// Kills them. Says whether there were any.
pub fn kill_descendants(of: Pid) -> bool {
    let kin = descendants(of);
    for process in &kin {
        let _ = kill_process(*process, Signal::KILL);
    }
    !kin.is_empty()
}

/// A process, with its parent. None of what has ended and only waits to be buried.
fn parent(entry: fs::DirEntry) -> Option<(Pid, Pid)> {
    let number = |text: &str| text.parse().ok().and_then(Pid::from_raw);
    let process = number(entry.file_name().to_str()?)?;
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    // A program's name may hold anything, brackets too; behind the last one are plain fields.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let parent = number(fields.next()?)?;
    (state != "Z" && state != "X").then_some((process, parent))
}

#[cfg(test)]
#[path = "kin_tests.rs"]
mod tests;
