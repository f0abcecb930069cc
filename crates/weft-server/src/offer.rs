//! What Weft offers to other programs over MCP: its tools, through the guard; its agents, as sessions
//! that last; its sessions, to read. Whoever connects gets the mode that the person chose for it, and
//! what needs a yes is asked of the person at the other end, or refused.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Resource, ResourceContents, ResourceTemplate, Tool};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weft_core::ask::{Answer, Ask, AskKind, Choice};
use weft_core::event::{Delivery, EndReason, Event, Outcome};
use weft_core::{CallId, Message, Mode, Part, SessionId, State, ToolCall, UserPart};
use weft_engine::audit::Refused;
use weft_engine::{Engine, EngineError, Home, Live, NewSession};
use weft_mcp::naming;
use weft_mcp::server::{Offer, Talk};
use weft_store::ListFilter;
use weft_tool::{Context, Policy, ReadMarks, Role, Verdict};

const RUN_AGENT: &str = "run_agent";
const SCHEME: &str = "weft://sessions/";
const SESSIONS_LISTED: usize = 50;
const LONGEST_TRANSCRIPT: usize = 512 * 1024;
/// Tools that make sense only inside a session.
const INSIDE_ONLY: [&str; 3] = ["ask_user", "todo", "skill"];

pub struct WeftOffer {
    pub engine: Engine,
    pub home: Home,
    pub workspace: PathBuf,
    pub mode: Mode,
    /// Whose outputs the directly used tools write.
    pub session: SessionId,
    pub read_marks: ReadMarks,
    /// How many calls there were: each has a name of its own in the audit log.
    pub calls: AtomicU64,
}

impl Offer for WeftOffer {
    fn about(&self) -> String {
        format!(
            "Weft, an agent workbench, in {}. Its tools run in `{}` mode. `run_agent` lets an agent do a whole task; \
             the session it makes stays and can be read as a resource.",
            self.workspace.display(),
            self.mode
        )
    }

    fn tools(&self) -> Vec<Tool> {
        let registry = self.engine.guard().registry();
        let specs = registry.specs().filter(|spec| !INSIDE_ONLY.contains(&spec.name));
        // Who can start jobs must be able to look after them; what is known is for everybody to ask.
        let more = registry.extras().filter(|spec| spec.name == "jobs" || weft_knowledge::is_tool(spec.name));
        let mut tools: Vec<Tool> = specs
            .chain(more)
            .map(|spec| {
                let schema = spec.schema.as_object().cloned().unwrap_or_default();
                Tool::new(spec.name.to_owned(), spec.description.to_owned(), schema)
            })
            .collect();
        let schema = json!({
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "What to do"},
                "agent": {"type": "string", "description": "Which agent; the usual one if left out"},
                "session": {"type": "string", "description": "Go on with this session"},
            },
            "required": ["prompt"],
        });
        let words = "Lets an agent of Weft do a task in this folder and returns what it says at the end.";
        tools.push(Tool::new(RUN_AGENT, words, schema.as_object().cloned().unwrap_or_default()));
        tools
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: JsonObject,
        talk: &'a Talk,
    ) -> BoxFuture<'a, Result<CallToolResult, String>> {
        Box::pin(async move {
            if tool == RUN_AGENT {
                return Ok(result(self.run_agent(&arguments, talk).await));
            }
            if INSIDE_ONLY.contains(&tool) || self.engine.guard().registry().get(tool).is_none() {
                return Err(format!("There is no tool `{}`.", naming::clean(tool, 100)));
            }
            Ok(result(self.use_tool(tool, Value::Object(arguments), talk).await))
        })
    }

    fn resources(&self) -> Vec<Resource> {
        let filter = ListFilter {
            workspace: Some(self.workspace.to_string_lossy().into_owned()),
            limit: Some(SESSIONS_LISTED),
            ..ListFilter::default()
        };
        let rows = self.engine.store().list(&filter).unwrap_or_default();
        rows.into_iter()
            .map(|row| {
                let title = row.title.or(row.preview).unwrap_or_else(|| row.id.to_string());
                Resource::new(format!("{SCHEME}{}", row.id), naming::clean(&title, 100)).with_mime_type("text/markdown")
            })
            .collect()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let template = ResourceTemplate::new(format!("{SCHEME}{{id}}"), "session");
        vec![template.with_description("What was said and done in a session").with_mime_type("text/markdown")]
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Option<Vec<ResourceContents>>> {
        Box::pin(async move {
            let session = self.engine.store().find(uri.strip_prefix(SCHEME)?).ok()?;
            let state = self.engine.state(session).ok()?;
            if state.workspace != self.workspace.to_string_lossy() {
                return None;
            }
            Some(vec![ResourceContents::text(transcript(&state), uri).with_mime_type("text/markdown")])
        })
    }
}

/// How much a mode lets pass unasked.
const fn looseness(mode: Mode) -> u8 {
    match mode {
        Mode::Safe => 0,
        Mode::Ask => 1,
        Mode::Auto => 2,
    }
}

