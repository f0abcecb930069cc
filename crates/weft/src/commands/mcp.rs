//! `weft mcp`: offers Weft's tools, agents and sessions to other programs.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use weft_core::SessionId;
use weft_mcp::server::Server;
use weft_mcp::server::http::{HttpServer, PATH};
use weft_server::WeftOffer;
use weft_tool::ReadMarks;

use crate::exit::Exit;
use crate::show::rows::note;
use crate::source_args::McpArgs;
use crate::{open, out};

const PIPE: usize = 64 * 1024;
const FAREWELL: Duration = Duration::from_secs(2);

/// Joins a pipe to standard input and output, whatever they are: threads of their own do the
/// waiting. Ends when everything has been written.
fn join_standard_streams(pipe: DuplexStream) -> JoinHandle<()> {
    let (mut from_server, mut to_server) = tokio::io::split(pipe);
    let (sender, mut heard) = tokio::sync::mpsc::channel::<Vec<u8>>(16);
    std::thread::spawn(move || {
        let mut buffer = vec![0; PIPE];
        while let Ok(length @ 1..) = std::io::stdin().read(&mut buffer) {
            if sender.blocking_send(buffer.get(..length).unwrap_or_default().to_vec()).is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        while let Some(bytes) = heard.recv().await {
            if to_server.write_all(&bytes).await.is_err() {
                return;
            }
        }
        let _ = to_server.shutdown().await;
    });
    tokio::spawn(async move {
        let mut buffer = vec![0; PIPE];
        while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
            let bytes = buffer.get(..length).unwrap_or_default().to_vec();
            let written = tokio::task::spawn_blocking(move || {
                let mut out = std::io::stdout().lock();
                out.write_all(&bytes).and_then(|()| out.flush())
            });
            if !matches!(written.await, Ok(Ok(()))) {
                return;
            }
        }
    })
}

/// For one run of the server.
fn new_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no token could be made: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub async fn run(args: McpArgs) -> anyhow::Result<Exit> {
    let opened = open::open(None)?;
    let offer = Arc::new(WeftOffer {
        engine: opened.engine,
        home: opened.home,
        workspace: opened.workspace,
        mode: args.mode,
        session: SessionId::from_random(getrandom::u64()?),
        read_marks: ReadMarks::default(),
        calls: Default::default(),
    });
    let Some(address) = args.http else {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (input, output) = tokio::io::split(ours);
        let writing = join_standard_streams(theirs);
        let served = Server::new(offer).serve_pipes(input, output).await;
        // What was said last must be heard before the process is gone.
        let _ = tokio::time::timeout(FAREWELL, writing).await;
        served.map_err(|reason| anyhow::anyhow!("the client did not speak MCP: {reason}"))?;
        return Ok(Exit::Done);
    };
    let given = std::env::var("WEFT_MCP_TOKEN").ok().filter(|token| !token.is_empty());
    // Every program and every user of this machine reaches its loopback.
    let made = given.is_none() && address.ip().is_loopback();
    let token = if made { Some(new_token()?) } else { given };
    let server = HttpServer::bind(address, token.clone()).await?;
    out::stdout(&format!("http://{}{PATH}\n", server.address()?));
    if let Some(token) = token.filter(|_| made) {
        for words in [&*format!("Clients send `Authorization: Bearer {token}`."), "WEFT_MCP_TOKEN sets another token."]
        {
            out::tell(&note(words, &out::look_stderr()));
        }
    }
    out::tell(&note("Serving. Ctrl+C ends it.", &out::look_stderr()));
    let stop = CancellationToken::new();
    let mut interrupts = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    let [interrupt, terminate] = &mut interrupts;
    tokio::select! {
        () = server.serve(offer, stop.clone()) => {}
        _ = interrupt.recv() => stop.cancel(),
        _ = terminate.recv() => stop.cancel(),
    }
    Ok(Exit::Done)
}
