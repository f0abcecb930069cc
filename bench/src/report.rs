//! The table: printed as it grows, and written to docs/BENCHMARKS.md at the end.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::machine::Machine;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Micros,
    Millis,
    Seconds,
    Megabytes,
    Kilobytes,
    Times,
    /// Between nothing and one.
    Score,
}

impl Unit {
    pub fn show(self, value: f64) -> String {
        let digits = if value.abs() < 10.0 { 2 } else { 1 };
        match self {
            Self::Micros => format!("{value:.digits$} µs"),
            Self::Millis => format!("{value:.digits$} ms"),
            Self::Seconds => format!("{value:.2} s"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Kilobytes => format!("{value:.1} KB"),
            Self::Times => format!("{value:.2} ×"),
            Self::Score => format!("{value:.3}"),
        }
    }
}

/// One measurement, with its goal if it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub what: String,
    pub value: f64,
    pub unit: Unit,
    pub goal: Option<f64>,
    /// Whether the value must reach the goal; else it must not be above it.
    pub more_is_better: bool,
    pub note: String,
}

impl Line {
    pub fn new(what: impl Into<String>, unit: Unit, value: f64) -> Self {
        Self { what: what.into(), value, unit, goal: None, more_is_better: false, note: String::new() }
    }

    pub fn goal(mut self, goal: f64) -> Self {
        self.goal = Some(goal);
        self
    }

