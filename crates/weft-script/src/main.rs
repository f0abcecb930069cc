//! `weft-script`: the scripted model server as a program, for benchmarks and for trying things by
//! hand. All it can do is in the library.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use serde::Deserialize;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use weft_script::{Behaviour, Piece, Place, RandomFaults, Server, Settings, Story, raise_open_files};

/// A scripted model on loopback, speaking the Anthropic, OpenAI and Gemini protocols.
///
/// After each user message it makes a tool call for a number of rounds, then answers with a text.
/// GET /stats tells what it has counted; so does stopping it.
#[derive(Parser)]
#[command(
    version,
    after_help = "Example:\n  weft-script --rounds 3 --call '{\"name\":\"shell\",\"input\":{\"command\":\"echo {round}\"}}'"
)]
struct Arguments {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    addr: SocketAddr,
    /// Rounds with a tool call before the text.
    #[arg(long, default_value_t = 0)]
    rounds: usize,
    /// The tool call. {round} and {turn} inside strings are replaced by their numbers.
    #[arg(long, default_value = r#"{"name":"shell","input":{"command":"echo hi"}}"#)]
    call: String,
    /// The final text.
    #[arg(long, default_value = "Done.")]
    text: String,
    /// A JSON file that says what is answered to which words, instead of --rounds, --call and --text:
    /// {"rules":[{"when":"hello","replies":[{"text":"Hi."}]}]}.
    #[arg(long, conflicts_with_all = ["rounds", "call", "text"])]
    script: Option<PathBuf>,
    /// Wait so many milliseconds before each answer.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Faults by chance, as in seed=7,rate=0.1.
    #[arg(long)]
    faults: Option<RandomFaults>,
    /// Let only this key in.
    #[arg(long)]
    key: Option<String>,
    /// Write the address to this file once listening.
    #[arg(long)]
    port_file: Option<PathBuf>,
    /// Add a line per request to this file: arrival in microseconds, body size, protocol, turn, round.
    #[arg(long)]
    log: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    input: Value,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(arguments))
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let call: Call = serde_json::from_str(&arguments.call)
        .context("--call must be JSON such as {\"name\":\"shell\",\"input\":{\"command\":\"echo hi\"}}")?;
    let behaviour = match &arguments.script {
        Some(path) => story(path)?.behaviour(),
        None => Behaviour::Rounds {
            rounds: arguments.rounds,
            call: Box::new(move |place| Piece::Call { name: call.name.clone(), input: fill(&call.input, place) }),
            final_text: arguments.text,
        },
    };
    let mut settings = Settings::new(behaviour);
    settings.record = false;
    settings.address = arguments.addr;
    settings.delay = Duration::from_millis(arguments.delay_ms);
    settings.faults = arguments.faults;
    settings.key = arguments.key;
    settings.log = arguments.log;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let server = Server::start_with(settings).with_context(|| format!("cannot listen on {}", arguments.addr))?;
    if let Some(path) = arguments.port_file {
        write_whole(&path, &server.addr().to_string())?;
    }
    say(&format!("listening on {}", server.addr()))?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    say(&serde_json::to_string(&server.stats())?)
}

fn story(path: &std::path::Path) -> anyhow::Result<Story> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a script", path.display()))
}

/// Replaces the placeholders in every string of the input.
fn fill(input: &Value, place: Place) -> Value {
    match input {
        Value::String(text) => {
            text.replace("{round}", &place.round.to_string()).replace("{turn}", &place.turn.to_string()).into()
        }
        Value::Array(items) => items.iter().map(|item| fill(item, place)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), fill(field, place))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => input.clone(),
    }
}

/// Whoever waits for the file must never see half of it.
fn write_whole(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, text).with_context(|| format!("cannot write {}", unfinished.display()))?;
    std::fs::rename(&unfinished, path).with_context(|| format!("cannot write {}", path.display()))
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
