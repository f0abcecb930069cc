//! Shows the diff that an edit would make. Changes nothing.

use std::path::Path;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::edit::{Edit, preview};
use crate::guard::{Permit, Policy};
use crate::path::shown;
use crate::permission::Need;
use crate::tool::{Context, Finished, Tool, blocking, path};

pub(super) struct PreviewEdit;

impl Tool for PreviewEdit {
    fn name(&self) -> &str {
        "preview_edit"
    }

    fn description(&self) -> &str {
        "The diff that `edit` would make. Same input; changes nothing."
    }

    fn schema(&self) -> &Value {
        Edit.schema()
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Read(path(input).to_owned())]
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        Edit.accept(input)
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        format!("Preview an edit of `{}`", shown(workspace, path(input)))
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        Ok(self.summary(input, policy.workspace))
    }

    fn run<'a>(&'a self, _permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let (context, title) = (context.clone(), summary.clone());
            blocking(summary, move || match preview(&context, input) {
                Ok((name, diff)) => {
                    let mut finished = Finished::ok(diff.text.clone(), format!("{title} {}", diff.counts()));
                    finished.output.display = Some(diff.display(name));
                    finished
                }
                Err(text) => Finished::failed(text, title),
            })
            .await
        })
    }
}
