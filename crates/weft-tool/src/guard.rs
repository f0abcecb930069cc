//! The only way to an effect. A call is checked (known tool, fitting arguments, the session's mode,
//! its grants, the borders of the workspace), then run, and what comes out is scrubbed of secrets
//! and cut to size. Nothing here knows what a particular tool does.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::sync::Semaphore;
use weft_core::ask::{AskKind, Grant};
use weft_core::event::{Access, Display, Outcome, Output, Plan};
use weft_core::{Mode, ToolCall};

use crate::file::ReadMarks;
use crate::path::{self, Located};
use crate::redact::Redaction;
use crate::registry::Registry;
use crate::text;
use crate::tool::{Context, Finished, Risk, Tool};

/// More than any result needs; what a tool leaves out itself it leaves out better.
const LONGEST_TEXT: usize = 32 * 1024;
const LONGEST_SUMMARY: usize = 300;

pub struct Guard {
    registry: Registry,
    redaction: Redaction,
    processes: Arc<Semaphore>,
}

pub struct GuardConfig {
    /// Values that must never leave a tool: keys from the vault and the environment.
    pub secrets: Vec<String>,
    /// How many commands run at once, over all sessions.
    pub processes: usize,
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self { secrets: Vec::new(), processes: 128 }
    }
}

/// What a call is measured against.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    pub mode: Mode,
    pub grants: &'a [Grant],
    pub workspace: &'a Path,
    /// The session's saved outputs, which it may always read.
    pub outputs: &'a Path,
    pub read_marks: &'a ReadMarks,
}

/// What is to become of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Run {
        summary: String,
    },
    /// It is not run; the model gets `text`.
    Refuse {
        outcome: Outcome,
        text: String,
        summary: String,
    },
    /// A person decides, or answers.
    Ask {
        kind: AskKind,
        question: String,
    },
}

/// Proof that the guard has let a call through. Only the guard can make one.
pub struct Permit {
    redaction: Redaction,
}

impl Permit {
    /// For tools that pass output on before they end.
    pub fn redaction(&self) -> &Redaction {
        &self.redaction
    }
}

struct Refusal {
    outcome: Outcome,
    text: String,
    summary: String,
}

/// A call that may run, perhaps after a person has agreed.
struct Allowed<'a> {
    tool: &'a dyn Tool,
    input: Value,
    risk: Risk,
    consent: Consent,
}

