//! All benchmarks, one after the other.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};

use crate::machine::Machine;
use crate::program::{Kind, Program, Site};
use crate::report::{self, Line, Peer, Report, Unit, say};
use crate::script::{Script, Server};
use crate::single::{Bench, ROUNDS, Rounds};
use crate::statistics::{largest, median, p95};
use crate::{
    bare, bounds, browser, guard, knowledge, load, long_session, many_sessions, process, research, sandbox, search,
    serve,
};

const STARTS: usize = 30;
const RUNS: usize = 10;
const MEMORY_RUNS: usize = 5;
const LISTINGS: usize = 20;
const LOAD_ROUNDS: usize = 5;
const LOAD_DELAY_MS: u64 = 200;
const LISTED: usize = 10_000;

#[derive(Args)]
pub struct Options {
    /// The program to measure
    #[arg(long, value_parser = absolute)]
    weft: PathBuf,
    /// The scripted model server
    #[arg(long, value_parser = absolute)]
    script: PathBuf,
    /// Where to write the report
    #[arg(long, default_value = "docs/BENCHMARKS.md")]
    out: PathBuf,
    /// Compare with codex and pi, found in this folder
    #[arg(long, value_name = "DIR", value_parser = absolute)]
    peers: Option<PathBuf>,
    /// Only some of the benchmarks; then no report is written
    #[arg(long, value_enum)]
    only: Vec<Part>,
    #[command(flatten)]
    knowledge: knowledge::Options,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Start,
    Rounds,
    Memory,
    Load,
    Long,
    List,
    Sandbox,
    Guard,
    Search,
    Serve,
    Browser,
    Knowledge,
    Research,
    Peers,
}

fn absolute(text: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(text)
}

/// A part that cannot be measured is told of, and the others are measured all the same.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let beside = options.weft.parent().context("the program has no folder")?;
    let work = tempfile::Builder::new().prefix("bench-").tempdir_in(apart(beside)?)?;
    let bench = Bench { script: &options.script, work: work.path() };
    let mut report = Report::default();
    report::say(report::HEAD.trim_end())?;
    for part in Part::value_variants().iter().filter(|part| options.only.is_empty() || options.only.contains(part)) {
        if let Err(error) = measure(*part, options, &bench, &mut report) {
            report.fail(&format!("{part:?}").to_lowercase(), &error)?;
        }
    }
    if options.only.is_empty() {
        let command = if options.peers.is_some() { "make bench PEERS=1" } else { "make bench" };
        let before = std::fs::read_to_string(&options.out).unwrap_or_default();
        std::fs::write(&options.out, report.markdown(&Machine::look(), command) + report::kept(&before))?;
        say(&format!("\nWritten to {}. Goals missed: {}.", options.out.display(), report.missed().len()))?;
    }
    ensure!(report.failed().is_empty(), "{} parts could not be measured", report.failed().len());
    Ok(())
}

