//! Runs a command line in the workspace. A command that fails is information, not a failed tool.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use weft_core::SessionId;
use weft_core::event::{Display, Outcome};

use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::process::{self, Ended, Program, Ran, SpawnError, Spec, Spill, Timing};
use crate::sandbox::{Plan, Sandbox};
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

pub(super) struct Shell {
    pub sandbox: Arc<Sandbox>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["command"],"properties":{
        "command":{"type":"string"},
        "timeout":{"type":"integer","description":"seconds"},
        "outside":{"type":"boolean","description":"without the sandbox; a person is asked"},
        "why":{"type":"string","description":"for that person"}}})
});

#[derive(Deserialize)]
struct Input {
    command: String,
    timeout: Option<u64>,
    #[serde(default)]
    outside: bool,
}

impl Tool for Shell {
    fn name(&self) -> &str {
        "shell"
    }

    fn description(&self) -> &str {
        "Run a bash command in the workspace; no input, each call starts anew. Redirect the output of background processes."
    }

    fn schema(&self) -> &Value {
        &SCHEMA
    }

    fn accept(&self, input: &Value) -> Result<Value, String> {
        let input = crate::input::accept(&SCHEMA, input)?;
        match command(&input) {
            "" => Err("The command is empty.".to_owned()),
            command if command.contains('\0') => Err("The command contains a NUL character.".to_owned()),
            _ if is_outside(&input) && why(&input).is_empty() => {
                Err("`outside` needs `why`: say in a sentence why the command must run outside the sandbox.".to_owned())
            }
            _ => Ok(input),
        }
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Run { line: command(input).to_owned(), outside: is_outside(input) }]
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        let outside = if is_outside(input) { " outside the sandbox" } else { "" };
        format!("Run `{}`{outside}", text::one_line(command(input)))
    }

    fn detail(&self, input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        if is_outside(input) {
            return Ok(format!("{}\n\nOutside the sandbox, because: {}", command(input), why(input)));
        }
        Ok(command(input).to_owned())
    }

    fn rest(&self, session: SessionId) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(self.sandbox.rest(session)))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let input: Input = match parse(input) {
                Ok(input) => input,
                Err(text) => return Finished::failed(text, summary),
            };
            // The guard asks for it; should it ever forget, nothing leaves the sandbox.
            if input.outside && !context.approved {
                return Finished::new(Outcome::Denied, "Not done: nobody has approved to run it outside.", summary);
            }
            let mut ran = self.attempt(&permit, context, &input).await;
            if matches!(ran, Err(NotRun::Process(SpawnError::NoSandbox(_)))) && self.can_plan_anew().await {
                ran = self.attempt(&permit, context, &input).await;
            }
            match ran {
                Ok((ran, notice)) => finish(ran, input.command, &summary, notice),
                Err(error) => Finished::failed(format!("The command was not run: {error}."), summary),
            }
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum NotRun {
    #[error("{0}")]
    Plan(String),
    #[error(transparent)]
    Process(#[from] SpawnError),
}

impl Shell {
    /// What came of the command, and what the person should hear about its sandbox.
    async fn attempt(
        &self,
        permit: &Permit,
        context: &Context,
        input: &Input,
    ) -> Result<(Ran, Option<String>), NotRun> {
        let (fence, notice) = match self.plan(context, input.outside).await.map_err(NotRun::Plan)? {
            Plan::Fenced(fence) => (Some(fence), None),
            Plan::Plain { notice } => (None, notice),
        };
        let spec = Spec {
            fence,
            timing: timing(&input.command, input.timeout),
            cancel: context.cancel.clone(),
            live: Some(context.live.clone()),
            redaction: permit.redaction().clone(),
            spill: Some(Spill { folder: context.outputs.clone(), name: context.call.as_str().to_owned() }),
            ..Spec::new(Program::Line(input.command.clone()), &context.workspace)
        };
        let is_fenced = spec.fence.is_some();
        let (ran, ()) = tokio::join!(process::run(spec), async {
            if is_fenced {
                self.make_ready(context).await;
            }
        });
        Ok((ran?, notice))
    }

    /// A turn that runs one command mostly runs more.
    async fn make_ready(&self, context: &Context) {
        let sandbox = Arc::clone(&self.sandbox);
        let (session, workspace, outputs) = (context.session, context.workspace.clone(), context.outputs.clone());
        let _ = tokio::task::spawn_blocking(move || sandbox.make_ready(session, &workspace, &outputs)).await;
    }

    async fn can_plan_anew(&self) -> bool {
        let sandbox = Arc::clone(&self.sandbox);
        tokio::task::spawn_blocking(move || sandbox.hoped_for_too_much()).await.unwrap_or_default()
    }

    async fn plan(&self, context: &Context, outside: bool) -> Result<Plan, String> {
        if outside {
            return Ok(Plan::Plain { notice: None });
        }
        let sandbox = Arc::clone(&self.sandbox);
        let (session, workspace, outputs) = (context.session, context.workspace.clone(), context.outputs.clone());
        let planned = tokio::task::spawn_blocking(move || sandbox.plan(session, &workspace, &outputs)).await;
        planned.unwrap_or_else(|_| Err("its sandbox could not be planned".to_owned()))
    }
}

/// Whether it asks to run without the sandbox.
pub(crate) fn is_outside(input: &Value) -> bool {
    input.get("outside").and_then(Value::as_bool).unwrap_or_default()
}

fn why(input: &Value) -> &str {
    input.get("why").and_then(Value::as_str).unwrap_or_default().trim()
}

fn command(input: &Value) -> &str {
    input.get("command").and_then(Value::as_str).unwrap_or_default().trim()
}

fn finish(ran: Ran, command: String, summary: &str, notice: Option<String>) -> Finished {
    let (outcome, status) = verdict(ran.ended);
    let body = ran.output.text.trim_end();
    let mut text = match (status.is_empty(), body.is_empty()) {
        (true, true) => "(no output)".to_owned(),
        (true, false) => body.to_owned(),
        (false, true) => status.clone(),
        (false, false) => format!("{status}\n{body}"),
    };
    if ran.left_behind {
        text.push_str("\n[a background process still runs; what it writes to its output from now on is lost]");
    }
    for note in ran.denial.into_iter().chain(notice) {
        text.push('\n');
        text.push_str(&note);
    }
    let summary =
        if status.is_empty() { summary.to_owned() } else { format!("{summary}, {}", text::one_line(&status)) };
    let mut finished = Finished::new(outcome, text, summary);
    finished.output.display = Some(Display::Command { command, exit_code: ran.ended.exit_code() });
    finished.output.saved = ran.output.saved;
    finished
}

fn verdict(ended: Ended) -> (Outcome, String) {
    match ended {
        Ended::Exited { code: 0 } => (Outcome::Ok, String::new()),
        Ended::Exited { code: code @ (126 | 127) } => (Outcome::Failed, format!("exit code {code}")),
        Ended::Exited { code } => (Outcome::Ok, format!("exit code {code}")),
        Ended::Killed { signal } => (Outcome::Ok, format!("killed by signal {signal}")),
        Ended::TimedOut { after } => {
            let seconds = after.as_secs_f32();
            let advice = "Give a longer timeout, or run it in the background with its output in a file";
            (Outcome::Interrupted, format!("timed out after {seconds:.0} s and was stopped. {advice}. Until then:"))
        }
        Ended::Cancelled => (Outcome::Interrupted, "stopped by the person. Until then:".to_owned()),
    }
}

/// How long a command may take. A time that the model names is taken at its word.
fn timing(command: &str, asked: Option<u64>) -> Timing {
    let usual = Timing::default();
    match asked {
        Some(seconds) => {
            let base = Duration::from_secs(seconds.max(1)).min(usual.max);
            Timing { base, extend_on_output: Duration::ZERO, max: base, ..usual }
        }
        None => Timing { base: base(command), ..usual },
    }
}

fn base(command: &str) -> Duration {
    const SLOW: [(&str, u64); 20] = [
        ("cargo", 10),
        ("go build", 10),
        ("go test", 5),
        ("npm install", 5),
        ("npm ci", 5),
        ("npm run", 10),
        ("npm test", 5),
        ("pnpm", 10),
        ("yarn", 10),
        ("pip install", 5),
        ("uv", 5),
        ("pytest", 5),
        ("jest", 5),
        ("vitest", 5),
        ("make", 10),
        ("cmake", 10),
        ("mvn", 10),
        ("gradle", 10),
        ("docker build", 10),
        ("git clone", 5),
    ];
    let minutes = SLOW.iter().filter(|(name, _)| mentions(command, name)).map(|(_, minutes)| *minutes).max();
    Duration::from_secs(minutes.map_or(60, |minutes| minutes * 60))
}

/// Whether a command line has `name` as words of its own.
fn mentions(command: &str, name: &str) -> bool {
    command.match_indices(name).any(|(at, _)| {
        let before = command.get(..at).and_then(|before| before.chars().next_back());
        let after = command.get(at + name.len()..).and_then(|after| after.chars().next());
        let in_word = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
