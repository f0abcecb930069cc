//! What the tests share: sources in a folder of their own, and calls through the real guard.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use weft_core::event::Outcome;
use weft_core::{CallId, Field, Mode, SessionId, ToolCall, form};
use weft_mcp::client::host::{Caller, Handle, Host, Question, Sample, Sampled, Secret};
use weft_mcp::config::{Origin, SourceTable};
use weft_mcp::oauth::Tokens;
use weft_mcp::sources::{Source, Surroundings};
use weft_mcp::trust::Trust;
use weft_mcp::{Limits, Sources};
use weft_tool::{Context, Finished, Guard, GuardConfig, Policy, ReadMarks, Redaction, Registry, Toolbox as _, Verdict};

pub struct World {
    pub folder: TempDir,
    pub sources: Arc<Sources>,
    pub asked: Arc<Mutex<Vec<Question>>>,
    pub live: Arc<Mutex<String>>,
    pub cancel: CancellationToken,
    pub tokens: Arc<Pocket>,
}

/// Answers every question that must be answered with the same words, and every conversation with an echo.
pub struct Parrot {
    pub asked: Arc<Mutex<Vec<Question>>>,
    pub says: Option<String>,
}

impl Host for Parrot {
    fn ask(&self, _: Caller, question: Question) -> BoxFuture<'static, Option<String>> {
        self.asked.lock().unwrap().push(question);
        let says = self.says.clone();
        Box::pin(async move {
            match says {
                Some(says) => Some(says),
                None => std::future::pending().await,
            }
        })
    }

    fn fill(&self, _: Caller, text: String, fields: Vec<Field>) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.asked.lock().unwrap().push(Question { text, options: Vec::new(), several: false });
        let Some(says) = self.says.clone() else { return Box::pin(std::future::pending()) };
        let value = |field: &Field| form::read(field, if field.required { &says } else { "" }).unwrap();
        let values = fields.iter().filter_map(|field| Some((field.name.clone(), value(field)?))).collect();
        Box::pin(async move { Some(values) })
    }

    fn credential(&self, _: Caller, secret: Secret) -> BoxFuture<'static, Result<Handle, String>> {
        let handle: Handle = Box::new(move || (secret.reveal)().ok_or_else(|| "there is none".to_owned()));
        Box::pin(async move { Ok(handle) })
    }

    fn sample(&self, _: Caller, source: String, sample: Sample) -> BoxFuture<'static, Result<Sampled, String>> {
        let said = sample.messages.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ");
        let text = format!("{source} said: {said}");
        Box::pin(async move { Ok(Sampled { text, model: "parrot".to_owned(), cut_short: false }) })
    }
}

/// Tokens in memory.
#[derive(Default)]
pub struct Pocket(Mutex<std::collections::BTreeMap<String, String>>);

impl Tokens for Pocket {
    fn load(&self, source: &str) -> Result<Option<String>, String> {
        Ok(self.0.lock().unwrap().get(source).cloned())
    }

    fn save(&self, source: &str, text: &str) -> Result<(), String> {
        self.0.lock().unwrap().insert(source.to_owned(), text.to_owned());
        Ok(())
    }

    fn clear(&self, source: &str) -> Result<(), String> {
        self.0.lock().unwrap().remove(source);
        Ok(())
    }
}

/// A program that the build made beside the tests.
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let file = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(file.exists(), "{} is not built; `cargo build --examples` makes it", file.display());
    file
}

impl World {
    /// One source `it`, with these limits; `says` is what the person answers to everything.
    pub fn new(table: SourceTable, limits: Limits, says: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = table.resolve("it", Origin::User).unwrap();
        let tokens = Arc::<Pocket>::default();
        let around = Surroundings {
            limits,
            env: Arc::new(|name| std::env::var(name).ok()),
            vault: Arc::new(|name| (name == "key").then(|| "s3cret-value-of-the-vault".to_owned())),
            taken: None,
            redaction: Redaction::default(),
            cache: None,
            trust: Trust::open(folder.path()),
            tokens: Some(Arc::clone(&tokens) as Arc<dyn Tokens>),
            fencing: None,
            client_metadata_url: None,
        };
        let sources = Arc::new(Sources::new(vec![config], folder.path(), around));
        let asked = Arc::<Mutex<Vec<Question>>>::default();
        sources.set_host(Arc::new(Parrot { asked: Arc::clone(&asked), says: says.map(str::to_owned) }));
        Self { folder, sources, asked, live: Arc::default(), cancel: CancellationToken::new(), tokens }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn source(&self) -> Arc<Source> {
        self.sources.get("it").unwrap()
    }

    /// The guard over the built-in tools and those of the source, as a session has them.
    pub fn guard(&self) -> Guard {
        let registry = self.sources.tools(self.path(), &[]).into_iter().fold(Registry::builtin(), Registry::with);
        Guard::new(registry, GuardConfig::default())
    }

    fn context(&self, mode: Mode, approved: bool) -> Context {
        let live = Arc::clone(&self.live);
        Context {
            session: SessionId::from_random(1),
            call: CallId::new("c1".to_owned()),
            workspace: self.path().to_owned(),
            outputs: self.path().join("outputs"),
            mode,
            role: weft_tool::Role::Worker,
            rules: Arc::default(),
            approved,
            read_marks: ReadMarks::default(),
            cancel: self.cancel.clone(),
            live: Arc::new(move |text| live.lock().unwrap().push_str(text)),
        }
    }

    pub async fn call(&self, tool: &str, input: Value) -> Finished {
        let call = ToolCall { id: CallId::new("c1".to_owned()), name: tool.to_owned(), input, signature: None };
        self.guard().run(&call, self.context(Mode::Auto, false)).await
    }

    /// What the guard would do with a call.
    pub fn verdict(&self, tool: &str, input: Value, mode: Mode) -> Verdict {
        let call = ToolCall { id: CallId::new("c1".to_owned()), name: tool.to_owned(), input, signature: None };
        let context = self.context(mode, false);
        let policy: Policy<'_> = context.policy();
        self.guard().prepare(&call, &policy)
    }

    pub async fn ready(&self) -> Vec<String> {
        self.sources.ready(self.path(), &[]).await
    }

    pub fn tool_names(&self) -> Vec<String> {
        self.sources.tools(self.path(), &[]).iter().map(|tool| tool.name().to_owned()).collect()
    }
}

pub fn failed(finished: &Finished) -> bool {
    finished.outcome == Outcome::Failed
}
