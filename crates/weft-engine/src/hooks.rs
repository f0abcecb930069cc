//! A user's own commands at fixed points of a turn, in the order of the settings file.
//!
//! A hook is run through a shell in the workspace with a JSON object on its standard input. Exit 0
//! lets things go on, and what it prints is added for the model; exit 2 refuses, and what it prints
//! is the reason; another code is noted and ignored. A hook before something is a fence: one that
//! cannot be started, takes too long or is killed refuses too, unless `on_error = "ignore"` says
//! otherwise. After something there is nothing left to refuse; then it is told.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weft_core::event::HookRan;
use weft_core::{SessionId, ToolCall};
use weft_tool::process::{self, Ended, Program, Ran, SpawnError, Spec};
use weft_tool::{Finished, Secrets};

use crate::engine::{Engine, Shared};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    pub on: HookPoint,
    pub command: String,
    /// Only for this tool, or these, with commas between.
    pub tool: Option<String>,
    #[serde(default = "default_timeout")]
    pub timeout_seconds: u64,
    /// What a hook before something means when it does not work.
    #[serde(default)]
    pub on_error: OnError,
}

impl HookConfig {
    fn fits(&self, point: HookPoint, tool: Option<&str>) -> bool {
        let among = |names: &str| tool.is_some_and(|tool| names.split(',').any(|name| name.trim() == tool));
        self.on == point && self.tool.as_deref().is_none_or(among)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    #[default]
    Refuse,
    Ignore,
}

const fn default_timeout() -> u64 {
    30
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    BeforePrompt,
    AfterPrompt,
    BeforeTool,
    AfterTool,
}

impl HookPoint {
    /// There is something left to refuse.
    const fn is_before(self) -> bool {
        match self {
            Self::BeforePrompt | Self::BeforeTool => true,
            Self::AfterPrompt | Self::AfterTool => false,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforePrompt => "before_prompt",
            Self::AfterPrompt => "after_prompt",
            Self::BeforeTool => "before_tool",
            Self::AfterTool => "after_tool",
        }
    }
}

/// What the hooks at one point came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The first refusal; later hooks do not run.
    pub refused: Option<String>,
    /// What hooks printed, to be added for the model.
    pub added: Vec<String>,
    /// For the log: refusals, additions and failures.
    pub ran: Vec<HookRan>,
    /// Hooks that did not work and refused nothing, in words for people.
    pub troubles: Vec<String>,
}

impl Shared {
    /// The word of hooks on what a tool did, added to what the model sees. What ran is for the log.
    pub async fn after_tool(
        &self,
        session: SessionId,
        workspace: &Path,
        call: &ToolCall,
        finished: &mut Finished,
    ) -> Vec<HookRan> {
        if !self.hooks.any(HookPoint::AfterTool, Some(&call.name)) {
            return Vec::new();
        }
        let text = Some(finished.output.text.as_str());
        let hooked = self.hooks.tool(HookPoint::AfterTool, session, workspace, call, text).await;
        for added in hooked.added.into_iter().chain(hooked.refused) {
            finished.output.text.push_str("\n\n[hook] ");
            finished.output.text.push_str(&added);
        }
        self.tell_of(session, &hooked.troubles);
        hooked.ran
    }
}

/// For calls that come from other programs and belong to no turn: hooks are a fence for them too.
impl Engine {
    /// An error is why a hook refused the call.
    pub async fn before_tool(&self, session: SessionId, workspace: &Path, call: &ToolCall) -> Result<(), String> {
        if !self.shared.hooks.any(HookPoint::BeforeTool, Some(&call.name)) {
            return Ok(());
        }
        let hooked = self.shared.hooks.tool(HookPoint::BeforeTool, session, workspace, call, None).await;
        self.shared.tell_of(session, &hooked.troubles);
        hooked.refused.map_or(Ok(()), |reason| Err(refused_by_hook(&reason)))
    }

    pub async fn after_tool(&self, session: SessionId, workspace: &Path, call: &ToolCall, finished: &mut Finished) {
        self.shared.after_tool(session, workspace, call, finished).await;
    }
}

pub fn refused_by_hook(reason: &str) -> String {
    format!("A hook refused this call: {reason}")
}

/// All hooks, cheap to share.
#[derive(Clone)]
pub struct Hooks {
    hooks: Arc<RwLock<Arc<[HookConfig]>>>,
    secrets: Secrets,
}

/// The most that a hook can add for the model.
const ADDED_CAP: usize = 8 * 1024;

impl Hooks {
    pub fn new(hooks: Vec<HookConfig>, secrets: Secrets) -> Self {
        Self { hooks: Arc::new(RwLock::new(hooks.into())), secrets }
    }

