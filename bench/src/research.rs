//! Research: how good the answers without a model are, how long one takes within the engine, and what
//! the flow adds to each stage beside its model calls and tools.

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::program::{Program, Site};
use crate::report::{Line, Unit};
use crate::script::{Script, Server};
use crate::statistics::{median, p95};

const QUESTION: &str =
    "Within how many days after the end of the keeping period shall the records owner delete records?";
const QUESTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/research/eval/questions.jsonl");
const RUNS: usize = 10;
const MODEL_KEY: &str = "bench-key";

pub fn measure(weft: &Program, script: &Path, work: &Path) -> anyhow::Result<Vec<Line>> {
    let site = Site::new(work)?;
    let mut lines = quality(weft, &site)?;
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
    let server = Server::start(script, &Script { rounds: 0, call: "{}", delay_ms: 0 })?;
    let mut own = Vec::new();
    for _ in 0..RUNS {
        let events = research(weft, &site, &["--yes"], Some(&server.url()))?;
        own.push(per_stage(&events)?);
    }
    lines.push(
        Line::new("research: the flow's own time per stage, scripted model", Unit::Millis, median(&own))
            .goal(2.0)
            .note(format!("without model calls and tools; 95 % within {}, {RUNS} runs", Unit::Millis.show(p95(&own)))),
    );
    Ok(lines)
}

fn quality(weft: &Program, site: &Site) -> anyhow::Result<Vec<Line>> {
    let mut command = weft.start(site);
    command.args(["research", "evaluate", QUESTIONS, "--corpus", "harbour", "--json"]);
    let output = command.output()?;
    if !output.status.success() {
        bail!("the evaluation failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let figures: Value = serde_json::from_slice(&output.stdout)?;
    let of = |name: &str| figures.pointer(&format!("/all/{name}")).and_then(Value::as_f64).unwrap_or(0.0);
    let count =
        |place: usize| figures.pointer(&format!("/all/recognised/{place}")).and_then(Value::as_f64).unwrap_or(0.0);
    let note = format!("{} questions on the sample corpus, without a model", of("questions"));
    let row = |what: &str, value: f64, goal: f64| {
        Line::new(format!("research: {what}"), Unit::Score, value).at_least(goal).note(note.clone())
    };
    Ok(vec![
        row("the right paragraphs among the first 20", of("recall_at_20"), 0.95),
        row("cited paragraphs that are right", of("citation_precision"), 0.9),
        row("unanswerable questions recognised", count(0) / count(1).max(1.0), 0.875),
        Line::new("research: sentences that their citations do not bear out", Unit::Score, of("unsupported")).goal(0.0),
    ])
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

/// The time of a run beside its model calls and tools, shared among its stages.
fn per_stage(events: &[Value]) -> anyhow::Result<f64> {
    let whole = span(events, "flow_started", "flow_ended")?;
    let mut others = 0.0;
    let mut began: Option<f64> = None;
    for event in events {
        if is(event, "round_started") || is(event, "stage_calls") {
            began.get_or_insert(at(event));
        }
        // Calls of a step run side by side; the next stage or step comes after the last of them.
        let over = is(event, "round_answered") || is(event, "round_failed");
        if over && let Some(from) = began.take() {
            others += at(event) - from;
        }
        if is(event, "tool_finished")
            && let Some(from) = began
        {
            others += at(event) - from;
            began = Some(at(event));
        }
        if is(event, "stage_finished") || is(event, "stage_started") {
            began = None;
        }
    }
    let stages = events.iter().filter(|event| is(event, "stage_finished")).count().max(1);
    Ok((whole - others).max(0.0) / stages as f64)
}
