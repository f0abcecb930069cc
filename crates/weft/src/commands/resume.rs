//! `weft resume`: finishes what a crash, a limit or an answer left to be done.

use weft_core::{SessionId, Status};
use weft_engine::EngineError;

use crate::args::{ResumeArgs, WorkArgs};
use crate::commands::unfinished;
use crate::exit::Exit;
use crate::headless::Headless;
use crate::open::{self, Opened};
use crate::out;
use crate::show::clean::clean_row;
use crate::show::rows::note;

pub async fn run(args: ResumeArgs) -> anyhow::Result<Exit> {
    let opened = open::open_aloud(&args.work)?;
    let sessions = match &args.session {
        Some(prefix) => vec![opened.engine.store().find(prefix)?],
        None => left_to_do(&opened)?,
    };
    if sessions.is_empty() {
        out::tell(&note("Nothing to resume in this folder.", &out::look_stderr()));
        return Ok(Exit::Done);
    }
    let mut exit = Exit::Done;
    for session in sessions {
        exit = exit.worse(carry_on(&opened, session, &args.work, args.json).await?);
        if exit == Exit::Interrupted {
            break;
        }
    }
    Ok(exit)
}

/// What a crash or an answer left in this folder; if nothing, the last session if it ended early.
fn left_to_do(opened: &Opened) -> anyhow::Result<Vec<SessionId>> {
    let left = unfinished(opened)?;
    if !left.is_empty() {
        return Ok(left.into_iter().map(|row| row.id).collect());
    }
    let Some(latest) = opened.engine.store().latest(Some(&opened.workspace_name()))? else { return Ok(Vec::new()) };
    let ended_early = opened.engine.state(latest)?.status() == Status::Failed;
    Ok(ended_early.then_some(latest).into_iter().collect())
}

pub async fn carry_on(opened: &Opened, session: SessionId, work: &WorkArgs, json: bool) -> anyhow::Result<Exit> {
    let look = out::look_stderr();
    let mut headless = Headless::new(&opened.engine, session, json);
    opened.apply(session, work).await?;
    let state = opened.engine.state(session)?;
    let status = state.status();
    let name = state.title.map(|title| format!(": {}", clean_row(&title))).unwrap_or_default();
    if !json {
        out::tell(&note(&format!("Resuming {session}{name}"), &look));
    }
    if status == Status::Waiting {
        return Ok(headless.waiting());
    }
    match opened.engine.carry_on(session).await {
        Ok(()) => headless.follow().await,
        Err(EngineError::Rejected(reason)) => {
            out::tell(&note(&format!("Session {session}: {reason}."), &look));
            Ok(Exit::Done)
        }
        Err(error) => Err(error.into()),
    }
}