enum Consent {
    NotNeeded,
    /// A yes for this session would do.
    Needed,
    /// Asked every time, for this reason.
    Always(&'static str),
}

impl Guard {
    pub fn new(registry: Registry, config: GuardConfig) -> Self {
        Self {
            registry,
            redaction: Redaction::new(config.secrets),
            processes: Arc::new(Semaphore::new(config.processes.max(1))),
        }
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What a call touches. Calls that will be refused touch nothing.
    pub fn plan(&self, call: &ToolCall, workspace: &Path) -> Plan {
        let nothing = Plan { access: Access::Read, idempotent: false };
        let Ok((tool, input)) = self.understand(call) else { return nothing };
        match tool.risk(&input) {
            Risk::Read | Risk::Ask(_) => Plan { access: Access::Read, idempotent: true },
            Risk::Run => Plan { access: Access::Run, idempotent: false },
            Risk::Write => match tool.path(&input).map(|path| Located::new(workspace, path)) {
                Some(Ok(located)) => {
                    let path = located.path.to_string_lossy().into_owned();
                    Plan { access: Access::Write { path }, idempotent: false }
                }
                Some(Err(_)) | None => nothing,
            },
        }
    }

    /// What is to become of a call. Changes nothing.
    pub fn prepare(&self, call: &ToolCall, policy: &Policy<'_>) -> Verdict {
        let allowed = match self.decide(call, policy) {
            Ok(allowed) => allowed,
            Err(Refusal { outcome, text, summary }) => return Verdict::Refuse { outcome, text, summary },
        };
        let summary = self.summary(allowed.tool, &allowed.input, policy.workspace);
        let (reason, grant) = match (allowed.risk, allowed.consent) {
            (Risk::Ask(kind), _) => return Verdict::Ask { kind, question: summary },
            (Risk::Read | Risk::Write | Risk::Run, Consent::NotNeeded) => return Verdict::Run { summary },
            (Risk::Read | Risk::Write | Risk::Run, Consent::Needed) => ("", allowed.tool.grant(&allowed.input)),
            (Risk::Read | Risk::Write | Risk::Run, Consent::Always(reason)) => (reason, None),
        };
        match allowed.tool.detail(&allowed.input, policy) {
            Ok(mut detail) => {
                self.redaction.scrub(&mut detail);
                let kind = AskKind::Approval { tool: call.name.clone(), detail, grant };
                Verdict::Ask { kind, question: format!("{summary}?{reason}") }
            }
            Err(text) => Verdict::Refuse { outcome: Outcome::Failed, text, summary },
        }
    }

    /// Runs a call that `prepare` let through. Everything is checked once more: the mode may have
    /// changed while a person thought about it.
    pub async fn run(&self, call: &ToolCall, context: Context) -> Finished {
        let allowed = match self.decide(call, &context.policy()) {
            Ok(allowed) => allowed,
            Err(refusal) => return Finished::new(refusal.outcome, refusal.text, refusal.summary),
        };
        let summary = self.summary(allowed.tool, &allowed.input, &context.workspace);
        let consented = match allowed.consent {
            Consent::NotNeeded => true,
            Consent::Needed | Consent::Always(_) => context.approved,
        };
        if !consented {
            return Finished::new(Outcome::Denied, "Not done: nobody has approved it.", summary);
        }
        let Some(_slot) = self.slot(&allowed.risk, &context).await else {
            return Finished::interrupted("Stopped before it began. Nothing was done.", summary);
        };
        let permit = Permit { redaction: self.redaction.clone() };
        let running = AssertUnwindSafe(allowed.tool.run(permit, &context, allowed.input)).catch_unwind();
        let mut finished = running.await.unwrap_or_else(|_| {
            let text = format!("The tool `{}` stopped unexpectedly. Try again, or do it another way.", call.name);
            Finished::failed(text, summary)
        });
        self.clean(&mut finished.output);
        finished
    }

    fn understand(&self, call: &ToolCall) -> Result<(&dyn Tool, Value), Refusal> {
        let invalid = |text| Refusal { outcome: Outcome::Invalid, text, summary: format!("Call `{}`", call.name) };
        let Some(tool) = self.registry.get(&call.name) else {
            let names: Vec<&str> = self.registry.specs().map(|spec| spec.name).collect();
            let name = text::head(&call.name, 100);
            return Err(invalid(format!("There is no tool `{name}`. The tools are {}.", names.join(", "))));
        };
        let input = tool.accept(&call.input).map_err(invalid)?;
        Ok((tool, input))
    }

    fn decide(&self, call: &ToolCall, policy: &Policy<'_>) -> Result<Allowed<'_>, Refusal> {
        let (tool, input) = self.understand(call)?;
        let risk = tool.risk(&input);
        let refuse = |outcome, text| Refusal { outcome, text, summary: self.summary(tool, &input, policy.workspace) };
        let located = match tool.path(&input).map(|path| Located::new(policy.workspace, path)) {
            Some(Ok(located)) => Some(located),
            Some(Err(text)) => return Err(refuse(Outcome::Invalid, text)),
            None => None,
        };
        let consent = match risk {
            Risk::Ask(_) => Consent::NotNeeded,
            Risk::Read => located.map_or(Consent::NotNeeded, |located| reading(&located, policy)),
            Risk::Write | Risk::Run => {
                if let Some(located) = located.as_ref().filter(|located| !located.inside) {
                    return Err(refuse(Outcome::Denied, path::outside(policy.workspace, &located.path)));
                }
                if policy.mode == Mode::Safe {
                    return Err(refuse(Outcome::Denied, SAFE.to_owned()));
                }
                let granted = tool.grant(&input).is_some_and(|grant| policy.grants.contains(&grant));
                changing(located.as_ref(), policy.mode, granted)
            }
        };
        Ok(Allowed { tool, input, risk, consent })
    }

    /// A place among the commands that run; nothing when the call was stopped while it waited.
    async fn slot(&self, risk: &Risk, context: &Context) -> Option<Option<tokio::sync::OwnedSemaphorePermit>> {
        if context.cancel.is_cancelled() {
            return None;
        }
        match risk {
            Risk::Run => {
                context.cancel.run_until_cancelled(self.processes.clone().acquire_owned()).await.map(Result::ok)
            }
            Risk::Read | Risk::Write | Risk::Ask(_) => Some(None),
        }
    }

    fn summary(&self, tool: &dyn Tool, input: &Value, workspace: &Path) -> String {
        let mut summary = tool.summary(input, workspace);
        self.redaction.scrub(&mut summary);
        summary
    }

    fn clean(&self, output: &mut Output) {
        self.redaction.scrub(&mut output.text);
        self.redaction.scrub(&mut output.summary);
        match &mut output.display {
            Some(Display::Diff { diff, .. }) => self.redaction.scrub(diff),
            Some(Display::Command { command, .. }) => self.redaction.scrub(command),
            Some(Display::Todo { items }) => items.iter_mut().for_each(|item| self.redaction.scrub(&mut item.text)),
            None => {}
        }
        output.text = text::cap(std::mem::take(&mut output.text), LONGEST_TEXT);
        output.summary.truncate(text::floor(&output.summary, LONGEST_SUMMARY));
    }
}

const SAFE: &str = "Not done: the session is in `safe` mode, in which nothing is changed and no command is run. \
     Say what you would do; the person can switch to `ask` or `auto` mode with Shift+Tab or `--mode`.";

fn reading(located: &Located, policy: &Policy<'_>) -> Consent {
    if path::lies_in(&located.path, policy.outputs) {
        return Consent::NotNeeded;
    }
    if located.secret {
        return Consent::Always(" It may hold secrets, which the model would see.");
    }
    match (located.inside, policy.mode) {
        (true, Mode::Safe | Mode::Ask | Mode::Auto) | (false, Mode::Auto) => Consent::NotNeeded,
        (false, Mode::Safe | Mode::Ask) => Consent::Always(" It is outside the workspace."),
    }
}

fn changing(located: Option<&Located>, mode: Mode, granted: bool) -> Consent {
    if located.is_some_and(|located| located.protected) {
        return Consent::Always(" It belongs to git or to Weft itself.");
    }
    if located.is_some_and(|located| located.secret) {
        return Consent::Always(" It may hold secrets.");
    }
    match mode {
        Mode::Auto => Consent::NotNeeded,
        Mode::Ask | Mode::Safe if granted => Consent::NotNeeded,
        Mode::Ask | Mode::Safe => Consent::Needed,
    }
}
