//! The scripted model server in a process of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use crate::process;

/// What the server does.
pub struct Script<'a> {
    pub rounds: usize,
    /// The tool call of each round.
    pub call: &'a str,
    pub delay_ms: u64,
    /// What it says in the end; the server's own words if left out.
    pub text: Option<&'a str>,
}

pub struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    log: tempfile::NamedTempFile,
    pub address: SocketAddr,
}

/// What the server counted.
#[derive(Debug, Clone, Deserialize)]
pub struct Stats {
    pub requests: usize,
    pub first_body_bytes: u64,
    pub body_bytes: u64,
    pub first_request_micros: Option<u64>,
}

/// What came, and when.
pub struct Served {
    pub stats: Stats,
    /// In microseconds since 1970, in order.
    pub arrivals: Vec<u64>,
}

impl Served {
    pub fn first_arrival(&self) -> anyhow::Result<u64> {
        self.stats.first_request_micros.context("no request reached the server")
    }
}

impl Server {
    pub fn start(program: &Path, script: &Script<'_>) -> anyhow::Result<Self> {
        let log = tempfile::NamedTempFile::new()?;
        let mut command = process::command(program);
        command
            .args(["--rounds", &script.rounds.to_string(), "--call", script.call])
            .args(["--delay-ms", &script.delay_ms.to_string()])
            .args(script.text.map(|text| ["--text", text]).into_iter().flatten())
            .arg("--log")
            .arg(log.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().context(format!("starting {}", program.display()))?;
        let mut out = BufReader::new(child.stdout.take().context("the server has no output")?);
        let mut line = String::new();
        out.read_line(&mut line)?;
        let Some(address) = line.trim().strip_prefix("listening on ").and_then(|address| address.parse().ok()) else {
            bail!("the scripted server did not start: it said `{}`", line.trim());
        };
        Ok(Self { child, out, log, address })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it and asks what it has seen.
    pub fn stop(mut self) -> anyhow::Result<Served> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("the server has no id")?;
        kill_process(id, Signal::TERM)?;
        let mut said = String::new();
        self.out.read_to_string(&mut said)?;
        self.child.wait()?;
        let stats = serde_json::from_str(said.trim()).context("reading the server's counts")?;
        let log = std::fs::read_to_string(self.log.path())?;
        let arrivals = log.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
        Ok(Served { stats, arrivals })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
