//! The page in a real browser: `tests/browser/measure.mjs` looks at it and prints what it finds. Where Node or
//! Chromium are missing, that is said and nothing is claimed.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::process;
use crate::report::{Line, Unit};

#[derive(Deserialize)]
struct Figure {
    what: String,
    unit: String,
    value: f64,
    goal: f64,
    note: String,
}

/// The figures of the page, served by this program; the scripted model and the helper lie beside it.
pub fn measure(weft: &Path) -> anyhow::Result<Vec<Line>> {
    let script = Path::new("tests/browser/measure.mjs");
    ensure!(script.exists(), "the page is measured from the root of the repository");
    ensure!(
        Path::new("tests/browser/node_modules").exists(),
        "the page is measured with a browser: `make web browser-peers` brings what is needed"
    );
    let beside = weft.parent().context("the program has no folder")?;
    let mut command = process::command(Path::new("node"));
    command.arg(script).env("WEFT_BIN_DIR", beside).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().context("Node is needed to measure the page")?;
    ensure!(output.status.success(), "the page could not be measured");
    let text = String::from_utf8(output.stdout)?;
    text.lines().filter(|line| line.starts_with('{')).map(line).collect()
}

fn line(text: &str) -> anyhow::Result<Line> {
    let figure: Figure = serde_json::from_str(text).with_context(|| format!("not a figure: {text}"))?;
    let unit = match figure.unit.as_str() {
        "ms" => Unit::Millis,
        "kb" => Unit::Kilobytes,
        "mb" => Unit::Megabytes,
        other => anyhow::bail!("a figure in `{other}`"),
    };
    Ok(Line::new(figure.what, unit, figure.value).goal(figure.goal).note(figure.note))
}
