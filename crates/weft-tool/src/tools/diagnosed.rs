//! A tool that changes files, with what a language server says of them afterwards. Only servers that
//! run already are asked, and only for a moment: a change never waits for one to start, and never
//! fails because of one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use weft_core::SessionId;
use weft_core::event::Outcome;

use super::code::problem_line;
use crate::admit;
use crate::guard::{Permit, Policy};
use crate::language::{Languages, Severity};
use crate::path::shown;
use crate::permission::Need;
use crate::redact::Redaction;
use crate::tool::{Context, Finished, Tool};

/// For all files of a call together.
const PATIENCE: Duration = Duration::from_secs(3);
/// Of more files than this the first are looked at.
const MOST_FILES: usize = 8;
const MOST_LINES: usize = 10;

pub(super) struct Diagnosed {
    pub inner: Arc<dyn Tool>,
    pub languages: Arc<Languages>,
}

impl Tool for Diagnosed {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn description(&self) -> &str {
        self.inner.description()
    }

    fn schema(&self) -> &Value {
        self.inner.schema()
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        self.inner.needs(input)
    }

    fn needs_in(&self, input: &Value, workspace: &Path) -> Vec<Need> {
        self.inner.needs_in(input, workspace)
    }

    fn finds_its_command(&self) -> bool {
        self.inner.finds_its_command()
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        self.inner.accept(input)
    }

    fn summary(&self, input: &Value, workspace: &Path) -> String {
        self.inner.summary(input, workspace)
    }

    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String> {
        self.inner.detail(input, policy)
    }

    #[allow(clippy::disallowed_methods, reason = "it hands on the permit that the guard gave it")]
    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        // Most sessions have no server at all.
        if !self.languages.any_known() {
            return self.inner.run(permit, context, input);
        }
        Box::pin(async move {
            let files = written(self.inner.needs_in(&input, &context.workspace));
            let redaction = permit.redaction().clone();
            let mut finished = self.inner.run(permit, context, input).await;
            if finished.outcome == Outcome::Ok {
                let asking = tokio::time::timeout(PATIENCE, self.problems(context, &redaction, files));
                if let Some(Ok(lines)) = context.cancel.run_until_cancelled(asking).await {
                    finished.output.text.push_str(&lines);
                }
            }
            finished
        })
    }

    fn expect(&self, session: SessionId, workspace: &Path, outputs: &Path) {
        self.inner.expect(session, workspace, outputs);
    }

    fn disturb(&self, session: SessionId) {
        self.inner.disturb(session);
    }

    fn rest(&self, session: SessionId) {
        self.inner.rest(session);
    }
}

fn written(needs: Vec<Need>) -> Vec<String> {
    let files = needs.into_iter().filter_map(|need| match need {
        Need::Write(path) => Some(path),
        Need::Read(_)
        | Need::Run { .. }
        | Need::Reach(_)
        | Need::Use(_)
        | Need::Learn(_)
        | Need::Git { .. }
        | Need::Ask(_) => None,
    });
    files.take(MOST_FILES).collect()
}

impl Diagnosed {
    /// The errors that there are now in files that may be read. Where nobody can say, nothing is said.
    async fn problems(&self, context: &Context, redaction: &Redaction, files: Vec<String>) -> String {
        let mut text = String::new();
        // What a person has agreed to was the change, not what a server tells of it.
        let unasked = Context { approved: false, ..context.clone() };
        for file in files {
            let Ok(subject) = self.languages.subject(&context.workspace, &file) else { continue };
            let may_read = admit::for_reading(&unasked, &file).is_ok_and(|admitted| admitted == subject.file);
            if !may_read || self.languages.must_start(&subject) {
                continue;
            }
            let Ok(server) = self.languages.server(&subject, false, redaction).await else { continue };
            let Ok(answer) = server.diagnostics(&subject.file).await else { continue };
            let errors: Vec<_> = answer.found.iter().filter(|found| found.severity == Severity::Error).collect();
            if answer.is_early || errors.is_empty() {
                continue;
            }
            let name = shown(&context.workspace, &file);
            text.push_str(&format!("\n[{} finds errors in `{name}`:]\n", subject.about.name));
            for error in errors.iter().take(MOST_LINES) {
                text.push_str(&problem_line(&name, error));
            }
            if errors.len() > MOST_LINES {
                text.push_str(&format!("[{} more]\n", errors.len() - MOST_LINES));
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}
