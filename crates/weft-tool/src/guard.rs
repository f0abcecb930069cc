//! The only way to an effect. A call is looked up, its arguments are fitted to the schema and looked
//! through for secrets, what it needs is judged ([`crate::permission`]), then it is run, and what comes
//! out is scrubbed of secrets and cut to size. Nothing here knows what a particular tool does.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use weft_core::ask::{AskKind, Grant};
use weft_core::event::{Access, Display, Outcome, Output, Plan};
use weft_core::{Mode, SessionId, ToolCall};

use crate::effect;
use crate::file::ReadMarks;
use crate::leak::{self, Leak};
use crate::path::Located;
use crate::permission::git::GitKind;
use crate::permission::role::Role;
use crate::permission::rules::Rules;
use crate::permission::{Consent, Denied, Measure, Need};
use crate::redact::{Redaction, Secrets};
use crate::registry::Registry;
use crate::text;
use crate::tool::{Context, Finished, Tool};
use crate::witness::{Deed, Moment, Teller, Witness, Written};

/// More than any result needs; what a tool leaves out itself it leaves out better.
const LONGEST_TEXT: usize = 32 * 1024;
const LONGEST_SUMMARY: usize = 300;
const BECAME_ANOTHER: &str = "Not done: the project's files have changed since, and it would be another command than \
     the one that was approved. Call it again.";

pub struct Guard {
    registry: Registry,
    secrets: Secrets,
    processes: Arc<Semaphore>,
    witness: Option<Arc<dyn Witness>>,
}

pub struct GuardConfig {
    /// Values that must never leave a tool: keys from the vault and the environment.
    pub secrets: Secrets,
    /// How many commands run at once, over all sessions.
    pub processes: usize,
    /// Is told of every run.
    pub witness: Option<Arc<dyn Witness>>,
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self { secrets: Redaction::new([]).fixed(), processes: 128, witness: None }
    }
}

/// What a call is measured against.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    pub mode: Mode,
    pub role: Role,
    /// The person's rules, with what was granted in this session.
    pub rules: &'a Rules,
    pub workspace: &'a Path,
    /// The session's saved outputs, which it may always read.
    pub outputs: &'a Path,
    pub read_marks: &'a ReadMarks,
    /// The size of the largest file of which a copy is kept before it is changed; none where nothing is kept.
    pub undo: Option<u64>,
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
    needs: Vec<Need>,
    witness: Option<Arc<dyn Witness>>,
}

impl Permit {
    /// For what is to be told beside a call's beginning and end.
    pub(crate) fn teller(&self, context: &Context, tool: &'static str, mut summary: String) -> Teller {
        self.redaction.scrub(&mut summary);
        Teller::new(self.witness.clone(), context, tool, summary)
    }

    /// For tools that pass output on before they end.
    pub fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// The command line that was judged, for tools that find it out themselves.
    pub(crate) fn line(&self) -> Option<&str> {
        line_of(&self.needs)
    }
}

fn line_of(needs: &[Need]) -> Option<&str> {
    needs.iter().find_map(|need| match need {
        Need::Run { line, .. } => Some(line.as_str()),
        Need::Read(_)
        | Need::Write(_)
        | Need::Reach(_)
        | Need::Use(_)
        | Need::Learn(_)
        | Need::Git { .. }
        | Need::Ask(_) => None,
    })
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
    needs: Vec<Need>,
    consent: Consent,
}

