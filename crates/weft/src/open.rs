//! Opens the engine for the folder that the command was started in.

use std::path::PathBuf;

use anyhow::Context as _;
use weft_core::{Cost, Limits, SessionId};
use weft_engine::{Engine, Home, Loaded, NewSession, Setup, Tape};

use crate::args::{ChatArgs, WorkArgs};
use crate::exit::UsageError;
use crate::{out, show};

pub struct Opened {
    pub engine: Engine,
    pub home: Home,
    pub workspace: PathBuf,
    /// What was odd about the settings.
    pub warnings: Vec<String>,
}

pub fn workspace() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot tell which folder this is; it may have been deleted. Go to another one")
}

pub fn settings(home: &Home, workspace: &std::path::Path) -> anyhow::Result<Loaded> {
    Ok(Loaded::read(home, workspace, |name| std::env::var(name).ok())?)
}

/// Opens everything, and tells of nothing but what happened to the database: that must be heard
/// whatever the command is.
pub fn open(tape: Option<Tape>) -> anyhow::Result<Opened> {
    let opened = open_silently(tape)?;
    if let Some(notice) = opened.engine.notice() {
        out::tell(&show::rows::problem(notice, &out::look_stderr()));
    }
    Ok(opened)
}

/// Opens everything, for who tells of it in another way.
pub fn open_silently(tape: Option<Tape>) -> anyhow::Result<Opened> {
    let home = Home::from_env();
    let workspace = workspace()?;
    let loaded = settings(&home, &workspace)?;
    let mut setup = Setup::new(home.clone(), loaded.config);
    setup.tape = tape;
    let engine = Engine::open(setup)?;
    Ok(Opened { engine, home, workspace, warnings: loaded.warnings })
}

/// Opens everything and tells what the person should know about it.
pub fn open_aloud(work: &WorkArgs) -> anyhow::Result<Opened> {
    let opened = open(tape(work))?;
    let look = out::look_stderr();
    for warning in &opened.warnings {
        out::tell(&show::rows::note(warning, &look));
    }
    Ok(opened)
}

pub fn tape(work: &WorkArgs) -> Option<Tape> {
    let record = work.record.clone().map(Tape::Record);
    record.or_else(|| work.replay.clone().map(Tape::Replay))
}

impl Opened {
    pub fn workspace_name(&self) -> String {
        self.workspace.to_string_lossy().into_owned()
    }

    /// The session that the flags name, if they name one.
    pub fn named_session(&self, args: &ChatArgs) -> anyhow::Result<Option<SessionId>> {
        if let Some(prefix) = &args.session {
            return Ok(Some(self.engine.store().find(prefix)?));
        }
        if !args.continue_last {
            return Ok(None);
        }
        match self.engine.store().latest(Some(&self.workspace_name()))? {
            Some(session) => Ok(Some(session)),
            None => Err(UsageError(
                "there is no session in this folder to go on with. Leave out `--continue` to start one".to_owned(),
            )
            .into()),
        }
    }

    pub fn create(&self, work: &WorkArgs, title: bool) -> anyhow::Result<SessionId> {
        Ok(self.engine.create(NewSession {
            workspace: self.workspace.clone(),
            agent: work.agent.clone(),
            model: work.model.clone(),
            mode: work.mode,
            limits: limits(work, &self.engine.config().limits),
            parent: None,
            title,
        })?)
    }

    /// Applies the flags to a session that exists.
    pub async fn apply(&self, session: SessionId, work: &WorkArgs) -> anyhow::Result<()> {
        if work.agent.is_some() {
            return Err(UsageError(
                "a session's agent is settled when it starts; leave out `--agent`, or start a new session".to_owned(),
            )
            .into());
        }
        if work.max_rounds.is_some() || work.max_cost.is_some() {
            let usual = self.engine.state(session)?.limits;
            if let Some(limits) = limits(work, &usual) {
                self.engine.set_limits(session, limits).await?;
            }
        }
        if let Some(model) = &work.model {
            self.engine.set_model(session, model.clone()).await?;
        }
        if let Some(mode) = work.mode {
            self.engine.set_mode(session, mode).await?;
        }
        Ok(())
    }
}

fn limits(work: &WorkArgs, usual: &Limits) -> Option<Limits> {
    if work.max_rounds.is_none() && work.max_cost.is_none() {
        return None;
    }
    Some(Limits {
        rounds: work.max_rounds.or(usual.rounds),
        cost: work.max_cost.map(Cost::from_usd).or(usual.cost),
        ..usual.clone()
    })
}
