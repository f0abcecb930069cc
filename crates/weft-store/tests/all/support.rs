//! A home folder, and sessions that grow in it.

use std::path::PathBuf;

use tempfile::TempDir;
use weft_core::event::{
    AskRaised, Delivery, EndReason, InputReceived, Outcome, Output, RoundAnswered, RoundStarted, SessionStarted, Spent,
    StopReason, ToolFinished, ToolStarted, TurnEnded, TurnStarted,
};
use weft_core::{
    Ask, AskId, AskKind, CallId, Cost, Event, InputId, Limits, Mode, ModelName, Part, SessionId, State, Timestamp,
    ToolCall, Usage, UserPart,
};
use weft_store::{Append, Commit, Options, Store, StoreError};

pub struct Home {
    pub folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn options(&self) -> Options {
        Options {
            path: self.database(),
            backups: self.folder.path().join("backups"),
            locks: self.folder.path().join("locks"),
            commit: Commit::Thread,
        }
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("weft.db")
    }

    /// Opens the store and expects nothing unusual.
    pub fn open(&self) -> Store {
        let opened = Store::open(self.options()).unwrap();
        assert_eq!(opened.notice, None);
        opened.store
    }

    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn id(number: u64) -> SessionId {
    SessionId::from_random(number)
}

pub fn model() -> ModelName {
    ModelName::new("anthropic", "claude")
}

pub fn started(workspace: &str) -> Event {
    SessionStarted {
        workspace: workspace.to_owned(),
        agent: "guide".to_owned(),
        model: model(),
        mode: Mode::Ask,
        limits: Limits { wall_clock_ms: None, ..Limits::default() },
        origin: None,
        labels: Default::default(),
    }
    .into()
}

pub fn input(number: u64, text: &str) -> Event {
    let content = vec![UserPart::text(text)];
    InputReceived { input: InputId::from_random(number), content, delivery: Delivery::FollowUp, shorthand: None }.into()
}

pub fn turn(number: u32, inputs: &[u64]) -> Event {
    TurnStarted { turn: number, inputs: inputs.iter().map(|input| InputId::from_random(*input)).collect() }.into()
}

pub fn round(number: u32) -> Event {
    RoundStarted { round: number, attempt: 1, model: model(), steered: Vec::new() }.into()
}

pub fn spent(cost: u64) -> Spent {
    let usage = Usage { input: 100, output: 10, ..Usage::default() };
    Spent { model: model(), usage, cost: Cost(cost), millis: 7 }
}

pub fn answer(text: &str, calls: &[&str]) -> Event {
    let mut parts = vec![Part::Text { text: text.to_owned() }];
    parts.extend(calls.iter().map(|call| {
        Part::ToolCall(ToolCall {
            id: CallId::new(*call),
            name: "shell".to_owned(),
            input: serde_json::json!({ "command": "true" }),
            signature: None,
        })
    }));
    let stop = if calls.is_empty() { StopReason::End } else { StopReason::ToolCalls };
    RoundAnswered { parts, stop, spent: spent(1_000), thinking_millis: 0, plan: Vec::new() }.into()
}

pub fn tool_started(call: &str) -> Event {
    ToolStarted { call: CallId::new(call), tool: "shell".to_owned(), summary: "Run `true`".to_owned() }.into()
}

pub fn tool_finished(call: &str, text: &str) -> Event {
    let output = Output { text: text.to_owned(), summary: "Ran `true`".to_owned(), ..Output::default() };
    ToolFinished { call: CallId::new(call), tool: "shell".to_owned(), outcome: Outcome::Ok, output, millis: 3 }.into()
}

pub fn ask(number: u64, call: &str) -> Event {
    let kind = AskKind::Question { options: vec!["yes".to_owned(), "no".to_owned()], several: false };
    let question = format!("May I, {number}?");
    AskRaised { ask: Ask { id: AskId::from_random(number), call: CallId::new(call), kind, question, deadline: None } }
        .into()
}

pub fn ended(turn: u32) -> Event {
    TurnEnded { turn, reason: EndReason::Completed }.into()
}

/// A session as one process sees it: its state, and the clock.
#[derive(Clone)]
pub struct Session {
    pub state: State,
    pub now: i64,
}

impl Session {
    pub fn new(number: u64) -> Self {
        Self { state: State::new(id(number)), now: 1_700_000_000_000 }
    }

    pub async fn started(store: &Store, number: u64) -> Self {
        let mut session = Self::new(number);
        session.append(store, vec![started("/home/ada/project")]).await.unwrap();
        session
    }

    pub fn id(&self) -> SessionId {
        self.state.id
    }

    /// What would be appended, and the state after it.
    pub fn plan(&self, events: Vec<Event>) -> (Append, State) {
        let mut after = self.state.clone();
        let at = Timestamp(self.now + 1);
        for event in &events {
            let seq = after.seq + 1;
            after.apply(seq, at, event);
        }
        (Append::new(self.state.seq, &after, at, events), after)
    }

    pub async fn append(&mut self, store: &Store, events: Vec<Event>) -> Result<(), StoreError> {
        let (append, after) = self.plan(events);
        store.append(append).await?;
        self.state = after;
        self.now += 1;
        Ok(())
    }
}
