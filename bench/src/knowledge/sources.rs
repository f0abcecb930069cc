//! Source code: how fast a large repository is taken in, and one changed file of it again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use weft_knowledge::{Filter, Knowledge, Query};

use super::{Add, hybrid, indexed};
use crate::process;
use crate::report::{Line, Unit};
use crate::statistics::{median, p95};

/// As many files as the goal names.
const FILES: usize = 10_000;
/// Longer ones are tables and test data more often than code.
const LARGEST: u64 = 100_000;
const CHANGES: usize = 20;
/// What `watch` waits for silence.
const DEBOUNCE: Duration = Duration::from_millis(100);
const ENDINGS: [&str; 15] =
    ["rs", "py", "ts", "tsx", "js", "go", "java", "c", "h", "cc", "cpp", "cs", "rb", "php", "sh"];

pub fn measure(sources: Option<&Path>, weft: Option<&Path>, work: &Path, add: Add<'_>) -> anyhow::Result<()> {
    let sources = match sources {
        Some(sources) => sources.to_owned(),
        None => cargo_sources()?,
    };
    let folder = work.join("sources");
    let files = copy(&sources, &folder)?;
    let busy = processor_seconds();
    let (knowledge, report) = indexed(work, &folder)?;
    let busy = processor_seconds() - busy;
    let counts = knowledge.status()?.counts;
    let rate = report.bytes as f64 / 1e6 / report.seconds;
    let note = format!(
        "{:.0} MB in {} files of {}; {} chunks, {} edges; parsing, embedding and both indexes on {} cores, {busy:.1} s of processor time in {:.1} s",
        report.bytes as f64 / 1e6,
        report.changed,
        files.len(),
        counts.chunks,
        counts.edges,
        std::thread::available_parallelism().map_or(1, usize::from),
        report.seconds
    );
    add(Line::new("knowledge: ingestion of source code, per second", Unit::Megabytes, rate).at_least(4.0).note(note))?;
    let times = changes(knowledge, &files)?;
    let note = format!("95 % within {}; seen by the watcher, found by a search", Unit::Millis.show(p95(&times)));
    let what = format!("knowledge: one changed file of {} taken in, after the debounce", files.len());
    add(Line::new(what, Unit::Millis, median(&times)).goal(50.0).note(note))?;
    if let Some(weft) = weft {
        add(hybrid::through_the_program(weft, work, &folder, "parse the header of a request", "10k files of code")?)?;
    }
    Ok(())
}

/// Where cargo keeps the sources of what it builds.
fn cargo_sources() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.context("no home folder")?.join("registry/src");
    anyhow::ensure!(sources.is_dir(), "no source code at {} (set WEFT_SOURCES)", sources.display());
    Ok(sources)
}

/// Copies source files, the same ones each time, so that nothing else changes them.
fn copy(from: &Path, into: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![from.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && is_source(&path) && entry.metadata()?.len() <= LARGEST {
                found.push(path);
            }
        }
    }
    found.sort();
    // Evenly over all of it, so that no one project makes up most.
    let step = (found.len() / FILES).max(1);
    let mut copies = Vec::new();
    for path in found.iter().step_by(step).take(FILES) {
        let copy = into.join(path.strip_prefix(from)?);
        fs::create_dir_all(copy.parent().context("no folder")?)?;
        fs::copy(path, &copy)?;
        copies.push(copy);
    }
    Ok(copies)
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

/// Changes files one by one under the watcher: milliseconds from the change until it is taken in,
/// less the debounce.
fn changes(mut knowledge: Knowledge, files: &[PathBuf]) -> anyhow::Result<Vec<f64>> {
    let stop = AtomicBool::new(false);
    let (sender, told) = mpsc::channel();
    std::thread::scope(|scope| -> anyhow::Result<Vec<f64>> {
        let stop_watching = &stop;
        let watch = scope.spawn(move || {
            let watched = knowledge.watch(stop_watching, &now_ms, &mut |report| {
                // Nobody listens any more once all changes are made.
                let _ = sender.send(report.changed);
            });
            watched.map(|()| knowledge)
        });
        let times = change_each(files, &told);
        stop.store(true, Ordering::Relaxed);
        let knowledge = watch.join().map_err(|_| anyhow::anyhow!("the watch panicked"))??;
        let times = times?;
        for number in 0..times.len() {
            let text = format!("changed_under_watch_{number}");
            let answer = knowledge.search(&Query { text, filter: Filter::default(), limit: 3, now: 0 })?;
            anyhow::ensure!(answer.hits.first().is_some_and(|hit| hit.snippet.contains("changed_under_watch")));
        }
        Ok(times)
    })
}

fn change_each(files: &[PathBuf], told: &mpsc::Receiver<usize>) -> anyhow::Result<Vec<f64>> {
    const PATIENCE: Duration = Duration::from_secs(60);
    // The first word is of what changed before the watch began.
    told.recv_timeout(PATIENCE)?;
    let rust = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let step = files.len() / CHANGES / 2;
    let mut times = Vec::new();
    for (number, path) in rust.step_by(step.max(1)).take(CHANGES).enumerate() {
        let mut text = fs::read_to_string(path)?;
        text.push_str(&format!("\nfn changed_under_watch_{number}() -> usize {{\n    {number}\n}}\n"));
        let begun = Instant::now();
        fs::write(path, text)?;
        let changed = told.recv_timeout(PATIENCE)?;
        times.push((begun.elapsed().saturating_sub(DEBOUNCE)).as_secs_f64() * 1e3);
        anyhow::ensure!(changed == 1, "{changed} files were taken in for one change");
    }
    Ok(times)
}

/// What this process has had of the processor, on all cores; the rest of the time others had it.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn now_ms() -> i64 {
    i64::try_from(process::now_micros() / 1000).unwrap_or(i64::MAX)
}
