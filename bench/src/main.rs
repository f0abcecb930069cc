//! Measures Weft, and others, against the scripted model server. Part of no product.

mod bare;
mod bounds;
mod browser;
mod guard;
mod knowledge;
mod load;
mod long_session;
mod machine;
mod many_sessions;
mod process;
mod program;
mod report;
mod research;
mod sandbox;
mod script;
mod search;
mod serve;
mod single;
mod statistics;
mod store;
mod suite;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// The product's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "weft-bench", about = "Measures Weft against the scripted model server. Called by bench/run.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the benchmarks and write the report
    Report(suite::Options),
    /// Run many sessions through the engine, in this process
    Load {
        #[arg(long)]
        url: String,
        #[arg(long)]
        home: PathBuf,
        #[arg(long)]
        workspace: PathBuf,
        #[arg(long)]
        sessions: usize,
    },
    /// Send as many requests from a bare loop
    Bare {
        #[arg(long)]
        url: String,
        #[arg(long)]
        sessions: usize,
        #[arg(long)]
        rounds: usize,
    },
    /// Measure knowledge alone, and write no report
    Knowledge {
        /// The program, to measure `weft search`
        #[arg(long)]
        weft: Option<PathBuf>,
        #[command(flatten)]
        options: knowledge::Options,
    },
    /// Search what is known of a folder, in this process
    KnowledgeSearch {
        #[arg(long)]
        home: PathBuf,
        #[arg(long)]
        folder: PathBuf,
        /// One question per line
        #[arg(long)]
        questions: PathBuf,
    },
    /// Fill a home with one very long session and print its id
    LongSession {
        #[arg(long)]
        home: PathBuf,
        #[arg(long)]
        workspace: PathBuf,
    },
    /// Fill a home with many short sessions
    ManySessions {
        #[arg(long)]
        home: PathBuf,
        #[arg(long)]
        workspace: PathBuf,
        #[arg(long, default_value_t = 10_000)]
        count: usize,
    },
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    weft_script::raise_open_files();
    match arguments.command {
        Command::Report(options) => suite::run(&options),
        Command::Load { url, home, workspace, sessions } => {
            let outcome = runtime()?.block_on(load::run(&url, home, workspace, sessions))?;
            report::say(&serde_json::to_string(&outcome)?)
        }
        Command::Bare { url, sessions, rounds } => {
            let outcome = runtime()?.block_on(bare::run(&url, sessions, rounds))?;
            report::say(&serde_json::to_string(&outcome)?)
        }
        Command::Knowledge { weft, options } => {
            report::say(report::HEAD.trim_end())?;
            let mut report = report::Report::default();
            let beside = std::env::current_exe()?;
            let work = beside.parent().unwrap_or(std::path::Path::new("."));
            knowledge::measure(&options, weft.as_deref(), work, &mut |line| report.add(line))
        }
        Command::KnowledgeSearch { home, folder, questions } => {
            report::say(&serde_json::to_string(&knowledge::search(&home, &folder, &questions)?)?)
        }
        Command::LongSession { home, workspace } => {
            let written = runtime()?.block_on(long_session::write(&home, &workspace))?;
            report::say(&format!(
                "{} {} events, {} bytes of output, {} tokens in its context",
                written.session, written.events, written.output_bytes, written.context_tokens
            ))
        }
        Command::ManySessions { home, workspace, count } => {
            runtime()?.block_on(many_sessions::write(&home, &workspace, count))
        }
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

#[cfg(test)]
#[path = "main_tests.rs"]
mod tests;
