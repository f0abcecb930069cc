//! Brings what is known of the workspace up to its files, for agents whose role lets them add to it.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use weft_tool::{Context, Finished, Need, Permit, Policy, Tool};

use crate::error::KnowledgeError;
use crate::shelf::{Shelf, WorkState};

const NAME: &str = "update_knowledge";
/// How often is looked whether it is done.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A large folder is taken in further while the model does something else.
const LONGEST: Duration = Duration::from_secs(60);

pub(super) struct UpdateTool {
    pub shelf: Arc<Shelf>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

impl Tool for UpdateTool {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Take in what is new and changed in the workspace, so that the index knows of it."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn needs(&self, _: &Value) -> Vec<Need> {
        vec![Need::Read(".".to_owned()), Need::Learn(NAME.to_owned())]
    }

    fn summary(&self, _: &Value, _: &Path) -> String {
        "Update what is known".to_owned()
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.summary(input, policy.workspace))
    }

    fn run<'a>(&'a self, _: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (shelf, folder) = (Arc::clone(&self.shelf), context.workspace.clone());
            let begun = tokio::task::spawn_blocking(move || shelf.index(&folder)).await;
            match begun {
                // Somebody else takes it in just now, which is waited for.
                Ok(Ok(()) | Err(KnowledgeError::Busy)) => {}
                Ok(Err(error)) => return Finished::failed(format!("Nothing was taken in: {error}."), summary),
                Err(_) => return Finished::failed("Taking in the workspace stopped unexpectedly.", summary),
            }
            let watched = tokio::time::timeout(LONGEST, self.ended(context));
            let ended = match context.cancel.run_until_cancelled(watched).await {
                Some(ended) => ended.ok(),
                None => {
                    // What has been taken in stays.
                    let _ = self.shelf.stop(&context.workspace);
                    return Finished::interrupted("Stopped. What had been taken in until then is known.", summary);
                }
            };
            match ended {
                Some(WorkState { error: Some(error), .. }) => {
                    Finished::failed(format!("It was not all taken in: {error}."), summary)
                }
                Some(WorkState { report: Some(report), .. }) => {
                    let (changed, removed, files) = (report.changed, report.removed, report.files);
                    Finished::ok(
                        format!("{files} files are known; {changed} were new or changed, {removed} are gone."),
                        summary,
                    )
                }
                Some(_) => Finished::ok("What is known is up to date.", summary),
                None => Finished::ok("It takes longer and goes on; `knowledge_status` says how far it is.", summary),
            }
        })
    }
}

impl UpdateTool {
    async fn ended(&self, context: &Context) -> WorkState {
        loop {
            if let (Some(state), _) = self.shelf.work(&context.workspace)
                && !state.running
            {
                return state;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}