/// Beside the binaries, so that it is on a disk and not in memory. In a repository the programs would read
/// its instructions and guard its settings, which is not what is measured; then in the person's cache.
fn apart(beside: &Path) -> anyhow::Result<PathBuf> {
    if !beside.ancestors().any(|folder| folder.join(".git").exists()) {
        return Ok(beside.to_owned());
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder =
        cache.or_else(home).context("set HOME or XDG_CACHE_HOME: the benchmarks need a folder")?.join("weft-bench");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn measure(part: Part, options: &Options, bench: &Bench<'_>, report: &mut Report) -> anyhow::Result<()> {
    let weft = Program { kind: Kind::Weft, path: options.weft.clone() };
    let lines = match part {
        Part::Start => return start(bench, &weft, report),
        Part::Rounds => return rounds(bench, &weft, report),
        Part::Memory => return memory(bench, &weft, report),
        Part::Load => {
            many_at_once(bench, 1_000, 2.0, 80.0, report)?;
            return many_at_once(bench, 5_000, 6.0, 350.0, report);
        }
        Part::Long => return long(bench, &weft, report),
        Part::List => return list(bench, &weft, report),
        Part::Knowledge => {
            let add = &mut |line| report.add(line);
            return knowledge::measure(&options.knowledge, Some(&options.weft), bench.work, add);
        }
        Part::Peers => {
            let Some(folder) = &options.peers else { return Ok(()) };
            peers(bench, &weft, folder, report)?;
            return say(&report.comparison());
        }
        Part::Sandbox => sandbox::overhead(&options.weft)?,
        Part::Guard => guard::overhead(bench.work)?,
        Part::Search => vec![search::against_ripgrep(bench.work)?],
        Part::Serve => serve::measure(&options.weft, bench.folder()?.path())?,
        Part::Browser => browser::measure(&options.weft)?,
        Part::Research => research::measure(&weft, &options.script, bench.folder()?.path())?,
    };
    lines.into_iter().try_for_each(|line| report.add(line))
}

fn start(bench: &Bench<'_>, weft: &Program, report: &mut Report) -> anyhow::Result<()> {
    for (name, warm) in [("empty home", false), ("warm home", true)] {
        let times = bench.starts(weft, STARTS, warm)?;
        let note = format!("95 % within {}, {STARTS} runs", Unit::Millis.show(p95(&times)));
        report.add(
            Line::new(format!("start to first request, {name}"), Unit::Millis, median(&times)).goal(25.0).note(note),
        )?;
    }
    Ok(())
}

fn rounds(bench: &Bench<'_>, weft: &Program, report: &mut Report) -> anyhow::Result<()> {
    let runs = (0..RUNS).map(|_| bench.new_rounds(weft)).collect::<anyhow::Result<Vec<_>>>()?;
    let (commit, shell) = (bounds::synced_commit(bench.work)?, bounds::shell()?);
    let per_round = median(&each(&runs, |run| run.per_round_ms));
    let syncs = match bench.syncs(weft)? {
        Some(syncs) => format!("{:.1} syncs per round, the whole run counted", syncs as f64 / ROUNDS as f64),
        None => "syncs not counted: no strace here".to_owned(),
    };
    let bound = 2.0 * commit + shell;
    report.add(
        Line::new("overhead per tool round, durable, with a shell `echo`", Unit::Millis, per_round).goal(6.0).note(
            format!(
                "{syncs}; bound {} = 2 × {} (synced commit) + {} (shell)",
                Unit::Millis.show(bound),
                Unit::Millis.show(commit),
                Unit::Millis.show(shell)
            ),
        ),
    )?;
    let (first, total) = (largest(&each(&runs, first_kb)), largest(&each(&runs, total_kb)));
    report.add(Line::new("size of the first request", Unit::Kilobytes, first).goal(6.0).note("default tools"))?;
    report.add(Line::new("bytes sent over 20 rounds", Unit::Kilobytes, total).goal(180.0).note("21 requests"))
}

fn memory(bench: &Bench<'_>, weft: &Program, report: &mut Report) -> anyhow::Result<()> {
    let peaks = (0..MEMORY_RUNS).map(|_| bench.memory(weft)).collect::<anyhow::Result<Vec<_>>>()?;
    let tree = largest(&each(&peaks, |peak| megabytes(peak.tree_kb)));
    let own = largest(&each(&peaks, |peak| megabytes(peak.own_kb)));
    report.add(
        Line::new("peak memory of a 20-round run, whole process tree", Unit::Megabytes, tree)
            .goal(30.0)
            .note(format!("own: {}", Unit::Megabytes.show(own))),
    )
}

/// Many sessions in one process, with the bare loop beside it.
fn many_at_once(
    bench: &Bench<'_>,
    sessions: usize,
    seconds: f64,
    memory_mb: f64,
    report: &mut Report,
) -> anyhow::Result<()> {
    let me = std::env::current_exe()?;
    let script = Script { rounds: LOAD_ROUNDS, call: load::CALL, delay_ms: LOAD_DELAY_MS, text: None };
    let requests = sessions * (LOAD_ROUNDS + 1);
    let measure = |mut command: std::process::Command| -> anyhow::Result<bare::Outcome> {
        let server = Server::start(bench.script, &script)?;
        command.args(["--url", &server.url(), "--sessions", &sessions.to_string()]);
        let run = process::run(command)?;
        let served = server.stop()?;
        ensure!(served.stats.requests == requests, "{} of {requests} requests came", served.stats.requests);
        Ok(serde_json::from_slice(&run.output.stdout)?)
    };
    let mut bare = process::command(&me);
    bare.args(["bare", "--rounds", &LOAD_ROUNDS.to_string()]);
    let bound = measure(bare)?;
    let folder = bench.folder()?;
    let site = Site::new(folder.path())?;
    let mut engine = process::command(&me);
    engine.arg("load").arg("--home").arg(&site.home).arg("--workspace").arg(&site.workspace);
    let ours = measure(engine)?;
    let events = load::verify(site.home, sessions, LOAD_ROUNDS)?;
    let note = format!(
        "{} failed, {events} events read back from disk; bare reqwest loop {}",
        ours.failed,
        Unit::Seconds.show(bound.seconds)
    );
    let name = format!("{sessions} sessions × {LOAD_ROUNDS} rounds at once");
    let failed = if ours.failed == 0 { ours.seconds } else { f64::INFINITY };
    report.add(Line::new(format!("{name}: time"), Unit::Seconds, failed).goal(seconds).note(note))?;
    report.add(
        Line::new(format!("{name}: peak memory"), Unit::Megabytes, megabytes(ours.peak_kb))
            .goal(memory_mb)
            .note(format!("bare reqwest loop {}", Unit::Megabytes.show(megabytes(bound.peak_kb)))),
    )
}

fn long(bench: &Bench<'_>, weft: &Program, report: &mut Report) -> anyhow::Result<()> {
    let folder = bench.folder()?;
    let site = Site::new(folder.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let written = runtime.block_on(long_session::write(&site.home, &site.workspace))?;
    let session = written.session.to_string();
    let mut starts = Vec::new();
    let mut sent = 0;
    for _ in 0..RUNS {
        let (start, served) = bench.continued_start(weft, &site, &session)?;
        starts.push(start);
        sent = served.stats.first_body_bytes;
    }
    let size = format!("{} events, {} MB of output", written.events, written.output_bytes >> 20);
    report.add(
        Line::new("long session: start to first request", Unit::Millis, median(&starts))
            .goal(50.0)
            .note(format!("{size}; the request has {}", Unit::Kilobytes.show(sent as f64 / 1024.0))),
    )?;
    let peaks =
        (0..MEMORY_RUNS).map(|_| bench.continued_memory(weft, &site, &session)).collect::<anyhow::Result<Vec<_>>>()?;
    let tree = largest(&each(&peaks, |peak| megabytes(peak.tree_kb)));
    let own = largest(&each(&peaks, |peak| megabytes(peak.own_kb)));
    report.add(
        Line::new("long session: peak memory over 20 rounds", Unit::Megabytes, tree)
            .goal(60.0)
            .note(format!("own: {}", Unit::Megabytes.show(own))),
    )?;
    // In turn, so that a change of the machine's mood hits both alike.
    let (mut new, mut old) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        new.push(bench.new_rounds(weft)?);
        old.push(bench.continued_rounds(weft, &site, &session)?);
    }
    let (new, old) = (median(&each(&new, |run| run.per_round_ms)), median(&each(&old, |run| run.per_round_ms)));
    report.add(
        Line::new("long session: a round, compared with one in a new session", Unit::Times, old / new)
            .goal(1.2)
            .note(format!("{} against {}", Unit::Millis.show(old), Unit::Millis.show(new))),
    )
}

fn list(bench: &Bench<'_>, weft: &Program, report: &mut Report) -> anyhow::Result<()> {
    let folder = bench.folder()?;
    let site = Site::new(folder.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(many_sessions::write(&site.home, &site.workspace, LISTED))?;
    let mut times = Vec::new();
    for _ in 0..LISTINGS {
        let mut command = weft.start(&site);
        command.args(["sessions", "list", "--limit", &LISTED.to_string()]);
        let run = process::run(command)?;
        let lines = run.output.stdout.iter().filter(|byte| **byte == b'\n').count();
        ensure!(lines >= LISTED, "only {lines} lines were listed");
        times.push(run.wall.as_secs_f64() * 1e3);
    }
    let note = format!("95 % within {}, {LISTINGS} runs", Unit::Millis.show(p95(&times)));
    report.add(Line::new("listing 10,000 sessions", Unit::Millis, median(&times)).goal(30.0).note(note))
}

const PEER_STARTS: usize = 10;
const PEER_RUNS: usize = 3;

fn peers(bench: &Bench<'_>, weft: &Program, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    let others = [Kind::Codex, Kind::Pi].map(|kind| {
        let name = if kind == Kind::Codex { "codex" } else { "pi" };
        Program { kind, path: folder.join(name) }
    });
    for program in std::iter::once(weft).chain(&others) {
        let figures = if program.path.exists() {
            compare(bench, program).map_err(|error| format!("{error:#}"))
        } else {
            Err("it is not installed".to_owned())
        };
        report.add_peer(Peer { name: version(program), figures });
    }
    Ok(())
}

fn compare(bench: &Bench<'_>, program: &Program) -> anyhow::Result<Vec<(&'static str, Unit, f64)>> {
    let starts = bench.starts(program, PEER_STARTS, true)?;
    let runs = (0..PEER_RUNS).map(|_| bench.new_rounds(program)).collect::<anyhow::Result<Vec<_>>>()?;
    let peak = bench.memory(program)?;
    Ok(vec![
        ("start to first request, warm", Unit::Millis, median(&starts)),
        ("overhead per tool round", Unit::Millis, median(&each(&runs, |run| run.per_round_ms))),
        ("peak memory, whole process tree", Unit::Megabytes, megabytes(peak.tree_kb)),
        ("size of the first request", Unit::Kilobytes, largest(&each(&runs, first_kb))),
        ("bytes sent over 20 rounds", Unit::Kilobytes, largest(&each(&runs, total_kb))),
    ])
}

fn version(program: &Program) -> String {
    let mut command = process::command(&program.path);
    command.arg("--version");
    let said = process::run(command).ok().map(|run| String::from_utf8_lossy(&run.output.stdout).trim().to_owned());
    let number = said
        .as_deref()
        .and_then(|said| said.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit())));
    format!("{} {}", program.name(), number.unwrap_or_default()).trim_end().to_owned()
}

fn each<T>(items: &[T], figure: impl Fn(&T) -> f64) -> Vec<f64> {
    items.iter().map(figure).collect()
}

fn first_kb(run: &Rounds) -> f64 {
    run.served.stats.first_body_bytes as f64 / 1024.0
}

fn total_kb(run: &Rounds) -> f64 {
    run.served.stats.body_bytes as f64 / 1024.0
}

fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}
