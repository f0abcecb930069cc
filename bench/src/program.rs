//! The programs that are measured, each set up to talk to the scripted server and nothing else.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::process;

const PROMPT: &str = "Say hi, step by step.";
const KEY: &str = "bench-key";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Weft,
    Codex,
    Pi,
}

pub struct Program {
    pub kind: Kind,
    pub path: PathBuf,
}

/// Where a program works and what it remembers.
pub struct Site {
    pub home: PathBuf,
    pub workspace: PathBuf,
}

impl Site {
    /// An empty home and an empty workspace.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        let site = Self { home: folder.join("home"), workspace: folder.join("workspace") };
        std::fs::create_dir_all(&site.home)?;
        std::fs::create_dir_all(&site.workspace)?;
        Ok(site)
    }
}

impl Program {
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Weft => "weft",
            Kind::Codex => "codex",
            Kind::Pi => "pi",
        }
    }

    /// A shell command in the program's own words. It differs from round to round, since a program
    /// may stop a model that repeats itself.
    pub const fn call(&self) -> &'static str {
        match self.kind {
            Kind::Weft => r#"{"name":"shell","input":{"command":"echo hi {turn}-{round}"}}"#,
            Kind::Codex => r#"{"name":"exec_command","input":{"cmd":"echo hi {turn}-{round}"}}"#,
            Kind::Pi => r#"{"name":"bash","input":{"command":"echo hi {turn}-{round}"}}"#,
        }
    }

    /// One request in a new session, without asking for permission.
    pub fn new_session(&self, site: &Site, server: SocketAddr) -> std::io::Result<Command> {
        let mut command = self.start(site);
        match self.kind {
            Kind::Weft => {
                command.args(["run", "--mode", "auto", PROMPT]);
                point_weft(&mut command, server);
            }
            Kind::Codex => {
                std::fs::write(site.home.join("config.toml"), codex_config(server))?;
                command
                    .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT])
                    .env("CODEX_HOME", &site.home)
                    .env("BENCH_KEY", KEY);
            }
            Kind::Pi => {
                std::fs::write(site.home.join("models.json"), pi_models(server))?;
                command
                    .args(["-p", "--model", "bench/bench-model", "--thinking", "off", PROMPT])
                    .env("PI_CODING_AGENT_DIR", &site.home)
                    .env("PI_OFFLINE", "1")
                    .env("PI_TELEMETRY", "0");
            }
        }
        Ok(command)
    }

    /// One more request in a session. Only for Weft.
    pub fn continued(&self, site: &Site, server: SocketAddr, session: &str) -> Command {
        let mut command = self.start(site);
        command.args(["run", "--mode", "auto", "--session", session, PROMPT]);
        point_weft(&mut command, server);
        command
    }

    /// The program with nothing of this machine's own settings.
    pub fn start(&self, site: &Site) -> Command {
        let mut command = process::command(&self.path);
        command.env_clear().current_dir(&site.workspace).env("HOME", &site.home).env("WEFT_HOME", &site.home);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }
}

fn point_weft(command: &mut Command, server: SocketAddr) {
    command.env("ANTHROPIC_BASE_URL", format!("http://{server}")).env("ANTHROPIC_API_KEY", KEY);
}

fn codex_config(server: SocketAddr) -> String {
    format!(
        "model = \"gpt-5\"\nmodel_provider = \"bench\"\n\n[model_providers.bench]\nname = \"bench\"\n\
         base_url = \"http://{server}/v1\"\nwire_api = \"responses\"\nenv_key = \"BENCH_KEY\"\n\n\
         [analytics]\nenabled = false\n"
    )
}

fn pi_models(server: SocketAddr) -> String {
    json!({"providers": {"bench": {
        "baseUrl": format!("http://{server}"), "api": "anthropic-messages", "apiKey": KEY,
        "models": [{"id": "bench-model", "contextWindow": 200_000, "maxTokens": 32_000}],
    }}})
    .to_string()
}
