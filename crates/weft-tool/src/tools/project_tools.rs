//! Tells which commands test, lint, format, check and build this project, how sure that is, and why.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::discover::{Confidence, Discovery, Found, Kind};
use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::tool::{Context, Finished, Tool, blocking, parse};

pub(super) struct ProjectTools {
    pub discovery: Arc<Discovery>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","properties":{
        "kind":{"type":"string","enum":Kind::ALL.map(Kind::name)},
        "refresh":{"type":"boolean","description":"look again, even if no file has changed"}}})
});

#[derive(Deserialize)]
struct Input {
    kind: Option<Kind>,
    #[serde(default)]
    refresh: bool,
}

impl Tool for ProjectTools {
    fn name(&self) -> &str {
        "project_tools"
    }

    fn description(&self) -> &str {
        "Find the project's commands. For testing, linting, formatting, checking types and building, with reasons."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, _input: &Value) -> Vec<Need> {
        vec![Need::Read(".".to_owned())]
    }

    fn summary(&self, _input: &Value, _workspace: &Path) -> String {
        "Find the project's tools".to_owned()
    }

    fn detail(&self, _input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let input: Input = match parse(input) {
                Ok(input) => input,
                Err(text) => return Finished::failed(text, summary),
            };
            let (discovery, workspace) = (Arc::clone(&self.discovery), context.workspace.clone());
            blocking(summary.clone(), move || {
                let found = discovery.find(&workspace, input.refresh);
                Finished::ok(listed(&found, input.kind), summary)
            })
            .await
        })
    }
}

/// By kind, the best first.
fn listed(found: &[Found], kind: Option<Kind>) -> String {
    let mut text = String::new();
    for kind in Kind::ALL.into_iter().filter(|known| kind.is_none_or(|kind| kind == *known)) {
        let mut of_kind = found.iter().filter(|found| found.kind == kind).peekable();
        let none = if of_kind.peek().is_none() { " nothing found" } else { "" };
        let _ = writeln!(text, "{}:{none}", kind.name());
        for found in of_kind {
            let _ = writeln!(text, "- {}", row(found));
        }
    }
    text.trim_end().to_owned()
}

fn row(found: &Found) -> String {
    let sure = match found.confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    };
    let command = if found.command.is_empty() { &found.files } else { &found.command };
    let mut row = format!("`{command}` ({sure}: {})", found.because);
    if !found.command.is_empty() && !found.files.is_empty() {
        let _ = write!(row, "; for single files `{}`", found.files);
    }
    if !found.installed {
        row.push_str("; NOT INSTALLED");
        if !found.install.is_empty() {
            let _ = write!(row, ", get it with `{}`", found.install);
        }
    }
    row
}
