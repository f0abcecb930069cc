//! What a tool is. It says what it would do and does it; whether it may is the guard's business.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use weft_core::event::{Outcome, Output};
use weft_core::{CallId, Mode, SessionId};

use crate::file::ReadMarks;
use crate::guard::{Permit, Policy};
use crate::input;
use crate::permission::Need;
use crate::permission::role::Role;
use crate::permission::rules::Rules;
use crate::sandbox::Sandbox;

/// A typed capability. Every method but `run` is free of side effects. Inputs given to any method
/// but `accept` have passed `accept`.
pub trait Tool: Send + Sync {
    fn name(&self) -> &str;
    fn description(&self) -> &str;
    /// A JSON Schema, as terse as it can be: it is sent with every request.
    fn schema(&self) -> &Value;
    /// All that the call would do to the world. The guard judges it; what is not named here must not
    /// be done.
    fn needs(&self, input: &Value) -> Vec<Need>;

    /// The same, where it depends on what is in the workspace. The guard asks for this one.
    fn needs_in(&self, input: &Value, _workspace: &Path) -> Vec<Need> {
        self.needs(input)
    }

    /// Whether its command line is found in the workspace, so that it can become another one until it
    /// is run. Such a call is planned as a command whatever is found now, and a person's yes holds for
    /// the line that was shown alone.
    fn finds_its_command(&self) -> bool {
        false
    }

    /// Brings what the model sent into the schema's form, or says in words what is wrong with it.
    fn accept(&self, input: &Value) -> Result<Value, String> {
        input::accept(self.schema(), input)
    }

    /// In plain words, for people: "Run `cargo test`".
    fn summary(&self, input: &Value, workspace: &Path) -> String;

    /// What a person approves: the full command, or a diff. An error says why the call cannot work;
    /// then nobody is asked and the model gets the reason.
    fn detail(&self, input: &Value, policy: &Policy<'_>) -> Result<String, String>;

    /// What its commands run in, where that is known before they do.
    fn sandbox(&self) -> Option<&Sandbox> {
        None
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished>;

    /// A model has begun to write a call: what takes time and changes nothing can be made ready for it.
    /// Does not wait.
    fn expect(&self, _session: SessionId, _workspace: &Path, _outputs: &Path) {}

    /// A call of the session has been run that may have changed files: what was made ready before may
    /// not fit any more.
    fn disturb(&self, _session: SessionId) {}

    /// A session's turn is over: what was kept for its next call can go.
    fn rest(&self, _session: SessionId) {}
}

/// Takes output while a command still runs.
pub type LiveSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Where and for whom a call runs.
#[derive(Clone)]
pub struct Context {
    pub session: SessionId,
    pub call: CallId,
    /// The folder the session works in, absolute.
    pub workspace: PathBuf,
    /// Where outputs too long for the model are kept whole; made when first needed.
    pub outputs: PathBuf,
    pub mode: Mode,
    pub role: Role,
    pub rules: Arc<Rules>,
    /// A person has said yes to this call.
    pub approved: bool,
    pub read_marks: ReadMarks,
    pub cancel: CancellationToken,
    pub live: LiveSink,
}

impl Context {
    pub fn policy(&self) -> Policy<'_> {
        Policy {
            mode: self.mode,
            role: self.role,
            rules: &self.rules,
            workspace: &self.workspace,
            outputs: &self.outputs,
            read_marks: &self.read_marks,
            undo: None,
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub outcome: Outcome,
    pub output: Output,
}

impl Finished {
    pub fn ok(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self::new(Outcome::Ok, text, summary)
    }

    /// It could not do what was asked; `text` says why and what to do.
    pub fn failed(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self::new(Outcome::Failed, text, summary)
    }

    pub fn interrupted(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self::new(Outcome::Interrupted, text, summary)
    }

    pub(crate) fn new(outcome: Outcome, text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { outcome, output: Output { text: text.into(), summary: summary.into(), ..Output::default() } }
    }
}

/// The path that most tools are given, as the model wrote it.
pub(crate) fn path(input: &Value) -> &str {
    input.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// An accepted input as the tool's own type.
pub(crate) fn parse<T: DeserializeOwned>(input: Value) -> Result<T, String> {
    serde_json::from_value(input).map_err(|error| format!("The arguments do not fit: {error}."))
}

/// Runs file work off the async threads. A panic in it becomes a failure of this call alone.
pub(crate) async fn blocking(summary: String, work: impl FnOnce() -> Finished + Send + 'static) -> Finished {
    match tokio::task::spawn_blocking(work).await {
        Ok(finished) => finished,
        Err(_) => Finished::failed("The tool stopped unexpectedly. Try again, or do it another way.", summary),
    }
}
