//! A home, a folder to work in, and a model server that says what the test wants.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use weft_script::{Behaviour, Protocol, Reply, Server, Settings};

pub const MODEL: &str = "anthropic/claude-sonnet-4-5";

pub struct World {
    pub home: tempfile::TempDir,
    pub folder: tempfile::TempDir,
    pub server: Server,
    key: String,
}

#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The events that `--json` printed.
    pub fn events(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    pub fn says(&self, text: &str) -> &Self {
        let all = format!("{}{}", self.stdout, self.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(text), "no {text:?} in {self:#?}");
        self
    }

    pub fn lacks(&self, text: &str) -> &Self {
        assert!(!self.stdout.contains(text), "{text:?} in {self:#?}");
        self
    }
}

impl World {
    pub fn new(replies: Vec<Reply>) -> Self {
        Self::behaving(Behaviour::Sequence(replies))
    }

    pub fn behaving(behaviour: Behaviour) -> Self {
        Self::with(Settings::new(behaviour))
    }

    pub fn with(settings: Settings) -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            folder: tempfile::tempdir().unwrap(),
            server: Server::start_thread(settings).unwrap(),
            key: "test-key-000".to_owned(),
        }
    }

    pub fn without_key(mut self) -> Self {
        self.key.clear();
        self
    }

    /// The environment of every command, and nothing else.
    pub fn environment(&self) -> Vec<(String, String)> {
        let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            owned("PATH", &std::env::var("PATH").unwrap()),
            owned("HOME", self.home.path().to_str().unwrap()),
            owned("WEFT_HOME", self.home.path().join("weft").to_str().unwrap()),
            owned("WEFT_MODEL", MODEL),
            owned("ANTHROPIC_BASE_URL", &format!("{}/v1", self.server.url(Protocol::Anthropic))),
            owned("ANTHROPIC_API_KEY", &self.key),
            owned("LANG", "C.UTF-8"),
        ]
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(arguments).current_dir(self.folder.path()).env_clear().envs(self.environment());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn weft(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).spawn().unwrap())
    }

    pub fn weft_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        finish(child)
    }

    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The only session there is.
    pub fn session(&self) -> String {
        let rows = self.weft(&["sessions", "list", "--json"]).expect(0).events();
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows[0]["id"].as_str().unwrap().to_owned()
    }
}

pub fn finish(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Looks again and again until something is so.
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..1_500 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited 30 s for {what}");
}

pub fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

pub fn exists(path: &Path) -> Option<()> {
    path.exists().then_some(())
}
