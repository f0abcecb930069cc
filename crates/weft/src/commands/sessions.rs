//! `weft sessions`: list, show, fork and delete; export and import are in [`super::transfer`].

use std::borrow::Cow;
use std::io::{BufRead, IsTerminal};

use serde_json::json;
use weft_core::event::Event;
use weft_core::{SessionId, Status};
use weft_engine::{Clock, Engine};
use weft_store::{ListFilter, Owner, SessionName, SessionRow};

use crate::args::SessionsCommand;
use crate::commands::transfer;
use crate::exit::{Exit, UsageError};
use crate::headless::PAGE;
use crate::open::{self, Opened};
use crate::out;
use crate::show::card::{CardView, card_lines};
use crate::show::clean::{as_row, clean_row};
use crate::show::columns::{Columns, columns};
use crate::show::rows::note;
use crate::show::style::{BOLD, DIM, Line, Look};
use crate::show::transcript::Transcript;
use crate::show::units::{ago, moment};

pub async fn run(command: SessionsCommand) -> anyhow::Result<Exit> {
    match command {
        SessionsCommand::List { all, workspace, json, limit } => {
            let workspace = match (all, workspace) {
                (true, _) => None,
                (false, Some(folder)) => Some(std::path::absolute(folder)?),
                (false, None) => Some(open::workspace()?),
            };
            list(workspace.map(|folder| folder.to_string_lossy().into_owned()), json, limit)
        }
        SessionsCommand::Show { session, events, json } => {
            let (opened, session) = open_at(&session)?;
            show(&opened.engine, session, events, json)
        }
        SessionsCommand::Fork { session, at } => {
            let (opened, session) = open_at(&session)?;
            let fork = opened.fork(session, at).await?;
            out::stdout(&format!("{fork}\n"));
            out::tell(&note(&format!("Go on in the copy with: `weft --session {fork}`"), &out::look_stderr()));
            Ok(Exit::Done)
        }
        SessionsCommand::Export { session, output } => {
            let (opened, session) = open_at(&session)?;
            transfer::export(&opened, session, output.as_deref())
        }
        SessionsCommand::Import { files } => transfer::import(&open::open_to_look()?, &files).await,
        SessionsCommand::Delete { session, yes } => {
            let (opened, session) = open_at(&session)?;
            delete(&opened, session, yes).await
        }
    }
}

fn open_at(prefix: &str) -> anyhow::Result<(Opened, SessionId)> {
    let opened = open::open_to_look()?;
    let session = opened.engine.store().find(prefix)?;
    Ok((opened, session))
}

fn list(workspace: Option<String>, json: bool, limit: usize) -> anyhow::Result<Exit> {
    let everywhere = workspace.is_none();
    let filter = ListFilter { workspace, limit: Some(limit), ..ListFilter::default() };
    let store = open::store_to_look()?;
    if json {
        store.list(&filter)?.iter().for_each(|row| out::json_line(&as_json(row)));
        return Ok(Exit::Done);
    }
    let rows = store.names(&filter)?;
    if rows.is_empty() {
        let words = if everywhere {
            "There are no sessions yet."
        } else {
            "No sessions in this folder; `--all` lists every one."
        };
        out::print(&note(words, &out::look_stdout()));
        return Ok(Exit::Done);
    }
    out::print_columns(session_rows(&rows, Clock::System.now(), &out::look_stdout()));
    Ok(Exit::Done)
}

/// Sessions as a list, also for the chat.
pub fn session_rows(rows: &[SessionName], now: weft_core::Timestamp, look: &Look) -> Columns<5> {
    let cells = rows.iter().map(|row| {
        let (id, changed, cost) = (row.id.to_string(), ago(row.updated_at, now), row.cost.to_string());
        let name = as_row(row.name.as_deref().unwrap_or(NOTHING_SAID));
        [id.into(), state_word(row.status, row.owner).into(), changed.into(), cost.into(), name]
    });
    columns::<5, Cow<'_, str>>(&["session", "state", "changed", " cost", "about"], cells, look)
}

const NOTHING_SAID: &str = "(nothing said yet)";

