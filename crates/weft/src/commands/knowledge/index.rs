//! `weft index`: takes in a folder, with its progress, and watches it if asked to.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::signal::unix::{SignalKind, signal};
use weft_knowledge::{Knowledge, Progress, Report, Run};

use super::{now, places, remember, tell_notices, tell_without_model};
use crate::exit::Exit;
use crate::knowledge_args::IndexArgs;
use crate::show::clean::clean_row;
use crate::show::rows::note;
use crate::show::style::{DIM, GUTTER, Line, Look};
use crate::show::units::counted;
use crate::{open, out};

/// As many files are named; `--verbose` names all.
const NAMED: usize = 5;

pub async fn run(args: IndexArgs) -> anyhow::Result<Exit> {
    let here = open::workspace()?;
    let folder = args.path.as_ref().map_or(here.clone(), |path| here.join(path));
    let (mut knowledge, within) = Knowledge::open_for(&places(), &folder)?;
    if !args.json {
        tell_notices(&knowledge);
        tell_without_model(&knowledge);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut ended = signal(SignalKind::terminate())?;
    let flag = Arc::clone(&stop);
    tokio::spawn(async move {
        tokio::select! { _ = interrupted.recv() => {}, _ = ended.recv() => {} }
        flag.store(true, Ordering::Relaxed);
    });
    let json = args.json;
    let flag = Arc::clone(&stop);
    let work = tokio::task::spawn_blocking(move || {
        let mut bar = Bar::new(!json && std::io::stderr().is_terminal());
        let run = Run { now: now(), stop: &flag, tell: &mut |progress| bar.show(progress) };
        let report = knowledge.index(within.as_deref(), run);
        bar.clear();
        let report = report?;
        let remembered = if report.stopped { Default::default() } else { remember(&mut knowledge) };
        anyhow::Ok((report, remembered, knowledge))
    });
    let (report, remembered, knowledge) = work.await??;
    show(&report, &args)?;
    if !args.json && remembered.changed > 0 {
        let text = format!("{} of this folder taken in.", counted(remembered.changed as u64, "session", "sessions"));
        out::tell(&note(&text, &out::look_stderr()));
    }
    if report.stopped {
        return Ok(Exit::Interrupted);
    }
    if args.watch {
        return watch(knowledge, stop, args.json).await;
    }
    Ok(Exit::Done)
}

async fn watch(mut knowledge: Knowledge, stop: Arc<AtomicBool>, json: bool) -> anyhow::Result<Exit> {
    if !json {
        out::tell(&note("Watching. Ctrl+C ends it.", &out::look_stderr()));
    }
    let work = tokio::task::spawn_blocking(move || {
        knowledge.watch(&stop, &now, &mut |report| {
            if json {
                out::json_line(&report);
            } else if report.changed + report.removed > 0 {
                let text = format!(
                    "{} taken in, {} removed, {:.0} ms",
                    counted(report.changed as u64, "file", "files"),
                    report.removed,
                    report.seconds * 1000.0
                );
                out::tell(&note(&text, &out::look_stderr()));
            }
        })
    });
    work.await??;
    Ok(Exit::Done)
}

fn show(report: &Report, args: &IndexArgs) -> anyhow::Result<()> {
    if args.json {
        out::json_line(&serde_json::to_value(report)?);
        return Ok(());
    }
    let look = out::look_stderr();
    let megabytes = report.bytes as f64 / 1e6;
    let mut text = format!("{}: {} taken in", counted(report.files as u64, "file", "files"), report.changed);
    if report.removed > 0 {
        text.push_str(&format!(", {} removed", report.removed));
    }
    text.push_str(&format!(", {megabytes:.1} MB in {:.1} s", report.seconds));
    if report.bytes > 1_000_000 && report.seconds > 0.0 {
        text.push_str(&format!(" ({:.1} MB/s)", megabytes / report.seconds));
    }
    if report.stopped {
        text.push_str(". Stopped; the next `weft index` goes on with the rest");
    }
    out::tell(&note(&format!("{text}."), &look));
    let passed = &report.passed;
    if !passed.is_empty() {
        out::tell(&note(&format!("{} not searched:", counted(passed.len() as u64, "file is", "files are")), &look));
        let shown = if args.verbose { passed.len() } else { NAMED };
        for (path, reason) in passed.iter().take(shown) {
            out::tell(&[named(&format!("{path} {reason}"), &look)]);
        }
        if passed.len() > shown {
            out::tell(&[named(&format!("and {} more; --verbose names all", passed.len() - shown), &look)]);
        }
    }
    if let Some(why) = &report.without_meaning {
        out::tell(&note(&clean_row(why), &look));
    }
    for trouble in &report.trouble {
        out::tell(&note(&clean_row(&format!("Could not look into it: {trouble}")), &look));
    }
    Ok(())
}

/// A row below a note.
fn named(text: &str, look: &Look) -> Line {
    Line::new(clean_row(text), DIM).indented(GUTTER).fitted(look.width, look)
}

/// One line on a terminal that is written over.
struct Bar {
    shown: bool,
    on: bool,
    begun: Instant,
}

impl Bar {
    fn new(on: bool) -> Self {
        Self { shown: false, on, begun: Instant::now() }
    }

    fn show(&mut self, progress: Progress) {
        if !self.on || progress.of == 0 {
            return;
        }
        const WIDTH: usize = 24;
        let full = (progress.files * WIDTH / progress.of).min(WIDTH);
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full));
        let speed = progress.bytes as f64 / 1e6 / self.begun.elapsed().as_secs_f64().max(0.001);
        let doing = if progress.finishing { "making it searchable" } else { "reading" };
        out::stderr(&format!("\r\x1b[K{bar} {}/{} {doing}, {speed:.1} MB/s", progress.files, progress.of));
        self.shown = true;
    }

    fn clear(&mut self) {
        if self.shown {
            out::stderr("\r\x1b[K");
        }
    }
}
