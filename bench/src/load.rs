//! Many sessions at once in one process, through the engine as the product uses it.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, bail};
use weft_core::event::{Delivery, EndReason};
use weft_core::{Event, Mode, SessionId, UserPart};
use weft_engine::config::ProviderSettings;
use weft_engine::{Config, Engine, Home, Live, NewSession, Setup};
use weft_store::{ListFilter, Store};

use crate::bare::Outcome;
use crate::{process, store};

/// A tool that needs nothing but the processor.
pub const CALL: &str = r#"{"name":"todo","input":{"items":[{"text":"step {round}","state":"active"}]}}"#;

/// Everything that is waited for: the database is opened, all sessions run, and all of it is on disk.
pub async fn run(url: &str, home: PathBuf, workspace: PathBuf, sessions: usize) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let mut config =
        Config { model: Some("anthropic/claude-sonnet-4-5".parse().map_err(anyhow::Error::msg)?), ..Config::default() };
    let provider =
        ProviderSettings { base_url: Some(url.to_owned()), concurrency: Some(sessions), ..ProviderSettings::default() };
    config.providers.insert("anthropic".to_owned(), provider);
    let mut setup = Setup::new(Home::at(home), config);
    setup.env = std::sync::Arc::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "bench-key".to_owned()));
    let engine = Engine::open(setup)?;
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..sessions {
        let (engine, workspace) = (engine.clone(), workspace.clone());
        running.spawn(async move { converse(&engine, workspace).await });
    }
    let mut failed = 0;
    while let Some(session) = running.join_next().await {
        failed += usize::from(!matches!(session, Ok(Ok(()))));
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(Outcome { seconds, peak_kb: process::high_water_kb(std::process::id()), failed })
}

async fn converse(engine: &Engine, workspace: PathBuf) -> anyhow::Result<()> {
    let session = engine.create(NewSession { workspace, mode: Some(Mode::Auto), ..NewSession::default() })?;
    let mut watch = engine.watch(session);
    // Boxed, so that its room is given back while the session runs.
    let content = vec![UserPart::text("Say hi, step by step.")];
    Box::pin(engine.submit(session, content, Delivery::FollowUp)).await?;
    while let Some(live) = watch.next().await {
        match live {
            Live::Event(recorded) => {
                if let Event::TurnEnded(ended) = &recorded.event {
                    return match &ended.reason {
                        EndReason::Completed => Ok(()),
                        other => bail!("the turn ended otherwise: {other}"),
                    };
                }
            }
            Live::Broken(reason) => bail!("the session broke: {reason}"),
            Live::Lagged => bail!("the watcher lagged"),
            Live::Text(_)
            | Live::Thinking(_)
            | Live::Partial { .. }
            | Live::ToolBegun { .. }
            | Live::ToolOutput { .. }
            | Live::ToolPartial { .. }
            | Live::Notice(_) => {}
        }
    }
    bail!("the engine went away")
}

/// Reads everything back from disk, in another process than the one that wrote it. Gives the number
/// of events.
pub fn verify(home: PathBuf, sessions: usize, rounds: usize) -> anyhow::Result<usize> {
    let store = store::open(&Home::at(home))?;
    let rows = store.list(&ListFilter::default())?;
    if rows.len() != sessions {
        bail!("{sessions} sessions ran, but {} are on disk", rows.len());
    }
    let mut events = 0;
    for row in rows {
        events += verify_session(&store, row.id, rounds).context(format!("session {}", row.id))?;
    }
    Ok(events)
}

fn verify_session(store: &Store, session: SessionId, rounds: usize) -> anyhow::Result<usize> {
    let events = store.events(session, 0, usize::MAX)?;
    let count = |wanted: fn(&Event) -> bool| events.iter().filter(|recorded| wanted(&recorded.event)).count();
    let answers = count(|event| matches!(event, Event::RoundAnswered(_)));
    let results = count(|event| matches!(event, Event::ToolFinished(done) if !done.outcome.is_error()));
    let ends = count(|event| matches!(event, Event::TurnEnded(ended) if ended.reason == EndReason::Completed));
    if (answers, results, ends) != (rounds + 1, rounds, 1) {
        bail!("{answers} answers, {results} tool results and {ends} completed turns are on disk");
    }
    Ok(events.len())
}