    /// Other hooks from now on; those that run go on.
    pub fn renew(&self, hooks: Vec<HookConfig>) {
        *self.hooks.write().unwrap_or_else(PoisonError::into_inner) = hooks.into();
    }

    /// Whether anything would run at `point` for `tool`.
    pub fn any(&self, point: HookPoint, tool: Option<&str>) -> bool {
        self.now().iter().any(|hook| hook.fits(point, tool))
    }

    fn now(&self) -> Arc<[HookConfig]> {
        Arc::clone(&self.hooks.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub async fn prompt(&self, point: HookPoint, session: SessionId, workspace: &Path, text: &str) -> Verdict {
        self.run_apart(point, None, session, workspace, json!({ "prompt": text })).await
    }

    pub async fn tool(
        &self,
        point: HookPoint,
        session: SessionId,
        workspace: &Path,
        call: &ToolCall,
        result: Option<&str>,
    ) -> Verdict {
        let payload = json!({ "tool": call.name, "input": call.input, "result": result });
        self.run_apart(point, Some(&call.name), session, workspace, payload).await
    }

    /// In memory of its own: most sessions have no hooks, and should not keep room for one.
    fn run_apart<'a>(
        &'a self,
        point: HookPoint,
        tool: Option<&'a str>,
        session: SessionId,
        workspace: &'a Path,
        payload: Value,
    ) -> BoxFuture<'a, Verdict> {
        self.run(point, tool, session, workspace, payload).boxed()
    }

    #[allow(clippy::disallowed_methods, reason = "hooks are the person's own commands")]
    async fn run(
        &self,
        point: HookPoint,
        tool: Option<&str>,
        session: SessionId,
        workspace: &Path,
        mut payload: Value,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        if let Value::Object(fields) = &mut payload {
            fields.insert("point".to_owned(), json!(point.name()));
            fields.insert("session".to_owned(), json!(session));
            fields.insert("workspace".to_owned(), json!(workspace));
        }
        let stdin = payload.to_string().into_bytes();
        for hook in self.now().iter().filter(|hook| hook.fits(point, tool)) {
            let mut spec = Spec::new(Program::Line(hook.command.clone()), workspace);
            spec.stdin = Some(stdin.clone());
            spec.redaction = (self.secrets)();
            spec.timing.base = Duration::from_secs(hook.timeout_seconds);
            spec.timing.extend_on_output = Duration::ZERO;
            verdict.note(hook, point, process::run(spec).await);
            if verdict.refused.is_some() {
                break;
            }
        }
        verdict
    }
}

impl Verdict {
    fn note(&mut self, hook: &HookConfig, point: HookPoint, ran: Result<Ran, SpawnError>) {
        let result = match ran {
            Ok(ran) => match (ran.ended, cap(ran.output.text.trim())) {
                (Ended::Exited { code: 0 }, text) if text.is_empty() => return,
                (Ended::Exited { code: 0 }, text) => {
                    let size = text.len();
                    self.added.push(text);
                    format!("added {size} bytes")
                }
                (Ended::Exited { code: 2 }, text) => {
                    let reason = if text.is_empty() { "no reason given".to_owned() } else { text };
                    self.refused = Some(reason.clone());
                    format!("refused: {reason}")
                }
                // What a shell says of a command that is not there, or not to be run.
                (Ended::Exited { code: 126 | 127 }, text) => {
                    self.broken(hook, point, &format!("it could not be started: {text}"))
                }
                (Ended::TimedOut { .. }, _) => {
                    self.broken(hook, point, &format!("it took longer than {} s", hook.timeout_seconds))
                }
                (Ended::Killed { .. } | Ended::Cancelled, _) => self.broken(hook, point, "it was killed"),
                (Ended::Exited { code }, _) => {
                    let result = format!("ignored: it ended with exit code {code}");
                    self.troubles.push(format!("The hook `{}` ({}) was {result}.", hook.command, point.name()));
                    result
                }
            },
            Err(error) => self.broken(hook, point, &error.to_string()),
        };
        self.ran.push(HookRan { hook: hook.command.clone(), point: point.name().to_owned(), result });
    }

    /// A hook that does not work. What it was to prevent is prevented.
    fn broken(&mut self, hook: &HookConfig, point: HookPoint, why: &str) -> String {
        let what = format!("the hook `{}` ({}) did not work: {}", hook.command, point.name(), why.trim());
        if point.is_before() && hook.on_error == OnError::Refuse {
            self.refused = Some(format!(
                "{what}. Mend or remove it under [[hooks]] in your settings, or give it `on_error = \"ignore\"`."
            ));
            return format!("refused: {}", why.trim());
        }
        self.troubles.push(what);
        format!("ignored: {}", why.trim())
    }
}

fn cap(text: &str) -> String {
    let mut end = text.len().min(ADDED_CAP);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}