fn result(result: Result<String, String>) -> CallToolResult {
    match result {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
    }
}

impl WeftOffer {
    /// One of the built-in tools, through the guard like everywhere else.
    async fn use_tool(&self, tool: &str, input: Value, talk: &Talk) -> Result<String, String> {
        let guard = self.engine.guard();
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let call = ToolCall { id: CallId::new(format!("mcp_{number}")), name: tool.to_owned(), input, signature: None };
        if let Err(text) = self.engine.before_tool(self.session, &self.workspace, &call).await {
            return Err(self.refused(tool, "Refused by a hook", text).await);
        }
        let outputs = self.home.outputs(self.session);
        let rules = Arc::new(self.engine.rules(&self.workspace));
        let policy = Policy {
            mode: self.mode,
            role: Role::Worker,
            rules: &rules,
            workspace: &self.workspace,
            outputs: &outputs,
            read_marks: &self.read_marks,
            undo: None,
        };
        let agreed = match guard.prepare(&call, &policy) {
            Verdict::Run { .. } => None,
            Verdict::Refuse { text, summary, .. } => return Err(self.refused(tool, &summary, text).await),
            Verdict::Ask { kind, question } => match approve(&kind, &question, talk).await {
                Ok(agreed) => Some(agreed),
                Err(text) => return Err(self.refused(tool, &question, text).await),
            },
        };
        let context = Context {
            session: self.session,
            call: call.id.clone(),
            workspace: self.workspace.clone(),
            outputs,
            mode: self.mode,
            role: Role::Worker,
            rules: Arc::clone(&rules),
            approved: agreed.is_some(),
            read_marks: self.read_marks.clone(),
            cancel: talk.cancel().clone(),
            live: Arc::new(|_| {}),
        };
        let mut finished = guard.run_agreed(&call, context, agreed.as_deref()).await;
        self.engine.after_tool(self.session, &self.workspace, &call, &mut finished).await;
        match finished.outcome {
            Outcome::Ok => Ok(finished.output.text),
            Outcome::Denied | Outcome::Invalid => {
                Err(self.refused(tool, &finished.output.summary, finished.output.text).await)
            }
            Outcome::Failed | Outcome::Interrupted => Err(finished.output.text),
        }
    }

    /// No session's log tells of these calls.
    async fn refused(&self, tool: &str, summary: &str, reason: String) -> String {
        let (session, workspace) = (self.session, &*self.workspace);
        self.engine.note_refusal(&Refused { session, workspace, tool, summary, reason: &reason }).await;
        reason
    }

    async fn run_agent(&self, arguments: &JsonObject, talk: &Talk) -> Result<String, String> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let prompt = text("prompt").ok_or("Say what to do in `prompt`.")?;
        let said = |error: weft_engine::EngineError| error.to_string();
        let session = match text("session") {
            Some(prefix) => self.engine.store().find(prefix).map_err(|error| error.to_string())?,
            None => self
                .engine
                .create(NewSession {
                    workspace: self.workspace.clone(),
                    agent: text("agent").map(str::to_owned),
                    mode: Some(self.mode),
                    ..NewSession::default()
                })
                .map_err(said)?,
        };
        if text("session").is_some() {
            let state = self.engine.state(session).map_err(said)?;
            if state.workspace != self.workspace.to_string_lossy() {
                return Err("That session belongs to another folder.".to_owned());
            }
            if looseness(state.mode) > looseness(self.mode) {
                let reason = format!(
                    "That session is in `{}` mode, and whoever connects here gets `{}` mode. Begin another, or have the \
                     person change the session's mode.",
                    state.mode, self.mode
                );
                return Err(self.refused(RUN_AGENT, "Go on with a session", reason).await);
            }
        }
        let mut watch = self.engine.watch(session);
        self.engine.submit(session, vec![UserPart::text(prompt)], Delivery::Steer).await.map_err(said)?;
        let never = CancellationToken::new();
        let mut cancel = talk.cancel();
        loop {
            let live = tokio::select! {
                live = watch.next() => live.ok_or("Weft is closing.")?,
                () = cancel.cancelled() => {
                    self.engine.stop(session).await.map_err(said)?;
                    cancel = &never;
                    continue;
                }
            };
            match live {
                Live::Event(recorded) => {
                    if let Some(ended) = self.follow(session, &recorded.event, talk).await {
                        return ended;
                    }
                }
                Live::Notice(notice) => talk.progress(&notice).await,
                Live::Broken(reason) => return Err(reason.to_string()),
                Live::Lagged => {
                    watch = self.engine.watch(session);
                    let state = self.engine.state(session).map_err(said)?;
                    if state.turn.is_none() {
                        return Ok(last_words(&state, session));
                    }
                }
                Live::Text(_)
                | Live::Thinking(_)
                | Live::Partial { .. }
                | Live::ToolBegun { .. }
                | Live::ToolOutput { .. }
                | Live::ToolPartial { .. } => {}
            }
        }
    }

    /// What an event means for who waits for the end; something when this is the end.
    async fn follow(&self, session: SessionId, event: &Event, talk: &Talk) -> Option<Result<String, String>> {
        match event {
            Event::ToolStarted(started) => talk.progress(&started.summary).await,
            Event::AskRaised(raised) => return self.put(session, &raised.ask, talk).await,
            Event::TurnEnded(ended) => {
                let state = self.engine.state(session).ok()?;
                let words = last_words(&state, session);
                return Some(match ended.reason {
                    EndReason::Completed => Ok(words),
                    _ => Err(format!("{words}\n\n[It ended early. `weft sessions show {session}` tells why.]")),
                });
            }
            _ => {}
        }
        None
    }

    /// Puts a session's question to the person at the other end.
    async fn put(&self, session: SessionId, ask: &Ask, talk: &Talk) -> Option<Result<String, String>> {
        if !talk.can_ask() {
            let text = format!(
                "The session {session} waits for an answer: {} Answer with `weft answer {} yes --resume` (or no).",
                ask.question, ask.id
            );
            return Some(Err(text));
        }
        let answer = match &ask.kind {
            AskKind::Approval { .. } => match approve(&ask.kind, &ask.question, talk).await {
                Ok(_) => Answer::Approve { scope: Choice::Once },
                Err(_) => Answer::Reject { message: None },
            },
            AskKind::Question { options, .. } => {
                let field = if options.is_empty() {
                    json!({"type": "string", "title": "Answer"})
                } else {
                    json!({"type": "string", "title": "Answer", "enum": options})
                };
                let schema = json!({"type": "object", "properties": {"answer": field}, "required": ["answer"]});
                let answered = talk.ask(&ask.question, schema).await;
                match answered.as_ref().and_then(|form| form.get("answer")).and_then(Value::as_str) {
                    Some(text) => Answer::Text { text: text.to_owned() },
                    None => Answer::Reject { message: None },
                }
            }
            AskKind::Form { fields } => match talk.ask(&ask.question, weft_core::form::schema_of(fields)).await {
                Some(Value::Object(values)) => Answer::Form { values },
                Some(_) | None => Answer::Reject { message: None },
            },
        };
        match self.engine.answer(session, ask.id, answer, "mcp").await {
            Err(error @ EngineError::Secret { .. }) => Some(Err(format!("The answer was {error}."))),
            // Somebody else may have answered meanwhile; that counts.
            Ok(()) | Err(_) => None,
        }
    }
}