impl Guard {
    pub fn new(registry: Registry, config: GuardConfig) -> Self {
        let processes = Arc::new(Semaphore::new(config.processes.max(1)));
        Self { registry, secrets: config.secrets, processes, witness: config.witness }
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// A model has begun to write a call of this tool.
    pub fn expect(&self, tool: &str, session: SessionId, workspace: &Path, outputs: &Path) {
        if let Some(tool) = self.registry.get(tool) {
            tool.expect(session, workspace, outputs);
        }
    }

    /// Nothing more is to be expected from a session for now.
    pub fn rest(&self, session: SessionId) {
        self.registry.all().for_each(|tool| tool.rest(session));
    }

    /// The same guard over other tools; the places for commands stay shared.
    #[must_use]
    pub fn with_registry(&self, registry: Registry) -> Self {
        Self {
            registry,
            secrets: Arc::clone(&self.secrets),
            processes: Arc::clone(&self.processes),
            witness: self.witness.clone(),
        }
    }

    /// What a call touches. Calls that will be refused touch nothing.
    pub fn plan(&self, call: &ToolCall, workspace: &Path) -> Plan {
        let nothing = Plan { access: Access::Read, idempotent: false };
        catch_unwind(AssertUnwindSafe(|| self.plan_of(call, workspace))).unwrap_or(nothing)
    }

    fn plan_of(&self, call: &ToolCall, workspace: &Path) -> Plan {
        let nothing = Plan { access: Access::Read, idempotent: false };
        let Ok((tool, input)) = self.understand(call) else { return nothing };
        if tool.finds_its_command() {
            return Plan { access: Access::Run, idempotent: false };
        }
        let needs = tool.needs_in(&input, workspace);
        let mut writes = Vec::new();
        for need in &needs {
            match need {
                Need::Read(_)
                | Need::Reach(_)
                | Need::Learn(_)
                | Need::Ask(_)
                | Need::Git { kind: GitKind::Look, .. } => {}
                Need::Git { .. } | Need::Run { .. } | Need::Use(_) => {
                    return Plan { access: Access::Run, idempotent: false };
                }
                Need::Write(path) => writes.push(path),
            }
        }
        match writes.as_slice() {
            [] => Plan { access: Access::Read, idempotent: true },
            [path] => match Located::new(workspace, path) {
                Ok(located) => {
                    let path = located.path.to_string_lossy().into_owned();
                    Plan { access: Access::Write { path }, idempotent: false }
                }
                Err(_) => nothing,
            },
            // Several files at once: nothing else beside it.
            [..] => Plan { access: Access::Run, idempotent: false },
        }
    }

    /// What is to become of a call. Changes nothing. A tool that panics over it is refused.
    pub fn prepare(&self, call: &ToolCall, policy: &Policy<'_>) -> Verdict {
        catch_unwind(AssertUnwindSafe(|| self.judge(call, policy))).unwrap_or_else(|_| Verdict::Refuse {
            outcome: Outcome::Failed,
            text: fell_over(&call.name),
            summary: format!("Call `{}`", call.name),
        })
    }

    fn judge(&self, call: &ToolCall, policy: &Policy<'_>) -> Verdict {
        let secrets = (self.secrets)();
        let allowed = match self.decide(call, policy, &secrets) {
            Ok(allowed) => allowed,
            Err(Refusal { outcome, text, summary }) => return Verdict::Refuse { outcome, text, summary },
        };
        let summary = summary(allowed.tool, &allowed.input, policy.workspace, &secrets);
        if let Some(kind) = question(&allowed.needs) {
            return Verdict::Ask { kind, question: summary };
        }
        let (reason, grant) = match allowed.consent {
            Consent::NotNeeded => return Verdict::Run { summary },
            Consent::Needed { rules, why } => (why, (!rules.is_empty()).then_some(Grant::Rules { rules })),
            Consent::Always(reason) => (reason, None),
        };
        match allowed.tool.detail(&allowed.input, policy) {
            Ok(mut detail) => {
                secrets.scrub(&mut detail);
                let mut effect = effect::of(&allowed.needs, policy, allowed.tool.sandbox());
                secrets.scrub(&mut effect);
                let kind = AskKind::Approval { tool: call.name.clone(), detail, grant, effect };
                Verdict::Ask { kind, question: format!("{summary}?{reason}") }
            }
            Err(text) => Verdict::Refuse { outcome: Outcome::Failed, text, summary },
        }
    }

    /// Runs a call that `prepare` let through. Everything is checked once more: the mode may have
    /// changed while a person thought about it. A tool that panics has failed.
    pub async fn run(&self, call: &ToolCall, context: Context) -> Finished {
        self.run_agreed(call, context, None).await
    }

    /// The same, where a person was shown `agreed` before they said yes.
    pub async fn run_agreed(&self, call: &ToolCall, context: Context, agreed: Option<&str>) -> Finished {
        let ran = AssertUnwindSafe(self.run_checked(call, context, agreed)).catch_unwind().await;
        let mut finished =
            ran.unwrap_or_else(|_| Finished::failed(fell_over(&call.name), format!("Call `{}`", call.name)));
        self.clean(&mut finished.output);
        finished
    }

    async fn run_checked(&self, call: &ToolCall, context: Context, agreed: Option<&str>) -> Finished {
        let secrets = (self.secrets)();
        let allowed = match self.decide(call, &context.policy(), &secrets) {
            Ok(allowed) => allowed,
            Err(refusal) => return Finished::new(refusal.outcome, refusal.text, refusal.summary),
        };
        let summary = summary(allowed.tool, &allowed.input, &context.workspace, &secrets);
        let consented = match allowed.consent {
            Consent::NotNeeded => true,
            Consent::Needed { .. } | Consent::Always(_) => context.approved,
        };
        if !consented {
            return Finished::new(Outcome::Denied, "Not done: nobody has approved it.", summary);
        }
        if context.approved && allowed.tool.finds_its_command() && !is_as_agreed(&allowed.needs, agreed, &secrets) {
            return Finished::new(Outcome::Denied, BECAME_ANOTHER, summary);
        }
        let Some(_slot) = self.slot(&allowed.needs, &context).await else {
            return Finished::interrupted("Stopped before it began. Nothing was done.", summary);
        };
        let tell = |moment, written: &[Written]| {
            let Some(witness) = &self.witness else { return };
            let (session, call, workspace) = (context.session, &context.call, &*context.workspace);
            let (tool, needs, summary) = (allowed.tool.name(), &*allowed.needs, summary.as_str());
            witness.record(&Deed { session, call, workspace, tool, needs, summary, moment, written });
        };
        tell(Moment::Begun { approved: context.approved }, &[]);
        let permit = Permit { redaction: secrets, needs: allowed.needs.clone(), witness: self.witness.clone() };
        let (patience, given_up) = after_a_stop(&allowed.needs);
        #[allow(clippy::disallowed_methods, reason = "this is the one way to run a tool")]
        let running = AssertUnwindSafe(allowed.tool.run(permit, &context, allowed.input)).catch_unwind();
        let finished = tokio::select! {
            biased;
            finished = running => finished.unwrap_or_else(|_| Finished::failed(fell_over(&call.name), summary.clone())),
            () = stopped_for(&context.cancel, patience) => Finished::interrupted(given_up, summary.clone()),
        };
        tell(Moment::ended(&finished), &self.written(&allowed.needs, &finished, &context.workspace).await);
        if allowed.needs.iter().any(changes_files) {
            self.registry.all().for_each(|tool| tool.disturb(context.session));
        }
        finished
    }

    /// What a call has made of the files that it was to write, for the witness.
    async fn written(&self, needs: &[Need], finished: &Finished, workspace: &Path) -> Vec<Written> {
        let writes = needs.iter().any(|need| matches!(need, Need::Write(_)));
        if self.witness.is_none() || !writes || finished.outcome != Outcome::Ok {
            return Vec::new();
        }
        let (needs, workspace) = (needs.to_vec(), workspace.to_owned());
        tokio::task::spawn_blocking(move || Written::of(&needs, &workspace)).await.unwrap_or_default()
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

    fn decide(&self, call: &ToolCall, policy: &Policy<'_>, secrets: &Redaction) -> Result<Allowed<'_>, Refusal> {
        let (tool, input) = self.understand(call)?;
        let refuse = |outcome, text| {
            let summary = summary(tool, &input, policy.workspace, secrets);
            Err(Refusal { outcome, text, summary })
        };
        let leak = leak::find(&input, secrets);
        if let Some(leak @ Leak::Saved) = &leak {
            return refuse(Outcome::Denied, leak.refusal());
        }
        let needs = tool.needs_in(&input, policy.workspace);
        let consent = match policy.measure().judge_tool(tool.name(), &needs) {
            Ok(consent) => consent,
            Err(Denied::Forbidden(text)) => return refuse(Outcome::Denied, text),
            Err(Denied::Invalid(text)) => return refuse(Outcome::Invalid, text),
        };
        let consent = match &leak {
            // A question is put to a person as it is: nobody could say no to it first.
            Some(leak) if question(&needs).is_some() => return refuse(Outcome::Denied, leak.refusal()),
            Some(Leak::Looks { words, near }) => consent.and_always(&leak::warning(words, near)),
            Some(Leak::Saved) | None => consent,
        };
        Ok(Allowed { tool, input, needs, consent })
    }

    /// A place among the commands that run; nothing when the call was stopped while it waited.
    async fn slot(&self, needs: &[Need], context: &Context) -> Option<Option<tokio::sync::OwnedSemaphorePermit>> {
        if context.cancel.is_cancelled() {
            return None;
        }
        if needs.iter().any(|need| matches!(need, Need::Run { .. } | Need::Git { .. })) {
            return context.cancel.run_until_cancelled(self.processes.clone().acquire_owned()).await.map(Result::ok);
        }
        Some(None)
    }

    fn clean(&self, output: &mut Output) {
        let redaction = (self.secrets)();
        redaction.scrub(&mut output.text);
        redaction.scrub(&mut output.summary);
        match &mut output.display {
            Some(Display::Diff { diff, .. }) => redaction.scrub(diff),
            Some(Display::Command { command, .. }) => redaction.scrub(command),
            Some(Display::Todo { items }) => items.iter_mut().for_each(|item| redaction.scrub(&mut item.text)),
            None => {}
        }
        if let Some(data) = &mut output.data {
            scrub_value(data, &redaction);
        }
        output.text = text::cap(std::mem::take(&mut output.text), LONGEST_TEXT);
        output.summary.truncate(text::floor(&output.summary, LONGEST_SUMMARY));
    }
}

/// Whether a person was shown exactly this command line, with secrets left out as always.
fn is_as_agreed(needs: &[Need], agreed: Option<&str>, secrets: &Redaction) -> bool {
    let Some(line) = line_of(needs) else { return true };
    let mut line = line.to_owned();
    secrets.scrub(&mut line);
    agreed == Some(line.as_str())
}

fn summary(tool: &dyn Tool, input: &Value, workspace: &Path, secrets: &Redaction) -> String {
    let mut summary = tool.summary(input, workspace);
    secrets.scrub(&mut summary);
    summary
}

fn scrub_value(value: &mut Value, redaction: &Redaction) {
    match value {
        Value::String(text) => redaction.scrub(text),
        Value::Array(items) => items.iter_mut().for_each(|item| scrub_value(item, redaction)),
        Value::Object(fields) => fields.values_mut().for_each(|field| scrub_value(field, redaction)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn fell_over(tool: &str) -> String {
    format!("The tool `{}` stopped unexpectedly. Try again, or do it another way.", text::head(tool, 100))
}

/// How long a call may go on after it was told to stop, and what is said when it is given up. File
/// work can hang in the kernel, where nothing reaches it; commands are killed long before.
fn after_a_stop(needs: &[Need]) -> (Duration, &'static str) {
    const UNSURE: &str =
        "Stopped, but it hangs and was given up. It may still take effect; check before doing it again.";
    let patience = |need: &Need| match need {
        Need::Read(_) | Need::Reach(_) | Need::Ask(_) => Duration::from_millis(300),
        Need::Write(_) | Need::Learn(_) => Duration::from_secs(1),
        Need::Run { .. } | Need::Use(_) | Need::Git { .. } => Duration::from_secs(15),
    };
    let longest = needs.iter().map(patience).max().unwrap_or(Duration::from_millis(300));
    (longest, if needs.iter().any(changes_files) { UNSURE } else { "Stopped. It hung and was given up." })
}

const fn changes_files(need: &Need) -> bool {
    match need {
        Need::Write(_) | Need::Run { .. } | Need::Use(_) => true,
        Need::Git { kind, .. } => !matches!(kind, GitKind::Look),
        Need::Read(_) | Need::Reach(_) | Need::Learn(_) | Need::Ask(_) => false,
    }
}

async fn stopped_for(cancel: &CancellationToken, patience: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(patience).await;
}

impl<'a> Policy<'a> {
    pub(crate) const fn measure(&self) -> Measure<'a> {
        Measure {
            mode: self.mode,
            role: self.role,
            rules: self.rules,
            workspace: self.workspace,
            outputs: self.outputs,
        }
    }
}

/// The question that a call puts to a person, if that is what it is for.
fn question(needs: &[Need]) -> Option<AskKind> {
    needs.iter().find_map(|need| match need {
        Need::Ask(kind) => Some(kind.clone()),
        Need::Read(_)
        | Need::Write(_)
        | Need::Run { .. }
        | Need::Reach(_)
        | Need::Use(_)
        | Need::Learn(_)
        | Need::Git { .. } => None,
    })
}
