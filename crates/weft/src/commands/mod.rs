//! One file per command. Each takes its arguments, uses the engine's public API and says how it
//! ended; none keeps state of its own.

mod answer;
mod asks;
mod auth;
mod completions;
mod config;
mod doctor;
mod models;
pub mod resume;
mod run;
mod sessions;
mod transfer;
mod usage;

use std::future::Future;

use crate::args::{Cli, Command};
use crate::exit::Exit;
use crate::terminal;

pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        None => terminal::chat(cli.chat),
        Some(Command::Run(args)) => small(run::run(args)),
        Some(Command::Resume(args)) => small(resume::run(args)),
        Some(Command::Sessions { command }) => small(sessions::run(command)),
        Some(Command::Asks { json }) => small(asks::run(json)),
        Some(Command::Answer(args)) => small(answer::run(args)),
        Some(Command::Usage(args)) => small(usage::run(args)),
        Some(Command::Auth(args)) => small(auth::run(args)),
        Some(Command::Models { json }) => small(models::run(json)),
        Some(Command::Doctor) => small(doctor::run()),
        Some(Command::Config { command }) => small(config::run(command)),
        Some(Command::Completions { shell }) => completions::run(shell),
    }
}

/// One thread is enough, and quickest to start, for everything that has no screen to keep alive.
fn small(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

pub use answer::read_answer;
pub use sessions::{name as name_of, session_rows};
pub use usage::usage_rows;

/// What a crash or an answer left in this folder.
pub fn unfinished(opened: &crate::open::Opened) -> anyhow::Result<Vec<weft_store::SessionRow>> {
    let here = opened.workspace_name();
    let mut rows = opened.engine.store().unfinished()?;
    rows.retain(|row| row.workspace == here);
    Ok(rows)
}
