//! A user's own commands at fixed points of a turn, in the order of the settings file.
//!
//! A hook is run through a shell in the workspace with a JSON object on its standard input. Exit 0
//! lets things go on, and what it prints is added for the model; exit 2 refuses, and what it prints
//! is the reason; anything else is noted and ignored.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weft_core::event::HookRan;
use weft_core::{SessionId, ToolCall};
use weft_tool::process::{self, Ended, Program, Ran, SpawnError, Spec};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    pub on: HookPoint,
    pub command: String,
    /// Only for this tool.
    pub tool: Option<String>,
    #[serde(default = "default_timeout")]
    pub timeout_seconds: u64,
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
}

/// All hooks, cheap to share.
#[derive(Debug, Clone)]
pub struct Hooks {
    hooks: Arc<[HookConfig]>,
}

/// The most that a hook can add for the model.
const ADDED_CAP: usize = 8 * 1024;

impl Hooks {
    pub fn new(hooks: Vec<HookConfig>) -> Self {
        Self { hooks: hooks.into() }
    }

    /// Whether anything would run at `point` for `tool`.
    pub fn any(&self, point: HookPoint, tool: Option<&str>) -> bool {
        self.matching(point, tool).next().is_some()
    }

    fn matching<'a>(&'a self, point: HookPoint, tool: Option<&'a str>) -> impl Iterator<Item = &'a HookConfig> {
        self.hooks.iter().filter(move |hook| hook.on == point && (hook.tool.is_none() || hook.tool.as_deref() == tool))
    }

    pub async fn prompt(&self, point: HookPoint, session: SessionId, workspace: &Path, text: &str) -> Verdict {
        self.run(point, None, session, workspace, json!({ "prompt": text })).await
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
        self.run(point, Some(&call.name), session, workspace, payload).await
    }

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
        for hook in self.matching(point, tool) {
            let mut spec = Spec::new(Program::Line(hook.command.clone()), workspace);
            spec.stdin = Some(stdin.clone());
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
                (Ended::TimedOut { .. }, _) => format!("ignored: it took longer than {} s", hook.timeout_seconds),
                (Ended::Exited { code }, _) => format!("ignored: it ended with exit code {code}"),
                (Ended::Killed { .. } | Ended::Cancelled, _) => "ignored: it was killed".to_owned(),
            },
            Err(error) => format!("ignored: {error}"),
        };
        self.ran.push(HookRan { hook: hook.command.clone(), point: point.name().to_owned(), result });
    }
}

fn cap(text: &str) -> String {
    let mut end = text.len().min(ADDED_CAP);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}
