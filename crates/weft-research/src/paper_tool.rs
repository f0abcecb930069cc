//! Papers as a tool, for agents that build on what research came to and what people decided of it. It only
//! reads. What is said in papers is searched as the corpus `papers`.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use crate::corpora::Corpora;
use crate::papers::{Paper, PaperError, Papers};

const MOST_LISTED: usize = 50;

pub struct PaperTool {
    pub corpora: Arc<Corpora>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type": "object", "properties": {
        "paper": {"type": "string", "description": "its short name; lists all papers if left out"},
        "version": {"type": "integer", "minimum": 1, "description": "the newest if left out"}}})
});

impl Tool for PaperTool {
    fn name(&self) -> &str {
        "read_paper"
    }

    fn description(&self) -> &str {
        "A research paper with its sources and what was accepted, rejected or deferred of it; or the list of papers."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        // Papers are the person's own answers, kept for being read again.
        Vec::new()
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        match input.get("paper").and_then(Value::as_str) {
            Some(paper) => format!("Read the paper `{}`", paper.replace(['\n', '`'], " ")),
            None => "List the papers".to_owned(),
        }
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.summary(input, policy.workspace))
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let papers = self.corpora.papers();
            match tokio::task::spawn_blocking(move || read(&papers, &input)).await {
                Ok(Ok((text, data))) => {
                    let mut finished = Finished::ok(text, summary);
                    finished.output.data = Some(data);
                    finished
                }
                Ok(Err(error)) => Finished::failed(format!("{error}."), summary),
                Err(_) => Finished::failed("It stopped unexpectedly. Try again.", summary),
            }
        })
    }
}

fn read(papers: &Papers, input: &Value) -> Result<(String, Value), PaperError> {
    let Some(slug) = input.get("paper").and_then(Value::as_str) else {
        let all = papers.list()?;
        let lines: Vec<String> = all.iter().take(MOST_LISTED).filter_map(line).collect();
        let text = if lines.is_empty() { "There are no papers yet.".to_owned() } else { lines.join("\n") };
        return Ok((text, json!({ "papers": all.iter().map(|paper| &paper.slug).collect::<Vec<_>>() })));
    };
    let paper = papers.get(slug)?;
    let wanted = input.get("version").and_then(Value::as_u64).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let version = paper.version(wanted)?;
    let items: Vec<Value> = version
        .items
        .iter()
        .map(|item| {
            let decision = paper.decision(version, item);
            json!({ "id": item.id, "title": item.title, "text": item.text,
                "decision": decision.map(|decision| decision.decided), "note": decision.map(|decision| &decision.note) })
        })
        .collect();
    let text = format!(
        "{}\n\nBuild on what was accepted, and on nothing that was rejected. What is open or deferred is for the person to \
         decide.\n",
        paper.text(version)
    );
    let data = json!({ "paper": paper.slug, "version": version.number, "title": version.title, "status": paper.status(),
        "items": items });
    Ok((text, data))
}

fn line(paper: &Paper) -> Option<String> {
    let head = paper.head()?;
    Some(format!("{}  version {}  {}  {}", paper.slug, head.number, paper.status(), head.title))
}

#[cfg(test)]
#[path = "paper_tool_tests.rs"]
mod tests;
