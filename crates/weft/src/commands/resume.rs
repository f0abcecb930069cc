//! `weft resume`: finishes what a crash, a limit or an answer left to be done.

use std::time::Duration;

use weft_core::{SessionId, Status};
use weft_engine::EngineError;
use weft_store::{ListFilter, SessionRow};

use crate::args::{ResumeArgs, WorkArgs};
use crate::commands::{is_untouched_fork, unfinished};
use crate::exit::Exit;
use crate::headless::{Headless, PAGE};
use crate::open::{self, Opened};
use crate::out;
use crate::show::clean::clean_row;
use crate::show::rows::note;

pub async fn run(args: ResumeArgs) -> anyhow::Result<Exit> {
    let opened = open::open_aloud(&args.work)?;
    if let Some(prefix) = &args.session {
        return carry_on(
            &opened,
            opened.engine.store().find(prefix)?,
            &args.work,
            args.json,
            Some(args.wait.patience()),
        )
        .await;
    }
    let left = left_to_do(&opened)?;
    let Some(newest) = left.first() else {
        out::tell(&note(&nothing_left(&opened)?, &out::look_stderr()));
        return Ok(Exit::Done);
    };
    let exit = carry_on(&opened, newest.id, &args.work, args.json, Some(args.wait.patience())).await?;
    if let Some(next) = left.get(1) {
        let words = format!("{} left to finish here; the next: `weft resume {}`", left.len() - 1, next.id);
        out::tell(&note(&words, &out::look_stderr()));
    }
    Ok(exit)
}

/// What a crash or an answer left in this folder, and what ended early; the newest first.
fn left_to_do(opened: &Opened) -> anyhow::Result<Vec<SessionRow>> {
    let ended_early = ListFilter {
        workspace: Some(opened.workspace_name()),
        status: Some(Status::Failed),
        limit: Some(PAGE),
        children: false,
    };
    let mut rows = unfinished(opened)?;
    let failed = opened.engine.store().list(&ended_early)?;
    rows.extend(failed.into_iter().filter(|row| !row.owner.is_alive() && !is_untouched_fork(row)));
    rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at));
    rows.dedup_by_key(|row| row.id);
    Ok(rows)
}

fn nothing_left(opened: &Opened) -> anyhow::Result<String> {
    let waiting =
        ListFilter { workspace: Some(opened.workspace_name()), status: Some(Status::Waiting), ..ListFilter::default() };
    Ok(match opened.engine.store().list(&waiting)?.first() {
        None => "Nothing to resume in this folder.".to_owned(),
        Some(row) => {
            format!("Nothing to resume in this folder. Session {} waits for an answer: see `weft asks`", row.id)
        }
    })
}

/// `patience` is how long what sources ask waits for an answer from elsewhere, if not for as long as
/// it may.
pub async fn carry_on(
    opened: &Opened,
    session: SessionId,
    work: &WorkArgs,
    json: bool,
    patience: Option<Duration>,
) -> anyhow::Result<Exit> {
    let look = out::look_stderr();
    let headless = Headless::new(&opened.engine, session, json);
    let mut headless = match patience {
        Some(patience) => headless.declining_after(patience),
        None => headless,
    };
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