/// A yes from the person at the other end, or why not.
async fn approve(kind: &AskKind, question: &str, talk: &Talk) -> Result<String, String> {
    let AskKind::Approval { detail, grant, effect, .. } = kind else {
        return Err("This tool asks a person and cannot be used here.".to_owned());
    };
    if !talk.can_ask() {
        // What is asked for every time is asked for in `auto` too.
        let instead = match grant {
            Some(_) => "allow it with a rule in your settings, or start `weft mcp --mode auto`.",
            None => "or do it in Weft itself.",
        };
        return Err(format!(
            "Not done: {question} That needs a yes from a person, and this client cannot ask for one. \
             Use one that can, {instead}"
        ));
    }
    let schema = json!({
        "type": "object",
        "properties": {"allow": {"type": "boolean", "title": "Allow it?", "default": false}},
        "required": ["allow"],
    });
    let form = talk.ask(format!("{question}\n\n{detail}\n\n{effect}").trim_end(), schema).await;
    match form.as_ref().and_then(|form| form.get("allow")).and_then(Value::as_bool) {
        Some(true) => Ok(detail.clone()),
        Some(false) | None => Err(format!("Not done: the person did not allow it. {question}")),
    }
}

fn text_of(parts: &[Part]) -> String {
    let text = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::Thinking { .. } | Part::ToolCall(_) | Part::Opaque { .. } => None,
    });
    text.collect()
}

fn last_words(state: &State, session: SessionId) -> String {
    let said = state.conversation.entries.iter().rev().find_map(|entry| match &entry.message {
        Message::Assistant(parts) => Some(text_of(parts)).filter(|text| !text.trim().is_empty()),
        Message::User(_) | Message::Tool(_) => None,
    });
    format!("{}\n\n[session {session}]", said.unwrap_or_else(|| "It said nothing.".to_owned()))
}

fn transcript(state: &State) -> String {
    let mut text = String::new();
    for entry in &state.conversation.entries {
        match &entry.message {
            Message::User(parts) => {
                for part in parts {
                    if let UserPart::Text { text: said } = part {
                        text.push_str(&format!("**Person:** {said}\n\n"));
                    }
                }
            }
            Message::Assistant(parts) => text.push_str(&format!("**Agent:** {}\n\n", text_of(parts))),
            Message::Tool(results) => {
                for result in results {
                    text.push_str(&format!("**{}:**\n\n```\n{}\n```\n\n", result.name, result.text));
                }
            }
        }
        if text.len() > LONGEST_TRANSCRIPT {
            text.push_str("[The rest is left out.]");
            break;
        }
    }
    text
}
