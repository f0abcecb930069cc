//! A Jupyter notebook as text: its cells in order, with what they printed, shortened.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::text;

const LONGEST_OUTPUT: usize = 1_000;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Lines,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    text: Lines,
    #[serde(default)]
    data: Map<String, Value>,
    ename: Option<String>,
    evalue: Option<String>,
}

/// Text as notebooks keep it: whole or in lines.
#[derive(Deserialize, Default)]
#[serde(untagged)]
enum Lines {
    Whole(String),
    Split(Vec<String>),
    #[default]
    None,
}

impl Lines {
    fn join(&self) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Split(lines) => lines.concat(),
            Self::None => String::new(),
        }
    }
}

/// Nothing if it is no notebook.
pub(super) fn cells(bytes: &[u8]) -> Option<String> {
    let notebook: Notebook = serde_json::from_slice(bytes).ok()?;
    let mut text = String::new();
    for (index, cell) in notebook.cells.iter().enumerate() {
        let _ = writeln!(text, "[cell {}, {}]", index + 1, cell.cell_type);
        let _ = writeln!(text, "{}", cell.source.join().trim_end());
        for output in &cell.outputs {
            let _ = writeln!(text, "[output]\n{}", shown(output));
        }
    }
    Some(text)
}

fn shown(output: &Output) -> String {
    if let Some(name) = &output.ename {
        return short(&format!("{name}: {}", output.evalue.as_deref().unwrap_or_default()));
    }
    let mut printed = output.text.join();
    if let Some(plain) = output.data.get("text/plain") {
        printed.push_str(&serde_json::from_value::<Lines>(plain.clone()).unwrap_or_default().join());
    }
    let others: Vec<&str> = output.data.keys().map(String::as_str).filter(|kind| *kind != "text/plain").collect();
    let mut shown = short(&printed);
    if !others.is_empty() {
        let _ = write!(shown, "{}({})", if shown.is_empty() { "" } else { "\n" }, others.join(", "));
    }
    shown
}

fn short(text: &str) -> String {
    text::cap(text.trim_end().to_owned(), LONGEST_OUTPUT)
}

#[cfg(test)]
#[path = "notebook_tests.rs"]
mod tests;