/// What a person calls it.
pub fn name(row: &SessionRow) -> String {
    clean_row(row.title.as_deref().or(row.preview.as_deref()).unwrap_or(NOTHING_SAID))
}

const fn state_word(status: Status, owner: Owner) -> &'static str {
    match (status, owner) {
        (Status::Running, Owner::Me | Owner::Alive { .. }) => "running",
        (Status::Running, Owner::Nobody | Owner::Dead) => "unfinished",
        (Status::Idle | Status::Waiting | Status::Failed, _) => status.name(),
    }
}

fn as_json(row: &SessionRow) -> serde_json::Value {
    json!({
        "id": row.id,
        "state": state_word(row.status, row.owner),
        "title": row.title,
        "preview": row.preview,
        "workspace": row.workspace,
        "agent": row.agent,
        "model": row.model,
        "mode": row.mode,
        "turns": row.turns,
        "cost_usd": row.cost.usd(),
        "tokens": row.tokens,
        "asks": row.asks,
        "events": row.seq,
        "parent": row.parent,
        "forked_at": row.forked_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    })
}

fn show(engine: &Engine, session: SessionId, events: bool, json: bool) -> anyhow::Result<Exit> {
    let look = out::look_stdout();
    let state = engine.state(session)?;
    if !json {
        let title = state.title.as_deref().map_or_else(|| format!("Session {session}"), clean_row);
        let dot = look.sign("·", "-");
        let facts = format!("{session} {dot} {} {dot} {} {dot} {}", state.model, state.cost, moment(state.created_at));
        out::print(&[Line::new(title, BOLD), Line::new(facts, DIM), Line::blank()]);
    }
    let mut transcript = Transcript::new(look);
    let mut seq = 0;
    loop {
        let page = engine.store().events(session, seq, PAGE)?;
        let Some(last) = page.last() else { break };
        seq = last.seq;
        for recorded in &page {
            if json {
                out::event_line(recorded);
            } else if events {
                out::print(&[event_row(recorded.seq, recorded.at, &recorded.event, &look)]);
            } else {
                out::print(&transcript.event(recorded));
            }
        }
    }
    if !json && !events {
        for ask in transcript.asks() {
            let view =
                CardView { ask, chosen: &[], writing: false, behind: 0, detail_rows: 20, keys: false, problem: None };
            out::print(&[Line::blank()]);
            out::print(&card_lines(&view, &look));
            out::print(&note(&format!("Answer with: `weft answer {} ANSWER`", ask.id), &look));
        }
    }
    Ok(Exit::Done)
}

/// An event as one row: its number, time, kind, and the rest as JSON.
fn event_row(seq: u64, at: weft_core::Timestamp, event: &Event, look: &Look) -> Line {
    let mut fields = serde_json::to_value(event).unwrap_or_default();
    let kind = fields.as_object_mut().and_then(|fields| fields.remove("type"));
    let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("unknown").to_owned();
    let time = moment(at);
    let line = Line::new(format!("{seq:>6}  {time}  "), DIM).with(format!("{kind:<18} "), BOLD);
    line.with(clean_row(&fields.to_string()), DIM).fitted(look.width, look)
}

async fn delete(opened: &Opened, session: SessionId, yes: bool) -> anyhow::Result<Exit> {
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(UsageError("deleting cannot be undone: add --yes to confirm".to_owned()).into());
        }
        let state = opened.engine.state(session)?;
        let title = state.title.map_or_else(|| session.to_string(), |title| clean_row(&title));
        out::stderr(&format!("Delete “{title}” ({} turns) for good? [y/N] ", state.turns));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            out::tell(&note("Nothing was deleted.", &out::look_stderr()));
            return Ok(Exit::Done);
        }
    }
    opened.engine.store().delete(session).await?;
    let outputs = opened.home.outputs(session);
    weft_tool::jobs::end_all(&outputs);
    if outputs.exists() {
        std::fs::remove_dir_all(&outputs)?;
    }
    out::tell(&note(&format!("Deleted session {session}."), &out::look_stderr()));
    Ok(Exit::Done)
}
