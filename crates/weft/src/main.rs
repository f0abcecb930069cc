//! The `weft` command: reads the command line, does what it says, and ends with a code that tells
//! how it went. Everything that lasts is the engine's; this is the face of it.

mod args;
mod aside;
mod ask;
mod audit_args;
mod backstage;
mod commands;
mod exit;
mod far;
mod headless;
mod host;
mod knowledge_args;
mod open;
mod out;
mod past;
mod rerank;
mod research_args;
mod serve_args;
mod show;
mod size;
mod source_args;
mod sources;
mod spoken;
mod terminal;
mod wait_args;

use std::process::ExitCode;

use clap::Parser as _;

/// Many sessions at once are many small things made and dropped on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before everything else: as the sandbox's helper this process is to be something else soon.
    weft_tool::sandbox::dispatch();
    let cli = args::Cli::parse();
    let exit = commands::dispatch(cli).unwrap_or_else(|error| exit::report(&error));
    match out::lost() {
        Some(error) if exit == exit::Exit::Done => {
            let error = anyhow::Error::new(error).context("the output could not all be written");
            exit::report(&error).code()
        }
        Some(_) | None => exit.code(),
    }
}