    pub fn at_least(mut self, goal: f64) -> Self {
        self.more_is_better = true;
        self.goal(goal)
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    pub fn met(&self) -> Option<bool> {
        self.goal.map(|goal| if self.more_is_better { self.value >= goal } else { self.value <= goal })
    }

    fn row(&self) -> String {
        let goal = self.goal.map_or_else(
            || "".to_owned(),
            |goal| format!("{} {}", if self.more_is_better { "≥" } else { "≤" }, self.unit.show(goal)),
        );
        let verdict = match self.met() {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        let measured = if self.value.is_nan() { "not measured".to_owned() } else { self.unit.show(self.value) };
        format!("| {} | {measured} | {goal} | {verdict} | {} |", self.what, self.note)
    }
}

/// What one program came to, for the comparison. An error says why there is nothing.
pub struct Peer {
    pub name: String,
    pub figures: Result<Vec<(&'static str, Unit, f64)>, String>,
}

#[derive(Default)]
pub struct Report {
    lines: Vec<Line>,
    peers: Vec<Peer>,
    /// What could not be measured, and why.
    failed: Vec<(String, String)>,
}

impl Report {
    pub fn add(&mut self, line: Line) -> anyhow::Result<()> {
        say(&line.row())?;
        self.lines.push(line);
        Ok(())
    }

    pub fn add_peer(&mut self, peer: Peer) {
        self.peers.push(peer);
    }

    pub fn fail(&mut self, part: &str, error: &anyhow::Error) -> anyhow::Result<()> {
        let reason = format!("{error:#}").replace('\n', " ");
        say(&format!("| {part} | | | **not measured** | {reason} |"))?;
        self.failed.push((part.to_owned(), reason));
        Ok(())
    }

    pub fn failed(&self) -> &[(String, String)] {
        &self.failed
    }

    /// The goals that were missed, to be said at the end.
    pub fn missed(&self) -> Vec<&Line> {
        self.lines.iter().filter(|line| line.met() == Some(false)).collect()
    }

    pub fn markdown(&self, machine: &Machine, command: &str) -> String {
        let mut text = String::from("# Benchmarks\n\n");
        let _ = writeln!(
            text,
            "Measured on {} at commit `{}` with `{command}`.\n{}, {} cores, {:.0} GB, {}. Release build, against the \
             scripted model server (`crates/weft-script`) in a process of its own on the same machine.\n",
            machine.date, machine.commit, machine.cpu, machine.cores, machine.memory_gb, machine.kernel
        );
        text.push_str(HEAD);
        for line in &self.lines {
            let _ = writeln!(text, "{}", line.row());
        }
        text.push_str("\n## What fell short\n\n");
        let missed = self.missed();
        match (missed.is_empty(), self.failed.is_empty()) {
            (true, true) => text.push_str("Nothing: every goal was met in this run.\n"),
            (true, false) => text.push_str("Every goal that was measured was met.\n"),
            (false, _) => {}
        }
        for line in missed {
            let goal = line.goal.unwrap_or_default();
            let _ = writeln!(text, "- {}: {}, goal {}.", line.what, line.unit.show(line.value), line.unit.show(goal));
        }
        for (part, reason) in &self.failed {
            let _ = writeln!(text, "- Not measured: {part} ({reason}).");
        }
        if !self.peers.is_empty() {
            text.push_str("\n## Compared in the same run\n\n");
            text.push_str(&self.comparison());
        }
        text.push_str(METHOD);
        text
    }

    /// One column per program; in brackets, how many times as much as Weft.
    pub fn comparison(&self) -> String {
        let mut text = String::from("| |");
        for peer in &self.peers {
            let _ = write!(text, " {} |", peer.name);
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(self.peers.len()));
        text.push('\n');
        let Some(ours) = self.peers.iter().find_map(|peer| peer.figures.as_ref().ok()) else { return text };
        for (index, (what, unit, our_value)) in ours.iter().enumerate() {
            let _ = write!(text, "| {what} |");
            for peer in &self.peers {
                match peer.figures.as_ref().map(|figures| figures.get(index)) {
                    Ok(Some((_, _, value))) if value == our_value => {
                        let _ = write!(text, " {} |", unit.show(*value));
                    }
                    Ok(Some((_, _, value))) => {
                        let _ = write!(text, " {} ({:.1} ×) |", unit.show(*value), value / our_value);
                    }
                    Ok(None) | Err(_) => text.push_str(" not run |"),
                }
            }
            text.push('\n');
        }
        for peer in &self.peers {
            if let Err(reason) = &peer.figures {
                let _ = writeln!(text, "\n{} could not be run: {}", peer.name, reason.replace('\n', " "));
            }
        }
        text
    }
}

/// Where the part of the page begins that people write, such as what profiling has shown.
const BY_HAND: &str = "<!-- From here on written by hand; `make bench` keeps it. -->";

/// What a person has written on the page that is to be replaced.
pub fn kept(page: &str) -> &str {
    page.find(BY_HAND).and_then(|start| page.get(start..)).unwrap_or_default()
}

pub const HEAD: &str = "| what | measured | goal | | notes |\n|---|---|---|---|---|\n";

const METHOD: &str = "
## How it is measured

- *Start to first request*: from just before the program is started until the first byte of its first request reaches the server, both stamped with the system clock. Empty home: nothing exists; warm: the home of the runs before.
- *Overhead per tool round*: 20 rounds of `shell` with an `echo`, mode `auto`, a server that answers at once. The whole run less its start, divided by 20; the final answer and the exit are in it. The bound is what a durable round cannot do without: two synced commits and a shell.
- *Memory*: the resident pages of the whole process tree, added up every 2 ms, in runs of their own. *Own* is the kernel's high-water mark of the program alone.
- *Many sessions*: one process, the engine as the product uses it, a database on disk with every commit synced, the in-process tool `todo`, a server that waits 200 ms before each of its 6 answers per session (so 1.2 s is ideal). From before the database is opened until the last session is done. Afterwards another process reads every session back and counts answers, results and ends. The bound is a bare reqwest loop that sends as many requests and keeps nothing.
- *Long session*: made by the turn machine through the log, with its compactions and snapshots, in turns of 60 rounds; then `weft run --session` on it. The file is in the page cache. The ratio compares rounds in it with rounds in a new session, run in turn. It sends what its context holds, the new one almost nothing; the second ratio is against a new session that was given as much to read.
- *Listing*: `weft sessions list --limit 10000` from start to exit, output thrown away.
- *Knowledge*: quality on a collection in the layout of BEIR (`WEFT_BEIR`), every text a Markdown file, indexed and asked as `weft search` does; the best piece of a text counts. The search was tuned on the SciFact training questions, so a figure on those is a little too kind; the note says what a weight of the vectors chosen by 5-fold cross-validation comes to. Vectors are of overlapping pieces of 20 to 80 words of the same texts; recall is against exact products of the unquantised vectors.
- Medians, unless it says otherwise; memory is the largest seen.

`make bench` repeats all of this; `make bench PEERS=1` also installs codex and pi from npm and measures them in the same run, against the same server. They sync nothing to disk. It installs vector databases and full text from PyPI too (`bench/others/requirements.txt`) and gives them the vectors, texts and questions that ours was measured with; what cannot be installed has a line that says so.

";

pub fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
