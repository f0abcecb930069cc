//! One file per command. Each takes its arguments, uses the engine's public API and says how it
//! ended; none keeps state of its own.

mod answer;
mod asks;
mod audit;
mod auth;
mod completions;
pub mod config;
pub mod doctor;
mod knowledge;
mod mcp;
mod models;
mod papers;
pub mod research;
pub mod resume;
mod run;
mod sandbox;
mod serve;
mod sessions;
mod skills;
pub mod sources;
mod tools;
mod transfer;
mod undo;
mod usage;

use std::future::Future;

use weft_core::Status;
use weft_store::SessionRow;

use crate::args::{Cli, Command};
use crate::exit::Exit;
use crate::terminal;

pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    crate::open::choose_profile(cli.profile)?;
    match cli.command {
        None => terminal::chat(cli.chat),
        Some(Command::Run(args)) => small(run::run(args)),
        Some(Command::Resume(args)) => small(resume::run(args)),
        Some(Command::Research(args)) => small(research::run(args)),
        Some(Command::Corpus { command }) => small(research::corpus(command)),
        Some(Command::Sessions { command }) => small(sessions::run(command)),
        Some(Command::Undo(args)) => small(undo::undo(args)),
        Some(Command::Redo(args)) => small(undo::redo(args)),
        Some(Command::Diff(args)) => small(undo::diff(args)),
        Some(Command::Asks { json }) => small(asks::run(json)),
        Some(Command::Answer(args)) => small(answer::run(args)),
        Some(Command::Sources { command }) => small(sources::run(command)),
        Some(Command::Mcp(args)) => small(mcp::run(args)),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Usage(args)) => small(usage::run(args)),
        Some(Command::Auth(args)) => small(auth::run(args)),
        Some(Command::Models { json }) => small(models::run(json)),
        Some(Command::Audit { command }) => small(audit::run(command)),
        Some(Command::Doctor) => small(doctor::run()),
        Some(Command::Tools { kind, json }) => tools::run(kind, json),
        Some(Command::Index(args)) => small(knowledge::index(args)),
        Some(Command::Search(args)) if args.rerank => small(knowledge::search_reranked(args)),
        Some(Command::Search(args)) => knowledge::search(args),
        Some(Command::Graph { command }) => knowledge::graph(command),
        Some(Command::Knowledge { command }) => small(knowledge::manage(command)),
        Some(Command::Skills { command }) => skills::skills(&command),
        Some(Command::Agents { command }) => skills::agents(&command),
        Some(Command::Sandbox { command }) => small(sandbox::run(command)),
        Some(Command::Config { command }) => small(config::run(command)),
        Some(Command::Completions { shell }) => completions::run(shell),
    }
}

/// File work that hangs in the kernel was given up; it must not keep the process either.
pub const LET_FINISH: std::time::Duration = std::time::Duration::from_millis(500);

/// One thread is enough, and quickest to start, for everything that has no screen to keep alive.
fn small(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(work);
    runtime.shutdown_timeout(LET_FINISH);
    exit
}

pub use answer::read_answer;
pub use sessions::{name as name_of, session_rows};
pub use undo::{diff_rows, restored_rows};
pub use usage::usage_rows;

/// What a crash or an answer left in this folder, the newest first.
pub fn unfinished(opened: &crate::open::Opened) -> anyhow::Result<Vec<SessionRow>> {
    let here = opened.workspace_name();
    let mut left = Vec::new();
    for row in opened.engine.store().unfinished()? {
        if row.workspace != here || is_untouched_fork(&row) {
            continue;
        }
        let has_something = match row.status {
            Status::Running => true,
            // Weft was killed between two turns: there is only something to do if more was said.
            Status::Idle => !opened.engine.state(row.id)?.conversation.queue.is_empty(),
            Status::Waiting | Status::Failed => false,
        };
        if has_something {
            left.push(row);
        }
    }
    Ok(left)
}

/// A copy that nothing was done in since it was made. It may be cut in the middle of a turn, but
/// nobody asked for that turn to be finished here.
pub fn is_untouched_fork(row: &SessionRow) -> bool {
    row.forked_at == Some(row.seq)
}
