//! A server of its own for each test, on a free port, with a model that says what the test wants.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use weft_engine::{Config, Engine, Home, Loaded, Setup};
use weft_knowledge::{Places, Shelf};
use weft_script::{Behaviour, Protocol, Reply, Seen, Server as Script};
use weft_server::tokens::Tokens;
use weft_server::{Backstage, Hook, NewSource, Options, Parts, Section, Server, SourceList};

pub const MODEL: &str = "anthropic/claude-sonnet-4-5";
const PATIENCE: Duration = Duration::from_secs(30);

pub struct World {
    pub home: tempfile::TempDir,
    pub folder: tempfile::TempDir,
    pub url: String,
    /// The name and port under which browsers ask.
    pub browser_host: String,
    pub token: String,
    pub engine: Engine,
    pub client: reqwest::Client,
    stop: CancellationToken,
    _script: Script,
}

/// A settings file that holds what the test puts there.
struct Plain {
    config: Mutex<Config>,
}

impl Backstage for Plain {
    fn settings(&self) -> Result<Loaded, String> {
        Ok(Loaded { config: self.config.lock().unwrap().clone(), ..Loaded::default() })
    }
    fn change(&self, changes: &[(String, Option<String>)]) -> Result<(), String> {
        let mut config = self.config.lock().unwrap();
        for (key, value) in changes {
            let value = value.as_deref().unwrap_or_default();
            match key.as_str() {
                "sandbox.mode" => config.sandbox = serde_json::from_str(value).map_err(|error| error.to_string())?,
                "budget.month_usd" => config.budget.month_usd = value.parse().ok(),
                "undo.keep_days" => config.undo.keep_days = value.parse().unwrap(),
                _ => return Err("not in this test".to_owned()),
            }
        }
        Ok(())
    }
    fn set_hooks(&self, _: &[Hook]) -> Result<(), String> {
        Err("not in this test".to_owned())
    }
    fn sources(&self) -> Result<SourceList, String> {
        Err("not in this test".to_owned())
    }
    fn add_source(&self, _: NewSource) -> Result<(), String> {
        Err("not in this test".to_owned())
    }
    fn remove_source(&self, _: &str) -> Result<(), String> {
        Err("not in this test".to_owned())
    }
    fn allow_source(&self, _: &str) -> Result<(), String> {
        Err("not in this test".to_owned())
    }
    fn doctor(&self) -> Vec<Section> {
        Vec::new()
    }
}

