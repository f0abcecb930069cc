//! Puts down what was learned, for later sessions. The call itself is what is kept, in the session's log;
//! here it is checked, judged against the code, and the agent is told what came of that.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use crate::code::words::in_one_line;
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::shelf::Shelf;
use crate::summary::{KINDS, Summary, TOOL, reference};

pub(super) struct NoteTool {
    pub shelf: Arc<Shelf>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.word()).collect();
    let list = || json!({"type": "array", "items": {"type": "string"}});
    json!({"type": "object", "required": ["content", "summary_type"], "properties": {
        "content": {"type": "string", "description": "its first line is its name"},
        "summary_type": {"type": "string", "enum": kinds},
        "code_references": list(),
        "tags": list()}})
});

impl Tool for NoteTool {
    fn name(&self) -> &str {
        TOOL
    }

    fn description(&self) -> &str {
        "Put down a decision, failure, pattern or what was done, for later sessions. It is checked against the code."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        vec![Need::Read(".".to_owned()), Need::Learn(TOOL.to_owned())]
    }

    fn summary(&self, input: &Value, _: &Path) -> String {
        let content = input.get("content").and_then(Value::as_str).unwrap_or_default();
        format!("Put down `{}`", in_one_line(content, 80))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.summary(input, policy.workspace))
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let told = self.summary(&input, &context.workspace);
            let summary = match Summary::read(&input) {
                Ok(summary) => summary,
                Err(why) => return Finished::failed(why, told),
            };
            let (shelf, folder) = (Arc::clone(&self.shelf), context.workspace.clone());
            let judged =
                tokio::task::spawn_blocking(move || shelf.ask(&folder, |knowledge| judged(knowledge, &summary)));
            match judged.await {
                Ok(Ok(text)) => Finished::ok(text, told),
                // Without an index nothing can be judged yet; it is judged when there is one.
                Ok(Err(KnowledgeError::Empty)) => {
                    Finished::ok("Put down. Nothing is indexed here to check it against.", told)
                }
                Ok(Err(error)) => Finished::failed(super::said(&error), told),
                Err(_) => Finished::failed("Checking it stopped unexpectedly.", told),
            }
        })
    }
}

fn judged(knowledge: &Knowledge, summary: &Summary) -> Result<String, KnowledgeError> {
    let mut text = "Put down; later sessions find it when this turn is over.".to_owned();
    if let Some(doubt) = knowledge.doubts(&summary.content)? {
        text.push_str(&format!(" [UNVERIFIED] {doubt}. It is trusted least until the code bears it out."));
    }
    let mut skipped = Vec::new();
    for given in &summary.code_references {
        let (_, name) = reference(given);
        if knowledge.meant(given).is_err() && knowledge.meant(&name).is_err() {
            skipped.push(given.as_str());
        }
    }
    if !skipped.is_empty() {
        text.push_str(&format!(" Not found here: {}.", skipped.join(", ")));
    }
    Ok(text)
}
