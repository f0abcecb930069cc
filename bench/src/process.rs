//! Starts what is measured, and watches its memory from outside. The only place here that starts
//! processes and reads the clock.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};

const SAMPLE_EVERY: Duration = Duration::from_millis(2);
/// How often two processes are compared before they count as two.
const LOOKS: usize = 4;

#[allow(clippy::disallowed_methods, reason = "a benchmark starts the programs that it measures")]
pub fn command(program: impl AsRef<Path>) -> Command {
    Command::new(program.as_ref())
}

/// Microseconds since 1970, as the scripted server stamps arrivals.
#[allow(clippy::disallowed_methods, reason = "compared with the stamps of another process")]
pub fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A finished run.
pub struct Run {
    /// Taken just before the program was started.
    pub started_micros: u64,
    pub wall: Duration,
    pub output: Output,
}

/// Runs to the end and insists on success.
pub fn run(mut command: Command) -> anyhow::Result<Run> {
    let child = quiet(&mut command);
    let (started_micros, started) = (now_micros(), Instant::now());
    let output = child.spawn().and_then(Child::wait_with_output).context(format!("starting {command:?}"))?;
    let wall = started.elapsed();
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{}", output.status, tail(&output.stderr));
    }
    Ok(Run { started_micros, wall, output })
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped())
}

fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().skip(lines.len().saturating_sub(20)).copied().collect::<Vec<_>>().join("\n")
}

/// The most memory seen, in kilobytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Peak {
    /// The resident pages of the whole process tree added up; shared pages count once per process.
    pub tree_kb: u64,
    /// The highest that the kernel noted for the first process alone.
    pub own_kb: u64,
}

/// Runs to the end with an eye on memory. Not for timing: looking costs time.
pub fn run_watched(mut command: Command) -> anyhow::Result<(Run, Peak)> {
    let (started_micros, started) = (now_micros(), Instant::now());
    let child = quiet(&mut command).spawn().context(format!("starting {command:?}"))?;
    let root = child.id();
    let over = Arc::new(AtomicBool::new(false));
    let watcher = thread::spawn({
        let over = Arc::clone(&over);
        move || watch(root, &over)
    });
    let output = child.wait_with_output();
    let wall = started.elapsed();
    over.store(true, Ordering::Relaxed);
    let peak = watcher.join().unwrap_or_default();
    let output = output?;
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{}", output.status, tail(&output.stderr));
    }
    Ok((Run { started_micros, wall, output }, peak))
}

fn watch(root: u32, over: &AtomicBool) -> Peak {
    let mut peak = Peak::default();
    while !over.load(Ordering::Relaxed) {
        let next = Instant::now() + SAMPLE_EVERY;
        peak.tree_kb = peak.tree_kb.max(tree(root).into_iter().map(resident_kb).sum());
        peak.own_kb = peak.own_kb.max(high_water_kb(root));
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    peak
}

/// The process and everything it started. Later processes have higher numbers, so only those are
/// looked at.
fn tree(root: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![root] };
    let mut later: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|process| *process > root)
        .collect();
    later.sort_unstable();
    let mut found = vec![root];
    for process in later {
        let parent = parent(process).filter(|parent| found.contains(parent));
        if parent.is_some_and(|parent| !is_being_started(process, parent)) {
            found.push(process);
        }
    }
    found
}

/// Until a process that is being started has become its program it lives in its parent's memory,
/// which is not there twice.
fn is_being_started(process: u32, parent: u32) -> bool {
    let of = |process: u32, what: &str| std::fs::read(format!("/proc/{process}/{what}")).ok();
    if of(process, "cmdline").is_none_or(|line| Some(line) != of(parent, "cmdline")) {
        return false;
    }
    // What is in memory may change between two looks; looked at around the other, it tells.
    (0..LOOKS).any(|_| {
        let (before, its, after) = (of(parent, "statm"), of(process, "statm"), of(parent, "statm"));
        its.is_some() && (its == before || its == after)
    })
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything; the state and the parent follow the last bracket.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// What a process has in memory now.
pub fn resident_kb(process: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * (rustix::param::page_size() as u64) / 1024
}

/// `VmHWM` of a process, which never falls.
pub fn high_water_kb(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