#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl World {
    /// The model answers by what was said last; titles are made of nothing.
    pub async fn new(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        // Whoever is first installs it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let script = Script::start(Behaviour::matching(move |seen| {
            let system = seen.body["system"].to_string();
            if system.contains("Title: give") { weft_script::text("A fine title") } else { answer(seen) }
        }))
        .unwrap();
        let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let engine = engine(home.path(), &script);
        let mut world = Self {
            url: String::new(),
            browser_host: String::new(),
            token: String::new(),
            home,
            folder,
            engine,
            client: reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .tls_backend_rustls()
                .build()
                .unwrap(),
            stop: CancellationToken::new(),
            _script: script,
        };
        world.serve().await;
        world
    }

    pub async fn saying(text: &'static str) -> Self {
        Self::new(move |_| weft_script::text(text)).await
    }

    async fn serve(&mut self) {
        let options = Options { address: ([127, 0, 0, 1], 0).into(), tls: None, insecure: false, hosts: Vec::new() };
        let tokens = Tokens::open(self.home.path());
        self.token = tokens.first().unwrap();
        let server = Server::bind(options, tokens).await.unwrap();
        let listening = server.listening();
        self.url = listening.url.trim_end_matches('/').to_owned();
        self.browser_host = listening.url_with_token.split('/').nth(2).unwrap().to_owned();
        self.run(server);
    }

    /// Starts one more server for this world.
    pub async fn another(&self) {
        self.another_url().await;
    }

    /// And where it is.
    pub async fn another_url(&self) -> String {
        let options = Options { address: ([127, 0, 0, 1], 0).into(), tls: None, insecure: false, hosts: Vec::new() };
        let server = Server::bind(options, Tokens::open(self.home.path())).await.unwrap();
        let url = server.listening().url.trim_end_matches('/').to_owned();
        self.run(server);
        url
    }

    /// Serves this world at another place.
    pub fn run(&self, server: Server) {
        let parts = Parts {
            engine: self.engine.clone(),
            home: Home::at(self.home.path()),
            workspace: self.folder.path().to_owned(),
            backstage: Arc::new(Plain { config: Mutex::new(config()) }),
            corpora: Arc::new(weft_research::Corpora::within(self.home.path(), Arc::new(|| 1_900_000_000_000))),
            knowledge: Arc::new(Shelf::new(Places::within(self.home.path()), Arc::new(|| 1_900_000_000_000))),
            version: "1.2.3-test",
            assets: None,
        };
        let stop = self.stop.clone();
        tokio::spawn(async move { server.serve(parts, stop).await.unwrap() });
    }

    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/{path}") };
        self.client.request(method.parse().unwrap(), format!("{}{path}", self.url))
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Got {
        let answer = request.send().await.unwrap();
        Got { status: answer.status().as_u16(), headers: answer.headers().clone(), text: answer.text().await.unwrap() }
    }

    pub async fn get(&self, path: &str) -> Got {
        self.send(self.request("GET", path).bearer_auth(&self.token)).await
    }

    pub async fn call(&self, method: &str, path: &str, body: Value) -> Got {
        let request = self.request(method, path).bearer_auth(&self.token);
        self.send(request.header("content-type", "application/json").body(body.to_string())).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Got {
        self.call("POST", path, body).await
    }

    /// A session in which something was said.
    pub async fn session(&self, words: &str) -> String {
        let body = json!({ "content": [{ "type": "text", "text": words }], "mode": "auto" });
        let created = self.post("sessions", body).await.expect(201);
        created["id"].as_str().unwrap().to_owned()
    }

    /// Looks again and again until something is so.
    pub async fn until<T>(&self, path: &str, so: impl Fn(&Value) -> Option<T>) -> T {
        for _ in 0..1_500 {
            let got = self.get(path).await;
            if got.status == 200
                && let Some(found) = so(&got.json())
            {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("waited 30 s at {path}: {:?}", self.get(path).await);
    }

    /// Until the session does nothing any more.
    pub async fn at_rest(&self, session: &str) -> Value {
        let path = format!("sessions/{session}");
        self.until(&path, |state| (state["turn"].is_null() && state["turns"] != 0).then(|| state.clone())).await
    }

    pub async fn events(&self, path: &str) -> Events {
        let answer = self.request("GET", path).bearer_auth(&self.token).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Events::of(answer)
    }

    /// The whole log, from disk.
    pub fn log(&self, session: &str) -> Vec<Value> {
        let events = self.engine.store().events(session.parse().unwrap(), 0, 100_000).unwrap();
        events.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn config() -> Config {
    Config { model: Some(MODEL.parse().unwrap()), ..Config::default() }
}

fn engine(home: &Path, script: &Script) -> Engine {
    let base = format!("{}/v1", script.url(Protocol::Anthropic));
    let mut setup = Setup::new(Home::at(PathBuf::from(home)), config());
    setup.env = Arc::new(move |name| match name {
        "ANTHROPIC_BASE_URL" => Some(base.clone()),
        "ANTHROPIC_API_KEY" => Some("test-key-000".to_owned()),
        _ => None,
    });
    // Research, as the program sets it up.
    let corpora = Arc::new(weft_research::Corpora::within(home, Arc::new(|| 1_900_000_000_000)));
    setup.registry = weft_research::tools(&corpora).into_iter().fold(setup.registry, weft_tool::Registry::with_extra);
    setup.flows = vec![weft_research::PACKED];
    setup.functions = vec![Arc::new(weft_research::ResearchFunctions)];
    Engine::open(setup).unwrap()
}

/// What a browser's `EventSource` would hand out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    pub event: String,
    pub id: Option<u64>,
    pub data: String,
}

impl Message {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

pub struct Events {
    from: From,
    buffer: Vec<u8>,
}

enum From {
    Answer(reqwest::Response),
    /// Read by the test itself, chunk by chunk. The head of the answer is skipped with the greeting.
    Socket(tokio::net::TcpStream),
}

impl Events {
    /// The next message; nothing when the stream has ended.
    pub async fn next(&mut self) -> Option<Message> {
        // Heartbeats do not count.
        let message = async {
            loop {
                let block = self.block().await?;
                let mut message = Message::default();
                for line in block.lines() {
                    match line.split_once(':') {
                        Some(("event", value)) => message.event = value.trim().to_owned(),
                        Some(("id", value)) => message.id = Some(value.trim().parse().unwrap()),
                        Some(("data", value)) => message.data.push_str(value.trim_start()),
                        _ => {}
                    }
                }
                if !message.event.is_empty() {
                    return Some(message);
                }
            }
        };
        tokio::time::timeout(PATIENCE, message).await.expect("the stream went silent")
    }

    /// The next comment, which is what heartbeats are; everything else is passed over.
    pub async fn comment(&mut self) -> String {
        loop {
            let block = self.block().await.expect("the stream goes on");
            if let Some(comment) = block.lines().find_map(|line| line.strip_prefix(':')) {
                return comment.trim().to_owned();
            }
        }
    }

    /// What stands between two empty lines.
    async fn block(&mut self) -> Option<String> {
        let mut searched = 0;
        loop {
            let found = self.buffer.get(searched..).unwrap_or_default().windows(2).position(|two| two == b"\n\n");
            if let Some(end) = found {
                let block: Vec<u8> = self.buffer.drain(..searched + end + 2).collect();
                return Some(String::from_utf8(block).unwrap());
            }
            searched = self.buffer.len().saturating_sub(1);
            match &mut self.from {
                From::Answer(answer) => match answer.chunk().await {
                    Ok(Some(bytes)) => self.buffer.extend_from_slice(&bytes),
                    Ok(None) | Err(_) => return None,
                },
                From::Socket(socket) => {
                    let mut read = vec![0; 64 * 1024];
                    match tokio::io::AsyncReadExt::read(socket, &mut read).await {
                        Ok(0) | Err(_) => return None,
                        Ok(length) => self.buffer.extend_from_slice(&read[..length]),
                    }
                }
            }
        }
    }

    /// Messages up to and with the first that fits.
    pub async fn until(&mut self, fits: impl Fn(&Message) -> bool) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            let found = fits(&message);
            messages.push(message);
            if found {
                return messages;
            }
        }
        panic!("the stream ended: {messages:#?}");
    }
}

pub fn is_event(message: &Message, kind: &str) -> bool {
    message.event == "event" && message.json()["type"] == kind
}

impl Events {
    /// Of a connection on which HTTP/1.0 was spoken, so that nothing but the stream is on it.
    pub const fn raw(socket: tokio::net::TcpStream) -> Self {
        Self { from: From::Socket(socket), buffer: Vec::new() }
    }

    pub const fn of(answer: reqwest::Response) -> Self {
        Self { from: From::Answer(answer), buffer: Vec::new() }
    }
}
