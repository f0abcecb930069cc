//! Runs a command line in the workspace. A command that fails is information, not a failed tool.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use weft_core::event::{Display, Outcome};

use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::process::{self, Ended, Program, Ran, Spec, Spill, Timing};
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

pub(super) struct Shell;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["command"],"properties":{
        "command":{"type":"string"},
        "timeout":{"type":"integer","description":"seconds"}}})
});

#[derive(Deserialize)]
struct Input {
    command: String,
    timeout: Option<u64>,
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
            _ => Ok(input),
        }
    }

    fn needs(&self, input: &Value) -> Vec<Need> {
        vec![Need::Run { line: command(input).to_owned(), outside: false }]
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        format!("Run `{}`", text::one_line(command(input)))
    }

    fn detail(&self, input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        Ok(command(input).to_owned())
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, input: Value) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            let summary = self.summary(&input, &context.workspace);
            let input: Input = match parse(input) {
                Ok(input) => input,
                Err(text) => return Finished::failed(text, summary),
            };
            let spec = Spec {
                timing: timing(&input.command, input.timeout),
                cancel: context.cancel.clone(),
                live: Some(context.live.clone()),
                redaction: permit.redaction().clone(),
                spill: Some(Spill { folder: context.outputs.clone(), name: context.call.as_str().to_owned() }),
                ..Spec::new(Program::Line(input.command.clone()), &context.workspace)
            };
            match process::run(spec).await {
                Ok(ran) => finish(ran, input.command, &summary),
                Err(error) => Finished::failed(format!("The command was not run: {error}."), summary),
            }
        })
    }
}

fn command(input: &Value) -> &str {
    input.get("command").and_then(Value::as_str).unwrap_or_default().trim()
}

fn finish(ran: Ran, command: String, summary: &str) -> Finished {
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
