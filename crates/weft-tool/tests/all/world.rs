//! A workspace in a temporary folder, and calls made in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use weft_core::event::{Outcome, Plan};
use weft_core::{CallId, Mode, SessionId, ToolCall};
use weft_tool::{
    Context, Decision, Finished, Guard, GuardConfig, Policy, ReadMarks, Registry, Role, Rule, Rules, Verdict,
};

pub struct World {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
    pub workspace: PathBuf,
    pub guard: Guard,
    pub marks: ReadMarks,
    pub cancel: CancellationToken,
    pub mode: Mode,
    pub role: Role,
    pub rules: Arc<Rules>,
    pub approved: bool,
    pub live: Arc<Mutex<String>>,
}

pub fn call(name: &str, input: Value) -> ToolCall {
    ToolCall { id: CallId::new("call-1"), name: name.to_owned(), input, signature: None }
}

impl World {
    pub fn new() -> Self {
        Self::with(Registry::builtin(), GuardConfig::default())
    }

    pub fn with(registry: Registry, config: GuardConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let workspace = root.join("ws");
        std::fs::create_dir(&workspace).unwrap();
        Self {
            _dir: dir,
            root,
            workspace,
            guard: Guard::new(registry, config),
            marks: ReadMarks::default(),
            cancel: CancellationToken::new(),
            mode: Mode::Auto,
            role: Role::Worker,
            rules: Arc::default(),
            approved: false,
            live: Arc::default(),
        }
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.workspace.join(name)).unwrap()
    }

    pub fn allow(&mut self, rule: &str) {
        let rule = Rule::parse(Decision::Allow, rule, &self.workspace).unwrap();
        self.rules = Arc::new(self.rules.and([rule]));
    }

    pub fn deny(&mut self, rule: &str) {
        let rule = Rule::parse(Decision::Deny, rule, &self.workspace).unwrap();
        self.rules = Arc::new(self.rules.and([rule]));
    }

    /// The text of a call that must be refused.
    pub async fn refused(&self, name: &str, input: Value) -> String {
        let finished = self.run(name, input).await;
        assert_eq!(finished.outcome, Outcome::Denied, "{}", finished.output.text);
        finished.output.text
    }

    pub fn outputs(&self) -> PathBuf {
        self.root.join("outputs")
    }

    pub fn context(&self) -> Context {
        let live = self.live.clone();
        Context {
            session: SessionId::from_random(1),
            call: CallId::new("call-1"),
            workspace: self.workspace.clone(),
            outputs: self.outputs(),
            mode: self.mode,
            role: self.role,
            rules: self.rules.clone(),
            approved: self.approved,
            read_marks: self.marks.clone(),
            cancel: self.cancel.clone(),
            live: Arc::new(move |text| live.lock().unwrap().push_str(text)),
        }
    }

    pub async fn run(&self, name: &str, input: Value) -> Finished {
        self.guard.run(&call(name, input), self.context()).await
    }

    /// The text of a call that must go well.
    pub async fn ok(&self, name: &str, input: Value) -> String {
        let finished = self.run(name, input).await;
        assert_eq!(finished.outcome, Outcome::Ok, "{}", finished.output.text);
        finished.output.text
    }

    /// The text of a call that must fail.
    pub async fn fails(&self, name: &str, input: Value) -> String {
        let finished = self.run(name, input).await;
        assert_eq!(finished.outcome, Outcome::Failed, "{}", finished.output.text);
        finished.output.text
    }

    pub fn prepare(&self, name: &str, input: Value) -> Verdict {
        let outputs = self.outputs();
        let policy = Policy {
            mode: self.mode,
            role: self.role,
            rules: &self.rules,
            workspace: &self.workspace,
            outputs: &outputs,
            read_marks: &self.marks,
            undo: Some(1 << 20),
        };
        self.guard.prepare(&call(name, input), &policy)
    }

    pub fn plan(&self, name: &str, input: Value) -> Plan {
        self.guard.plan(&call(name, input), &self.workspace)
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
