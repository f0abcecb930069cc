//! Runs a command line in the workspace. A command that fails is information, not a failed tool.

use std::path::Path;
use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use weft_core::SessionId;
use weft_core::event::Outcome;

use super::runner::{Order, Runner};
use crate::guard::{Permit, Policy};
use crate::permission::Need;
use crate::sandbox::Sandbox;
use crate::text;
use crate::tool::{Context, Finished, Tool, parse};

pub(super) struct Shell {
    pub runner: Runner,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({"type":"object","required":["command"],"properties":{
        "command":{"type":"string"},
        "timeout":{"type":"integer","description":"seconds"},
        "background":{"type":"boolean"},
        "terminal":{"type":"boolean"},
        "outside":{"type":"boolean","description":"without the sandbox; a person is asked"},
        "why":{"type":"string","description":"for that person"}}})
});

#[derive(Deserialize)]
struct Input {
    command: String,
    timeout: Option<u64>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    terminal: bool,
    #[serde(default)]
    outside: bool,
}

impl Tool for Shell {
    fn name(&self) -> &str {
        "shell"
    }

    fn description(&self) -> &str {
        "Run a bash command in the workspace; no input, starts anew, leaves nothing running."
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

    fn sandbox(&self) -> Option<&Sandbox> {
        Some(&self.runner.sandbox)
    }

    fn summary(&self, input: &Value, _workspace: &Path) -> String {
        let outside = if is_outside(input) { " outside the sandbox" } else { "" };
        let background = if is_background(input) { " in the background" } else { "" };
        format!("Run `{}`{background}{outside}", text::one_line(command(input)))
    }

    fn detail(&self, input: &Value, _policy: &Policy<'_>) -> Result<String, String> {
        let mut detail = command(input).to_owned();
        if is_background(input) {
            detail.push_str("\n\nIn the background: it runs on until it ends, is stopped, or Weft ends.");
        }
        if is_outside(input) {
            detail.push_str(&format!("\n\nOutside the sandbox, because: {}", why(input)));
        }
        Ok(detail)
    }

    fn expect(&self, session: SessionId, workspace: &Path, outputs: &Path) {
        self.runner.plan_ahead(session, workspace, outputs);
    }

    fn disturb(&self, session: SessionId) {
        self.runner.ahead.forget(session);
    }

    fn rest(&self, session: SessionId) {
        self.runner.ahead.forget(session);
        self.runner.sandbox.rest(session);
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
            let Input { command, timeout, background, terminal, outside } = input;
            let order = Order { command, timeout, terminal, outside };
            if background {
                return self.runner.in_background(&permit, context, order, summary).await;
            }
            self.runner.to_its_end(&permit, context, order, summary).await
        })
    }
}

/// Whether it asks to run without the sandbox.
pub(crate) fn is_outside(input: &Value) -> bool {
    input.get("outside").and_then(Value::as_bool).unwrap_or_default()
}

fn is_background(input: &Value) -> bool {
    input.get("background").and_then(Value::as_bool).unwrap_or_default()
}

fn why(input: &Value) -> &str {
    input.get("why").and_then(Value::as_str).unwrap_or_default().trim()
}

fn command(input: &Value) -> &str {
    input.get("command").and_then(Value::as_str).unwrap_or_default().trim()
}
