//! `weft completions`: a script for the shell.

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::exit::Exit;
use crate::out;

pub fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "weft", &mut script);
    out::stdout(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
