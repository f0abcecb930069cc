//! One program, one session at a time: start, rounds, memory, bytes.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::process::{self, Peak};
use crate::program::{Program, Site};
use crate::script::{Script, Served, Server};

pub const ROUNDS: usize = 20;

/// What is measured with, and where.
pub struct Bench<'a> {
    pub script: &'a Path,
    /// A folder for throwing away, on the disk that is measured.
    pub work: &'a Path,
}

/// A run of several rounds.
pub struct Rounds {
    pub per_round_ms: f64,
    pub served: Served,
}

impl Bench<'_> {
    pub fn folder(&self) -> anyhow::Result<tempfile::TempDir> {
        Ok(tempfile::tempdir_in(self.work)?)
    }

    fn server(&self, program: &Program, rounds: usize) -> anyhow::Result<Server> {
        Server::start(self.script, &Script { rounds, call: program.call(), delay_ms: 0, text: None })
    }

    /// Start to first request in milliseconds, as often as asked. Warm runs share a home, and the
    /// one that makes it is not counted.
    pub fn starts(&self, program: &Program, times: usize, warm: bool) -> anyhow::Result<Vec<f64>> {
        let shared = self.folder()?;
        let mut measured = Vec::with_capacity(times);
        for number in 0..times + usize::from(warm) {
            let fresh = self.folder()?;
            let site = Site::new(if warm { shared.path() } else { fresh.path() })?;
            let server = self.server(program, 0)?;
            let command = program.new_session(&site, server.address)?;
            let (start, _) = start_of(command, server)?;
            if !warm || number > 0 {
                measured.push(start);
            }
        }
        Ok(measured)
    }

    /// A new session of 20 rounds.
    pub fn new_rounds(&self, program: &Program) -> anyhow::Result<Rounds> {
        let folder = self.folder()?;
        let site = Site::new(folder.path())?;
        let server = self.server(program, ROUNDS)?;
        let command = program.new_session(&site, server.address)?;
        rounds_of(command, server)
    }

    /// A session that exists, continued for some rounds.
    pub fn continued_rounds(&self, weft: &Program, site: &Site, session: &str) -> anyhow::Result<Rounds> {
        let server = self.server(weft, ROUNDS)?;
        let command = weft.continued(site, server.address, session);
        rounds_of(command, server)
    }

    pub fn continued_start(&self, weft: &Program, site: &Site, session: &str) -> anyhow::Result<(f64, Served)> {
        let server = self.server(weft, 0)?;
        let command = weft.continued(site, server.address, session);
        start_of(command, server)
    }

    /// The most memory of a new session of 20 rounds.
    pub fn memory(&self, program: &Program) -> anyhow::Result<Peak> {
        let folder = self.folder()?;
        let site = Site::new(folder.path())?;
        let server = self.server(program, ROUNDS)?;
        let command = program.new_session(&site, server.address)?;
        watched(command, server)
    }

    pub fn continued_memory(&self, weft: &Program, site: &Site, session: &str) -> anyhow::Result<Peak> {
        let server = self.server(weft, ROUNDS)?;
        let command = weft.continued(site, server.address, session);
        watched(command, server)
    }

    /// How often a run of 20 rounds synced to disk; `None` without strace.
    pub fn syncs(&self, weft: &Program) -> anyhow::Result<Option<usize>> {
        let folder = self.folder()?;
        let site = Site::new(folder.path())?;
        let server = self.server(weft, ROUNDS)?;
        let plain = weft.new_session(&site, server.address)?;
        let trace = folder.path().join("trace");
        let mut traced = process::command("strace");
        traced.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(&trace).arg(plain.get_program());
        traced.args(plain.get_args()).env_clear();
        for (name, value) in plain.get_envs() {
            if let Some(value) = value {
                traced.env(name, value);
            }
        }
        if let Some(folder) = plain.get_current_dir() {
            traced.current_dir(folder);
        }
        if process::run(traced).is_err() {
            return Ok(None);
        }
        let trace = std::fs::read_to_string(&trace)?;
        // A call that another thread cuts in on has a second line, `<... fsync resumed>`.
        Ok(Some(trace.lines().filter(|line| line.contains("sync(")).count()))
    }
}

fn start_of(command: Command, server: Server) -> anyhow::Result<(f64, Served)> {
    let run = process::run(command)?;
    let served = server.stop()?;
    Ok((millis_between(run.started_micros, served.first_arrival()?), served))
}

fn rounds_of(command: Command, server: Server) -> anyhow::Result<Rounds> {
    let run = process::run(command)?;
    let served = server.stop()?;
    check(&served)?;
    let start_ms = millis_between(run.started_micros, served.first_arrival()?);
    let per_round_ms = (run.wall.as_secs_f64() * 1e3 - start_ms) / ROUNDS as f64;
    Ok(Rounds { per_round_ms, served })
}

fn watched(command: Command, server: Server) -> anyhow::Result<Peak> {
    let (_, peak) = process::run_watched(command)?;
    check(&server.stop()?)?;
    Ok(peak)
}

/// A run that gave up half-way would look fast.
fn check(served: &Served) -> anyhow::Result<()> {
    let (came, wanted) = (served.stats.requests, ROUNDS + 1);
    if came < wanted {
        bail!("only {came} of {wanted} requests reached the server");
    }
    served.arrivals.first().context("the server logged nothing").map(drop)
}

fn millis_between(earlier: u64, later: u64) -> f64 {
    later.saturating_sub(earlier) as f64 / 1e3
}
